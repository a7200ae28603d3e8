"""Parses PDF documents: pypdf gives the laid-out lines, their structure is found again here."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final

import pypdf
from pypdf.errors import DependencyError, PyPdfError

from ingest.errors import PageParseError
from ingest.parsing.decoding import clean
from ingest.parsing.front_matter import Metadata
from ingest.parsing.page_text import PageText
from ingest.parsing.pdf_layout import Table, clean_pages, layout_blocks
from ingest.parsing.plain import write_lines
from ingest.records import ParsedPage, RawPage

_HEADING_RATIO: Final = 1.15
"""A line in letters this much larger than the body's is a heading."""
_MAX_HEADING_CHARS: Final = 160
_MAX_HEADING_LEVELS: Final = 4
_MIN_LAYOUT_SHARE: Final = 0.9
"""Layout mode skips some kinds of content; below this share of the letters it is not used."""
_WORD: Final = re.compile(r"\S+")
_HYPHENATED: Final = re.compile(r"(\w+)[-\u00ad\u2010]\n\s*(?=([^\W\d_]+))")
# Bullets of symbol fonts, which have no Unicode of their own.
_SYMBOL_BULLET: Final = re.compile(
    "^(\\s*)[\x7f\uf0b7\uf0a7\uf02d\uf0d8\u25cf\u25cb\u25a0]\\s*", re.M
)

Sizes = list[tuple[float, str]]


def parse_pdf(raw: RawPage) -> ParsedPage:
    """Parse a PDF document.

    Raises:
        PageParseError: If it is encrypted, damaged, or holds no text but pictures of it.
    """
    texts, sizes, metadata = _read(raw.content)
    if not any(text.strip() for text in texts):
        raise PageParseError("no text (scanned?)")
    text = _join_hyphenated("\n\n".join(clean_pages(texts)))
    page = PageText()
    headings = _Headings(sizes)
    for block in layout_blocks(text.split("\n")):
        if isinstance(block, Table):
            _write_table(block, page)
        else:
            _write_block(block, headings, page)
    title = page.first_heading() or ""
    return page.parsed(title, metadata)


def _read(content: bytes) -> tuple[list[str], Sizes, Metadata]:
    sizes: Sizes = []
    with _quiet_pypdf():
        try:
            reader = pypdf.PdfReader(io.BytesIO(content))
            if reader.is_encrypted and not reader.decrypt(""):
                raise PageParseError("protected by a password")
            texts = [_page_text(page, sizes) for page in reader.pages]
            return texts, sizes, _metadata(reader)
        except DependencyError as error:
            raise PageParseError("encrypted in a way that cannot be read here") from error
        except _DAMAGE as error:
            raise PageParseError(f"not readable as a PDF: {error}") from error


# What pypdf raises, besides its own errors, on files that break the rules of the format.
_DAMAGE: Final = (
    PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, AssertionError,
    ZeroDivisionError, NotImplementedError, OSError,
)  # fmt: skip


@contextmanager
def _quiet_pypdf() -> Iterator[None]:
    """Silence pypdf's warnings: one damaged file gives thousands, and none tells what to do."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _page_text(page: pypdf.PageObject, sizes: Sizes) -> str:
    def visit(text: str, cm: Sequence[float], tm: Sequence[float], _: Any, size: float) -> None:
        if text.strip():
            sizes.append((round(size * abs(tm[3] * cm[3]) or size, 1), clean(text)))

    plain = page.extract_text(visitor_text=visit)
    laid_out = page.extract_text(extraction_mode="layout")
    enough = len(_compact(laid_out)) >= _MIN_LAYOUT_SHARE * len(_compact(plain))
    text = _separate_words(laid_out, plain.split()) if enough else plain
    return clean(_SYMBOL_BULLET.sub(r"\1• ", text))


def _separate_words(text: str, words: Sequence[str]) -> str:
    """Part the words that layout mode glued where a space was narrow ("leftblank")."""
    known = set(words)
    glued = {first + second: f"{first} {second}" for first, second in pairwise(words)}
    return _WORD.sub(
        lambda match: match[0] if match[0] in known else glued.get(match[0], match[0]), text
    )


def _metadata(reader: pypdf.PdfReader) -> Metadata:
    information = reader.metadata
    metadata: Metadata = {}
    if information is not None and information.modification_date is not None:
        metadata["modified"] = information.modification_date.isoformat()
    language = reader.root_object.get("/Lang")
    if isinstance(language, str) and language:
        metadata["lang"] = str(language)
    return metadata


def _compact(text: str) -> str:
    return "".join(text.split())


def _join_hyphenated(text: str) -> str:
    """Repair words cut at the end of a line, unless the hyphen is part of the word elsewhere."""

    def join(match: re.Match[str]) -> str:
        compound = f"{match[1]}-{match[2]}"
        keep = compound in text or not match[2][0].islower()
        return f"{match[1]}-" if keep else match[1]

    return _HYPHENATED.sub(join, text)


class _Headings:
    """Tells headings by the size of their letters."""

    def __init__(self, sizes: Sizes) -> None:
        letters: Counter[float] = Counter()
        for size, text in sizes:
            letters[size] += len(_compact(text))
        body = letters.most_common(1)[0][0] if letters else 0.0
        larger = sorted((s for s in letters if s >= body * _HEADING_RATIO), reverse=True)
        self._levels = {
            size: min(rank, _MAX_HEADING_LEVELS) for rank, size in enumerate(larger, start=1)
        }
        self._runs: list[tuple[float, str]] = []
        previous = 0.0
        for size, text in sizes:
            if size in self._levels and size == previous:
                self._runs[-1] = (size, self._runs[-1][1] + _compact(text))
            elif size in self._levels:
                self._runs.append((size, _compact(text)))
            previous = size

    def level(self, line: str) -> int:
        """Return 1 to 4, or 0 when the line is no heading."""
        compact = _compact(line)
        if not any(c.isalpha() for c in compact) or len(line) > _MAX_HEADING_CHARS:
            return 0
        return next((self._levels[size] for size, run in self._runs if compact in run), 0)

    def continues(self, first: str, second: str) -> bool:
        """Tell whether two lines are one heading that was wrapped."""
        both = _compact(first + second)
        return second.lstrip()[:1].islower() and any(both in run for _, run in self._runs)


def _write_block(lines: Sequence[str], headings: _Headings, page: PageText) -> None:
    pending: list[str] = []
    heading = ""
    for line in lines:
        level = headings.level(line)
        if level and heading and headings.continues(heading, line):
            heading = f"{heading} {line}"
            continue
        if heading:
            page.heading(heading, headings.level(heading) or 1, anchor=None)
            heading = ""
        if level:
            write_lines(pending, page)
            pending, heading = [], line
        else:
            pending.append(line)
    if heading:
        page.heading(heading, headings.level(heading) or 1, anchor=None)
    write_lines(pending, page)


def _write_table(table: Table, page: PageText) -> None:
    group, lead_in = page.new_group(), page.introduction
    header = page.row(table.rows[0], group=group, header=None, lead_in=lead_in)
    for row in table.rows[1:]:
        page.row(row, group=group, header=header, lead_in=lead_in)
