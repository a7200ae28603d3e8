"""What is particular to the index in an SQLite file."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect
from sqlalchemy.exc import IntegrityError, OperationalError

from ingest.acronyms import learn_acronyms
from ingest.analysis import analyze_query
from ingest.errors import (
    ConfigurationError,
    IndexNotBuiltError,
    IndexOutdatedError,
    IndexStoreError,
    SchemaVersionError,
)
from ingest.index import migrations
from ingest.index.sqlite_engine import open_for_reading, open_for_writing
from ingest.index.sqlite_reader import SqliteIndexReader
from ingest.index.sqlite_writer import RUNS_KEPT, SqliteIndexWriter
from ingest.index.tables import SCHEMA_REVISIONS, SCHEMA_VERSION_TABLE, metadata
from ingest.records import Chunk, IngestReport, Page, text_hash

ROOT = Path(__file__).resolve().parents[4]


def put(writer, path, text):
    page = Page("kb", path, "Guide", "fr", text, (), content_hash=text, version="1")
    chunk = Chunk(path, 0, (), None, 0, len(text), text, "", ())
    writer.replace_page(page, [chunk])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


@pytest.fixture
def writer(url):
    with SqliteIndexWriter(url) as writer:
        writer.migrate()
        yield writer


@pytest.fixture
def reader(url):
    with SqliteIndexReader(url) as reader:
        yield reader


def scalar(path, statement):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchone()[0]


# Opening


@pytest.mark.parametrize("name", ["a b", "100%", "a#b", "é", "a&b=c", "q?mode=rwc"])
def test_any_folder_name_is_a_legal_place(tmp_path, name):
    url = f"sqlite:///{tmp_path}/{quote(name)}/x.db"
    with SqliteIndexWriter(url) as writer, SqliteIndexReader(url) as reader:
        writer.migrate()
        put(writer, "a.md", "congés")
        assert set(reader.chunks(["a.md"])) == {"a.md"}
    assert (tmp_path / name / "x.db").is_file()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_is_refused(url):
    with pytest.raises(ConfigurationError, match="DATABASE_URL must name a file"):
        SqliteIndexReader(url)


def test_the_file_uses_wal_and_enforces_foreign_keys(path, writer):
    assert scalar(path, "PRAGMA journal_mode") == "wal"
    engine = open_for_writing(path)
    orphan = "INSERT INTO page_audiences (page_id, audience) VALUES (99, 'x')"
    with engine.connect() as connection, pytest.raises(IntegrityError, match="FOREIGN KEY"):
        connection.exec_driver_sql(orphan)
    engine.dispose()


def test_a_reader_cannot_write(path, writer):
    engine = open_for_reading(path)
    with engine.connect() as connection, pytest.raises(OperationalError, match="readonly"):
        connection.exec_driver_sql("DELETE FROM pages")
    engine.dispose()


def test_a_reader_never_makes_the_file(path, reader):
    with pytest.raises(IndexNotBuiltError):
        reader.status()
    assert not path.exists()


def test_a_file_with_only_the_tables_of_others_is_not_built(path, reader):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bot_jobs (job_id TEXT)")
    with pytest.raises(IndexNotBuiltError):
        reader.vocabulary()


def test_a_damaged_file_is_an_index_error_that_names_it(path, reader):
    path.write_bytes(b"this is not a database, but long enough to be one" * 100)
    with pytest.raises(IndexStoreError, match=r"index\.db failed: file is not a database"):
        reader.status()


def test_a_reader_follows_when_the_file_is_replaced(path, url, reader):
    with SqliteIndexWriter(url) as first:
        first.migrate()
        put(first, "old.md", "congés")
        first.store_embeddings("m", {text_hash("Guide\ncongés"): np.ones(2, dtype=np.float32)})
        first.activate_model("m", 2)
    vector = np.ones(2, dtype=np.float32)
    assert [s.chunk_id for s in reader.vector_ranking(vector)] == ["old.md"]
    for leftover in path.parent.glob("index.db*"):
        leftover.unlink()
    with pytest.raises(IndexNotBuiltError):
        reader.status()
    with SqliteIndexWriter(url) as second:
        second.migrate()
        put(second, "new.md", "congés")
    assert [s.chunk_id for s in reader.keyword_ranking(analyze_query("congés"))] == ["new.md"]
    assert reader.vector_ranking(vector) == []


# Schema


def test_the_steps_build_the_tables_that_the_code_declares(path, writer):
    engine = open_for_writing(path)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": SCHEMA_VERSION_TABLE, "compare_type": False}
        )
        ours = set(metadata.tables)
        differences = [
            difference
            for difference in compare_metadata(context, metadata)
            if not (difference[0] == "remove_table" and difference[1].name not in ours)
        ]
        assert ours <= set(inspect(connection).get_table_names())
    engine.dispose()
    assert differences == []


def test_the_revisions_that_readers_know_are_those_of_the_steps():
    steps = ScriptDirectory.from_config(migrations.config()).walk_revisions()
    assert tuple(reversed([step.revision for step in steps])) == SCHEMA_REVISIONS


def test_a_database_of_a_newer_version_is_refused_by_both_sides(path, url, writer, reader):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE index_schema_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(SchemaVersionError, match="9999"):
        writer.migrate()
    with pytest.raises(SchemaVersionError, match=r"9999.*upgrade Manuel"):
        reader.status()


def test_an_index_of_an_older_version_counts_as_not_built_until_it_is_brought_up_to_date(
    path, writer, reader
):
    put(writer, "a.md", "Les congés")
    engine = open_for_writing(path)
    with engine.begin() as connection:
        command.downgrade(migrations.config(connection), SCHEMA_REVISIONS[0])
    engine.dispose()
    with pytest.raises(IndexOutdatedError, match=r"0001.*manuel ingest"):
        reader.status()
    with pytest.raises(IndexNotBuiltError):
        reader.keyword_ranking(analyze_query("congés"))
    writer.migrate()
    assert reader.status().pages == 1
    assert reader.keyword_ranking(analyze_query("congés")) != []


def test_a_new_analysis_feeds_the_keyword_index_again(path, writer, reader):
    put(writer, "a.md", "Les congés")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE index_state SET analysis = 'older'")
        connection.execute("UPDATE chunk_terms SET body = 'xyz', stems = 'xyz'")
        connection.commit()
    assert reader.keyword_ranking(analyze_query("congés")) == []
    before = reader.status().generation
    writer.migrate()
    assert [s.chunk_id for s in reader.keyword_ranking(analyze_query("congé"))] == ["a.md"]
    assert "xyz" not in reader.vocabulary()
    assert reader.status().generation > before


def _migrate(url, gate):
    gate.wait(30)
    with SqliteIndexWriter(url) as writer:
        writer.migrate()


def test_two_processes_may_migrate_at_once(url, path):
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(3)
    processes = [context.Process(target=_migrate, args=(url, gate)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert scalar(path, "SELECT count(*) FROM index_schema_version") == 1
    assert scalar(path, "SELECT count(*) FROM index_state") == 1


# Failure


_KILLED_WRITERS = """
import json, os, signal, sys
from sqlalchemy import event
from ingest.analysis import analyze_query
from ingest.index.sqlite_reader import SqliteIndexReader
from ingest.index.sqlite_writer import SqliteIndexWriter
from tests.integration.ingest.index.test_sqlite_index import put

def write_and_die(url, fatal):
    writer = SqliteIndexWriter(url)
    seen = 0
    def kill(*_):
        nonlocal seen
        seen += 1
        if seen == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
    event.listen(writer._engine, "after_cursor_execute", kill)
    put(writer, "a.md", "la nouvelle version")
    os._exit(0)

url, fatal, status = sys.argv[1], 0, None
while status != 0:
    fatal += 1
    child = os.fork()
    if child == 0:
        write_and_die(url, fatal)
    status = os.waitpid(child, 0)[1]
    with SqliteIndexReader(url) as reader:
        text = reader.chunks(["a.md"])["a.md"].text
        found = [s.chunk_id for s in reader.keyword_ranking(analyze_query("congés"))]
    print(json.dumps([status, text, found]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_kill_at_any_statement_of_a_transaction_leaves_the_old_page_whole(url, path, writer):
    put(writer, "a.md", "les congés d'avant")
    output = subprocess.run(
        [sys.executable, "-c", _KILLED_WRITERS, url],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    *killed, last = [json.loads(line) for line in output.splitlines()]
    assert len(killed) >= 8
    assert killed == [[signal.SIGKILL, "les congés d'avant", ["a.md"]]] * len(killed)
    assert last == [0, "la nouvelle version", []]
    assert scalar(path, "PRAGMA integrity_check") == "ok"
    assert scalar(path, "SELECT count(*) FROM chunk_terms") == 1


def test_a_failed_replacement_leaves_the_old_page_whole(writer, reader):
    put(writer, "a.md", "les congés")
    page = Page("kb", "b.md", "Guide", "fr", "autre", (), content_hash="x", version="1")
    clashing = Chunk("a.md", 0, (), None, 0, 5, "autre", "", ())
    before = reader.status()
    with pytest.raises(IndexStoreError, match="UNIQUE"):
        writer.replace_page(page, [clashing])
    assert reader.status() == before
    assert reader.chunks(["a.md"])["a.md"].text == "les congés"


def test_a_writer_waits_for_another_one(url, path, writer):
    blocker = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: blocker.execute("COMMIT")).start()
    put(writer, "a.md", "les congés")
    blocker.close()
    assert set(writer.page_states("kb")) == {"a.md"}


def test_reading_methods_of_the_writer_take_no_write_lock(path, writer, reader):
    put(writer, "a.md", "les congés")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert set(writer.page_states("kb")) == {"a.md"}
        assert writer.chunk_count("kb") == 1
        assert writer.active_fingerprint() is None
        assert len(writer.missing_embeddings("m", limit=5)) == 1
        assert writer.known_embeddings("m", ["x"]) == set()
        assert reader.status().pages == 1
        other.execute("ROLLBACK")


def test_nothing_is_left_in_the_keyword_index_after_replacing_and_removing(path, writer):
    for round_number in range(5):
        put(writer, "a.md", f"congés {round_number}")
        put(writer, "b.md", f"salaire {round_number}")
    writer.remove_pages("kb", ["a.md"])
    assert scalar(path, "SELECT count(*) FROM chunk_terms") == 1
    assert scalar(path, "SELECT count(*) FROM page_audiences") == 1
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO chunk_terms(chunk_terms) VALUES ('integrity-check')")


def test_only_the_latest_runs_are_remembered(path, writer):
    for _ in range(RUNS_KEPT + 3):
        writer.record_run(IngestReport("kb"), started_at=datetime.now(UTC))
    writer.record_run(IngestReport("wiki"), started_at=datetime.now(UTC))
    assert scalar(path, "SELECT count(*) FROM runs WHERE source = 'kb'") == RUNS_KEPT
    assert scalar(path, "SELECT count(*) FROM runs WHERE source = 'wiki'") == 1


def test_a_large_vocabulary_is_not_read_again_for_every_page_of_a_sync(monkeypatch, writer, reader):
    monkeypatch.setattr("ingest.index.sqlite_reader._LARGE_VOCABULARY", 2)
    put(writer, "a.md", "les congés payés")
    first = reader.vocabulary()
    put(writer, "b.md", "la mutuelle")
    assert reader.vocabulary() is first
    monkeypatch.setattr("ingest.index.sqlite_reader._VOCABULARY_LAG_S", 0.0)
    assert "mutuelle" in reader.vocabulary()


def test_nobody_waits_for_acronyms_who_knows_older_ones(writer, reader, monkeypatch):
    put(writer, "open.md", "Paid time off (PTO).")
    before = reader.public_acronyms()
    put(writer, "other.md", "Human resources (HR).")
    learning, go_on = threading.Event(), threading.Event()

    def slowly(texts):
        learning.set()
        assert go_on.wait(30)
        return learn_acronyms(texts)

    monkeypatch.setattr("ingest.index.sqlite_reader.learn_acronyms", slowly)
    with ThreadPoolExecutor(1) as pool:
        learned = pool.submit(reader.public_acronyms)
        assert learning.wait(30)
        assert reader.public_acronyms() is before
        assert reader.languages() == {"fr": 2}
        go_on.set()
        assert learned.result()["HR"] == "Human resources"
    assert reader.public_acronyms()["HR"] == "Human resources"
