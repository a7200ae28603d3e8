"""Parses Markdown and its dialects: by markdown-it to HTML, then like any HTML."""

from __future__ import annotations

from functools import cache

import lxml.html
from markdown_it import MarkdownIt
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

_MAX_NESTING = 100


def parse_markdown(raw: RawPage) -> ParsedPage:
    """Parse a Markdown page.

    Raises:
        PageParseError: If it cannot be decoded.
    """
    metadata, source = split_front_matter(decode(raw.content))
    mdx = raw.path.lower().endswith(".mdx")
    rendered = _renderer().render(strip_templates(unfold_containers(source), mdx=mdx))
    page = PageText()
    if rendered.strip():
        root = lxml.html.document_fromstring(f"<html><body>{rendered}</body></html>")
        write_tree(root, page, slugs=True)
    title = metadata.get("title")
    return page.parsed(title if isinstance(title, str) else page.first_heading() or "", metadata)


@cache
def _renderer() -> MarkdownIt:
    """CommonMark with HTML, tables, definitions, footnotes and task lists.

    Indented code is off: in handbooks four spaces are HTML, JSX or a list that lost its bullet far
    more often than code, and fences are what code is put in.
    """
    renderer = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING})
    renderer.enable(["table", "strikethrough"]).disable("code")
    return renderer.use(deflist_plugin).use(footnote_plugin).use(tasklists_plugin)
