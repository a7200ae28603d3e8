"""Parses Markdown and its dialects: by markdown-it to HTML, then like any HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import lxml.html
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

from ingest.parsing.containers import unfold_containers
from ingest.parsing.decoding import decode
from ingest.parsing.front_matter import split_front_matter
from ingest.parsing.page_text import PageText
from ingest.parsing.templates import strip_templates
from ingest.parsing.tree import write_tree
from ingest.records import ParsedPage, RawPage

_MAX_NESTING: Final = 100
_FULL_LINE: Final = 55
_LONG_LINE: Final = 120
_FULL_PER_LONG: Final = 10
_UNWRAPPABLE: Final = re.compile(r"^\s*[|#]|https?://")

# Markup that CommonMark leaves in the text because it is slightly wrong: `**d'**horaires`,
# a link to an address with spaces, a footnote without its note.
_GLUED_BOLD: Final = re.compile(r"(?<=\w)\*{4}(?=\w)")
_BROKEN_BOLD: Final = re.compile(r"(?<!\*)\*\*(?!\*)")
_BROKEN_LINK: Final = re.compile(r"!?\[([^\[\]]+)\]\([^()]*\)")
_BROKEN_FOOTNOTE: Final = re.compile(r"\[\^[\w-]+\]")


def parse_markdown(raw: RawPage) -> ParsedPage:
    """Parse a Markdown page.

    Raises:
        PageParseError: If it cannot be decoded.
    """
    metadata, source = split_front_matter(decode(raw.content))
    rendered = render_markdown(source, mdx=raw.path.lower().endswith(".mdx"))
    page = PageText()
    if rendered.strip():
        root = lxml.html.document_fromstring(f"<html><body>{rendered}</body></html>")
        write_tree(root, page, slugs=True)
    title = metadata.get("title")
    return page.parsed(title if isinstance(title, str) else page.first_heading() or "", metadata)


def render_markdown(source: str, *, mdx: bool = False) -> str:
    """Return Markdown without front matter as HTML, its template language taken out.

    Line breaks within a paragraph are kept, unless the page is wrapped at a width.
    """
    stripped = strip_templates(unfold_containers(source), mdx=mdx)
    rendered: str = _renderer(breaks=not _is_wrapped(source)).render(stripped)
    return rendered


def _is_wrapped(source: str) -> bool:
    """Tell whether an editor wrapped the lines: then hardly any is longer than a width."""
    lengths = [len(line) for line in source.split("\n") if not _UNWRAPPABLE.search(line)]
    long = sum(length > _LONG_LINE for length in lengths)
    full = sum(_FULL_LINE <= length <= _LONG_LINE for length in lengths)
    return long * _FULL_PER_LONG < full


@cache
def _renderer(*, breaks: bool) -> MarkdownIt:
    """CommonMark with HTML, tables, definitions, footnotes and task lists.

    Indented code is off: in handbooks four spaces are HTML, JSX or a list that lost its bullet far
    more often than code, and fences are what code is put in.
    """
    renderer = MarkdownIt(
        "commonmark", {"html": True, "breaks": breaks, "maxNesting": _MAX_NESTING}
    )
    renderer.enable(["table", "strikethrough"]).disable("code")
    renderer.add_render_rule("text", _render_text)
    # Only the words of a link are kept: its address need not be checked nor encoded.
    renderer.validateLink = lambda url: True  # type: ignore[method-assign]
    renderer.normalizeLink = lambda url: url  # type: ignore[method-assign]
    return renderer.use(deflist_plugin).use(footnote_plugin).use(tasklists_plugin)


def _render_text(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    text = tokens[index].content
    if "**" in text:
        text = _GLUED_BOLD.sub(" ", text)
        text = _BROKEN_BOLD.sub("", text)
    if "](" in text:
        text = _BROKEN_LINK.sub(r"\1", text)
    if "[^" in text:
        text = _BROKEN_FOOTNOTE.sub("", text)
    return escapeHtml(text)
