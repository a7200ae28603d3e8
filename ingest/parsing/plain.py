"""Parses plain text: paragraphs, typed lists, underlined headings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ingest.parsing.decoding import decode
from ingest.parsing.page_text import PageText, Span
from ingest.records import ParsedPage, RawPage

_ITEM: Final = re.compile(r"(\s*)(?:([-*•·▪◦‣–—])|(\d{1,3})[.)])\s+(?=\S)")
_UNDERLINE: Final = re.compile(r"\s*(={3,}|-{3,})\s*")
_RULE: Final = re.compile(r"\s*[-=_*~#]{3,}\s*")
_WRAPPED_SHARE: Final = 0.6
"""A line at least this long, against the longest one around it, was wrapped by an editor."""
_MIN_WRAP_CHARS: Final = 40


def parse_plain(raw: RawPage) -> ParsedPage:
    """Parse a plain text file.

    Raises:
        PageParseError: If it cannot be decoded.
    """
    page = PageText()
    write_lines(decode(raw.content).split("\n"), page)
    return page.parsed(page.first_heading() or "", {})


def write_lines(lines: Sequence[str], page: PageText) -> None:
    """Write lines of text; blank ones separate paragraphs."""
    paragraph: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            _write_paragraph(paragraph, page)
            paragraph = []


def _write_paragraph(lines: list[str], page: PageText) -> None:
    if len(lines) > 1 and (underline := _UNDERLINE.fullmatch(lines[1])):
        page.heading(lines[0], 1 if underline[1][0] == "=" else 2, anchor=None)
        lines = lines[2:]
    text: list[str] = []
    items: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        if _RULE.fullmatch(line):
            continue
        if item := _ITEM.match(line):
            items.append((item, [line[item.end() :]]))
        elif items:
            items[-1][1].append(line)
        else:
            text.append(line)
    page.paragraph(unwrap(text))
    _write_items(items, page)


def _write_items(items: Sequence[tuple[re.Match[str], list[str]]], page: PageText) -> None:
    if not items:
        return
    group, lead_in = page.new_group(), page.introduction
    parents: list[tuple[int, Span]] = []  # indentation and offsets of the items around
    for match, lines in items:
        indent = len(match[1].expandtabs())
        while parents and parents[-1][0] >= indent:
            parents.pop()
        span = page.item(
            unwrap(lines),
            marker=match[2] or f"{match[3]}.",
            level=len(parents) + 1,
            group=group,
            lead_in=parents[-1][1] if parents else lead_in,
        )
        if span is not None:
            parents.append((indent, span))


def unwrap(lines: Sequence[str]) -> str:
    """Join the lines that were wrapped and keep the breaks that were meant."""
    stripped = [line.strip() for line in lines]
    width = max((len(line) for line in stripped), default=0)
    text = ""
    for line in stripped:
        text += line
        wrapped = len(line) >= max(_MIN_WRAP_CHARS, _WRAPPED_SHARE * width)
        text += " " if wrapped else "\n"
    return text.strip()
