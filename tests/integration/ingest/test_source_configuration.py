"""Configured sources as the commands meet them: secrets, checks, and whole syncs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.doctor import State, examine
from bot.settings import BotSettings
from ingest import ConfigurationError
from ingest.app import run_ingest
from ingest.secrets import read_secret
from ingest.source_checks import SourceCheck, check_sources
from tests.git_repository import Repository, smart_http


@pytest.fixture
def settings(tmp_path: Path) -> BotSettings:
    return BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{tmp_path / 'data' / 'manuel.db'}",
        handbook_config=tmp_path / "handbook.toml",
        cache_dir=tmp_path / "cache",
        embedding_model="none",
    )


def configure(settings: BotSettings, *tables: str) -> None:
    text = "\n".join(f"[[sources]]\n{table}" for table in tables)
    settings.handbook_config.write_text(text, encoding="utf-8")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path)
    repository.write("rh/conges.md", "# Congés\n\nLes congés durent cinq semaines.\n")
    repository.push()
    return repository


def test_a_secret_comes_from_the_environment_then_from_the_env_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("WIKI_TOKEN=from-file\nEMPTY=\n")

    assert read_secret("WIKI_TOKEN", needed_by="x").get_secret_value() == "from-file"
    monkeypatch.setenv("WIKI_TOKEN", " from-environment ")
    assert read_secret("WIKI_TOKEN", needed_by="x").get_secret_value() == "from-environment"
    for absent in ("EMPTY", "NO_SUCH_VARIABLE"):
        with pytest.raises(ConfigurationError, match=f"source 'x' needs .* {absent}"):
            read_secret(absent, needed_by="source 'x'")


def test_a_git_source_is_synced_with_its_token_and_a_second_time_unchanged(
    settings, repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("GIT_TOKEN", "s3cr3t")
    with smart_http(tmp_path, token="s3cr3t") as server:
        url = f"{server.url}/handbook.git"
        configure(
            settings, f'name = "g"\ntype = "git"\nrepository = "{url}"\ntoken_env = "GIT_TOKEN"\n'
        )
        [first] = run_ingest(settings)
        [second] = run_ingest(settings)

    assert (first.added, first.complete) == (("rh/conges.md",), True)
    assert (second.unchanged, second.updated, second.complete) == (1, (), True)


def test_a_source_that_fails_leaves_the_others_in_sync(settings, repository, tmp_path):
    configure(
        settings,
        'name = "lost"\ntype = "git"\nrepository = "https://no-such-host.invalid/x"\n',
        f'name = "g"\ntype = "git"\nrepository = "{repository.bare}"\n',
    )

    lost, good = run_ingest(settings)

    assert (lost.complete, good.complete, good.added) == (False, True, ("rh/conges.md",))


def test_the_doctor_says_of_each_source_whether_it_answers(settings, repository, tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.md").write_text("# A\n\nTexte.\n")
    configure(
        settings,
        'name = "files"\npath = "pages"\n',
        'name = "lost"\ntype = "git"\nrepository = "https://no-such-host.invalid/x"\n'
        'owner = "Ada"\n',
        'name = "locked"\ntype = "git"\nrepository = "https://example.com/x"\n'
        'token_env = "NO_SUCH_VARIABLE"\n',
    )

    files, lost, locked = check_sources(settings)

    assert files == SourceCheck("files", True, "1 pages")
    assert (lost.ok, lost.owner) == (False, "Ada")
    assert "cannot be reached" in lost.detail
    assert "NO_SUCH_VARIABLE" in locked.detail
    report = {check.name: check for check in examine(settings)}
    assert report["source files"].state is State.OK
    assert report["source lost"].state is State.FAILED
    assert "Ada" in report["source lost"].remedy


def test_a_folder_of_a_git_source_can_be_for_fewer_readers(settings, repository):
    repository.write("public.md", "# Accueil\n\nPour tout le monde.\n")
    repository.push()
    configure(
        settings,
        f'name = "g"\ntype = "git"\nrepository = "{repository.bare}"\n'
        'path_audiences = { "rh/" = "rh" }\n',
    )
    run_ingest(settings)

    from ingest.index.factory import open_writer

    with open_writer(settings) as writer:
        states = writer.page_states("g")
    assert states["rh/conges.md"].audiences == {"rh"}
    assert states["public.md"].audiences == {"everyone"}


def test_the_doctor_finds_pages_that_nobody_in_slack_is_shown(settings, tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    for name, audience in {"a": "rh", "b": "RH", "c": "everyone", "d": "", "e": "rh"}.items():
        (pages / f"{name}.md").write_text(
            f"---\naudience: {audience}\n---\n# Page {name}\n\nLa page {name}.\n", encoding="utf-8"
        )
    configure(settings, 'name = "h"\npath = "pages"\n\n[audiences.rh]\nusers = ["U1"]\n')
    run_ingest(settings)

    [check] = [check for check in examine(settings) if check.name == "audiences"]

    assert check.state is State.WARNING
    assert "1 for nobody, 1 for RH" in check.detail
    assert "for rh" not in check.detail
