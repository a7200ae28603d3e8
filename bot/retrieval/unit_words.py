"""Which words of a chunk's embedding text belong to each of its units. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ingest import StoredChunk, UnitKind

WordRange = tuple[int, int]
"""Positions in `embedding_text.split()`, the end excluded."""


def unit_words(chunk: StoredChunk) -> list[list[WordRange]]:
    """Return where each unit stands in the embedding text, its own words first.

    With it come the words it is read with: title and heading path, the nearest heading inside the
    chunk, and the lead-in of its list or the header row of its table. A heading stands alone.
    """
    above = _count(" > ".join((chunk.title, *chunk.heading_path)))
    before = above + _count(chunk.context)
    nearest: WordRange | None = None
    ranges: list[list[WordRange]] = []
    for unit in chunk.units:
        start = before + _count(chunk.text[: unit.start])
        own = (start, start + _count(chunk.text[unit.start : unit.end]))
        if unit.kind is UnitKind.HEADING:
            nearest = own
            ranges.append([own])
            continue
        read = [own, (0, above)]
        if nearest is not None:
            read.append(nearest)
        lead_in = _lead_in(chunk, unit.context, above, before)
        if lead_in is not None:
            read.append(lead_in)
        ranges.append(read)
    return ranges


def within(words: NDArray[np.uint16], ranges: list[WordRange]) -> NDArray[np.bool_]:
    """Tell which tokens, given the word of each, lie in one of the ranges."""
    inside = np.zeros(len(words), dtype=bool)
    for start, end in ranges:
        inside |= (words >= start) & (words < end)
    return inside


def _lead_in(chunk: StoredChunk, context: str, above: int, before: int) -> WordRange | None:
    if not context:
        return None
    position = chunk.text.find(context)
    if position >= 0:
        start = before + _count(chunk.text[:position])
        return start, start + _count(context)
    return (above, before) if context in chunk.context else None


def _count(text: str) -> int:
    return len(text.split())
