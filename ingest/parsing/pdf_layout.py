"""Finds running titles, columns and tables in the laid-out lines of a PDF. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

_EDGE_LINES: Final = 2
"""Lines at the top and at the bottom of a page that may be running titles."""
_REPEATED_SHARE: Final = 0.5
"""A line at the edge of this share of the pages is a running title."""
_MIN_REPEATED: Final = 2
_DIGITS: Final = re.compile(r"\d+")
_PAGE_NUMBER: Final = re.compile(
    r"\W*(?:page\W*)?\d{1,4}(?:\s*(?:/|sur|of|de)\s*\d{1,4})?\W*", re.I
)
_SENTENCE_END: Final = (".", "!", "?", ":", ";")

_GAP: Final = re.compile(r" {3,}")
_AFTER_BULLET: Final = re.compile(r"^(\s*(?:[-•*–]|\d{1,3}[.)]))\s+")
_MIN_COLUMN_LINES: Final = 8
_COLUMN_SHARE: Final = 0.5
"""Share of a page's lines that break at the same place in a page of two columns."""
_MIN_COLUMN_CHARS: Final = 25
"""Shorter lines side by side are the cells of a table."""
_NEAR: Final = 2
_MIN_TABLE_ROWS: Final = 2


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first row is taken as the header."""

    rows: tuple[tuple[str, ...], ...]


def clean_pages(pages: Sequence[str]) -> list[str]:
    """Return the pages without running titles and page numbers, columns one after the other."""
    split = [_trim([line.rstrip() for line in page.split("\n")]) for page in pages]
    counts = Counter(
        key for lines in split for key in {_running_key(line) for line in _edges(lines)}
    )
    limit = max(_MIN_REPEATED, _REPEATED_SHARE * len(split))
    running = {key for key, count in counts.items() if count >= limit}
    return ["\n".join(_unfold_columns(_trim(_without_edges(lines, running)))) for lines in split]


def _trim(lines: list[str]) -> list[str]:
    filled = [index for index, line in enumerate(lines) if line.strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _edges(lines: Sequence[str]) -> list[str]:
    filled = [line for line in lines if line.strip()]
    return [*filled[:_EDGE_LINES], *filled[-_EDGE_LINES:]]


def _running_key(line: str) -> str:
    return _DIGITS.sub("#", " ".join(line.split()).casefold())


def _without_edges(lines: list[str], running: set[str]) -> list[str]:
    kept = list(lines)
    for position in (0, -1):
        for _ in range(_EDGE_LINES):
            kept = _trim(kept)
            if kept and (
                _running_key(kept[position]) in running or _PAGE_NUMBER.fullmatch(kept[position])
            ):
                kept.pop(position)
    return kept


# --- columns -------------------------------------------------------------------------------------


def _unfold_columns(lines: list[str]) -> list[str]:
    """Put the right column of a page of two below the left one."""
    gutter = _gutter(lines)
    if gutter is None:
        return lines
    unfolded: list[str] = []
    left: list[str] = []
    right: list[str] = []
    for line in lines:
        if line[max(gutter - 2, 0) : gutter].strip():
            unfolded += [*_trim(left), "", *_trim(right), "", line]
            left, right = [], []
        else:
            left.append(line[:gutter].rstrip())
            right.append(line[gutter:].rstrip())
    return [*unfolded, *_trim(left), "", *_trim(right)]


def _gutter(lines: Sequence[str]) -> int | None:
    """Return where the right column starts, None on a page of one column."""
    filled = [line for line in lines if line.strip()]
    starts = Counter(gap.end() for line in filled for gap in _GAP.finditer(line) if gap.start())
    if not starts:
        return None
    position, _ = starts.most_common(1)[0]
    split = [line for line in filled if not line[position - 2 : position].strip()]
    both = [line for line in split if line[:position].strip() and line[position:].strip()]
    if len(both) < max(_MIN_COLUMN_LINES, _COLUMN_SHARE * len(filled)):
        return None
    widths = (
        mean(len(line[:position].strip()) for line in both),
        mean(len(line[position:].strip()) for line in both),
    )
    return position if min(widths) >= _MIN_COLUMN_CHARS else None


# --- tables --------------------------------------------------------------------------------------


def layout_blocks(lines: Sequence[str]) -> Iterator[Table | list[str]]:
    """Yield tables, and the lines between them in one list, blank lines included."""
    pending: list[str] = []
    index = 0
    while index < len(lines):
        rows, used = _table_at(lines, index)
        if rows:
            yield pending
            yield Table(tuple(rows))
            pending = []
            index += used
        else:
            pending.append(lines[index])
            index += 1
    yield pending


def _table_at(lines: Sequence[str], index: int) -> tuple[list[tuple[str, ...]], int]:
    """Read the table that starts at a line; no rows when none does."""
    columns = [start for start, _ in _cells(lines[index])]
    if len(columns) < _MIN_TABLE_ROWS:
        return [], 0
    rows: list[list[str]] = []
    used = blanks = 0
    for line in lines[index:]:
        cells = _cells(line)
        if not cells:
            blanks += 1
            if blanks > 1:
                break
            used += 1
            continue
        placed = _place(cells, columns)
        if placed is None or (len(cells) == 1 and not (rows and not placed[0])):
            break
        if rows and not placed[0]:
            rows[-1] = [
                f"{above} {cell}".strip() for above, cell in zip(rows[-1], placed, strict=True)
            ]
        else:
            rows.append(placed)
        used += 1
        blanks = 0
    return ([tuple(row) for row in rows], used) if len(rows) >= _MIN_TABLE_ROWS else ([], 0)


def _cells(line: str) -> list[tuple[int, str]]:
    """Return the cells of a line with the column where each starts."""
    line = _AFTER_BULLET.sub(r"\1 ", line)
    cells = []
    position = 0
    for gap in [*_GAP.finditer(line), None]:
        end = len(line) if gap is None else gap.start()
        if line[position:end].strip():
            indent = len(line[position:end]) - len(line[position:end].lstrip())
            cells.append((position + indent, line[position:end].strip()))
        position = len(line) if gap is None else gap.end()
    return cells


def _place(cells: Sequence[tuple[int, str]], columns: Sequence[int]) -> list[str] | None:
    """Put cells in the columns they start at, None when one fits none."""
    placed = [""] * len(columns)
    for start, text in cells:
        nearest = min(range(len(columns)), key=lambda column: abs(columns[column] - start))
        if abs(columns[nearest] - start) > _NEAR or placed[nearest]:
            return None
        placed[nearest] = text
    return placed
