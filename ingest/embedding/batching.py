"""Cuts texts into batches of like length: the less padding, the faster. Pure."""

from __future__ import annotations

from collections.abc import Sequence

FEWEST = 1_000_000
"""A `batch_cost` that no padding is worth: as few batches as there can be."""


def length_batches(
    lengths: Sequence[int], *, max_tokens: int, max_texts: int, batch_cost: int = FEWEST
) -> list[list[int]]:
    """Group positions so that each batch, padded to its longest text, is bounded.

    Args:
        lengths: Tokens (or any unit of length) of each text.
        max_tokens: Most tokens of a padded batch; a longer text is a batch of its own.
        max_texts: Most texts in a batch.
        batch_cost: What a batch costs beside its padded tokens, in tokens.

    Returns:
        Positions in `lengths`, each once, at the least cost of all batches together; longest texts
        first, so that the largest need of memory shows at once.
    """
    order = sorted(range(len(lengths)), key=lambda position: (-lengths[position], position))
    # cheapest[end]: cost of the first `end` texts of that order, and where their last batch starts.
    cheapest: list[tuple[int, int]] = [(0, 0)]
    for end in range(1, len(order) + 1):
        options = []
        for start in range(end - 1, max(-1, end - 1 - max_texts), -1):
            padded = lengths[order[start]] * (end - start)
            if padded > max_tokens and end - start > 1:
                break  # texts before it are longer still
            options.append((cheapest[start][0] + padded + batch_cost, start))
        cheapest.append(min(options))
    batches: list[list[int]] = []
    end = len(order)
    while end:
        start = cheapest[end][1]
        batches.append(order[start:end])
        end = start
    return batches[::-1]
