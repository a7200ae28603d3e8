"""Passages of different pages that give different figures for the same thing. Pure.

Only sentences of one language are compared. Two of them disagree when they count in the same unit,
have no figure of it in common, and say the same otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from bot.grounding.facts import Facts, is_fact_word, is_same_unit, read_facts
from bot.grounding.injection import addresses_the_assistant
from bot.grounding.wording import Closeness
from bot.records import Citation, Claim, Passage, collapse, introduced, lead_in_of
from ingest import StoredChunk, UnitKind, analyze_query

SAME_SUBJECT = ((2, 0.75), (3, 0.5))
"""Content words in common, and their share of the shorter sentence's, figures and units aside:
either pair will do. With the heading above, a short sentence has few words."""

SAME_MEANING = 0.935
"""Cosine from which two sentences say the same but for figures, for the bundled encoder, where one
is at hand: eight pairs written for it lie at .955 to .965 when they do, else up to .93."""

MOST_ADDED = 2
"""Passages added to an answer because they disagree with it."""

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence with what it counts."""

    claim: Claim
    facts: Facts

    @classmethod
    def of(cls, claim: Claim) -> _Statement:
        return cls(claim, read_facts(claim.citation.quote))

    @property
    def chunk(self) -> StoredChunk:
        return self.claim.citation.passage.chunk

    def stems(self) -> frozenset[str]:
        """Return what else it says; costly, so asked last."""
        citation = self.claim.citation
        heading = citation.heading_path[-1:] or (self.chunk.title,)
        said = "\n".join((*heading, citation.lead_in, citation.quote))
        return frozenset(
            "/".join(word.stems)
            for word in analyze_query(said).words
            if not is_fact_word(word.folded)
        )

    def disagrees_with(self, other: _Statement, closeness: Closeness | None) -> bool:
        one, two = self.chunk, other.chunk
        if (one.source, one.page) == (two.source, two.page) or one.language != two.language:
            return False
        if not _figures_differ(self.facts, other.facts):
            return False
        if not _say_the_same(self.stems(), other.stems()):
            return False
        quotes = (self.claim.citation.quote, other.claim.citation.quote)
        cosine = closeness(*quotes) if closeness else None
        return cosine is None or cosine >= SAME_MEANING


def with_disagreements(
    claims: Sequence[Claim],
    passages: Sequence[Passage],
    *,
    closeness: Closeness | None = None,
) -> tuple[tuple[Claim, ...], bool]:
    """Put what disagrees with an answer into it, the newest first.

    Args:
        claims: Of the answer, verified.
        passages: All that was retrieved: what of them disagrees is quoted word for word.
        closeness: Compares two sentences; without it their words alone decide.

    Returns:
        The claims to show, and whether pages disagree.
    """
    statements = _without_outdated([_Statement.of(claim) for claim in claims], closeness)
    counted = [statement for statement in statements if statement.facts.quantities]
    if not counted:
        return tuple(statement.claim for statement in statements), False
    quoted = {collapse(claim.citation.quote) for claim in claims}
    against = (
        candidate
        for candidate in _candidates(passages, quoted)
        if any(candidate.disagrees_with(statement, closeness) for statement in counted)
    )
    added = islice(against, MOST_ADDED)
    ordered, disagree = [*statements, *added], False
    for i in range(len(ordered)):
        for j in range(i + 1, len(ordered)):
            if not ordered[i].disagrees_with(ordered[j], closeness):
                continue
            disagree = True
            if is_newer(ordered[j].chunk, ordered[i].chunk):
                ordered[i], ordered[j] = ordered[j], ordered[i]
    return tuple(statement.claim for statement in ordered), disagree


def is_newer(a: StoredChunk, b: StoredChunk) -> bool:
    """Compare by what the titles say ("Barème 2025"), else by the last change.

    A page that says it is outdated is older than one that does not.
    """
    if a.outdated != b.outdated:
        return b.outdated
    years_a, years_b = _YEAR.findall(a.title), _YEAR.findall(b.title)
    if years_a and years_b:
        return max(map(int, years_a)) > max(map(int, years_b))
    if a.modified_at is None or b.modified_at is None:
        return False
    return a.modified_at > b.modified_at


def _without_outdated(
    statements: Sequence[_Statement], closeness: Closeness | None
) -> list[_Statement]:
    """Leave out what a page that says it is outdated says against a current one."""
    return [
        one
        for one in statements
        if not one.chunk.outdated
        or not any(one.disagrees_with(o, closeness) for o in statements if not o.chunk.outdated)
    ]


def _candidates(passages: Sequence[Passage], quoted: Collection[str]) -> Iterator[_Statement]:
    """Yield what current pages count and what is not among the quotes, best passages first."""
    for passage in passages:
        chunk = passage.chunk
        if chunk.outdated:
            continue
        for unit in chunk.units:
            text = chunk.text[unit.start : unit.end].strip()
            if unit.kind is UnitKind.HEADING or not text or addresses_the_assistant(text):
                continue
            if any(collapse(text) in quote for quote in quoted):
                continue
            lead_in = lead_in_of(text, unit.context)
            citation = Citation(passage, text, lead_in)
            statement = _Statement.of(Claim(introduced(text, lead_in), citation))
            if statement.facts.quantities:
                yield statement


def _figures_differ(one: Facts, two: Facts) -> bool:
    """Tell whether they count in a unit they share, and no figure of any such unit is the same."""
    shared = False
    for a in one.quantities:
        for b in two.quantities:
            if not a.unit or not (a.unit == b.unit or is_same_unit(a.unit, b.unit)):
                continue
            if a.value == b.value:
                return False
            shared = True
    return shared


def _say_the_same(one: frozenset[str], two: frozenset[str]) -> bool:
    common = len(one & two)
    shorter = min(len(one), len(two))
    return any(common >= words and common >= share * shorter for words, share in SAME_SUBJECT)
