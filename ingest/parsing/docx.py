"""Parses Word documents: python-docx reads them, their structure is written as an HTML tree."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, Final

import docx
from docx.document import Document
from docx.exceptions import PythonDocxError
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from lxml.etree import LxmlError
from lxml.html import HtmlElement
from lxml.html.builder import E

from ingest.errors import PageParseError
from ingest.parsing.decoding import clean
from ingest.parsing.front_matter import Metadata
from ingest.parsing.office import (
    ARCHIVE_DAMAGE,
    NestedLists,
    check_package,
    core_metadata,
    element_of,
)
from ingest.parsing.page_text import PageText
from ingest.parsing.tree import write_tree
from ingest.records import ParsedPage, RawPage

_HEADING_STYLE: Final = re.compile(r"(?:heading|titre) (\d)", re.I)
_TITLE_STYLES: Final = frozenset({"title", "titre"})
_CONTENTS_STYLE: Final = re.compile(r"(?:toc|tm|table des matières)\b", re.I)
_LIST_STYLE: Final = re.compile(r"list (bullet|number)(?: (\d))?", re.I)
_DEEPEST_HEADING: Final = 6
_FIRST_ROW: Final = 0x0020
"""The bit of `w:tblLook` that older versions of Word write (ECMA-376, 17.4.56)."""
_CHARACTERS: Final = {
    qn("w:tab"): " ",
    qn("w:br"): "\n",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
}
_NOT_TEXT: Final = {
    qn("w:pPr"),
    qn("w:del"),
    qn("w:moveFrom"),
    # The same text box again, for old versions of Word.
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}


# What python-docx raises, besides its own errors, on files that break the rules of the format.
_DAMAGE: Final = (
    *ARCHIVE_DAMAGE, OpcError, PythonDocxError, LxmlError, KeyError, TypeError,
    AttributeError, IndexError,
)  # fmt: skip


def parse_docx(raw: RawPage) -> ParsedPage:
    """Parse a Word document.

    Raises:
        PageParseError: If it is encrypted, damaged or unreasonably large.
    """
    page = PageText()
    try:
        check_package(raw.content, old_suffix=".doc", suffix=".docx")
        document = docx.Document(io.BytesIO(raw.content))
        write_tree(_Converter(document).convert(), page)
        return page.parsed(page.first_heading() or "", _metadata(document))
    except _DAMAGE as error:
        raise PageParseError(f"not readable as a Word document: {error}") from error


def _metadata(document: Document) -> Metadata:
    try:
        document.part.package.part_related_by(RELATIONSHIP_TYPE.CORE_PROPERTIES)
    except KeyError:  # python-docx would make up properties, dated today
        return {}
    properties = document.core_properties
    return core_metadata(properties.modified, properties.language)


class _Converter:
    """Writes a document as <body> with headings, paragraphs, nested lists and tables."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._numbering = _list_formats(document)
        self._target: HtmlElement = E.body()
        self._lists = NestedLists(self._target)

    def convert(self) -> HtmlElement:
        body = self._target
        self._write(self._document.element.body, body)
        return body

    def _write(self, container: Any, target: HtmlElement) -> None:
        outer = self._target, self._lists
        self._target, self._lists = target, NestedLists(target)
        for element in _content(container):
            if element.tag == qn("w:p"):
                self._paragraph(Paragraph(element, self._document._body))
            else:
                self._lists.close()
                target.append(self._table(element))
        self._target, self._lists = outer

    def _paragraph(self, paragraph: Paragraph) -> None:
        text = clean(_text(paragraph._p)).strip()
        style = (paragraph.style.name or "") if paragraph.style is not None else ""
        if not text or _CONTENTS_STYLE.match(style):
            return
        level = _heading_level(paragraph, style)
        if level:
            self._lists.close()
            self._target.append(element_of(f"h{level}", text))
            return
        position = self._list_position(paragraph, style)
        if position is None:
            self._lists.close()
            self._target.append(element_of("p", text, bold=_is_bold(paragraph)))
        else:
            depth, ordered = position
            self._lists.item(text, depth, ordered=ordered)

    def _list_position(self, paragraph: Paragraph, style: str) -> tuple[int, bool] | None:
        """Return depth (from 0) and whether it is numbered, or None outside lists."""
        # "List Bullet 2" is a list of its own to Word, one level in to a reader.
        named = _LIST_STYLE.match(style)
        style_depth = int(named[2] or 1) - 1 if named else 0
        properties = paragraph._p.pPr
        numbering: Any = None if properties is None else properties.numPr
        if numbering is None and paragraph.style is not None:
            own = paragraph.style.element.pPr
            numbering = None if own is None else own.numPr
        if numbering is not None and numbering.numId is not None:
            depth = numbering.ilvl.val if numbering.ilvl is not None else 0
            number = numbering.numId.val
            if number == 0:
                return None
            ordered = self._numbering.get((number, depth), "bullet") not in {"bullet", "none"}
            return max(depth, style_depth), ordered
        return (style_depth, named[1].lower() == "number") if named else None

    def _table(self, table: Any) -> HtmlElement:
        rows = E.table()
        titled = _has_title_row(table, self._document)
        spans: dict[int, HtmlElement] = {}  # column -> the cell that stretches down to here
        for index, row in enumerate(_rows(table)):
            written = E.tr()
            tag = "th" if _is_header(row) or (titled and index == 0) else "td"
            column = 0
            for cell in row.iterchildren(qn("w:tc")):
                width = _grid_span(cell)
                if _continues_above(cell) and column in spans:
                    above = spans[column]
                    above.set("rowspan", str(int(above.get("rowspan", "1")) + 1))
                else:
                    converted = E(tag)
                    if width > 1:
                        converted.set("colspan", str(width))
                    self._write(cell, converted)
                    written.append(converted)
                    spans[column] = converted
                column += width
            rows.append(written)
        return rows


def _content(container: Any) -> Iterator[Any]:
    """Yield paragraphs and tables in order, those in content controls and insertions included."""
    for child in container.iterchildren():
        if child.tag in {qn("w:p"), qn("w:tbl")}:
            yield child
        elif child.tag == qn("w:sdt"):
            if not _is_contents_table(child):
                for content in child.iterchildren(qn("w:sdtContent")):
                    yield from _content(content)
        elif child.tag in {qn("w:ins"), qn("w:customXml"), qn("w:smartTag")}:
            yield from _content(child)


def _rows(table: Any) -> Iterator[Any]:
    for child in table.iterchildren():
        if child.tag == qn("w:tr"):
            yield child
        elif child.tag == qn("w:sdt"):
            for content in child.iterchildren(qn("w:sdtContent")):
                yield from _rows(content)


def _is_contents_table(control: Any) -> bool:
    gallery = control.find(f".//{qn('w:docPartGallery')}")
    return gallery is not None and "contents" in gallery.get(qn("w:val"), "").lower()


def _text(element: Any) -> str:
    """Return a paragraph's text: links, insertions and content controls in, deletions out."""
    parts: list[str] = []
    for child in element.iterchildren():
        tag = child.tag
        if tag == qn("w:t"):
            parts.append(child.text or "")
        elif tag in _CHARACTERS:
            parts.append(_CHARACTERS[tag])
        elif tag not in _NOT_TEXT:
            parts.append(_text(child))
    return "".join(parts)


def _heading_level(paragraph: Paragraph, style: str) -> int:
    """Return 1 to 6, or 0 when it is no heading."""
    if style.lower() in _TITLE_STYLES:
        return 1
    if named := _HEADING_STYLE.match(style):
        return min(int(named[1]) or 1, _DEEPEST_HEADING)
    for holder in (paragraph._p, paragraph.style.element if paragraph.style is not None else None):
        outline = None if holder is None else holder.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
        if outline is not None:
            level = int(outline.get(qn("w:val"), "9"))
            return level + 1 if level < _DEEPEST_HEADING else 0
    return 0


def _is_bold(paragraph: Paragraph) -> bool:
    runs = [run for run in paragraph.runs if run.text.strip()]
    return bool(runs) and all(run.bold for run in runs)


def _list_formats(document: Document) -> dict[tuple[int, int], str]:
    """Return the number format ("bullet", "decimal"…) by numbering id and depth."""
    try:
        numbering = document.part.numbering_part.element
    except (KeyError, NotImplementedError):  # the document has no numbering part
        return {}
    abstract = {
        definition.get(qn("w:abstractNumId")): {
            int(level.get(qn("w:ilvl"), "0")): _value(level.find(qn("w:numFmt")))
            for level in definition.iterchildren(qn("w:lvl"))
        }
        for definition in numbering.iterchildren(qn("w:abstractNum"))
    }
    return {
        (int(instance.get(qn("w:numId"))), depth): number_format
        for instance in numbering.iterchildren(qn("w:num"))
        for depth, number_format in abstract.get(
            _value(instance.find(qn("w:abstractNumId"))), {}
        ).items()
    }


def _value(element: Any) -> str:
    return "" if element is None else element.get(qn("w:val"), "")


def _grid_span(cell: Any) -> int:
    span = _value(cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}"))
    return int(span) if span.isdecimal() and int(span) > 0 else 1


def _continues_above(cell: Any) -> bool:
    merge = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
    return merge is not None and _value(merge) != "restart"


def _is_header(row: Any) -> bool:
    header = row.find(f"{qn('w:trPr')}/{qn('w:tblHeader')}")
    return header is not None and _value(header) not in {"0", "false", "off"}


def _has_title_row(table: Any, document: Document) -> bool:
    """Tell whether the table's style sets its first row apart, and the table lets it.

    Word marks the first row of every new table; only some styles show it.
    """
    properties = table.find(qn("w:tblPr"))
    look = None if properties is None else properties.find(qn("w:tblLook"))
    if look is None or not _marks_first_row(look):
        return False
    styles = {style.get(qn("w:styleId")): style for style in document.styles.element.iterchildren()}
    name = _value(properties.find(qn("w:tblStyle")))
    seen: set[str] = set()
    while name in styles and name not in seen:
        seen.add(name)
        if any(
            part.get(qn("w:type")) == "firstRow" and len(part)
            for part in styles[name].iterchildren(qn("w:tblStylePr"))
        ):
            return True
        name = _value(styles[name].find(qn("w:basedOn")))
    return False


def _marks_first_row(look: Any) -> bool:
    own = look.get(qn("w:firstRow"))
    if own is not None:
        return own not in {"0", "false", "off"}
    try:
        return bool(int(_value(look) or "0", 16) & _FIRST_ROW)
    except ValueError:
        return False
