"""Puts an SQLite file into write-ahead logging, whoever else opens it at the same time."""

from __future__ import annotations

import sqlite3
import time

_PAUSE_S = 0.02


def switch_to_wal(connection: sqlite3.Connection, *, patience_s: float) -> None:
    """Switch the journal mode of the file, which lasts.

    SQLite's busy timeout does not hold here: of two processes that open a new file at once, one
    gets "database is locked" at once.

    Raises:
        sqlite3.OperationalError: If the file is still busy after `patience_s` seconds.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
