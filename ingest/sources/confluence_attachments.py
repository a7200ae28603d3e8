"""What Confluence tells of the files that are attached to its pages. Pure."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from ingest.errors import SourceUnavailableError
from ingest.sources.web_json import JsonObject

ATTACHMENT_DETAILS: Final = "version,container"
STORES: Final = frozenset({"api.media.atlassian.com"})
"""Where Confluence Cloud redirects downloads to."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a page.

    Attributes:
        name: Of the file.
        page_id: Of the page, or of whatever else it is attached to.
        version: Number, as text.
        size: Bytes, None when it is not told.
        modified: ISO moment of its last change, "" when unknown.
        download: Address of its content, without the site.
        shown: Address where people see it, without the site; "" when there is none.
    """

    name: str
    page_id: str
    version: str
    size: int | None
    modified: str
    download: str
    shown: str


def read_attachment(result: JsonObject) -> Attachment | None:
    """Return an attachment that a search found, None when it is not told what it belongs to.

    Raises:
        SourceUnavailableError: If something else is missing.
    """
    page_id = (result.get("container") or {}).get("id")
    if page_id is None:
        return None  # attached to something that we may not see
    try:
        size = (result.get("extensions") or {}).get("fileSize")
        return Attachment(
            name=unicodedata.normalize("NFC", " ".join(str(result["title"]).split())),
            page_id=str(page_id),
            version=str(result["version"]["number"]),
            size=None if size is None else int(size),
            modified=str(result["version"].get("when") or ""),
            download=str(result["_links"]["download"]),
            shown=str(result["_links"].get("webui") or ""),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SourceUnavailableError(f"Confluence describes a file without {error}") from error
