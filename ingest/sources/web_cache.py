"""Remembers the pages of a website between syncs, so that unchanged ones need not be sent again."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass

from ingest.sources.cache_file import CacheFile


@dataclass(frozen=True, slots=True)
class Visit:
    """A page as it was last sent.

    Attributes:
        url: Normalized.
        media_type: One that can be parsed.
        body: Its bytes.
        etag: Of the reply, "" if it had none.
        last_modified: Of the reply, as sent, "" if it had none.
        lastmod: Of the sitemap at that time, as written, "" if it had none.
        modified_at: ISO moment of its last change, "" when unknown.
        canonical: The address it goes by.
        links: Normalized addresses on it.
    """

    url: str
    media_type: str
    body: bytes
    etag: str = ""
    last_modified: str = ""
    lastmod: str = ""
    modified_at: str = ""
    canonical: str = ""
    links: tuple[str, ...] = ()


class WebCache(CacheFile):
    """Visits by address, in an SQLite file that may be deleted at any time."""

    SCHEMA = """
    CREATE TABLE IF NOT EXISTS visits (
      url TEXT PRIMARY KEY, etag TEXT NOT NULL, last_modified TEXT NOT NULL, lastmod TEXT NOT NULL,
      media_type TEXT NOT NULL, modified_at TEXT NOT NULL, canonical TEXT NOT NULL,
      links TEXT NOT NULL, body BLOB NOT NULL
    )
    """
    VERSION = 1
    TABLE, KEY = "visits", "url"

    def get(self, url: str) -> Visit | None:
        """Return the last visit, None when there was none."""
        row = self._open().execute("SELECT * FROM visits WHERE url = ?", (url,)).fetchone()
        if row is None:
            return None
        _, etag, last_modified, lastmod, media_type, modified_at, canonical, links, body = row
        return Visit(
            url=url,
            media_type=media_type,
            body=zlib.decompress(body),
            etag=etag,
            last_modified=last_modified,
            lastmod=lastmod,
            modified_at=modified_at,
            canonical=canonical,
            links=tuple(json.loads(links)),
        )

    def put(self, visit: Visit) -> None:
        """Remember a visit instead of the one before."""
        values = (
            visit.url,
            visit.etag,
            visit.last_modified,
            visit.lastmod,
            visit.media_type,
            visit.modified_at,
            visit.canonical,
            json.dumps(visit.links),
            zlib.compress(visit.body),
        )
        connection = self._open()
        with connection:
            connection.execute("INSERT OR REPLACE INTO visits VALUES (?,?,?,?,?,?,?,?,?)", values)
