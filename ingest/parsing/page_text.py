"""Builds the text of a page block by block and keeps the offsets of each."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ingest.records import Block, BlockKind, ParsedPage
from ingest.sentences import split_sentences

Span = tuple[int, int]

_INDENT: Final = "  "
_SPACES: Final = re.compile(r"[^\S\n]+")
_AROUND_BREAK: Final = re.compile(r" *\n *")
_INTRODUCES: Final = (":", "：")
_SENTENCE_ENDS: Final = (".", "!", "?", ";", ",", "…")
_MAX_CAPTION_WORDS: Final = 15
_ESCAPED_TWICE: Final = re.compile(r"&(?:#\d{2,5}|nbsp|rsquo|lsquo|[lr]aquo|hellip|[nm]dash);")
_SLUG_DROPS: Final = re.compile(r"[^\w\- ]")


def tidy(text: str) -> str:
    """Collapse runs of spaces (no-break ones included), keep line breaks, strip the ends."""
    return _AROUND_BREAK.sub("\n", _SPACES.sub(" ", _unescape(text))).strip()


def one_line(text: str) -> str:
    """Collapse all white space, line breaks included."""
    return " ".join(_unescape(text).split())


def _unescape(text: str) -> str:
    """Undo the second escaping that content systems give to typographic characters."""
    if "&" not in text:
        return text
    return _ESCAPED_TWICE.sub(lambda match: html.unescape(match[0]), text)


def slugify(heading: str) -> str:
    """Return the fragment GitHub (and Hugo, Docusaurus, VitePress) gives to a heading."""
    return _SLUG_DROPS.sub("", unicodedata.normalize("NFC", heading).lower()).replace(" ", "-")


class PageText:
    """The text being built, with its blocks. Empty texts add nothing."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._groups = 0
        self._anchors: dict[str, int] = {}
        self.level = 0
        """Level of the last heading, 0 before the first."""
        self.introduction: Span | None = None
        """The line that introduces what comes next, if the last block ends with one."""

    @property
    def blocks(self) -> Sequence[Block]:
        """Return the blocks so far, in order."""
        return self._blocks

    def text_of(self, block: Block) -> str:
        """Return the text of a block."""
        return "".join(self._parts)[block.start : block.end]

    def new_group(self) -> int:
        """Return a number for the items of a new list or the rows of a new table."""
        self._groups += 1
        return self._groups

    def heading(self, text: str, level: int, *, anchor: str | None, slug: bool = False) -> None:
        """Add a heading on its own line.

        Args:
            text: Its words, without `#`.
            level: 1 to 6.
            anchor: Its id in the page, or None.
            slug: Derive the anchor from the words when there is none.
        """
        text = one_line(text)
        if not text:
            return
        if anchor is None and slug:
            anchor = self._unique_anchor(slugify(text))
        self._add(Block(BlockKind.HEADING, 0, 0, level=level, anchor=anchor or None), text)
        self.level = level

    def paragraph(self, text: str, *, label: bool = False) -> None:
        """Add a paragraph.

        Args:
            text: May hold line breaks.
            label: Whether it stands as a title for what follows although it is no heading.
        """
        text = tidy(text)
        if not text:
            return
        span = self._add(Block(BlockKind.PARAGRAPH, 0, 0), text)
        self.introduction = span if label else self._introduction(text, span)

    def item(
        self, text: str, *, marker: str, level: int, group: int, lead_in: Span | None
    ) -> Span | None:
        """Add a list item and return its offsets, marker included.

        Args:
            text: Its own text, without that of nested items.
            marker: "-", "1.", or the bullet as it was typed.
            level: Nesting depth, from 1.
            group: Number of its list, from `new_group`.
            lead_in: Offsets of the line that introduces it.
        """
        text = tidy(text)
        if not text:
            return None
        margin = _INDENT * (level - 1)
        body = f"{marker} {text}".replace("\n", f"\n{margin}{_INDENT}")
        block = Block(BlockKind.LIST_ITEM, 0, 0, level=level, group=group, lead_in=lead_in)
        span = self._add(block, body, margin)
        self.introduction = self._introduction(body, span)
        return span

    def continue_item(self, text: str) -> Span:
        """Add a paragraph to the item that is the last block; return the item's offsets."""
        block = self._blocks[-1]
        margin = "\n" + _INDENT * block.level
        body = margin + tidy(text).replace("\n", margin)
        self._append(body)
        self._blocks[-1] = replace(block, end=self._length)
        self.introduction = self._introduction(body, (self._length - len(body), self._length))
        return (block.start, self._length)

    def row(
        self, cells: Sequence[str], *, group: int, header: Span | None, lead_in: Span | None
    ) -> Span | None:
        """Add a table row and return its offsets; None when every cell is empty."""
        cells = [one_line(cell) for cell in cells]
        if not any(cells):
            return None
        block = Block(BlockKind.TABLE_ROW, 0, 0, group=group, header=header, lead_in=lead_in)
        return self._add(block, "| " + " | ".join(cells) + " |")

    def code(self, text: str) -> None:
        """Add a code block, its lines as they are."""
        text = "\n".join(line.rstrip() for line in text.expandtabs(4).splitlines()).strip("\n")
        if text.strip():
            self._add(Block(BlockKind.CODE, 0, 0), text)

    def parsed(self, title: str, metadata: Mapping[str, str | Sequence[str]]) -> ParsedPage:
        """Return the finished page."""
        return ParsedPage(title, "".join(self._parts), tuple(self._blocks), metadata)

    def first_heading(self) -> str | None:
        """Return the first heading of level 1, or None."""
        for block in self._blocks:
            if block.kind is BlockKind.HEADING and block.level == 1:
                return self.text_of(block)
        return None

    def _add(self, block: Block, text: str, margin: str = "") -> Span:
        if self._blocks:
            last = self._blocks[-1]
            together = block.group != 0 and block.group == last.group
            self._append("\n" if together else "\n\n")
        self._append(margin)
        start = self._length
        self._append(text)
        self._blocks.append(replace(block, start=start, end=self._length))
        self.introduction = None
        return (start, self._length)

    @staticmethod
    def _introduction(text: str, span: Span) -> Span | None:
        """Return the offsets of the last sentence if it announces what comes next, else None.

        It does with a colon at its end, or as a last line that reads like a caption.
        """
        if text.endswith(_INTRODUCES):
            start, end = split_sentences(text)[-1]
            return (span[0] + start, span[0] + end)
        _, line_break, line = text.rpartition("\n")
        if (
            not line_break
            or len(line.split()) > _MAX_CAPTION_WORDS
            or line.endswith(_SENTENCE_ENDS)
        ):
            return None
        return (span[1] - len(line.lstrip()), span[1])

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _unique_anchor(self, slug: str) -> str:
        count = self._anchors.get(slug, 0)
        self._anchors[slug] = count + 1
        return f"{slug}-{count}" if count else slug
