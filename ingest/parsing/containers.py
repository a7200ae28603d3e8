"""Unfolds the block containers of Markdown dialects line by line.

`!!! note "Title"` (MkDocs), `:::note Title` (Docusaurus, VitePress), `=== "Tab"`, kramdown's lines
of attributes and tables of contents: the titles and the content stay, as ordinary Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_FENCE: Final = re.compile(r"[ \t>]*(?:[-*+] +|\d+[.)] +)?(`{3,}|~{3,})")
_ADMONITION: Final = re.compile(
    r"""(?:!!!|\?\?\?\+?|===\+?)[ \t]+(?:[\w-]+[ \t]*)*(?:"(.*)")?[ \t]*\Z"""
)
_COLONS: Final = re.compile(r"([ \t>]*):{3,}[ \t]*(.*?)[ \t]*:*\Z")
_COLON_TITLE: Final = re.compile(
    r"""\A(?:\{[^}]*?title=["']([^"'}]+)["'][^}]*\}|\{[^}]*\}
        |[\w-]+\[(.*)\](?:\{.*\})?|[\w-]+[ \t]*(.*))\Z""",
    re.X,
)
_ATTRIBUTE_LINE: Final = re.compile(r"[ \t>]*\{::?[^}]*\}[ \t]*\Z")
_ID: Final = re.compile(r"#([\w:-]+)")
_TOC: Final = re.compile(r"[ \t]*\[\[?_?TOC_?\]\]?[ \t]*\Z", re.I)
_LIST_LINE: Final = re.compile(r"[ \t]*(?:[-*+]|\d+\.)[ \t]")
_MARKDOWN_INSIDE: Final = re.compile(r"[ \t]*<\w+[^>]*\smarkdown(?:=[^>]*)?>[ \t]*\Z")
_DELIMITERS: Final = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|?)+[ \t]*")
_BAR: Final = re.compile(r"(?<!\\)\|")
_BODY_INDENT: Final = 4


def unfold_containers(source: str) -> str:
    """Return the Markdown with its containers unfolded; code fences are left as they are."""
    lines: list[str] = []
    fence = ""
    for line in _dedent_admonitions(source.split("\n")):
        found = _FENCE.match(line)
        if fence or found:
            if found:
                fence = "" if fence and found[1].startswith(fence) else fence or found[1]
            lines.append(line)
        else:
            _unfold_line(line, lines)
    return "\n".join(lines)


def _unfold_line(line: str, lines: list[str]) -> None:
    if colons := _COLONS.match(line):
        title = _COLON_TITLE.match(colons[2])
        words = next((group for group in title.groups() if group), "") if title else ""
        lines += _label(words, colons[1])
    elif _ATTRIBUTE_LINE.match(line):
        _apply_attributes(line, lines)
    elif lines and "|" in line and "|" in lines[-1] and _DELIMITERS.fullmatch(line):
        lines.append(_fit_delimiters(line, lines[-1]))
    elif not _TOC.match(line):
        lines.append(line)
        if _MARKDOWN_INSIDE.match(line):
            lines.append("")


def _fit_delimiters(line: str, header: str) -> str:
    """Give the line below the header of a table as many columns: else it would be no table."""
    columns, have = len(_cells(header)), _cells(line)
    if len(have) == columns or columns == 1:
        return line
    return f"| {' | '.join((have + ['---'] * columns)[:columns])} |"


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|"))]


def _apply_attributes(line: str, lines: list[str]) -> None:
    """Give the heading above its id; drop the list item that stands for a table of contents."""
    if not lines:
        return
    identifier = _ID.search(line)
    if identifier and lines[-1].startswith("#"):
        lines[-1] += f" {{#{identifier[1]}}}"
    elif ":toc" in line and _LIST_LINE.match(lines[-1]):
        lines.pop()


def _dedent_admonitions(lines: list[str]) -> Iterator[str]:
    """Bring the indented body of an admonition or a tab to the level of its opening line."""
    bodies: list[int] = []
    fence = ""
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        while bodies and line.strip() and indent < bodies[-1]:
            bodies.pop()
            fence = ""
        line = line[min(indent, _BODY_INDENT * len(bodies)) :]
        if found := _FENCE.match(line):
            fence = "" if fence and found[1].startswith(fence) else fence or found[1]
        opening = None if fence else _ADMONITION.match(line.lstrip(" "))
        if opening is None:
            yield line
        else:
            bodies.append(indent + _BODY_INDENT)
            yield from _label(opening[1] or "", line[: len(line) - len(line.lstrip(" "))])


def _label(words: str, indent: str) -> list[str]:
    words = words.strip().strip("*").strip()
    return ["", f"{indent}**{words}**", ""] if words else [""]
