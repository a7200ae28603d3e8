"""Reads an HTML table as rows of plain cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lxml.html import HtmlElement

from ingest.parsing.elements import HEADINGS, flat_text, is_all_bold, tag_of

_MAX_SPAN: Final = 100
"""A larger rowspan or colspan is a slip."""
_MAX_REPEATED_CHARS: Final = 200
"""A longer cell is not repeated in the rows it spans."""
_MIN_FIGURE_ROWS: Final = 3
_FIGURE: Final = re.compile(r"^\W*\d")
_LAYOUT: Final = ("table", "pre", *HEADINGS)
_NAMES_COLUMNS: Final = ("th", "thead")

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, cells that span several rows or columns repeated in each.

    Attributes:
        caption: "" when it has none.
        header: Its header rows.
        rows: The others. A row of one cell across the table has one cell here.
    """

    caption: str
    header: tuple[Row, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    columns: int
    rows: int


def is_layout(table: HtmlElement) -> bool:
    """Tell whether a table only places things: it holds headings, or has one column.

    A heading in a header cell is but the look of the column's name.
    """
    for element in table.iter(*_LAYOUT):
        if element is not table and not (
            element.tag in HEADINGS
            and next(element.iterancestors(*_NAMES_COLUMNS), None) is not None
        ):
            return True
    return all(len(_cells(row)) <= 1 for row in _rows(table))


def read_table(table: HtmlElement) -> Table:
    """Read a table that is not for layout."""
    caption = table.find("caption")
    elements = list(_rows(table))
    rows = _expand([[_cell(cell) for cell in _cells(row)] for row in elements])
    count = _header_rows(elements) or int(_is_above_figures(rows))
    if count == len(rows):
        count = 0
    return Table(
        "" if caption is None else flat_text(caption), tuple(rows[:count]), tuple(rows[count:])
    )


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for child in table:
        if tag_of(child) == "tr":
            yield child
        elif tag_of(child) in {"thead", "tbody", "tfoot"}:
            yield from (row for row in child if tag_of(row) == "tr")


def _cells(row: HtmlElement) -> list[HtmlElement]:
    return [cell for cell in row if tag_of(cell) in {"td", "th"}]


def _cell(element: HtmlElement) -> _Cell:
    return _Cell(
        flat_text(element),
        _span(element.get("colspan")),
        _span(element.get("rowspan")),
    )


def _span(value: str | None) -> int:
    digits = (value or "").strip()
    return min(max(int(digits), 1), _MAX_SPAN) if digits.isascii() and digits.isdigit() else 1


def _header_rows(elements: list[HtmlElement]) -> int:
    """Count the rows of the header: in <thead>, or the first ones made of <th> or of bold text."""
    count = 0
    for row in elements:
        cells = [cell for cell in _cells(row) if flat_text(cell)]
        in_head = row.getparent().tag == "thead"
        if in_head or (cells and all(cell.tag == "th" for cell in cells)):
            count += 1
        else:
            break
    if count == 0 and elements:
        cells = [cell for cell in _cells(elements[0]) if flat_text(cell)]
        count = int(len(cells) > 1 and all(_is_bold(cell) for cell in cells))
    return count


def _is_above_figures(rows: list[Row]) -> bool:
    """Tell whether the first row names columns: words over a column of figures."""
    if len(rows) < _MIN_FIGURE_ROWS:
        return False
    first, *others = rows
    if any(_FIGURE.search(cell) for cell in first) or len([cell for cell in first if cell]) < 1:
        return False
    return any(
        sum(_FIGURE.search(row[column]) is not None for row in others if column < len(row))
        > len(others) / 2
        for column, name in enumerate(first)
        if name
    )


def _is_bold(cell: HtmlElement) -> bool:
    blocks = [child for child in cell if tag_of(child) in {"p", "div"}]
    return is_all_bold(blocks[0]) if len(blocks) == 1 and len(cell) == 1 else is_all_bold(cell)


def _expand(rows: list[list[_Cell]]) -> list[Row]:
    width = max((sum(cell.columns for cell in row) for row in rows), default=0)
    expanded: list[Row] = []
    pending: dict[int, tuple[int, str]] = {}  # column -> rows still spanned, text
    for row in rows:
        if len(row) == 1 and row[0].columns >= width > 1 and not pending:
            expanded.append((row[0].text,))
            continue
        cells: list[str] = []
        for cell in row:
            _fill(cells, pending)
            repeated = cell.text if len(cell.text) <= _MAX_REPEATED_CHARS else ""
            for offset in range(cell.columns):
                if cell.rows > 1:
                    pending[len(cells)] = (cell.rows - 1, repeated)
                cells.append(repeated if offset else cell.text)
        _fill(cells, pending)
        expanded.append(tuple(cells))
    return expanded


def _fill(cells: list[str], pending: dict[int, tuple[int, str]]) -> None:
    """Add the cells that earlier rows stretch down to the next columns."""
    while (column := len(cells)) in pending:
        left, text = pending.pop(column)
        if left > 1:
            pending[column] = (left - 1, text)
        cells.append(text)
