"""Parses presentations: python-pptx reads them, their slides are written as an HTML tree."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Final

import pptx
from lxml import etree
from lxml.html import HtmlElement
from lxml.html.builder import E
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.exc import PythonPptxError
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml.ns import qn
from pptx.presentation import Presentation

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

_TITLES: Final = frozenset(
    {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
)
_COVER: Final = PP_PLACEHOLDER.CENTER_TITLE
_REPEATED: Final = frozenset(
    {
        PP_PLACEHOLDER.DATE,
        PP_PLACEHOLDER.FOOTER,
        PP_PLACEHOLDER.HEADER,
        PP_PLACEHOLDER.SLIDE_NUMBER,
    }
)
"""The same on every slide."""
_BODIES: Final = frozenset(
    {
        PP_PLACEHOLDER.BODY,
        PP_PLACEHOLDER.OBJECT,
        PP_PLACEHOLDER.VERTICAL_BODY,
        PP_PLACEHOLDER.VERTICAL_OBJECT,
    }
)
_BULLETS: Final = {
    qn("a:buNone"): "",
    qn("a:buChar"): "bullet",
    qn("a:buBlip"): "bullet",
    qn("a:buAutoNum"): "number",
}
_DIAGRAM: Final = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MAX_TITLE_CHARS: Final = 120
"""A longer first text of a slide without title is no title."""

# What python-pptx raises, besides its own errors, on files that break the rules of the format.
_DAMAGE: Final = (
    *ARCHIVE_DAMAGE, PythonPptxError, etree.LxmlError, KeyError, TypeError,
    AttributeError, IndexError,
)  # fmt: skip


def parse_pptx(raw: RawPage) -> ParsedPage:
    """Parse a presentation: each slide is a section under its title.

    Hidden slides are left out, and so are the speaker's notes, which are for the speaker.

    Raises:
        PageParseError: If it is encrypted, damaged or unreasonably large.
    """
    page = PageText()
    try:
        check_package(raw.content, old_suffix=".ppt", suffix=".pptx")
        presentation = pptx.Presentation(io.BytesIO(raw.content))
        write_tree(_Converter().convert(presentation), page)
        return page.parsed(page.first_heading() or "", _metadata(presentation))
    except _DAMAGE as error:
        raise PageParseError(f"not readable as a presentation: {error}") from error


def _metadata(presentation: Presentation) -> Metadata:
    try:
        presentation.part.package.part_related_by(RELATIONSHIP_TYPE.CORE_PROPERTIES)
    except KeyError:  # python-pptx would make up properties, dated today
        return {}
    properties = presentation.core_properties
    return core_metadata(properties.modified, properties.language)


class _Converter:
    """Writes slides as <body>: a heading for each, then what stands on it in reading order."""

    def __init__(self) -> None:
        self._body: HtmlElement = E.body()
        self._last_title = ""

    def convert(self, presentation: Presentation) -> HtmlElement:
        for number, slide in enumerate(presentation.slides, start=1):
            if slide._element.get("show") not in {"0", "false"}:
                self._slide(slide, number)
        return self._body

    def _slide(self, slide: Any, number: int) -> None:
        # The order in the file is the one that screen readers take, and that "Reading order" shows.
        shapes = [shape for shape in _shapes(slide.shapes) if _type(shape) not in _REPEATED]
        title = next((shape for shape in shapes if _type(shape) in _TITLES), None)
        if title is None:
            title = next((shape for shape in shapes if _may_be_title(shape)), None)
        words = _text_of(title) or f"Slide {number}"
        before = len(self._body)
        for shape in shapes:
            if shape is not title:
                self._shape(shape, slide)
        is_cover = number == 1 and _type(title) == _COVER
        if words != self._last_title and (len(self._body) > before or is_cover):
            self._body.insert(before, element_of("h1" if is_cover else "h2", words))
            self._last_title = words

    def _shape(self, shape: Any, slide: Any) -> None:
        if getattr(shape, "has_table", False):
            self._body.append(_table(shape.table))
        elif getattr(shape, "has_text_frame", False):
            self._paragraphs(shape)
        else:
            self._diagram(shape, slide)

    def _paragraphs(self, shape: Any) -> None:
        lists = NestedLists(self._body)
        for paragraph in shape.text_frame.paragraphs:
            text = clean(paragraph.text.replace("\v", "\n")).strip()
            if not text:
                continue
            bullet = _bullet(paragraph, shape)
            if bullet:
                lists.item(text, paragraph.level, ordered=bullet == "number")
            else:
                lists.close()
                runs = [run for run in paragraph.runs if run.text.strip()]
                bold = bool(runs) and all(run.font.bold for run in runs)
                self._body.append(element_of("p", text, bold=bold))

    def _diagram(self, shape: Any, slide: Any) -> None:
        """Write the texts of SmartArt, which python-pptx does not read, as a list."""
        relations = shape._element.find(f".//{_DIAGRAM}relIds")
        if relations is None:
            return
        data = etree.fromstring(
            slide.part.related_part(relations.get(qn("r:dm"))).blob,
            parser=etree.XMLParser(resolve_entities=False, no_network=True),
        )
        lists = NestedLists(self._body)
        for point in data.iter(f"{_DIAGRAM}pt"):
            words = "".join(text.text or "" for text in point.iter(qn("a:t")))
            if clean(words).strip():
                lists.item(clean(words).strip(), 0, ordered=False)


def _shapes(shapes: Any) -> Iterator[Any]:
    """Yield the shapes in order, those of groups in their place."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _type(shape: Any) -> Any:
    return shape.placeholder_format.type if shape is not None and shape.is_placeholder else None


def _text_of(shape: Any) -> str:
    if shape is None or not shape.has_text_frame:
        return ""
    return " ".join(clean(shape.text_frame.text.replace("\v", " ")).split())


def _may_be_title(shape: Any) -> bool:
    """Tell whether a text box can stand for the title that a slide does not have."""
    words = _text_of(shape) if shape.has_text_frame else ""
    return bool(words) and len(words) <= _MAX_TITLE_CHARS and _type(shape) not in _BODIES


# --- bullets -------------------------------------------------------------------------------------


def _bullet(paragraph: Any, shape: Any) -> str:
    """Return "bullet", "number", or "" for a paragraph without; it may be the master that says."""
    for properties in _properties(paragraph, shape):
        for child in () if properties is None else properties.iterchildren():
            if child.tag in _BULLETS:
                return _BULLETS[child.tag]
    return ""


def _properties(paragraph: Any, shape: Any) -> Iterator[Any]:
    """Yield what describes a paragraph, from its own properties to those of the master."""
    yield paragraph._p.pPr
    level = qn(f"a:lvl{paragraph.level + 1}pPr")
    layer = shape
    while layer is not None:
        body = layer._element.txBody
        style = None if body is None else body.find(qn("a:lstStyle"))
        yield None if style is None else style.find(level)
        layer = getattr(layer, "_base_placeholder", None)  # none above the master
    if _type(shape) in _BODIES:
        master = shape.part.slide_layout.slide_master._element
        yield master.find(f"{qn('p:txStyles')}/{qn('p:bodyStyle')}/{level}")


def _table(table: Any) -> HtmlElement:
    rows: HtmlElement = E.table()
    for index, row in enumerate(table.rows):
        written: HtmlElement = E.tr()
        for cell in row.cells:
            if cell.is_spanned:
                continue
            tag = "th" if index == 0 and table.first_row else "td"
            converted = element_of(tag, clean(cell.text_frame.text.replace("\v", "\n")).strip())
            if cell.is_merge_origin:
                converted.set("colspan", str(cell.span_width))
                converted.set("rowspan", str(cell.span_height))
            written.append(converted)
        rows.append(written)
    return rows
