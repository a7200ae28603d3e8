"""Cuts texts into batches of like length: the less padding, the faster. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def length_batches(
    lengths: Sequence[int], *, max_tokens: int, max_texts: int
) -> Iterator[list[int]]:
    """Group positions so that each batch, padded to its longest text, is bounded.

    Args:
        lengths: Tokens (or any unit of length) of each text.
        max_tokens: Most tokens of a padded batch; a longer text is a batch of its own.
        max_texts: Most texts in a batch.

    Yields:
        Positions in `lengths`, each once; longest texts first, so that the largest need of memory
        shows at once.
    """
    batch: list[int] = []
    for position in sorted(
        range(len(lengths)), key=lambda position: (-lengths[position], position)
    ):
        longest = lengths[batch[0]] if batch else 0
        if batch and (len(batch) == max_texts or longest * (len(batch) + 1) > max_tokens):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
