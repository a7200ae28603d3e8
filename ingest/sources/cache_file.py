"""Opens the SQLite files in which sources keep what they were sent; losing one costs time alone."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar, Final

from ingest.errors import SourceUnavailableError
from ingest.journal import switch_to_wal

_PATIENCE_S: Final = 5.0
"""How long to wait for another process that is just opening the file."""


def cache_file(folder: Path, source: str, *places: str) -> Path:
    """Return the path of a source's file: another one when it reads from another place."""
    digest = hashlib.sha256("\n".join(places).encode()).hexdigest()[:8]
    return folder / f"{re.sub(r'[^A-Za-z0-9-]', '_', source)}-{digest}.db"


class CacheFile:
    """One table of a source's own, in an SQLite file that may be deleted at any time.

    Args:
        path: Of the file; it is made when first needed.
    """

    SCHEMA: ClassVar[str]
    VERSION: ClassVar[int]
    """Of the schema: a file of another one is begun anew."""
    TABLE: ClassVar[str]
    KEY: ClassVar[str]
    """Column that names a row."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def keep_only(self, keys: Collection[str]) -> None:
        """Forget every row but these.

        Raises:
            SourceUnavailableError: If the file cannot be used.
        """
        connection = self._open()
        known = [key for (key,) in connection.execute(f"SELECT {self.KEY} FROM {self.TABLE}")]  # noqa: S608 - names of ours
        with connection:
            connection.executemany(
                f"DELETE FROM {self.TABLE} WHERE {self.KEY} = ?",  # noqa: S608
                [(key,) for key in known if key not in keys],
            )

    def close(self) -> None:
        """Close the file; it is opened again when needed."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_cache(self._path, self.SCHEMA, version=self.VERSION)
        return self._connection


def open_cache(path: Path, schema: str, *, version: int) -> sqlite3.Connection:
    """Open a file; one of another version, or damaged, is begun anew.

    Raises:
        SourceUnavailableError: If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _prepared(path, schema, version)
        except sqlite3.OperationalError:
            raise  # in use, or not to be opened: what it holds is good
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
            return _prepared(path, schema, version)
    except (OSError, sqlite3.Error) as error:
        raise SourceUnavailableError(f"cannot use {path}: {error}") from error


def _prepared(path: Path, schema: str, version: int) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    try:
        (written_by,) = connection.execute("PRAGMA user_version").fetchone()
        if written_by not in (0, version):
            raise sqlite3.DatabaseError("written by another version")
        switch_to_wal(connection, patience_s=_PATIENCE_S)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(schema)
        connection.execute(f"PRAGMA user_version = {version}")
    except BaseException:
        connection.close()
        raise
    return connection
