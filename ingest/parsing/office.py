"""What the parsers of office documents share: the archive they come in, and nested lists."""

from __future__ import annotations

import io
import zipfile
import zlib
from datetime import datetime
from typing import Final

from lxml.html import HtmlElement
from lxml.html.builder import E

from ingest.errors import PageParseError
from ingest.parsing.front_matter import Metadata

ARCHIVE_DAMAGE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError,
)  # fmt: skip
"""What `zipfile` raises on archives that are damaged, or of a kind that it does not read."""
_OLE_SIGNATURE: Final = b"\xd0\xcf\x11\xe0"
_MAX_UNPACKED_BYTES: Final = 300_000_000
"""An office document is a ZIP archive; one that unpacks to more is refused."""
_MAX_PACKED_WELL_BYTES: Final = 30_000_000
"""Of what was packed to less than half, as text is and pictures are not. Parsed, such text takes
twenty times as much memory (measured), and a thousand written pages have less of it."""

_ENCRYPTED: Final = 1
_PACKED_BY: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
"""Source: ISO/IEC 29500-2, annex C."""
_DEEPEST_LIST: Final = 8
"""Levels below the first that Word and PowerPoint offer; a file may claim any number."""


def check_package(content: bytes, *, old_suffix: str, suffix: str) -> None:
    """Refuse a document that is encrypted, of an old format, or swells when it is unpacked.

    Args:
        content: The bytes of the file.
        old_suffix: Of the format that came before, for the message: ".doc".
        suffix: Of this one: ".docx".

    Raises:
        PageParseError: With the reason.
        ARCHIVE_DAMAGE: If it is no ZIP archive, one of these.
    """
    if content.startswith(_OLE_SIGNATURE):
        raise PageParseError(
            f"protected by a password, or an old {old_suffix} under the name of a {suffix}"
        )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise PageParseError("protected by a password")
    if any(member.compress_type not in _PACKED_BY for member in members):
        raise PageParseError("packed in a way that office documents are not")
    whole = sum(member.file_size for member in members)
    text = sum(m.file_size for m in members if m.file_size > 2 * m.compress_size)
    if whole > _MAX_UNPACKED_BYTES or text > _MAX_PACKED_WELL_BYTES:
        raise PageParseError("unpacks to an unreasonable size")


def core_metadata(modified: datetime | None, language: str | None) -> Metadata:
    """Return what a document says of itself, in the words of front matter."""
    metadata: Metadata = {}
    if modified is not None:
        metadata["modified"] = modified.isoformat()
    if language:
        metadata["lang"] = language
    return metadata


def element_of(tag: str, text: str, *, bold: bool = False) -> HtmlElement:
    """Return an element with a text whose line breaks become `<br>`."""
    element: HtmlElement = E(tag)
    holder = element
    if bold:
        holder = E.strong()
        element.append(holder)
    lines = text.split("\n")
    holder.text = lines[0]
    for line in lines[1:]:
        line_break = E.br()
        line_break.tail = line
        holder.append(line_break)
    return element


class NestedLists:
    """Writes list items, one after the other with their depths, as nested HTML lists."""

    def __init__(self, target: HtmlElement) -> None:
        """Start without a list; they are appended to the target."""
        self._target = target
        self._lists: list[HtmlElement] = []  # open lists, outermost first

    def close(self) -> None:
        """End the open lists: something else comes next."""
        self._lists.clear()

    def item(self, text: str, depth: int, *, ordered: bool) -> None:
        """Add an item to the list at this depth (from 0), opening and closing lists as needed."""
        depth = min(max(depth, 0), _DEEPEST_LIST)
        del self._lists[depth + 1 :]
        while len(self._lists) <= depth:
            parent = self._target
            if self._lists:
                items = self._lists[-1]
                if not len(items):
                    items.append(E.li())
                parent = items[-1]
            opened = E.ol() if ordered else E.ul()
            parent.append(opened)
            self._lists.append(opened)
        self._lists[depth].append(element_of("li", text))
