"""Short transactions on the bot's tables, with the library's errors translated."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from bot.errors import JobStoreError
from bot.store.engine import BUSY_TIMEOUT_MS, READ_ONLY

_writers: WeakKeyDictionary[Engine, threading.Lock] = WeakKeyDictionary()
_creating = threading.Lock()


@contextmanager
def transaction(engine: Engine, *, reads: bool = False) -> Iterator[Connection]:
    """Run the body in one transaction; with `reads` it takes no lock.

    Raises:
        JobStoreError: If the database cannot be used now.
    """
    with _turn(engine, reads=reads):
        options = READ_ONLY if reads else {}
        try:
            connected = engine.connect().execution_options(**options)
            with connected as connection, connection.begin():
                yield connection
        except SQLAlchemyError as error:
            raise JobStoreError(f"cannot use the bot's tables: {type(error).__name__}") from error


@contextmanager
def _turn(engine: Engine, *, reads: bool) -> Iterator[None]:
    """Wait for the other writers of this process, where the database has one writer at a time.

    SQLite itself waits by sleeping, up to 100 ms at a time, and whoever waits longest is not next:
    an acknowledgement of Slack's behind it took two to four times as long in the worst cases.
    """
    if reads or engine.dialect.name != "sqlite":
        yield
        return
    with _creating:
        writer = _writers.setdefault(engine, threading.Lock())
    if not writer.acquire(timeout=BUSY_TIMEOUT_MS / 1_000):
        raise JobStoreError("cannot use the bot's tables: others write for too long")
    try:
        yield
    finally:
        writer.release()
