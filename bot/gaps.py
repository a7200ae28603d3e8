"""Groups questions that ask the same thing: what the handbook lacks, without saying who asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingest import Vector, analyze_query, fold

CLOSE = 0.94
"""Cosine from which two questions count as the same, encoded as passages by the bundled encoder.
Of 12 pairs written to mean the same it finds 8, and takes 5 of 10,272 pairs of different questions
of the shared sets for the same; rather two groups of one gap than one group of two."""

SHARED_STEMS = 0.6
"""Share of the stems of two questions that both must have, where there is no encoder."""

Encode = Callable[[Sequence[str]], Vector | None]
"""Encodes texts as unit vectors, one per row; None where no encoder takes part."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions that ask the same thing.

    Attributes:
        question: The wording asked most often, as it was asked.
        count: How often it was asked, in whatever words.
    """

    question: str
    count: int


def group_alike(questions: Sequence[str], encode: Encode) -> tuple[Gap, ...]:
    """Group questions by likeness, the largest group first. The same input gives the same groups.

    The wordings asked most often each gather what is close to them; ties by alphabet.
    """
    wordings: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for question in questions:
        folded = " ".join(fold(question).split())
        if folded:
            wordings.setdefault(folded, question)
            counts[folded] += 1
    ordered = sorted(counts, key=lambda folded: (-counts[folded], folded))
    likeness = _likeness([wordings[folded] for folded in ordered], encode)
    leaders: list[int] = []
    sizes: dict[int, int] = {}
    for index, folded in enumerate(ordered):
        near = max(leaders, key=lambda leader: likeness(leader, index), default=None)
        if near is None or likeness(near, index) < 1.0:
            near = index
            leaders.append(index)
        sizes[near] = sizes.get(near, 0) + counts[folded]
    gaps = [Gap(wordings[ordered[leader]], sizes[leader]) for leader in leaders]
    return tuple(sorted(gaps, key=lambda gap: (-gap.count, fold(gap.question), gap.question)))


def _likeness(questions: Sequence[str], encode: Encode) -> Callable[[int, int], float]:
    """Return how alike two of these questions are; from 1 on they count as the same."""
    vectors = encode(questions) if questions else None
    if vectors is not None:
        close = vectors @ vectors.T / CLOSE
        return lambda one, other: float(close[one, other])
    stems = [_stems(question) for question in questions]

    def shared(one: int, other: int) -> float:
        union = stems[one] | stems[other]
        return len(stems[one] & stems[other]) / len(union) / SHARED_STEMS if union else 0.0

    return shared


def _stems(question: str) -> frozenset[str]:
    return frozenset(word.stems[0] for word in analyze_query(question).words if word.stems)
