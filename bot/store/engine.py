"""Opens the database for the bot's own tables."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from ingest import ConfigurationError, switch_to_wal

BUSY_TIMEOUT_MS = 2_000
"""Below the 3 s in which Slack wants an acknowledgement: a question that cannot be stored in time
is not acknowledged, and Slack sends it again."""
TURN_S = 0.002
"""How often a writer looks whether it is its turn: a transaction of ours takes about as long."""

READ_ONLY = {"bot_read_only": True}
"""Execution options of a transaction that needs no lock."""


def open_engine(database_url: str) -> Engine:
    """Connect to the database of `DATABASE_URL`; its folder is made if it is missing.

    On SQLite a transaction takes the write lock at once, unless it is `READ_ONLY`: one that starts
    by reading can fail half-way when somebody else writes in between.

    Raises:
        ConfigurationError: If the URL is not one.
    """
    try:
        url = make_url(database_url)
    except ArgumentError as error:
        raise ConfigurationError(
            "DATABASE_URL is not a database URL; it looks like sqlite:///data/manuel.db"
        ) from error
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    if url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # The driver's own, implicit BEGIN would be a deferred one.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    switch_to_wal(connection, patience_s=BUSY_TIMEOUT_MS / 1_000)
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin(connection: Connection) -> None:
    if connection.get_execution_options().get("bot_read_only"):
        connection.exec_driver_sql("BEGIN")
        return
    _wait_for_turn(connection)


def _wait_for_turn(connection: Connection) -> None:
    """Take the write lock as soon as it is free.

    SQLite's own waiting sleeps up to 100 ms at a time, and whoever waits longest is not next: with
    two serving processes, acknowledgements of Slack's took up to 0.8 s.
    """
    driver = connection.connection.driver_connection
    if driver is None:
        raise RuntimeError("a transaction begins on a connection that is closed")
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1_000
    driver.execute("PRAGMA busy_timeout = 0")
    try:
        while time.monotonic() < deadline:
            try:
                driver.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                time.sleep(TURN_S)
            else:
                return
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # so that its error is SQLAlchemy's
    finally:
        driver.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
