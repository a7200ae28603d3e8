"""What is asked of single HTML elements: their words, their anchors, whether they are noise."""

from __future__ import annotations

import re
from typing import Final

from lxml.html import HtmlElement

DROPPED_TEXT = """
    script style template noscript head link meta title base nav svg canvas iframe object embed
    audio video map math select option datalist input textarea progress meter dialog del s strike
    colgroup col
    """
DROPPED: Final = frozenset(DROPPED_TEXT.split())
"""Elements without text for a reader, struck-out text among them: it no longer holds."""

BLOCKS_TEXT = """
    address article aside blockquote body caption center dd details div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol p pre search
    section summary table tbody td tfoot th thead tr ul
    """
BLOCKS: Final = frozenset(BLOCKS_TEXT.split())
HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}

_ITEM_SEPARATOR: Final = " ; "
_BOX: Final = re.compile(
    r"(?:^|[\s_-])(?:highlight|callout|call-out|notice|note|alert|admonition|infobox|info-box|encart"
    r"|encadre|tip|warning|message|hint)(?:$|[\s_-])",
    re.I,
)
_PERMALINK: Final = re.compile(r"[#¶§🔗\s]*\Z")
_FILE_NAME: Final = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp|bmp|avif)\Z", re.I)
_SENTENCE_END: Final = (".", ";", ":", ",", "!", "?")


def tag_of(element: HtmlElement) -> str:
    """Return the tag in lower case, "" for comments and processing instructions."""
    return element.tag if isinstance(element.tag, str) else ""


def flat_text(element: HtmlElement) -> str:
    """Return the words of an element on one line; list items are separated by `;`."""
    parts: list[str] = []
    _collect(element, parts)
    return " ".join("".join(parts).split())


def _collect(element: HtmlElement, parts: list[str]) -> None:
    parts.append(element.text or "")
    for child in element:
        tag = tag_of(child)
        if tag == "br":
            parts.append(" ")
        elif tag == "img":
            parts.append(alternative_text(child))
        elif tag and tag not in DROPPED and not is_permalink(child) and not is_footnote_mark(child):
            if tag in BLOCKS:
                parts.append(_separator(tag, parts))
            _collect(child, parts)
            if tag in BLOCKS:
                parts.append(" ")
        parts.append(child.tail or "")


def _separator(tag: str, parts: list[str]) -> str:
    if tag not in {"li", "dt"}:
        return " "
    before = "".join(parts[-8:]).rstrip()
    return _ITEM_SEPARATOR if before and not before.endswith(_SENTENCE_END) else " "


def alternative_text(image: HtmlElement) -> str:
    """Return the text that stands for an image, "" when it is but a file name."""
    text: str = (image.get("alt") or "").strip()
    return "" if _FILE_NAME.match(text) else text


def is_permalink(element: HtmlElement) -> bool:
    """Tell whether it is the link that generators put beside a heading."""
    if element.tag != "a" or not (element.get("href") or "").startswith("#"):
        return False
    return _PERMALINK.match(element.text_content()) is not None or "footnote-backref" in (
        element.get("class") or ""
    )


def is_footnote_mark(element: HtmlElement) -> bool:
    """Tell whether it is the number that refers to a footnote."""
    return element.tag == "sup" and "footnote" in (element.get("class") or "")


def anchor_of(heading: HtmlElement) -> str | None:
    """Return the fragment that leads to a heading: its id, one inside it, or its section's."""
    own = heading.get("id")
    if own:
        return str(own)
    for inner in heading.iter("a", "span"):
        name = inner.get("id") or inner.get("name")
        if name:
            return str(name)
    parent = heading.getparent()
    if parent is not None and parent.tag in {"section", "article"} and parent[0] is heading:
        identifier = parent.get("id")
        return str(identifier) if identifier else None
    return None


def is_all_bold(paragraph: HtmlElement) -> bool:
    """Tell whether a paragraph is one run of bold text: a title in all but name."""
    if (paragraph.text or "").strip() or len(paragraph) != 1:
        return False
    child = paragraph[0]
    return tag_of(child) in {"strong", "b"} and not (child.tail or "").strip()


def ends_section(element: HtmlElement, root: HtmlElement) -> bool:
    """Tell whether nothing follows an accordion but other accordions, a heading or the end."""
    node = element
    while node is not root:
        if (node.tail or "").strip():
            return False
        following = node.getnext()
        if following is None:
            node = node.getparent()
        elif tag_of(following) in HEADINGS or tag_of(following) == "details":
            return True
        elif tag_of(following) in DROPPED or not following.text_content().strip():
            node = following
        else:
            return _starts_with_heading(following)
    return True


def is_box_title(heading: HtmlElement, root: HtmlElement) -> bool:
    """Tell whether a heading is but the title of a call-out, and the section goes on after it.

    Read as a heading it would claim all the text up to the next one.
    """
    box = next((e for e in heading.iterancestors() if e is root or _is_box(e)), root)
    if box is root or len(list(box.iter(*HEADINGS))) > 1:
        return False
    return not ends_section(box, root)


def _is_box(element: HtmlElement) -> bool:
    return tag_of(element) in {"aside", "blockquote", "figure"} or (
        tag_of(element) == "div" and _BOX.search(element.get("class") or "") is not None
    )


def _starts_with_heading(element: HtmlElement) -> bool:
    """Tell whether the first thing in a wrapper is a heading or an accordion."""
    while not (element.text or "").strip() and len(element):
        element = element[0]
        if tag_of(element) in HEADINGS or tag_of(element) == "details":
            return True
    return False
