"""Turns the bytes of a page into its text and structure. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

import lxml.html

from ingest.errors import PageParseError
from ingest.parsing.docx import parse_docx
from ingest.parsing.elements import flat_text
from ingest.parsing.html import parse_html
from ingest.parsing.markdown import parse_markdown
from ingest.parsing.media import DOCX, HTML, MARKDOWN, PDF, PLAIN_TEXT, PPTX, XLSX
from ingest.parsing.page_text import PageText, one_line
from ingest.parsing.pdf import parse_pdf
from ingest.parsing.plain import parse_plain
from ingest.records import ParsedPage, RawPage

__all__ = ["PARSER_VERSION", "parse"]

PARSER_VERSION: Final = "3"
"""Grows with every change of what a page is parsed into; pages are then parsed again."""


def _parse_pptx(raw: RawPage) -> ParsedPage:
    # Imported on demand: its library takes longer to load than the others together.
    from ingest.parsing.pptx import parse_pptx

    return parse_pptx(raw)


def _parse_xlsx(raw: RawPage) -> ParsedPage:
    from ingest.parsing.xlsx import parse_xlsx

    return parse_xlsx(raw)


_PARSERS: Final[Mapping[str, Callable[[RawPage], ParsedPage]]] = {
    MARKDOWN: parse_markdown,
    HTML: parse_html,
    PLAIN_TEXT: parse_plain,
    DOCX: parse_docx,
    PDF: parse_pdf,
    PPTX: _parse_pptx,
    XLSX: _parse_xlsx,
}
_WORD_BREAK: Final = re.compile(r"[-_\s]+")
_INDEX_NAMES: Final = frozenset({"index", "_index", "readme", "home"})


def parse(raw: RawPage) -> ParsedPage:
    """Parse a page.

    The title is the front matter's, else the first heading of level 1, else the document's own,
    else the file's name made readable. A page that has a description and nothing else says that.

    Raises:
        PageParseError: If it cannot be read or holds no text; the message is the reason.
    """
    parser = _PARSERS.get(raw.media_type)
    if parser is None:
        raise PageParseError(f"no parser for {raw.media_type}")
    if not raw.content.strip():
        raise PageParseError("the file is empty")
    try:
        parsed = parser(raw)
    except RecursionError as error:
        raise PageParseError("its elements are nested too deeply") from error
    title = _plain(parsed.title) or _readable_name(raw.path)
    description = parsed.metadata.get("description")
    if not parsed.text and isinstance(description, str):
        page = PageText()
        page.paragraph(_plain(description))
        parsed = page.parsed(title, parsed.metadata)
    if not parsed.text:
        raise PageParseError("no text in it")
    return replace(parsed, title=title)


def _plain(text: str) -> str:
    """Return a title or description without the HTML it may hold."""
    if "<" in text or "&" in text:
        text = flat_text(lxml.html.fragment_fromstring(text, create_parent=True))
    return one_line(text)


def _readable_name(path: str) -> str:
    """Return "Notes de frais" for `rh/notes-de-frais.md`, and the folder's name for an index."""
    pure = PurePosixPath(path)
    name = pure.name.split(".")[0] or pure.name
    if name.lower() in _INDEX_NAMES and pure.parent.name:
        name = pure.parent.name
    words = _WORD_BREAK.sub(" ", name).strip()
    return words[:1].upper() + words[1:]
