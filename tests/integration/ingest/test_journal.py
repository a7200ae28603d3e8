"""Opening an SQLite file that somebody else is just opening too."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.store.engine import open_engine
from ingest.index.sqlite_engine import open_for_writing
from ingest.journal import switch_to_wal
from ingest.sources.web_cache import Visit, WebCache


@contextmanager
def written_by_somebody(path: Path, *, release_after_s: float | None = None) -> Iterator[None]:
    """Keep a writer's lock on a file that is not in WAL mode yet."""
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    connection.execute("CREATE TABLE IF NOT EXISTS anything (x)")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN IMMEDIATE")
    release = threading.Timer(release_after_s or 60, connection.execute, ["ROLLBACK"])
    release.start()
    try:
        yield
    finally:
        if release_after_s is None:
            release.cancel()
        release.join()
        connection.close()


@pytest.mark.parametrize("opened", ["index", "bot"])
def test_a_new_database_that_another_process_opens_is_waited_for(
    tmp_path: Path, opened: str
) -> None:
    path = tmp_path / "manuel.db"
    with written_by_somebody(path, release_after_s=0.3):
        engine = open_for_writing(path) if opened == "index" else open_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
        engine.dispose()

    assert mode == "wal"


def test_a_file_that_stays_busy_is_said_to_be_locked(tmp_path: Path) -> None:
    path = tmp_path / "manuel.db"
    with written_by_somebody(path):
        connection = sqlite3.connect(path)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            switch_to_wal(connection, patience_s=0.1)
        connection.close()


def test_the_remembered_pages_of_a_website_survive_a_busy_moment(tmp_path: Path) -> None:
    cache = WebCache(tmp_path / "web.db")
    visit = Visit("https://guide.example/", "text/html", b"<p>Bonjour</p>")
    cache.put(visit)
    cache.close()

    with written_by_somebody(tmp_path / "web.db", release_after_s=0.3):
        assert cache.get(visit.url) == visit
    cache.close()
