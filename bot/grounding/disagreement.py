"""Passages of different pages that give different figures for the same thing. Pure.

Only sentences of one language are compared. Two of them disagree when they count in the same unit,
have no figure of it in common, and say the same otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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
"""Closeness from which two sentences say the same but for figures, where an encoder is at hand:
eight pairs written for it lie at .955 to .965 when they do, else up to .93."""

MOST_ADDED = 2
"""Passages added to an answer because they disagree with it."""

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(slots=True, eq=False)
class _Statement:
    """A sentence with what it counts."""

    claim: Claim
    facts: Facts
    _stems: frozenset[str] | None = field(default=None, init=False)

    @classmethod
    def of(cls, claim: Claim) -> _Statement:
        return cls(claim, read_facts(claim.citation.quote))

    @property
    def chunk(self) -> StoredChunk:
        return self.claim.citation.passage.chunk

    @property
    def stems(self) -> frozenset[str]:
        """Return what else it says; costly, so asked last."""
        if self._stems is None:
            citation = self.claim.citation
            heading = citation.heading_path[-1:] or (self.chunk.title,)
            said = "\n".join((*heading, citation.lead_in, citation.quote))
            words = analyze_query(said).words
            self._stems = frozenset(
                "/".join(word.stems) for word in words if not is_fact_word(word.folded)
            )
        return self._stems


class Disagreements:
    """Finds what disagrees with an answer, and remembers what it has compared.

    An answer that is still being written is looked at after each claim: only what the claim adds
    is compared then. Not to be shared between threads.

    Args:
        passages: All that was retrieved: what of them disagrees is quoted word for word.
        closeness: Compares two sentences; without it their words alone decide.
    """

    def __init__(self, passages: Sequence[Passage], closeness: Closeness | None = None) -> None:
        self._passages = passages
        self._closeness = closeness
        self._current: list[_Statement] | None = None
        self._of_claims: dict[tuple[str, str, str], _Statement] = {}
        self._verdicts: dict[tuple[_Statement, _Statement], bool] = {}

    def among(self, claims: Sequence[Claim]) -> tuple[tuple[Claim, ...], bool]:
        """Put what disagrees with an answer into it, the newest first.

        Args:
            claims: Of the answer, verified.

        Returns:
            The claims to show, and whether pages disagree.
        """
        statements = self._without_outdated([self._statement(claim) for claim in claims])
        counted = [statement for statement in statements if statement.facts.quantities]
        if not counted:
            return tuple(statement.claim for statement in statements), False
        quoted = [collapse(claim.citation.quote) for claim in claims]
        against = (
            rival
            for rival in self._rivals()
            if not any(collapse(rival.claim.citation.quote) in quote for quote in quoted)
            and any(self._disagree(rival, statement) for statement in counted)
        )
        added = islice(against, MOST_ADDED)
        ordered, disagree = [*statements, *added], False
        for i in range(len(ordered)):
            for j in range(i + 1, len(ordered)):
                if not self._disagree(ordered[i], ordered[j]):
                    continue
                disagree = True
                if is_newer(ordered[j].chunk, ordered[i].chunk):
                    ordered[i], ordered[j] = ordered[j], ordered[i]
        return tuple(statement.claim for statement in ordered), disagree

    def _statement(self, claim: Claim) -> _Statement:
        citation = claim.citation
        key = (citation.passage.chunk.chunk_id, citation.quote, claim.sentence)
        if key not in self._of_claims:
            self._of_claims[key] = _Statement.of(claim)
        return self._of_claims[key]

    def _rivals(self) -> list[_Statement]:
        if self._current is None:
            self._current = list(_counted_on_current_pages(self._passages))
        return self._current

    def _without_outdated(self, statements: Sequence[_Statement]) -> list[_Statement]:
        """Leave out what a page that says it is outdated says against a current one."""
        return [
            one
            for one in statements
            if not one.chunk.outdated
            or not any(self._disagree(one, o) for o in statements if not o.chunk.outdated)
        ]

    def _disagree(self, one: _Statement, two: _Statement) -> bool:
        if (one, two) not in self._verdicts:
            verdict = self._compare(one, two)
            self._verdicts[one, two] = self._verdicts[two, one] = verdict
        return self._verdicts[one, two]

    def _compare(self, one: _Statement, two: _Statement) -> bool:
        a, b = one.chunk, two.chunk
        if (a.source, a.page) == (b.source, b.page) or a.language != b.language:
            return False
        if not _figures_differ(one.facts, two.facts) or not _say_the_same(one.stems, two.stems):
            return False
        quotes = (one.claim.citation.quote, two.claim.citation.quote)
        cosine = self._closeness(*quotes) if self._closeness else None
        return cosine is None or cosine >= SAME_MEANING


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


def _counted_on_current_pages(passages: Sequence[Passage]) -> Iterator[_Statement]:
    """Yield what current pages count, best passages first."""
    for passage in passages:
        chunk = passage.chunk
        if chunk.outdated:
            continue
        for unit in chunk.units:
            text = chunk.text[unit.start : unit.end].strip()
            if unit.kind is UnitKind.HEADING or not text or addresses_the_assistant(text):
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
