"""Writes the blocks and properties of a Notion page as HTML. Pure.

Source of the shapes: developers.notion.com/reference/block, /rich-text, /page-property-values.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

Json = Mapping[str, Any]

CHILDREN: Final = "children"
"""Key under which the blocks inside a block stand."""

_LISTS: Final = {
    "bulleted_list_item": "ul",
    "to_do": "ul",
    "numbered_list_item": "ol",
}
_HEADINGS: Final = {f"heading_{level}": f"h{level + 1}" for level in range(1, 5)}
"""One below the title of the page."""
_MARKS: Final = (("bold", "strong"), ("italic", "em"), ("strikethrough", "del"), ("code", "code"))
_ADDRESSES: Final = frozenset({"bookmark", "embed", "link_preview"})


def text_of(rich_text: object) -> str:
    """Return the words of rich text, as plain text."""
    return "".join(str(part.get("plain_text") or "") for part in _objects(rich_text))


def anchor_of(block_id: object) -> str:
    """Return the fragment of a block in the link of its page."""
    return str(block_id).replace("-", "")


def render_page(title: str, properties: Json, blocks: Sequence[Json]) -> str:
    """Return a page as HTML: its title, its properties as a list, its blocks.

    Args:
        title: Of the page.
        properties: By name, as the interface gives them.
        blocks: Each with the blocks inside it under `CHILDREN`.

    Returns:
        "" when there is nothing but the title.
    """
    body = _properties(properties) + render_blocks(blocks)
    if not body:
        return ""
    return f"<html><body><main><h1>{_escaped(title)}</h1>{body}</main></body></html>"


def render_blocks(blocks: Sequence[Json]) -> str:
    """Return blocks as HTML; those in a row that make a list as one list."""
    parts = []
    for tag, group in groupby(blocks, key=lambda block: _LISTS.get(_kind(block), "")):
        rendered = "".join(_block(block) for block in group)
        parts.append(f"<{tag}>{rendered}</{tag}>" if tag else rendered)
    return "".join(parts)


def _block(block: Json) -> str:
    kind = _kind(block)
    content = block.get(kind)
    content = content if isinstance(content, Mapping) else {}
    writer = _WRITERS.get(kind, _paragraph)
    return writer(block, content, render_blocks(_objects(block.get(CHILDREN))))


def _kind(block: Json) -> str:
    return str(block.get("type") or "")


# --- kinds of blocks: the block, what is particular to its kind, the HTML of the blocks inside ----


def _paragraph(block: Json, content: Json, inside: str) -> str:
    """Write text, then what is inside; so also any kind that is not known here."""
    return _element("p", _rich_text(content.get("rich_text"))) + inside


def _heading(block: Json, content: Json, inside: str) -> str:
    text = _rich_text(content.get("rich_text"))
    return _element(_HEADINGS[_kind(block)], text, anchor=anchor_of(block.get("id"))) + inside


def _item(block: Json, content: Json, inside: str) -> str:
    return f"<li>{_rich_text(content.get('rich_text'))}{inside}</li>"


def _toggle(block: Json, content: Json, inside: str) -> str:
    summary = f"<summary>{_rich_text(content.get('rich_text'))}</summary>"
    return f'<details id="{_escaped(anchor_of(block.get("id")))}">{summary}{inside}</details>'


def _quote(block: Json, content: Json, inside: str) -> str:
    return _element("blockquote", _element("p", _rich_text(content.get("rich_text"))) + inside)


def _code(block: Json, content: Json, inside: str) -> str:
    code = _element("pre", _escaped(text_of(content.get("rich_text"))))
    return code + _caption(block, content, inside)


def _equation(block: Json, content: Json, inside: str) -> str:
    return _element("p", _escaped(str(content.get("expression") or "")))


def _address(block: Json, content: Json, inside: str) -> str:
    url = _escaped(str(content.get("url") or ""))
    text = _rich_text(content.get("caption")) or url
    return f'<p><a href="{url}">{text}</a></p>' if text else ""


def _caption(block: Json, content: Json, inside: str) -> str:
    return _element("p", _rich_text(content.get("caption"))) + inside


def _table(block: Json, content: Json, inside: str) -> str:
    rows = []
    for number, row in enumerate(_objects(block.get(CHILDREN))):
        cells = (row.get("table_row") or {}).get("cells") or ()
        tags = (
            "th"
            if (number == 0 and content.get("has_column_header"))
            or (column == 0 and content.get("has_row_header"))
            else "td"
            for column in range(len(cells))
        )
        rendered = "".join(
            f"<{tag}>{_rich_text(cell)}</{tag}>" for tag, cell in zip(tags, cells, strict=True)
        )
        rows.append(f"<tr>{rendered}</tr>")
    return _element("table", "".join(rows))


def _only_inside(block: Json, content: Json, inside: str) -> str:
    return inside


def _nothing(block: Json, content: Json, inside: str) -> str:
    """Leave out what is a page of its own, or says nothing in words."""
    return ""


_WRITERS: Final[Mapping[str, Callable[[Json, Json, str], str]]] = {
    **dict.fromkeys(_HEADINGS, _heading),
    **dict.fromkeys(_LISTS, _item),
    **dict.fromkeys(_ADDRESSES, _address),
    **dict.fromkeys(("image", "video", "audio", "file", "pdf"), _caption),
    **dict.fromkeys(("column_list", "column", "synced_block"), _only_inside),
    **dict.fromkeys(
        ("child_page", "child_database", "table_of_contents", "breadcrumb", "divider"), _nothing
    ),
    "toggle": _toggle,
    "quote": _quote,
    "callout": _quote,
    "code": _code,
    "equation": _equation,
    "table": _table,
}


# --- properties ----------------------------------------------------------------------------------


def _properties(properties: Json) -> str:
    """Return the properties that say something, by name: the interface has them in no order."""
    found = []
    for name in sorted(properties):
        prop = properties[name]
        value = _value(prop) if isinstance(prop, Mapping) else ""
        if value:
            found.append(f"<dt>{_escaped(name)}</dt><dd>{_escaped(value)}</dd>")
    return _element("dl", "".join(found))


def _value(prop: Json) -> str:
    """Return a property, or a value inside one, in words; "" when it has none for readers."""
    kind = str(prop.get("type") or "")
    value = prop.get(kind)
    if value is None or kind in _NO_WORDS:
        return ""
    if isinstance(value, bool):
        return "☑" if value else "☐"
    if isinstance(value, (str, int, float)):
        return str(value)
    if kind == "rich_text":
        return text_of(value)
    if kind == "date":
        return " – ".join(str(value[end]) for end in ("start", "end") if value.get(end))
    if kind == "unique_id":
        return "-".join(str(value[part]) for part in ("prefix", "number") if value.get(part))
    if kind in ("formula", "rollup"):
        return _value(value)
    if kind == "array":
        return ", ".join(filter(None, map(_value, _objects(value))))
    if isinstance(value, Mapping):
        return str(value.get("name") or "")
    return ", ".join(str(one["name"]) for one in _objects(value) if one.get("name"))


_NO_WORDS: Final = frozenset(
    {"title", "relation", "button", "verification"}
    | {f"{what}_{which}" for what in ("created", "last_edited") for which in ("time", "by")}
)


# --- HTML ----------------------------------------------------------------------------------------


def _rich_text(rich_text: object) -> str:
    return "".join(_run(part) for part in _objects(rich_text))


def _run(part: Json) -> str:
    text = _escaped(str(part.get("plain_text") or "")).replace("\n", "<br>")
    annotations = part.get("annotations") or {}
    for name, tag in _MARKS:
        if annotations.get(name):
            text = _element(tag, text)
    return text


def _element(tag: str, inside: str, *, anchor: str = "") -> str:
    """Return an element, "" when there would be nothing in it."""
    if not inside:
        return ""
    attribute = f' id="{_escaped(anchor)}"' if anchor else ""
    return f"<{tag}{attribute}>{inside}</{tag}>"


def _escaped(text: str) -> str:
    return html.escape(text)


def _objects(values: object) -> Sequence[Json]:
    found: Iterable[object] = values if isinstance(values, (list, tuple)) else ()
    return [value for value in found if isinstance(value, Mapping)]
