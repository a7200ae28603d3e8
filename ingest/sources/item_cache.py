"""Remembers what a source told of its items between syncs, as JSON by key."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping

from ingest.sources.cache_file import CacheFile
from ingest.sources.web_json import JsonObject


class ItemCache(CacheFile):
    """Objects by key, in an SQLite file that may be deleted at any time.

    Args:
        path: Of the file; it is made when first needed.
    """

    SCHEMA = "CREATE TABLE IF NOT EXISTS items (key TEXT PRIMARY KEY, value BLOB NOT NULL)"
    VERSION = 1
    TABLE, KEY = "items", "key"

    def get(self, key: str) -> JsonObject | None:
        """Return the object of a key, None when there is none.

        Raises:
            SourceUnavailableError: If the file cannot be used (as all methods here).
        """
        row = self._open().execute("SELECT value FROM items WHERE key = ?", (key,)).fetchone()
        return None if row is None else _unpacked(row[0])

    def put(self, key: str, value: JsonObject) -> None:
        """Remember an object instead of the one before."""
        connection = self._open()
        with connection:
            connection.execute("INSERT OR REPLACE INTO items VALUES (?, ?)", (key, _packed(value)))

    def all(self) -> dict[str, JsonObject]:
        """Return every object."""
        rows = self._open().execute("SELECT key, value FROM items")
        return {key: _unpacked(value) for key, value in rows}

    def replace(self, values: Mapping[str, JsonObject]) -> None:
        """Remember these objects and no others, all at once."""
        connection = self._open()
        with connection:
            connection.execute("DELETE FROM items")
            connection.executemany(
                "INSERT INTO items VALUES (?, ?)",
                [(key, _packed(value)) for key, value in values.items()],
            )


def _packed(value: JsonObject) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _unpacked(value: bytes) -> JsonObject:
    found: JsonObject = json.loads(zlib.decompress(value).decode("utf-8", "surrogatepass"))
    return found
