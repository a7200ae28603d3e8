"""Parses plain text: paragraphs, typed lists, underlined headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ingest.parsing.decoding import decode
from ingest.parsing.page_text import PageText, Span
from ingest.records import ParsedPage, RawPage

_ITEM: Final = re.compile(r"(\s*)(?:([-*•·▪◦‣–—]|\d{1,3}°|[a-z]\))|(\d{1,3})[.)])\s+(?=\S)")
_BARE_NUMBER: Final = re.compile(r"(\s*)()(\d{1,2})\s+(?=[^\W\d])")
"""As an item's; it is one only where lines count up from 1."""
_SENTENCE_END: Final = (".", "!", "?", "…", ";")
_MAX_TITLE_CHARS: Final = 90
_CAPITALS: Final = re.compile(r"(?=.*[^\W\d_]{3})[^a-zà-öø-ÿœ]+")
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
    paragraphs = list(_paragraphs(decode(raw.content).split("\n")))
    for index, lines in enumerate(paragraphs):
        level = _title_level(lines, first=index == 0) if index + 1 < len(paragraphs) else 0
        if level:
            page.heading(lines[0], level, anchor=None)
        else:
            _write_paragraph(lines, page)
    return page.parsed(page.first_heading() or "", {})


def _title_level(lines: Sequence[str], *, first: bool) -> int:
    """Return the level of a line that stands alone as a title: 1 or 2, else 0.

    It does at the top of the file, or in capitals.
    """
    line = lines[0].strip()
    if (
        len(lines) > 1
        or len(line) > _MAX_TITLE_CHARS
        or line.endswith((*_SENTENCE_END, ":", ","))
        or _ITEM.match(line)
        or not any(character.isalpha() for character in line)
    ):
        return 0
    if first:
        return 1
    return 2 if _CAPITALS.fullmatch(line) else 0


def write_lines(lines: Sequence[str], page: PageText) -> None:
    """Write lines of text; blank ones separate paragraphs."""
    for paragraph in _paragraphs(lines):
        _write_paragraph(paragraph, page)


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []


def _write_paragraph(lines: list[str], page: PageText) -> None:
    if len(lines) > 1 and (underline := _UNDERLINE.fullmatch(lines[1])):
        page.heading(lines[0], 1 if underline[1][0] == "=" else 2, anchor=None)
        lines = lines[2:]
    lines = [line for line in lines if not _RULE.fullmatch(line)]
    numbered = _counts_up(lines)
    width = max((len(line.strip()) for line in lines), default=0)
    text: list[str] = []
    items: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        if item := _ITEM.match(line) or (numbered and _BARE_NUMBER.match(line)) or None:
            page.paragraph(unwrap(text))
            text = []
            items.append((item, [line[item.end() :]]))
        elif items and not _ends_list(items[-1], line, width):
            items[-1][1].append(line)
        else:
            _write_items(items, page)
            items = []
            text.append(line)
    page.paragraph(unwrap(text))
    _write_items(items, page)


def _counts_up(lines: Sequence[str]) -> bool:
    """Tell whether lines begin with 1, 2, 3… and nothing after the number."""
    numbers = [int(match[3]) for line in lines if (match := _BARE_NUMBER.match(line))]
    return len(numbers) > 1 and numbers == list(range(1, len(numbers) + 1))


def _ends_list(item: tuple[re.Match[str], list[str]], line: str, width: int) -> bool:
    """Tell whether a line below an item is a new paragraph and not the rest of the item.

    The rest hangs under the item's text, or goes on with a sentence that filled its line.
    """
    match, lines = item
    if len(line) - len(line.lstrip()) > len(match[1]):
        return False
    last = lines[-1].strip()
    begins = line.lstrip()[:1].isupper()
    return begins and (last.endswith(_SENTENCE_END) or not _is_full(last, width))


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
        text += " " if _is_full(line, width) else "\n"
    return text.strip()


def _is_full(line: str, width: int) -> bool:
    """Tell whether a line was broken because it was full."""
    return len(line) >= max(_MIN_WRAP_CHARS, _WRAPPED_SHARE * width)
