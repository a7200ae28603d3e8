"""Parses spreadsheets: openpyxl reads them, their sheets are written as an HTML tree."""

from __future__ import annotations

import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import openpyxl
from lxml import etree
from lxml.html import HtmlElement
from lxml.html.builder import E
from openpyxl.utils import range_boundaries
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.workbook import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from ingest.errors import PageParseError
from ingest.parsing.cell_values import shown
from ingest.parsing.decoding import clean
from ingest.parsing.front_matter import Metadata
from ingest.parsing.office import ARCHIVE_DAMAGE, check_package, core_metadata, element_of
from ingest.parsing.page_text import PageText
from ingest.parsing.tree import write_tree
from ingest.records import ParsedPage, RawPage

_MAX_CELLS: Final = 200_000
"""More is data rather than a page of a handbook; read, it would take hundreds of megabytes."""
_NAMESPACE: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CORE_PROPERTIES: Final = "docProps/core.xml"
_DEFAULT_NAME: Final = re.compile(r"(?:sheet|feuil|feuille|tabelle|hoja) ?\d*", re.I)
_MAX_REPEATED_CHARS: Final = 200
_MIN_HEADER_CELLS: Final = 2
_MIN_TOLD_COLUMNS: Final = 3
_MIN_TOLD_ROWS: Final = 3
"""A table this wide and long begins with a header if its first row is words, all different."""

# What openpyxl raises, besides its own errors, on files that break the rules of the format.
_DAMAGE: Final = (
    *ARCHIVE_DAMAGE, InvalidFileException, etree.LxmlError, SyntaxError, KeyError,
    TypeError, AttributeError, IndexError,
)  # fmt: skip


def parse_xlsx(raw: RawPage) -> ParsedPage:
    """Parse a spreadsheet: each sheet is a section, rows that stand together are a table.

    Formulas give the value that was computed when the file was saved. Hidden sheets and columns
    are left out, and hidden rows too unless a filter hides them.

    Raises:
        PageParseError: If it is encrypted, damaged or unreasonably large.
    """
    page = PageText()
    try:
        check_package(raw.content, old_suffix=".xls", suffix=".xlsx")
        _check_cells(raw.content)
        with warnings.catch_warnings(action="ignore"):  # of what it does not keep when saving
            workbook = openpyxl.load_workbook(io.BytesIO(raw.content), data_only=True)
        write_tree(_convert(workbook), page)
        return page.parsed("", _metadata(workbook, raw.content))
    except _DAMAGE as error:
        raise PageParseError(f"not readable as a spreadsheet: {error}") from error


def _metadata(workbook: Workbook, content: bytes) -> Metadata:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if _CORE_PROPERTIES not in archive.namelist():
            return {}  # openpyxl would make up properties, dated today
    properties = workbook.properties
    return core_metadata(properties.modified, properties.language)


def _check_cells(content: bytes) -> None:
    """Refuse more cells than a page has, merged ones included: openpyxl makes one object of each.

    Raises:
        PageParseError: With the reason.
    """
    count = 0
    tags = (f"{_NAMESPACE}c", f"{_NAMESPACE}mergeCell", f"{_NAMESPACE}row")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            # Whatever its name: relations say which parts are sheets; others have no cells.
            with archive.open(member) as file, suppress(etree.XMLSyntaxError):
                for _, element in etree.iterparse(file, tag=tags, resolve_entities=False):
                    count += _cells_of(element)
                    if count > _MAX_CELLS:
                        raise PageParseError(f"more than {_MAX_CELLS} cells: data, not a page")
                    element.clear()


def _cells_of(element: Any) -> int:
    if not element.tag.endswith("mergeCell"):
        return int(element.tag == f"{_NAMESPACE}c")
    left, top, right, bottom = range_boundaries(element.get("ref", "A1"))
    return (int(right or 1) - int(left or 1) + 1) * (int(bottom or 1) - int(top or 1) + 1)


def _convert(workbook: Workbook) -> HtmlElement:
    body: HtmlElement = E.body()
    sheets = [(sheet.title, _blocks(sheet)) for sheet in workbook.worksheets if _is_shown(sheet)]
    filled = [(title, blocks) for title, blocks in sheets if blocks]
    for title, blocks in filled:
        if len(filled) > 1 or not _DEFAULT_NAME.fullmatch(title):
            body.append(element_of("h2", title))
        for block in blocks:
            for element in block.elements():
                body.append(element)
    return body


def _is_shown(sheet: Worksheet) -> bool:
    return sheet.sheet_state == "visible"


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell with something in it.

    Attributes:
        text: As it is shown; several lines where it was typed so.
        bold: Whether it is.
        words: Whether it is text, not a number or a date.
        columns: How many columns it spans.
    """

    text: str
    bold: bool
    words: bool
    columns: int = 1


Row = dict[int, _Cell]  # by column, from 1


class _Block:
    """Rows without an empty one between them."""

    def __init__(self, rows: dict[int, Row], header_rows: frozenset[int]) -> None:
        """Take rows by number; some are known to be headers."""
        numbers = sorted(rows)
        self.columns = sorted({column for row in rows.values() for column in row})
        leading = 0
        if len(self.columns) > 1:  # titles and remarks above the table
            while leading < len(numbers) and len(rows[numbers[leading]]) == 1:
                leading += 1
        else:
            leading = len(numbers)
        self.lines = [cell for number in numbers[:leading] for cell in rows[number].values()]
        self.rows = [rows[number] for number in numbers[leading:]]
        self.has_header = bool(self.rows) and (
            numbers[leading] in header_rows or self._begins_with_header()
        )

    def continues(self, above: _Block) -> bool:
        """Tell whether it is the rest of the table above, after an empty row."""
        return (
            not self.lines
            and not self.has_header
            and len(self.columns) > 1
            and bool(above.rows)
            and set(self.columns) <= set(above.columns)
        )

    def elements(self) -> Iterator[HtmlElement]:
        """Yield paragraphs, then the table."""
        for line in self.lines:
            yield element_of("p", line.text, bold=line.bold)
        if self.rows:
            table: HtmlElement = E.table()
            for index, row in enumerate(self.rows):
                table.append(self._row(row, "th" if index == 0 and self.has_header else "td"))
            yield table

    def _row(self, row: Row, tag: str) -> HtmlElement:
        written: HtmlElement = E.tr()
        if len(row) == 1 and self.columns[0] in row:  # the title of the rows below
            element = element_of(tag, row[self.columns[0]].text)
            element.set("colspan", str(len(self.columns)))
            written.append(element)
            return written
        covered = 0
        for column in self.columns:
            if column <= covered:
                continue
            cell = row.get(column)
            element = element_of(tag, cell.text if cell else "")
            if cell is not None:
                covered = column + cell.columns - 1
                element.set("colspan", str(sum(column <= c <= covered for c in self.columns)))
            written.append(element)
        return written

    def _begins_with_header(self) -> bool:
        cells = list(self.rows[0].values())
        if len(cells) < _MIN_HEADER_CELLS or not all(cell.words for cell in cells):
            return False
        if all(cell.bold for cell in cells):
            return not all(cell.bold for row in self.rows[1:] for cell in row.values())
        names = {cell.text.casefold() for cell in cells}
        return (
            len(self.rows) >= _MIN_TOLD_ROWS
            and len(self.columns) >= _MIN_TOLD_COLUMNS
            and len(names) == len(self.columns)
        )


def _blocks(sheet: Worksheet) -> list[_Block]:
    rows = _rows(sheet)
    headers = _header_rows(sheet)
    blocks: list[_Block] = []
    group: dict[int, Row] = {}
    parents: list[dict[int, Row]] = []
    for number in sorted(rows):
        if group and number > max(group) + 1:
            _add(group, headers, blocks, parents)
            group = {}
        group[number] = rows[number]
    if group:
        _add(group, headers, blocks, parents)
    return blocks


def _add(
    group: dict[int, Row],
    headers: frozenset[int],
    blocks: list[_Block],
    groups: list[dict[int, Row]],
) -> None:
    block = _Block(group, headers)
    if blocks and block.continues(blocks[-1]):
        group = {**groups.pop(), **group}
        blocks[-1] = _Block(group, headers)
    else:
        blocks.append(block)
    groups.append(group)


def _rows(sheet: Worksheet) -> dict[int, Row]:
    """Return what is shown, by row and column; a sheet may claim a million empty rows."""
    filtered = bool(sheet.auto_filter.ref)
    hidden = _hidden_columns(sheet)
    widths = {
        (area.min_row, area.min_col): area.max_col - area.min_col + 1
        for area in sheet.merged_cells.ranges
    }
    rows: dict[int, Row] = {}
    for (number, column), cell in sheet._cells.items():
        if column in hidden or (sheet.row_dimensions[number].hidden and not filtered):
            continue
        if cell.value is None or cell.data_type == "e":
            continue
        text = clean(shown(cell.value, cell.number_format)).strip()
        if text:
            rows.setdefault(number, {})[column] = _Cell(
                text,
                bold=bool(cell.font.b),
                words=cell.data_type == "s",
                columns=widths.get((number, column), 1),
            )
    _stretch(sheet, rows)
    return rows


def _stretch(sheet: Worksheet, rows: dict[int, Row]) -> None:
    """Repeat a cell that spans several rows in each of them, unless it is long."""
    for area in sheet.merged_cells.ranges:
        cell = rows.get(area.min_row, {}).get(area.min_col)
        if cell is None or len(cell.text) > _MAX_REPEATED_CHARS:
            continue
        for number in range(area.min_row + 1, area.max_row + 1):
            if number in rows:
                rows[number][area.min_col] = cell


def _hidden_columns(sheet: Worksheet) -> frozenset[int]:
    return frozenset(
        column
        for dimension in sheet.column_dimensions.values()
        if dimension.hidden and dimension.min
        for column in range(dimension.min, (dimension.max or dimension.min) + 1)
    )


def _header_rows(sheet: Worksheet) -> frozenset[int]:
    """Return the rows that the sheet itself treats as headers: of tables, filters, frozen ones."""
    areas: Sequence[Any] = [table.ref for table in sheet.tables.values() if table.headerRowCount]
    if sheet.auto_filter.ref:
        areas = [*areas, sheet.auto_filter.ref]
    rows = {int(range_boundaries(area)[1] or 0) for area in areas}
    if sheet.freeze_panes:
        rows.add(int(range_boundaries(str(sheet.freeze_panes))[1] or 0) - 1)
    return frozenset(rows)
