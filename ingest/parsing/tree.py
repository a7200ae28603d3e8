"""Writes an HTML element tree as the text of a page.

Every format that has a structure (HTML, Markdown, DOCX) comes here as an lxml tree, so that lists,
tables and accordions read the same whatever the source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lxml.html import HtmlElement

from ingest.parsing.elements import (
    BLOCKS,
    DROPPED,
    HEADINGS,
    alternative_text,
    anchor_of,
    ends_section,
    flat_text,
    is_all_bold,
    is_box_title,
    is_footnote_mark,
    is_permalink,
    tag_of,
)
from ingest.parsing.page_text import PageText, Span
from ingest.parsing.tables import is_layout, read_table

_EXPLICIT_ID: Final = re.compile(r"\s*\{#([^\s{}]+)\}\s*\Z")
_BULLET: Final = re.compile(r"[-–—•·*▪◦‣►➢✓]\s+(?=\S)")
_PARAGRAPH_BREAK: Final = re.compile(r"\n(?:[^\S\n]*\n)+")
_SPACES: Final = re.compile(r"\s+")
_MAX_LABEL_WORDS: Final = 12
_MIN_TYPED_ITEMS: Final = 2
_DEEPEST_HEADING: Final = 6
_LISTS: Final = frozenset({"ul", "ol", "menu", "dir"})


def write_tree(root: HtmlElement, page: PageText, *, slugs: bool = False) -> None:
    """Write the content of an element. The tree may be changed on the way.

    Args:
        root: The element; its own tail is not read.
        page: Where the text goes.
        slugs: Whether headings without id get the anchor that site generators derive.
    """
    _TreeWriter(root, page, slugs=slugs).write()


@dataclass(slots=True)
class _Item:
    """The list item being written; `span` is None until it has text."""

    marker: str
    level: int
    group: int
    lead_in: Span | None
    span: Span | None = None


class _TreeWriter:
    def __init__(self, root: HtmlElement, page: PageText, *, slugs: bool) -> None:
        self._root = root
        self._page = page
        self._slugs = slugs
        self._inline: list[str] = []
        self._item: _Item | None = None
        self._level = 0  # of the heading that the current accordions hang under
        self._floor = 1  # lowest level of a heading here: below the accordion it is in
        self._writers = {
            "br": self._line_break,
            "img": self._image,
            "q": self._quote,
            "button": self._button,
            "pre": self._code,
            "li": self._stray_item,
            "dl": self._definitions,
            "table": self._table,
            "details": self._details,
            **dict.fromkeys(_LISTS, self._list),
            **dict.fromkeys(HEADINGS, self._heading),
        }

    def write(self) -> None:
        self._children(self._root)
        self._flush()

    def _children(self, element: HtmlElement) -> None:
        self._text(element.text)
        for child in element:
            self._node(child)
            self._text(child.tail)

    def _node(self, element: HtmlElement) -> None:
        tag = tag_of(element)
        if not tag or tag in DROPPED or is_permalink(element) or is_footnote_mark(element):
            return
        writer = self._writers.get(tag)
        if writer is not None:
            writer(element)
        elif tag in BLOCKS:
            self._block(element)
        else:
            self._children(element)

    def _block(self, element: HtmlElement) -> None:
        self._flush()
        self._children(element)
        self._flush(label=element.tag == "caption" or is_all_bold(element))

    def _text(self, text: str | None) -> None:
        if text:
            self._inline.append(_SPACES.sub(" ", text))

    # --- paragraphs ------------------------------------------------------------------------------

    def _flush(self, *, label: bool = False) -> None:
        """End the paragraph that the inline text so far makes."""
        text = "".join(self._inline).strip()
        self._inline.clear()
        if text:
            for paragraph in _PARAGRAPH_BREAK.split(text):
                self._paragraph(paragraph, label=label)

    def _paragraph(self, text: str, *, label: bool) -> None:
        item = self._item
        if item is None:
            if not self._typed_list(text):
                label = label and len(text.split()) <= _MAX_LABEL_WORDS
                self._page.paragraph(text, label=label)
        elif item.span is None:
            item.span = self._page.item(
                text, marker=item.marker, level=item.level, group=item.group, lead_in=item.lead_in
            )
        elif self._page.blocks[-1].start == item.span[0]:
            item.span = self._page.continue_item(text)
        else:
            self._page.paragraph(text)

    def _typed_list(self, text: str) -> bool:
        """Write lines that start with a typed bullet as the list they stand for."""
        lines = [line.strip() for line in text.split("\n")]
        if sum(_BULLET.match(line) is not None for line in lines) < _MIN_TYPED_ITEMS:
            return False
        group = 0
        lead_in: Span | None = None
        for line in lines:
            bullet = _BULLET.match(line)
            if bullet is None:
                group = 0
                self._page.paragraph(line)
                continue
            if not group:
                group, lead_in = self._page.new_group(), self._page.introduction
            words = line[bullet.end() :]
            # The bullet stays as it was typed, so that the line can be quoted verbatim.
            self._page.item(words, marker=line[0], level=1, group=group, lead_in=lead_in)
        return True

    def _line_break(self, element: HtmlElement) -> None:
        self._inline.append("\n")
        self._children(element)

    def _image(self, element: HtmlElement) -> None:
        self._text(alternative_text(element))

    def _quote(self, element: HtmlElement) -> None:
        self._inline.append("“")
        self._children(element)
        self._inline.append("”")

    def _code(self, element: HtmlElement) -> None:
        self._flush()
        self._page.code(element.text_content())

    # --- headings and accordions -----------------------------------------------------------------

    def _heading(self, element: HtmlElement) -> None:
        self._flush()
        if self._level and HEADINGS[element.tag] > 1 and is_box_title(element, self._root):
            self._page.paragraph(flat_text(element), label=True)
            return
        text, anchor = flat_text(element), anchor_of(element)
        if explicit := _EXPLICIT_ID.search(text):
            text, anchor = text[: explicit.start()], explicit[1]
        self._level = max(HEADINGS[element.tag], self._floor)
        self._page.heading(text, self._level, anchor=anchor, slug=self._slugs)

    def _button(self, element: HtmlElement) -> None:
        """Keep a button that opens a panel: its text is the panel's title."""
        if element.get("aria-expanded") or element.get("aria-controls"):
            self._flush()
            self._page.paragraph(flat_text(element), label=True)

    def _details(self, element: HtmlElement) -> None:
        """Write an accordion: as a section if only sections follow, else as a labelled part."""
        self._flush()
        title = _take_summary(element)
        if not title or self._item is not None or not ends_section(element, self._root):
            self._page.paragraph(title, label=True)
            self._block(element)
            return
        outer = self._level, self._floor
        level = min(max(self._level, self._floor - 1, 1) + 1, _DEEPEST_HEADING)
        self._page.heading(title, level, anchor=element.get("id"))
        self._level, self._floor = level, min(level + 1, _DEEPEST_HEADING)
        self._block(element)
        self._level, self._floor = outer

    # --- lists -----------------------------------------------------------------------------------

    def _list(self, element: HtmlElement) -> None:
        self._flush()
        self._text(element.text)
        self._flush()
        number = _first_number(element)
        frame = self._list_frame()
        for child in element:
            if tag_of(child) == "li":
                value = child.get("value", "")
                number = int(value) if value.isdecimal() and number is not None else number
                marker = "-" if number is None else f"{number}."
                self._write_item(child, _Item(marker, *frame))
                number = None if number is None else number + 1
            else:
                self._node(child)
            self._text(child.tail)  # words between the items, which no list should have
            self._flush()

    def _list_frame(self) -> tuple[int, int, Span | None]:
        """Return level, group and lead-in of a list that starts here."""
        parent = self._item
        if parent is None:
            return 1, self._page.new_group(), self._page.introduction
        if parent.span is None:
            return parent.level + 1, parent.group, parent.lead_in
        return parent.level + 1, parent.group, self._page.introduction or parent.span

    def _write_item(self, element: HtmlElement, item: _Item) -> None:
        if next(element.iter(*HEADINGS), None) is not None:
            self._block(element)  # a card or a section laid out as an item
            return
        outer, self._item = self._item, item
        self._children(element)
        self._flush()
        self._item = outer

    def _stray_item(self, element: HtmlElement) -> None:
        self._flush()
        self._write_item(element, _Item("-", *self._list_frame()))

    def _definitions(self, element: HtmlElement) -> None:
        """Write `- Term : definition`, one item per term."""
        self._flush()
        if next(element.iter(*HEADINGS), None) is not None:
            self._block(element)
            return
        frame = self._list_frame()
        outer = self._item
        for entry in element.iter("dt", "dd"):
            if next(entry.iterancestors("dl")) is not element:
                continue
            if entry.tag == "dt":
                if self._inline:
                    self._text(", ")  # a second name of the same thing
                else:
                    self._item = _Item("-", *frame)
                self._text(flat_text(entry))
            else:
                self._define(entry)
        self._flush()
        self._item = outer

    def _define(self, definition: HtmlElement) -> None:
        if self._inline:
            term = "".join(self._inline).rstrip()
            self._inline.append("" if term.endswith(":") else " :")
            self._inline.append(" ")
        first = definition[0] if len(definition) else None
        if first is not None and tag_of(first) == "p" and not (definition.text or "").strip():
            first.tag = "span"
        self._children(definition)
        self._flush()

    # --- tables ----------------------------------------------------------------------------------

    def _table(self, element: HtmlElement) -> None:
        self._flush()
        if is_layout(element):
            self._block(element)
            return
        table = read_table(element)
        self._page.paragraph(table.caption, label=True)
        lead_in = self._page.introduction or (self._item.span if self._item else None)
        group = self._page.new_group()
        header: Span | None = None
        for row in table.header:
            span = self._page.row(row, group=group, header=None, lead_in=lead_in)
            if span is not None:
                header = (header[0] if header else span[0], span[1])
        for row in table.rows:
            self._page.row(row, group=group, header=header, lead_in=lead_in)


def _take_summary(details: HtmlElement) -> str:
    """Cut the summary out of an accordion and return its words."""
    summary = details.find("summary")
    if summary is None:
        return ""
    title = flat_text(summary)
    details.text = f"{details.text or ''} {summary.tail or ''}"
    details.remove(summary)
    return title


def _first_number(element: HtmlElement) -> int | None:
    """Return the number of the first item of an ordered list, None for bullets."""
    if element.tag != "ol":
        return None
    start = element.get("start", "1")
    return int(start) if start.isdecimal() else 1
