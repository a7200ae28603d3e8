"""Merges the rankings of several retrievers into one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LEXICAL_WEIGHT = 0.15
"""Worth of a perfect keyword match, in units of cosine. Measured in docs/quality.md."""


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], *, k: int = 60
) -> list[tuple[str, float]]:
    """Merge several rankings of chunk ids into one.

    Args:
        rankings: One per retriever, best first, ids unique within each; any of them may be empty.
        k: Damping constant, unitless, >= 0. Ranks start at 1.

    Returns:
        (chunk_id, score), best first; score in (0, len(rankings) / (k + 1)]; ties by chunk_id.

    Raises:
        ValueError: If k is negative.

    Source: Cormack, Clarke & Büttcher, SIGIR 2009 (k = 60).
    """
    if k < 0:
        raise ValueError(f"k must be >= 0, not {k}")
    parts: dict[str, list[float]] = {}
    for ranking in rankings:
        for rank, chunk_id in enumerate(ranking, start=1):
            parts.setdefault(chunk_id, []).append(1.0 / (k + rank))
    # Summed in a fixed order, so that the order of the rankings changes no bit of a score.
    return _best_first({chunk_id: sum(sorted(scores)) for chunk_id, scores in parts.items()})


def score_fusion(
    cosines: Mapping[str, float],
    lexical_shares: Mapping[str, float],
    *,
    lexical_weight: float = LEXICAL_WEIGHT,
) -> list[tuple[str, float]]:
    """Merge cosines with keyword scores that are bounded by what the question could reach.

    Unlike ranks, the two scores keep their certainty: an exact match of rare words counts more
    than a best match of common ones.

    Args:
        cosines: Of each chunk with the question, in [-1, 1]; every candidate should have one.
        lexical_shares: BM25 of each matching chunk divided by the best score the words of the
            question could give, see `Query.ideal_bm25`; capped at 1 here.
        lexical_weight: Worth of a share of 1, in units of cosine.

    Returns:
        (chunk_id, score), best first; ties by chunk_id. A candidate without a cosine counts 0.
    """
    scores = {
        chunk_id: cosines.get(chunk_id, 0.0)
        + lexical_weight * min(1.0, lexical_shares.get(chunk_id, 0.0))
        for chunk_id in cosines.keys() | lexical_shares.keys()
    }
    return _best_first(scores)


def _best_first(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
