"""Opens the SQLite file of the index and translates what SQLAlchemy raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from ingest.errors import ConfigurationError, IndexStoreError
from ingest.journal import switch_to_wal

BUSY_TIMEOUT_MS = 30_000
"""How long a writer waits for another one: every transaction of ours is far shorter."""

_CACHE_KIB = 32_768
_MAPPED_BYTES = 1 << 30

SUPPORTED = "sqlite:///PATH"

READ_ONLY = {"index_read_only": True}
"""Execution options of a writer's transaction that needs no lock."""


def parse_url(database_url: str) -> URL:
    """Return the parts of DATABASE_URL.

    Raises:
        ConfigurationError: If it is not a database URL.
    """
    try:
        return make_url(database_url)
    except ArgumentError as error:
        raise ConfigurationError(
            f"DATABASE_URL is not a database URL; supported: {SUPPORTED}"
        ) from error


def database_path(database_url: str) -> Path:
    """Return the file that an SQLite URL names.

    Raises:
        ConfigurationError: If it names none.
    """
    database = parse_url(database_url).database
    if not database or database == ":memory:":
        raise ConfigurationError(
            f"DATABASE_URL must name a file that several processes can open: {SUPPORTED}"
        )
    return Path(database)


def open_for_reading(path: Path) -> Engine:
    """Connect to an existing file without any way to change it."""
    engine = _engine(path, mode="ro")
    event.listen(engine, "connect", _set_up_reader)
    event.listen(engine, "begin", _begin_deferred)
    return engine


def open_for_writing(path: Path) -> Engine:
    """Connect to a file that is made when missing; each transaction takes the write lock at once.

    A transaction that starts by reading could fail half-way when somebody writes in between.
    """
    engine = _engine(path, mode="rwc")
    event.listen(engine, "connect", _set_up_writer)
    event.listen(engine, "begin", _begin_immediate)
    return engine


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Turn what SQLAlchemy raises into IndexStoreError."""
    try:
        yield
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error)
        hint = "; another process is writing, try again" if "locked" in reason else ""
        raise IndexStoreError(f"the index {path} failed: {reason}{hint}") from error


def _engine(path: Path, *, mode: str) -> Engine:
    # `:` starts a Windows drive and must stay; everything else that URIs give a meaning is quoted.
    uri = "file:" + quote(path.as_posix(), safe="/:")
    return create_engine(
        URL.create("sqlite", database=uri, query={"mode": mode, "uri": "true"}),
        connect_args={"timeout": BUSY_TIMEOUT_MS / 1000, "check_same_thread": False},
        pool_size=4,
        max_overflow=28,
    )


def _run_pragmas(connection: Any, pragmas: tuple[str, ...]) -> None:
    # The driver's own BEGIN comes late and only before writes; ours come from the "begin" event.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
    finally:
        cursor.close()


def _set_up_reader(connection: Any, _record: object) -> None:
    _run_pragmas(
        connection,
        ("query_only = ON", f"cache_size = -{_CACHE_KIB}", f"mmap_size = {_MAPPED_BYTES}"),
    )


def _set_up_writer(connection: Any, _record: object) -> None:
    switch_to_wal(connection, patience_s=BUSY_TIMEOUT_MS / 1000)
    _run_pragmas(
        connection,
        ("synchronous = NORMAL", "foreign_keys = ON", f"cache_size = -{_CACHE_KIB}"),
    )


def _begin_deferred(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _begin_immediate(connection: Connection) -> None:
    reading = connection.get_execution_options().get("index_read_only", False)
    connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")
