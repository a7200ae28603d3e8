"""Keeps one page from taking all the places in front. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bot.records import Passage

MAX_PER_PAGE = 3


def spread(passages: Sequence[Passage], *, per_page: int = MAX_PER_PAGE) -> list[Passage]:
    """Put what one page has past its best passages behind all others, ranks renewed.

    Args:
        passages: Best first.
        per_page: Passages of one page that keep their place.
    """
    seen: Counter[tuple[str, str]] = Counter()
    front: list[Passage] = []
    behind: list[Passage] = []
    for passage in passages:
        page = (passage.chunk.source, passage.chunk.page)
        seen[page] += 1
        (front if seen[page] <= per_page else behind).append(passage)
    return [replace(p, rank=rank) for rank, p in enumerate((*front, *behind), start=1)]
