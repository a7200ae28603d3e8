"""Remembers what a source told of its items between syncs, as JSON by key."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from ingest.sources.cache_file import open_cache
from ingest.sources.web_json import JsonObject

_VERSION: Final = 1
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS items (key TEXT PRIMARY KEY, value BLOB NOT NULL)"


class ItemCache:
    """Objects by key, in an SQLite file that may be deleted at any time.

    Args:
        path: Of the file; it is made when first needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

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

    def keep_only(self, keys: Collection[str]) -> None:
        """Forget every object but these."""
        connection = self._open()
        known = [key for (key,) in connection.execute("SELECT key FROM items")]
        with connection:
            connection.executemany(
                "DELETE FROM items WHERE key = ?", [(key,) for key in known if key not in keys]
            )

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_cache(self._path, _SCHEMA, version=_VERSION)
        return self._connection


def _packed(value: JsonObject) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _unpacked(value: bytes) -> JsonObject:
    found: JsonObject = json.loads(zlib.decompress(value).decode("utf-8", "surrogatepass"))
    return found
