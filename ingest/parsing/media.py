"""The media types that can be parsed, and the file suffixes that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MARKDOWN: Final = "text/markdown"
HTML: Final = "text/html"
PLAIN_TEXT: Final = "text/plain"
PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".mdx": MARKDOWN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".njk": HTML,
    ".txt": PLAIN_TEXT,
    ".docx": DOCX,
    ".pptx": PPTX,
    ".xlsx": XLSX,
    ".pdf": PDF,
}
"""Media type by file suffix, lower case; a file with another suffix is not a page."""
