"""Tells whether the bytes of a file are what its name says. Pure."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from ingest.parsing.media import DOCX, HTML, MEDIA_TYPES, PDF, PPTX, XLSX
from ingest.parsing.office import ARCHIVE_DAMAGE

_OFFICE_MEMBERS: Final[Mapping[str, tuple[str, str]]] = {
    DOCX: ("word/document.xml", "a Word document"),
    PPTX: ("ppt/presentation.xml", "a presentation"),
    XLSX: ("xl/workbook.xml", "a spreadsheet"),
}
_OLE: Final = b"\xd0\xcf\x11\xe0"
"""Begins old Office formats, and new ones that a password protects: their parsers say so."""
_PDF: Final = b"%PDF-"
_PDF_WITHIN: Final = 1_024
"""Bytes that may stand before it (ISO 32000-1, annex H.3.4.1)."""
_NO_TEXT: Final = (b"PK\x03\x04", _PDF, _OLE, b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"{\\rtf")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


def contradiction(path: str, content: bytes) -> str | None:
    """Return what speaks against a file's name, None if nothing does.

    Args:
        path: Ends in the name; of a kind that can be parsed.
        content: The whole file.
    """
    media_type = MEDIA_TYPES[PurePosixPath(path).suffix.lower()]
    if not content.strip():
        return "the file is empty"
    if media_type in _OFFICE_MEMBERS:
        member, named = _OFFICE_MEMBERS[media_type]
        return None if content.startswith(_OLE) or _holds(content, member) else f"it is not {named}"
    if media_type == PDF:
        return None if _PDF in content[:_PDF_WITHIN] else "it is not a PDF"
    if content.startswith(_NO_TEXT) or (b"\0" in content and not content.startswith(_UTF_16)):
        return "it is not text"
    if media_type == HTML and b"<" not in content:
        return "it is not a web page"
    return None


def _holds(content: bytes, member: str) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return member in archive.namelist()
    except ARCHIVE_DAMAGE:
        return False
