"""Puts claims to the gate and counts what it lets through, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.grounding.verifier import verify
from bot.grounding.wording import Closeness
from bot.records import Draft
from tests.integration.bot.grounding.claim_cases import Case, Place, read_page, sentence


@dataclass(frozen=True, slots=True)
class Tally:
    """How many claims of a kind were put to the gate, and which it let through."""

    n: int
    passed: tuple[Case, ...]
    refused: tuple[tuple[Case, str], ...]


def run(cases: Iterable[Case], *, closeness: Closeness | None = None) -> dict[str, Tally]:
    """Put each claim to the gate alone."""
    by_kind: dict[str, list[tuple[Case, str | None]]] = {}
    for case in cases:
        draft = Draft((case.claim,), "fr", 1.0)
        result = verify(draft, case.passages, question=case.question, closeness=closeness)
        reason = result.rejected[0].reason if result.rejected else None
        by_kind.setdefault(case.kind, []).append((case, reason))
    return {
        kind: Tally(
            len(verdicts),
            tuple(case for case, reason in verdicts if reason is None),
            tuple((case, reason) for case, reason in verdicts if reason is not None),
        )
        for kind, verdicts in by_kind.items()
    }


def hand_cases(
    kind: str, pairs: Sequence[tuple[str, str]], places: Sequence[Place]
) -> Iterator[Case]:
    """Find the sentence of each pair in the handbooks."""
    for beginning, text in pairs:
        place = next((p for p in places if p.text.startswith(beginning)), None)
        if place is not None:
            yield Case(kind, sentence(place, text), (place.passage,))


def free_hand_cases(corpora: Path, claims: Iterable[tuple[str, str, str, str]]) -> Iterator[Case]:
    """Find the sentence of each (kind, page, beginning, claim) on its page."""
    pages: dict[str, list[Place]] = {}
    for kind, page, beginning, text in claims:
        if page not in pages:
            pages[page] = read_page(corpora, page)
        place = next(place for place in pages[page] if place.text.startswith(beginning))
        yield Case(kind, sentence(place, text), (place.passage,))


def share(tallies: Mapping[str, Tally], *, passed: bool) -> float:
    """Return the share of all claims that passed, or that did not."""
    total = sum(tally.n for tally in tallies.values())
    return sum(len(t.passed if passed else t.refused) for t in tallies.values()) / total
