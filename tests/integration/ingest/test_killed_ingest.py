"""Kills a real ingest at ten random moments: the index always answers, and ends up complete."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import ingest.app
from ingest import PUBLIC, IngestReport, IngestSettings, analyze_query, open_reader
from ingest.app import run_ingest
from tests.fakes import FakeEmbedder

ROOT = Path(__file__).resolve().parents[3]
PAGES = 60
KILLS = 10

INGEST = """
import sys
import ingest.app
from ingest.index.sqlite_writer import SqliteIndexWriter
from ingest.settings import IngestSettings
from tests.fakes import FakeEmbedder

def announced(name):
    real = getattr(SqliteIndexWriter, name)
    def call(self, *arguments, **options):
        print(name, flush=True)
        return real(self, *arguments, **options)
    setattr(SqliteIndexWriter, name, call)

for name in ("store_embeddings", "replace_page", "remove_pages", "record_run"):
    announced(name)
ingest.app.open_embedder = lambda settings: FakeEmbedder()
settings = IngestSettings(_env_file=None, database_url=sys.argv[1])
ingest.app.run_ingest(settings, specs=["folder:" + sys.argv[2]], allow_removals=True)
print("finished", flush=True)
"""


def write_version(folder: Path, version: int) -> None:
    """Write the handbook as it is at one version: pages changed, added, removed and moved."""
    for old in folder.rglob("*.md"):
        old.unlink()
    for number in range(PAGES):
        moved = number % 7 == 3 and version % 2
        path = folder / ("archives" if moved else "regles") / f"page-{number:02}.md"
        if number % 11 == version % 11:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = "\n\n".join(
            f"## Règle {number}.{section}\n\nLa règle {section} de la page {number} dit ceci"
            f" depuis la version {version if number % 2 and section % 3 else 0} du règlement."
            f" {'Elle concerne tous les salariés du site. ' * 8}"
            for section in range(6)
        )
        path.write_text(f"# Page {number}\n\n{sections}\n", encoding="utf-8")
        os.utime(path, (1_700_000_000 + version, 1_700_000_000 + version))


def kill_after(database: Path, folder: Path, writes: int) -> bool:
    """Kill an ingest while it does its n-th write; tells whether it was still running."""
    command = [sys.executable, "-c", INGEST, f"sqlite:///{database}", str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(writes):
            if not process.stdout.readline():
                break
        process.kill()
        rest = process.stdout.read()
    return "finished" not in rest


def ingest_whole(database: Path, folder: Path) -> IngestReport:
    settings = IngestSettings(_env_file=None, database_url=f"sqlite:///{database}")
    [report] = run_ingest(settings, specs=[f"folder:{folder}"], allow_removals=True)
    assert report.complete
    return report


def rows(database: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return sorted(connection.execute(query).fetchall(), key=repr)
    finally:
        connection.close()


def content(database: Path) -> dict[str, list[Any]]:
    """Everything in the index that does not depend on when and in what order it was written."""
    return {
        "pages": rows(
            database,
            "SELECT source, path, title, language, content_hash, version, source_version, url,"
            " modified_at, outdated FROM pages",
        ),
        "audiences": rows(
            database,
            "SELECT path, audience FROM page_audiences JOIN pages ON pages.id = page_id",
        ),
        "chunks": rows(
            database,
            "SELECT path, chunk_id, position, heading_path, anchor, start_offset, end_offset,"
            " text, context, units FROM chunks JOIN pages ON pages.id = page_id",
        ),
        "terms": rows(
            database,
            "SELECT chunk_id, t.title, t.headings, t.body, t.stems FROM chunk_terms t"
            " JOIN chunks ON chunks.id = t.rowid",
        ),
        "vectors": rows(
            database,
            "SELECT chunk_id, fingerprint, vector FROM chunks"
            " JOIN embeddings ON embeddings.text_hash = chunks.text_hash"
            " JOIN embedding_models ON embedding_models.id = model_id",
        ),
    }


def chunks_by_page(database: Path) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path, chunk_id in rows(
        database, "SELECT path, chunk_id FROM chunks JOIN pages ON pages.id = page_id"
    ):
        found[path].add(chunk_id)
    return {path: frozenset(ids) for path, ids in found.items()}


def assert_answers(database: Path) -> None:
    settings = IngestSettings(_env_file=None, database_url=f"sqlite:///{database}")
    with open_reader(settings) as reader:
        found = reader.keyword_ranking(analyze_query("règle des salariés"), limit=20)
        near = reader.vector_ranking(FakeEmbedder().embed_query("règle des salariés"), limit=20)
        assert len(found) == len(near) == 20
        ids = {scored.chunk_id for scored in (*found, *near)}
        assert reader.chunks(sorted(ids), audiences=PUBLIC).keys() == ids


@pytest.mark.slow
def test_an_ingest_killed_at_any_moment_leaves_whole_pages_and_the_next_one_completes_it(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(ingest.app, "open_embedder", lambda settings: FakeEmbedder())
    folder, database = tmp_path / "handbook", tmp_path / "killed.db"
    reference, fresh = tmp_path / "reference.db", tmp_path / "fresh.db"
    folder.mkdir()
    moments = random.Random(2026)  # noqa: S311 - moments of kills, not secrets
    versions: dict[str, set[frozenset[str]]] = defaultdict(set)
    interrupted = 0

    for version in range(KILLS):
        write_version(folder, version)
        report = ingest_whole(reference, folder)
        for path, chunks in chunks_by_page(reference).items():
            versions[path].add(chunks)
        writes = len(report.added) + len(report.updated)
        interrupted += kill_after(database, folder, moments.randint(1, writes))

        for path, chunks in chunks_by_page(database).items():
            assert chunks in versions[path], path
        assert rows(database, "PRAGMA integrity_check") == [("ok",)]
        assert rows(database, "PRAGMA foreign_key_check") == []
        if version:
            assert_answers(database)

    assert interrupted >= KILLS - 2
    ingest_whole(database, folder)
    ingest_whole(fresh, folder)
    expected, actual = content(fresh), content(database)
    for table in expected:
        assert expected[table], table
        assert actual[table] == expected[table], table
