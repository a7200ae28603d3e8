"""Parses HTML pages: finds the main content, drops what surrounds it."""

from __future__ import annotations

import re
from typing import Final

import lxml.html
from lxml.etree import ParserError
from lxml.html import HtmlElement

from ingest.errors import PageParseError
from ingest.parsing.decoding import decode
from ingest.parsing.elements import tag_of
from ingest.parsing.front_matter import Metadata, split_front_matter
from ingest.parsing.markdown import render_markdown
from ingest.parsing.page_text import PageText, one_line
from ingest.parsing.templates import strip_html_templates
from ingest.parsing.tree import write_tree
from ingest.records import ParsedPage, RawPage

_PARSER: Final = lxml.html.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True)

_MAIN: Final = "//main | //*[@role='main']"
_LANDMARKS: Final = (
    "//nav | //*[@role='navigation' or @role='banner' or @role='contentinfo' or @role='search'"
    " or @role='dialog' or @role='alertdialog']"
    " | //body//header[not(ancestor::article or .//h1)] | //footer[not(ancestor::article)]"
)
_AROUND: Final = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|breadcrumbs?|skip-?links?|pagination|toc"
    r"|table-of-contents|share|social|footer)(?:$|[\s_-])",
    re.I,
)
_CONSENT: Final = re.compile(
    r"cookie|consent|tarteaucitron|didomi|axeptio|onetrust|gdpr|rgpd-banner", re.I
)
_MIN_LINK_SHARE: Final = 0.6
"""Share of the words that are links from which a block named like navigation is navigation."""
_MAX_CONSENT_CHARS: Final = 3_000
_MIN_MAIN_SHARE: Final = 0.5
"""A <main> that holds less of the text than this is not what its name says."""

_META_NAMES: Final = {
    "description": "description",
    "date": "date",
    "dcterms.date": "date",
    "dcterms.modified": "modified",
    "dcterms.issued": "date",
    "last-modified": "last_modified",
    "lastmod": "lastmod",
    "revised": "modified",
    "article:modified_time": "modified",
    "article:published_time": "date",
    "audience": "audience",
    "robots": "robots",
    "keywords": "keywords",
}
# Markdown within an HTML template: `{{ "…" | markdown }}`, `{% markdown %}…{% endmarkdown %}`.
_MARKDOWN_PART: Final = re.compile(
    r"""\{\{-?\s*"(?P<string>(?:[^"\\]|\\.)*)"\s*\|\s*(?:markdown|md)\w*[^{}]*\}\}
        |\{%-?\s*markdown\s*-?%\}(?P<block>.*?)\{%-?\s*endmarkdown\s*-?%\}""",
    re.X | re.S,
)
_SITE_NAME: Final = re.compile(r"\s+[|•·»–—-]\s+[^|•·»–—]{1,60}\Z")


def parse_html(raw: RawPage) -> ParsedPage:
    """Parse an HTML page, or an HTML template with front matter.

    Raises:
        PageParseError: If it cannot be decoded or holds no element at all.
    """
    metadata, source = split_front_matter(decode(raw.content, html=True))
    if metadata or "{%" in source:
        source = strip_html_templates(_MARKDOWN_PART.sub(_render_part, source))
    document = _load(source)
    metadata = {**_read_head(document), **metadata}
    page = PageText()
    write_tree(main_content(document), page)
    title = metadata.get("title")
    if not isinstance(title, str):
        title = page.first_heading() or _document_title(document)
    return page.parsed(title, metadata)


def _render_part(match: re.Match[str]) -> str:
    return render_markdown((match["string"] or match["block"]).replace('\\"', '"'))


def _load(source: str) -> HtmlElement:
    try:
        # A template may leave nothing: an empty document is a page without text, not an error.
        return lxml.html.document_fromstring(source.strip() or "<html></html>", parser=_PARSER)
    except (ParserError, ValueError) as error:
        raise PageParseError(f"not readable as HTML: {error}") from error


def main_content(document: HtmlElement) -> HtmlElement:
    """Return the element that holds the page's own text; the document is changed.

    The page's <main> if it has one, else its only <article>, else its body; navigation, banners,
    footers and cookie notices are removed from it. Nothing is guessed from the density of the text:
    measured on real pages that loses a tenth of it (docs/decisions).
    """
    for element in document.xpath(_LANDMARKS):
        _remove(element)
    for element in document.xpath("//body//*[@id or @class]"):
        if _is_consent_notice(element) or _is_navigation(element):
            _remove(element)
    body = document.find("body")
    whole = document if body is None else body
    total = len(one_line(whole.text_content()))
    for candidates in (document.xpath(_MAIN), document.xpath("//article[not(ancestor::article)]")):
        if len(candidates) == 1:
            chosen: HtmlElement = candidates[0]
            if len(one_line(chosen.text_content())) >= _MIN_MAIN_SHARE * total:
                return chosen
    return whole


def _remove(element: HtmlElement) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _names(element: HtmlElement) -> str:
    return f"{element.get('id', '')} {element.get('class', '')}"


def _is_consent_notice(element: HtmlElement) -> bool:
    return (
        _CONSENT.search(_names(element)) is not None
        and tag_of(element) not in {"body", "main", "article", "a"}
        and element.find(".//h1") is None
        and len(element.text_content()) <= _MAX_CONSENT_CHARS
    )


def _is_navigation(element: HtmlElement) -> bool:
    if _AROUND.search(_names(element)) is None or tag_of(element) in {"body", "main", "a"}:
        return False
    words = len(element.text_content().split())
    linked = sum(len(link.text_content().split()) for link in element.iter("a"))
    return linked >= _MIN_LINK_SHARE * max(words, 1) and element.find(".//h1") is None


def _read_head(document: HtmlElement) -> Metadata:
    metadata: Metadata = {}
    language = document.get("lang") or document.get("{http://www.w3.org/XML/1998/namespace}lang")
    if language:
        metadata["lang"] = language
    for element in document.iter("meta"):
        name = (element.get("name") or element.get("property") or "").lower()
        content = one_line(element.get("content") or "")
        if name in _META_NAMES and content:
            metadata.setdefault(_META_NAMES[name], content)
    return metadata


def _document_title(document: HtmlElement) -> str:
    """Return <title> without the name of the site that many pages end it with."""
    found = document.find(".//title")
    title = "" if found is None else one_line(found.text_content())
    return _SITE_NAME.sub("", title) or title
