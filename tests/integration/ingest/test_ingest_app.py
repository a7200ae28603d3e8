"""Whole syncs of real folders into a real index file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ingest.app
from ingest import (
    ConfigurationError,
    IndexNotBuiltError,
    IngestSettings,
    LeaseHeldError,
    analyze_query,
    open_reader,
)
from ingest.app import LEASE, run_ingest
from ingest.index.factory import open_writer
from tests.fakes import FakeEmbedder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    (folder / "rh").mkdir(parents=True)
    for number in range(20):
        (folder / "rh" / f"page-{number:02}.md").write_text(
            f"# Page {number}\n\n## Règle {number}\n\nLa règle numéro {number} concerne tous"
            " les salariés du site, sans exception.\n",
            encoding="utf-8",
        )
    return folder


@pytest.fixture
def settings(tmp_path: Path, folder: Path) -> IngestSettings:
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "handbook"\npath = "pages"\nurl = "https://example.com/{path}"\n',
        encoding="utf-8",
    )
    return IngestSettings(
        _env_file=None,
        database_url=f"sqlite:///{tmp_path / 'data' / 'manuel.db'}",
        handbook_config=tmp_path / "handbook.toml",
    )


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> FakeEmbedder:
    embedder = FakeEmbedder()
    monkeypatch.setattr(ingest.app, "open_embedder", lambda settings: embedder)
    return embedder


def database(settings: IngestSettings) -> Path:
    return Path(settings.database_url.removeprefix("sqlite:///"))


def found(settings: IngestSettings, text: str) -> set[str]:
    with open_reader(settings) as reader:
        ranking = reader.keyword_ranking(analyze_query(text), mode="all")
        return {c.page for c in reader.chunks([s.chunk_id for s in ranking]).values()}


def test_a_configured_folder_is_indexed_searchable_and_linked(settings, embedder):
    [report] = run_ingest(settings)

    assert (report.source, len(report.added), report.complete) == ("handbook", 20, True)
    assert found(settings, "règle numéro 7") == {"rh/page-07.md"}
    with open_reader(settings) as reader:
        [best, *_] = reader.vector_ranking(embedder.embed_query("règle numéro 7"))
        assert (reader.chunks([best.chunk_id])[best.chunk_id].url or "").startswith(
            "https://example.com/rh/page-"
        )
        status = reader.status()
    assert (status.pages, status.embedded_chunks) == (20, status.chunks)
    assert status.fingerprint == "fake-1"
    assert status.sources[0].last_report == report


def test_a_second_run_changes_nothing(settings, embedder):
    run_ingest(settings)
    embedder.embedded.clear()
    with open_reader(settings) as reader:
        generation = reader.status().generation

    [report] = run_ingest(settings)

    assert (report.unchanged, report.embeddings_computed, embedder.embedded) == (20, 0, [])
    with open_reader(settings) as reader:
        assert reader.status().generation == generation


def test_a_touched_file_stays_unchanged_and_gets_its_new_date(settings, embedder, folder):
    run_ingest(settings)
    os.utime(folder / "rh" / "page-03.md", (1_700_000_000, 1_700_000_000))

    [report] = run_ingest(settings)

    assert report.unchanged == 20
    with open_writer(settings) as writer:
        state = writer.page_states("handbook")["rh/page-03.md"]
    assert state.modified_at is not None
    assert state.modified_at.timestamp() == 1_700_000_000


def test_five_renamed_files_embed_nothing(settings, embedder, folder):
    run_ingest(settings)
    embedder.embedded.clear()
    (folder / "moved").mkdir()
    for number in range(5):
        name = f"page-{number:02}.md"
        (folder / "rh" / name).rename(folder / "moved" / name)

    [report] = run_ingest(settings)

    assert (len(report.added), len(report.removed)) == (5, 5)
    assert embedder.embedded == []
    assert found(settings, "règle numéro 3") == {"moved/page-03.md"}


@pytest.mark.parametrize(
    ("line", "check"),
    [
        (
            'url = "https://wiki.example.com/{path}"',
            lambda s: (s.url or "").startswith("https://wiki"),
        ),
        ('audience = ["managers"]', lambda s: s.audiences == {"managers"}),
    ],
)
def test_a_new_link_or_audience_in_handbook_toml_reaches_unchanged_files(
    settings, embedder, line, check
):
    run_ingest(settings)
    config = settings.handbook_config
    lines = [t for t in config.read_text(encoding="utf-8").splitlines() if "url" not in t]
    config.write_text("\n".join([*lines, line, ""]), encoding="utf-8")
    embedder.embedded.clear()

    [report] = run_ingest(settings)

    assert len(report.updated) == 20
    assert embedder.embedded == []
    with open_writer(settings) as writer:
        assert all(check(state) for state in writer.page_states("handbook").values())


def test_a_file_that_cannot_be_read_today_keeps_its_last_good_version(settings, embedder, folder):
    run_ingest(settings)
    (folder / "rh" / "page-07.md").write_bytes(b"\x00\x01\x02\xff" * 100)

    [report] = run_ingest(settings)

    assert [(p.path, p.kept_previous) for p in report.skipped] == [("rh/page-07.md", True)]
    assert found(settings, "règle numéro 7") == {"rh/page-07.md"}


def test_a_folder_that_is_gone_removes_nothing_and_the_other_sources_go_on(
    settings, embedder, folder, tmp_path
):
    run_ingest(settings)
    folder.rename(tmp_path / "unmounted")
    (tmp_path / "wiki").mkdir()
    (tmp_path / "wiki" / "a.md").write_text("# Wiki\n\nLe wiki de l'équipe.\n", encoding="utf-8")

    gone, wiki = run_ingest(settings, specs=["handbook", f"folder:{tmp_path / 'wiki'}"])

    assert (gone.complete, gone.removed) == (False, ())
    assert "unavailable" in gone.problems[0]
    assert (wiki.source, wiki.added) == ("wiki", ("a.md",))
    assert found(settings, "règle numéro 7") == {"rh/page-07.md"}


def test_an_emptied_folder_removes_nothing_without_permission(settings, embedder, folder):
    run_ingest(settings)
    for path in folder.rglob("*.md"):
        path.unlink()

    [blocked] = run_ingest(settings)
    assert (blocked.removed, len(blocked.blocked_removals)) == ((), 20)
    assert found(settings, "règle numéro 7") == {"rh/page-07.md"}

    [allowed] = run_ingest(settings, allow_removals=True)
    assert len(allowed.removed) == 20
    assert found(settings, "règle numéro 7") == set()


def test_a_dry_run_of_a_new_index_creates_nothing(settings, embedder):
    [report] = run_ingest(settings, dry_run=True)

    assert (len(report.added), report.dry_run) == (20, True)
    assert report.embeddings_computed > 0
    assert embedder.embedded == []
    assert not database(settings).exists()
    with open_reader(settings) as reader, pytest.raises(IndexNotBuiltError):
        reader.status()


def test_a_dry_run_of_an_existing_index_leaves_it_as_it_was(settings, embedder, folder):
    run_ingest(settings)
    (folder / "rh" / "page-07.md").unlink()
    with open_reader(settings) as reader:
        before = reader.status()

    [report] = run_ingest(settings, dry_run=True)

    assert report.removed == ("rh/page-07.md",)
    assert report.chunks < before.chunks
    with open_reader(settings) as reader:
        assert reader.status() == before


def test_two_syncs_into_one_index_exclude_each_other(settings, embedder):
    run_ingest(settings)

    with open_writer(settings) as writer, writer.lease(LEASE, ttl_s=60):
        with pytest.raises(LeaseHeldError):
            run_ingest(settings)
        [report] = run_ingest(settings, dry_run=True)

    assert report.unchanged == 20
    assert run_ingest(settings)[0].complete


def test_pages_limited_by_front_matter_are_invisible_to_everyone_else(settings, embedder, folder):
    (folder / "salaires.md").write_text(
        "---\naudience: [hr]\n---\n# Salaires\n\nLa grille des salaires est confidentielle.\n",
        encoding="utf-8",
    )
    run_ingest(settings)

    query = analyze_query("grille des salaires", languages=("fr",))
    with open_reader(settings) as reader:
        public = reader.keyword_ranking(query, mode="all")
        of_hr = reader.keyword_ranking(query, mode="all", audiences=frozenset({"everyone", "hr"}))
    assert public == []
    assert of_hr


def test_nothing_to_ingest_is_a_configuration_error_that_creates_nothing(settings):
    settings.handbook_config.unlink()

    with pytest.raises(ConfigurationError, match="--source folder:PATH"):
        run_ingest(settings)

    assert not database(settings).exists()
