"""The gate: what a draft says is shown only where its passage says it. Pure but for the encoder.

Rules in order, each with a reason for `explain`: the citation (a quote that stands in a retrieved
passage); hidden, foreign or live characters; text that gives orders; facts; names; the language;
opposites and left-out limits; how much of the sentence the quote says. What a quote says is looked
for in its whole sentences, never in the rest of the passage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.grounding.characters import foreign_characters, hidden_characters, live_markup
from bot.grounding.citations import CitationRejected, cite
from bot.grounding.fact_rules import unsupported_facts
from bot.grounding.facts import read_facts
from bot.grounding.injection import addresses_the_assistant
from bot.grounding.polarity import contradictions
from bot.grounding.scope import MAX_PLACES, Scope, scope_of
from bot.grounding.wording import (
    LANGUAGES,
    LEAST_QUOTED,
    MIN_CLOSENESS,
    MIN_COVERAGE,
    MIN_QUOTED,
    SAME_CLOSENESS,
    Closeness,
    Words,
    coverage,
    invented_part,
    sentence_language,
    stems_in,
    unknown_names,
)
from bot.language import french_or_english
from bot.records import Citation, Claim, Draft, DraftClaim, Passage, collapse

MAX_CLAIMS = 20
"""More claims than this are no answer; the rest is refused unread."""

MAX_SENTENCE_CHARS = 1_000
"""A longer sentence is no single claim, and would only cost time."""


class Rule(StrEnum):
    """What a claim may fail by, in the order it is looked at."""

    QUANTITY = "quantity"
    """Too many claims, a repeated one, an empty or overlong sentence."""
    CITATION = "citation"
    ORDERS = "orders"
    CHARACTERS = "characters"
    FACTS = "facts"
    LANGUAGE = "language"
    NAMES = "names"
    OPPOSITES = "opposites"
    WORDING = "wording"


Objection = tuple[Rule, str]
"""The rule that a sentence breaks, and how, in words."""


@dataclass(frozen=True, slots=True)
class RejectedClaim:
    """A claim that did not pass, and why.

    Attributes:
        reason: In words; may hold words of the claim, the page and the question.
        rule: The first one it broke.
    """

    claim: DraftClaim
    reason: str
    rule: Rule


@dataclass(frozen=True, slots=True)
class Verification:
    """What is left of a draft. No claims left means abstention."""

    claims: tuple[Claim, ...]
    rejected: tuple[RejectedClaim, ...]


def verify(
    draft: Draft,
    passages: Sequence[Passage],
    *,
    question: str = "",
    closeness: Closeness | None = None,
) -> Verification:
    """Check every claim of a draft.

    A sentence that is its own quote, after what introduces it, only has to be citable.

    Args:
        draft: Unverified.
        passages: Those retrieved for this question and visible to its audience.
        question: Its words and names need no passage; its numbers do.
        closeness: Compares a sentence with a quote that says it in other words, or in another
            language; without it such a sentence is refused.
    """
    by_id = {passage.chunk.chunk_id: passage for passage in passages}
    claims: list[Claim] = []
    rejected: list[RejectedClaim] = []
    said: set[str] = set()
    for position, claim in enumerate(draft.claims):
        verdict: Claim | Objection
        if position >= MAX_CLAIMS:
            verdict = (Rule.QUANTITY, "one claim too many")
        elif collapse(claim.sentence) in said:
            verdict = (Rule.QUANTITY, "says the same as an earlier claim")
        else:
            verdict = _check(claim, by_id, question, closeness)
        if isinstance(verdict, Claim):
            claims.append(verdict)
            said.add(collapse(claim.sentence))
        else:
            rule, reason = verdict
            rejected.append(RejectedClaim(claim, reason, rule))
    return Verification(tuple(claims), tuple(rejected))


def _check(
    claim: DraftClaim,
    passages: dict[str, Passage],
    question: str,
    closeness: Closeness | None,
) -> Claim | Objection:
    """Return the claim with its citation, or why it may not be shown."""
    if not claim.sentence.strip():
        return Rule.QUANTITY, "an empty sentence"
    try:
        citation = cite(claim, passages)
    except CitationRejected as verdict:
        return Rule.CITATION, str(verdict)
    scope = scope_of(citation)
    question = "" if addresses_the_assistant(question) else question
    if addresses_the_assistant(f"{scope.before}\n{scope.said}"):
        return Rule.ORDERS, "the quote stands in text that gives orders to the assistant"
    if not is_verbatim(claim.sentence, citation):
        objection = next(_objections(claim.sentence, citation, scope, question, closeness), None)
        if objection is not None:
            return objection
    return Claim(claim.sentence, citation)


def is_verbatim(sentence: str, citation: Citation) -> bool:
    """Tell whether a sentence is its quote, white space aside, after what introduces it."""
    alone, introduced = citation.quote, f"{citation.lead_in}\n{citation.quote}"
    return collapse(sentence) in (collapse(alone), collapse(introduced))


def _objections(
    sentence: str,
    citation: Citation,
    scope: Scope,
    question: str,
    closeness: Closeness | None,
) -> Iterator[Objection]:
    """Yield why a sentence is not what its quote says, the cheapest checks first."""
    if len(sentence) > MAX_SENTENCE_CHARS:
        yield Rule.QUANTITY, "too long for one sentence"
        return
    if scope.places > MAX_PLACES:
        yield Rule.CITATION, "the quote stands in too many places to say which one is meant"
    yield from _character_objections(sentence, f"{scope.known}\n{question}")
    if addresses_the_assistant(sentence):
        yield Rule.ORDERS, "gives orders to the assistant"
    head = "" if addresses_the_assistant(scope.head) else scope.head
    unsupported = unsupported_facts(sentence, said=scope.said, head=head, passage=scope.passage)
    yield from ((Rule.FACTS, reason) for reason in unsupported)
    yield from _wording_objections(sentence, citation, scope, head, question, closeness)


def _character_objections(sentence: str, known: str) -> Iterator[Objection]:
    if found := hidden_characters(sentence):
        yield Rule.CHARACTERS, f"has invisible characters: {', '.join(found)}"
    if found := foreign_characters(sentence, known):
        yield Rule.CHARACTERS, f"has characters that the passage does not have: {', '.join(found)}"
    if found := live_markup(sentence, known):
        yield Rule.CHARACTERS, f"has markup: {', '.join(found)}"


def _wording_objections(
    sentence: str,
    citation: Citation,
    scope: Scope,
    head: str,
    question: str,
    closeness: Closeness | None,
) -> Iterator[Objection]:
    theirs = citation.passage.chunk.language
    mine = sentence_language(sentence, theirs)
    asked = french_or_english(question)
    if asked in LANGUAGES and mine in LANGUAGES and mine != asked:
        yield Rule.LANGUAGE, f"is written in {mine}, and the question in {asked}"
    same = mine == theirs or theirs not in LANGUAGES
    everything = Words.of(f"{head}\n{scope.passage}\n{question}", theirs)
    if names := unknown_names(sentence, everything, same_language=same):
        yield Rule.NAMES, f"names what the passage does not: {', '.join(names)}"
    turned = contradictions(sentence, scope.said, stems=stems_in(theirs) if same else None)
    yield from ((Rule.OPPOSITES, reason) for reason in turned)
    if same:
        yield from _coverage_objections(sentence, scope, head, question, theirs, closeness)
        return
    cosine = closeness(sentence, scope.said) if closeness is not None else None
    if cosine is None:
        yield Rule.WORDING, "cannot be compared with a quote in another language"
    elif cosine < MIN_CLOSENESS:
        yield Rule.WORDING, f"is not close enough to the quote: {cosine:.2f}"


def _coverage_objections(
    sentence: str,
    scope: Scope,
    head: str,
    question: str,
    language: str,
    closeness: Closeness | None,
) -> Iterator[Objection]:
    known = Words.of(f"{head}\n{scope.said}\n{question}", language)
    alone, share = coverage(sentence, Words.of(scope.said, language)), coverage(sentence, known)
    if alone is None or share is None:
        # "Oui, 4 jours." has no word to cover: its facts, checked before, must carry it.
        facts = read_facts(sentence)
        if not (facts.quantities or facts.dates or any(facts.marks.values())):
            yield Rule.WORDING, "says nothing that can be checked"
    elif (alone < MIN_QUOTED or share < MIN_COVERAGE) and not (
        alone >= LEAST_QUOTED and _says_the_same(sentence, scope.said, closeness)
    ):
        yield (
            Rule.WORDING,
            f"the quote has {alone:.0%} of its words, with headings and question {share:.0%}",
        )
    elif part := invented_part(sentence, known):
        yield Rule.WORDING, f"the quote has no word of “{part}”"


def _says_the_same(sentence: str, said: str, closeness: Closeness | None) -> bool:
    cosine = closeness(sentence, said) if closeness is not None else None
    return cosine is not None and cosine >= SAME_CLOSENESS
