"""Real git repositories, over files and HTTP, as sources of pages."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from ingest.errors import ConfigurationError, PageParseError, SourceUnavailableError
from ingest.pipeline import sync
from ingest.records import RawPage
from ingest.sources.base import Listing, Watch
from ingest.sources.git import GitSource, web_template
from ingest.sources.git_command import GitAccess
from ingest.sources.restricted import RestrictedSource
from tests.fakes import FakeEmbedder, FakeIndexWriter
from tests.git_repository import Repository, git, plain_http, smart_http

JANUARY, FEBRUARY, MARCH = 1_704_103_200, 1_706_781_600, 1_709_287_200


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path)
    repository.write("docs/rh/conges.md", "# Congés\n\nLes congés durent cinq semaines.\n")
    repository.write("docs/rh/index.md", "# RH\n\nLa page des ressources humaines.\n")
    repository.write("docs/logo.png", "no page")
    repository.write("README.md", "# Le dépôt\n\nCe dépôt contient le guide.\n")
    repository.push("first", at=JANUARY)
    return repository


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[GitSource]]:
    sources: list[GitSource] = []
    yield sources
    for source in sources:
        source.close()


@pytest.fixture
def open_git(tmp_path: Path, repository: Repository, opened: list[GitSource]):
    def open_(url: str | None = None, *, token: str | None = None, **options: object) -> GitSource:
        access = GitAccess(
            url or str(repository.bare),
            token=SecretStr(token) if token else None,
            token_name="GIT_TOKEN" if token else None,
        )
        source = GitSource("handbook", access, cache=tmp_path / "cache", **options)  # type: ignore[arg-type]
        opened.append(source)
        return source

    return open_


def paths(listing: Listing) -> list[str]:
    return [entry.path for entry in listing.entries]


def read(source: GitSource, path: str) -> RawPage:
    return source.fetch(next(e for e in source.listing().entries if e.path == path))


def utc(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_pages_come_with_content_date_and_link_to_their_commit(repository, open_git):
    first = repository.git("rev-parse", "HEAD")
    repository.write("docs/rh/index.md", "# RH\n\nUne autre page.\n")
    second = repository.push("second", at=FEBRUARY)
    source = open_git(folder="docs", url_template="https://x/{commit}/{repository_path}?{branch}")

    listing = source.listing()

    assert paths(listing) == ["rh/conges.md", "rh/index.md"]
    assert listing.complete
    old, new = (source.fetch(entry) for entry in listing.entries)
    assert old.content == "# Congés\n\nLes congés durent cinq semaines.\n".encode()
    assert (old.modified_at, old.url) == (
        utc(JANUARY),
        f"https://x/{first}/docs/rh/conges.md?main",
    )
    assert (new.modified_at, new.url) == (
        utc(FEBRUARY),
        f"https://x/{second}/docs/rh/index.md?main",
    )


def test_only_changed_pages_get_another_version(repository, open_git):
    source = open_git()
    before = {entry.path: entry.version for entry in source.listing().entries}
    repository.write("docs/rh/conges.md", "# Congés\n\nSix semaines.\n")
    repository.git("rm", "-q", "README.md")
    repository.write("neuf.md", "# Neuf\n\nUne page.\n")
    repository.push(at=FEBRUARY)

    after = {entry.path: entry.version for entry in source.listing().entries}

    assert after.keys() == {"docs/rh/conges.md", "docs/rh/index.md", "neuf.md"}
    assert after["docs/rh/index.md"] == before["docs/rh/index.md"]
    assert after["docs/rh/conges.md"] != before["docs/rh/conges.md"]


def test_dates_are_the_same_whether_history_is_walked_at_once_or_step_by_step(
    repository, open_git, tmp_path
):
    stepwise = open_git()
    stepwise.listing()
    repository.git("checkout", "-q", "-b", "side")
    repository.write("docs/side.md", "# Side\n\nEcrit à côté.\n")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "side", at=FEBRUARY)
    repository.git("checkout", "-q", "main")
    repository.write("docs/rh/index.md", "# RH\n\nMars.\n")
    repository.push(at=MARCH)
    stepwise.listing()
    repository.git("merge", "-q", "--no-edit", "side", at=MARCH + 60)
    repository.git("push", "-q", "origin", "HEAD")

    def dates(source: GitSource) -> dict[str, datetime | None]:
        return {e.path: source.fetch(e).modified_at for e in source.listing().entries}

    found = dates(stepwise)

    assert found["docs/side.md"] == utc(FEBRUARY)
    assert found["docs/rh/index.md"] == utc(MARCH)
    (tmp_path / "elsewhere").mkdir()
    at_once = GitSource("b", GitAccess(str(repository.bare)), cache=tmp_path / "elsewhere")
    assert dates(at_once) == found
    at_once.close()


def test_a_commit_from_the_future_counts_as_now(repository, open_git):
    repository.write("docs/rh/index.md", "# RH\n\nDemain.\n")
    repository.push(at=4_000_000_000)

    modified = read(open_git(), "docs/rh/index.md").modified_at

    assert modified is not None
    assert modified <= datetime.now(UTC)


def test_a_rewritten_history_is_followed(repository, open_git):
    source = open_git()
    repository.write("faux.md", "# Faux\n\nÀ retirer.\n")
    repository.push(at=FEBRUARY)
    assert "faux.md" in paths(source.listing())
    before = {entry.path: entry.version for entry in source.listing().entries}

    repository.git("reset", "-q", "--hard", "HEAD~1")
    repository.write("vrai.md", "# Vrai\n\nÀ garder.\n")
    repository.push(at=MARCH, force=True)
    after = {entry.path: entry.version for entry in source.listing().entries}

    assert after.keys() == {"README.md", "docs/rh/conges.md", "docs/rh/index.md", "vrai.md"}
    assert after["README.md"] == before["README.md"]


def test_a_tag_and_another_branch_can_be_read(repository, open_git):
    repository.git("tag", "-a", "v1", "-m", "v1", at=JANUARY)
    repository.git("push", "-q", "origin", "v1")
    repository.git("checkout", "-q", "-b", "draft")
    repository.write("brouillon.md", "# Brouillon\n\nPas fini.\n")
    repository.push()

    assert "brouillon.md" in paths(open_git(branch="draft").listing())
    assert "brouillon.md" not in paths(open_git(branch="v1").listing())
    assert "brouillon.md" not in paths(open_git().listing())


def test_a_missing_branch_is_named_with_those_there_are(open_git):
    with pytest.raises(SourceUnavailableError, match=r"'prod' \(it has: main\)"):
        open_git(branch="prod").listing()


def test_a_missing_folder_or_an_empty_repository_is_unavailable_not_empty(tmp_path, open_git):
    with pytest.raises(SourceUnavailableError, match="'doc' is not in"):
        open_git(folder="doc").listing()
    git("init", "-q", "--bare", str(tmp_path / "empty.git"))
    with pytest.raises(SourceUnavailableError, match="no commit yet"):
        open_git(str(tmp_path / "empty.git")).listing()


@pytest.mark.parametrize("depth", [None, 1])
def test_the_smart_protocol_gives_the_same_pages_as_the_disk(repository, open_git, tmp_path, depth):
    git("config", "uploadpack.allowFilter", "true", cwd=repository.bare)
    repository.write("docs/video.md.bin", "x" * 100_000)
    repository.push(at=FEBRUARY)
    with smart_http(tmp_path) as server:
        source = open_git(f"{server.url}/handbook.git", depth=depth)
        listing = source.listing()
        pages = {entry.path: source.fetch(entry).content for entry in listing.entries}
        count = len(server.requests)
        again = source.listing()

    assert again == listing
    assert len(server.requests) < 2 * count
    local = open_git()
    assert pages == {e.path: local.fetch(e).content for e in local.listing().entries}


def test_a_partial_copy_fetches_pages_alone_and_all_missing_ones_in_one_go(
    repository, open_git, tmp_path
):
    git("config", "uploadpack.allowFilter", "true", cwd=repository.bare)
    for number in range(20):
        repository.write(f"page-{number}.md", f"# Page {number}\n\nNuméro {number}.\n")
    repository.write("film.bin", os.urandom(200_000).hex())
    repository.push(at=FEBRUARY)
    film = repository.git("rev-parse", "HEAD:film.bin")
    with smart_http(tmp_path) as server:
        source = open_git(f"{server.url}/handbook.git")
        listing = source.listing()
        requests = len(server.requests)
        for entry in listing.entries:
            source.fetch(entry)
        assert len(server.requests) == requests
    (copy,) = (tmp_path / "cache").iterdir()
    objects = git("cat-file", "--batch-all-objects", "--batch-check", cwd=copy)
    assert film not in objects
    assert requests < 12


def test_without_history_a_page_has_no_date_and_links_to_the_branch(repository, open_git, tmp_path):
    repository.write("docs/rh/index.md", "# RH\n\nMars.\n")
    repository.push(at=MARCH)
    with smart_http(tmp_path) as server:
        options = {"depth": 1, "url_template": "https://x/{commit}/{path}"}
        page = read(open_git(f"{server.url}/handbook.git", **options), "README.md")

    assert (page.modified_at, page.url) == (None, "https://x/main/README.md")


def test_a_plain_web_server_will_do(repository, open_git, tmp_path):
    git("update-server-info", cwd=repository.bare)
    with plain_http(tmp_path) as url:
        source = open_git(f"{url}/handbook.git", folder="docs")
        assert paths(source.listing()) == ["rh/conges.md", "rh/index.md"]
        assert read(source, "rh/index.md").modified_at == utc(JANUARY)


def test_a_token_lets_in_and_never_shows(repository, open_git, tmp_path, monkeypatch, caplog):
    seen: list[list[str]] = []
    start = subprocess.Popen

    class Watched(start):  # type: ignore[misc,valid-type]
        def __init__(self, arguments: list[str], **options: object) -> None:
            seen.append(arguments)
            super().__init__(arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    caplog.set_level(logging.DEBUG)
    with smart_http(tmp_path, token="s3cr3t") as server:
        source = open_git(f"{server.url}/handbook.git", token="s3cr3t")
        assert "README.md" in paths(source.listing())

        server.token = "another"
        with pytest.raises(SourceUnavailableError) as caught:
            source.listing()

    assert "GIT_TOKEN may have expired" in str(caught.value)
    shown = f"{caught.value} {caught.value.__cause__} {caplog.text} {seen} {source!r}"
    assert "s3cr3t" not in shown
    assert "czNjcjN0" not in shown  # in base64
    (copy,) = (tmp_path / "cache").iterdir()
    assert not any(
        b"s3cr3t" in file.read_bytes() or b"Authorization" in file.read_bytes()
        for file in copy.rglob("*")
        if file.is_file()
    )


def test_a_repository_that_wants_a_token_says_so(repository, open_git, tmp_path):
    with (
        smart_http(tmp_path, token="s3cr3t") as server,
        pytest.raises(SourceUnavailableError, match="token_env"),
    ):
        open_git(f"{server.url}/handbook.git").listing()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/handbook.git", "https://no-such-host.invalid/x.git", "/nowhere.git"]
)
def test_what_cannot_be_reached_deletes_nothing(repository, open_git, url):
    writer, embedder = FakeIndexWriter(), FakeEmbedder()
    sync(open_git(), writer, embedder)

    report = sync(open_git(url), writer, embedder)

    assert not report.complete
    assert "the source is unavailable" in report.problems[0]
    assert "\n" not in report.problems[0]
    assert len(writer.pages) == 3


def test_a_rename_embeds_nothing(repository, open_git):
    writer, embedder = FakeIndexWriter(), FakeEmbedder()
    sync(open_git(), writer, embedder)
    embedder.embedded.clear()
    repository.git("mv", "docs/rh", "docs/ressources")
    repository.push()

    report = sync(open_git(), writer, embedder)

    assert report.added == ("docs/ressources/conges.md", "docs/ressources/index.md")
    assert report.removed == ("docs/rh/conges.md", "docs/rh/index.md")
    assert embedder.embedded == []


def test_links_stay_in_the_folder_and_submodules_are_not_followed(repository, open_git):
    (repository.copy / "docs" / "same.md").symlink_to("rh/conges.md")
    (repository.copy / "docs" / "out.md").symlink_to("../README.md")
    (repository.copy / "docs" / "etc.md").symlink_to("/etc/passwd")
    (repository.copy / "docs" / "loop.md").symlink_to("loop.md")
    commit = repository.git("rev-parse", "HEAD")
    repository.git("add", "-A")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},docs/module")
    repository.git("commit", "-q", "-m", "links")
    repository.git("push", "-q", "origin", "HEAD")
    source = open_git(folder="docs")

    listing = source.listing()

    assert paths(listing) == ["rh/conges.md", "rh/index.md", "same.md"]
    assert read(source, "same.md").content == read(source, "rh/conges.md").content
    assert {page.path: page.reason for page in listing.skipped} == {
        "etc.md": "a link that leaves the folder",
        "loop.md": "a link that leaves the folder",
        "out.md": "a link that leaves the folder",
        "module": "a submodule, which is not followed",
    }


def test_a_link_that_is_too_long_to_be_one_is_skipped_alone(repository, open_git):
    repository.write("untracked", "x" * 2_000)
    long = repository.git("hash-object", "-w", "untracked")
    repository.git("update-index", "--add", "--cacheinfo", f"120000,{long},docs/long.md")
    repository.git("commit", "-q", "-m", "a link of 2,000 characters")
    repository.git("push", "-q", "origin", "HEAD")

    listing = open_git(folder="docs", max_page_bytes=1_000).listing()

    assert paths(listing) == ["rh/conges.md", "rh/index.md"]
    assert [page.path for page in listing.skipped] == ["long.md"]


def test_a_link_to_a_restricted_file_shows_it_to_nobody_else(repository, open_git):
    (repository.copy / "docs" / "same.md").symlink_to("rh/conges.md")
    repository.push("a link")
    source = RestrictedSource(open_git(folder="docs"), {"rh/": ["rh"]})

    found = {entry.path: source.fetch(entry).audiences for entry in source.listing().entries}

    assert found == {path: {"rh"} for path in ("rh/conges.md", "rh/index.md", "same.md")}


def test_filters_and_hooks_of_the_repository_never_run(repository, open_git, tmp_path):
    witness = tmp_path / "ran"
    repository.write(".gitattributes", "*.md filter=evil\n")
    repository.push()
    for hook in ("post-checkout", "post-merge", "reference-transaction"):
        script = repository.bare / "hooks" / hook
        script.write_text(f"#!/bin/sh\ntouch {witness}\n")
        script.chmod(0o755)
    git("config", "filter.evil.smudge", f"touch {witness}", cwd=repository.bare)
    witness.unlink(missing_ok=True)

    source = open_git()
    for entry in source.listing().entries:
        source.fetch(entry)

    assert not witness.exists()


@pytest.mark.parametrize("url", ["ext::sh -c 'touch /tmp/ran'", "git://host/x", "fd::3"])
def test_only_known_protocols_are_taken(repository, open_git, url):
    with pytest.raises(ConfigurationError, match="only file, http, https, ssh"):
        open_git(url)


def test_names_that_are_hard_for_shells_and_terminals_are_listed(repository, open_git):
    repository.write('docs/été "fou"\n-x.md', "# Fou\n\nUne page.\n")
    repository.push(at=FEBRUARY)

    page = read(open_git(folder="docs"), 'été "fou"\n-x.md')

    assert page.modified_at == utc(FEBRUARY)


def test_a_pointer_to_lfs_and_a_page_too_large_are_skipped_with_the_reason(repository, open_git):
    repository.write(
        "lfs.md", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n"
    )
    repository.write("grand.md", "x" * 2_000)
    repository.push()
    source = open_git(max_page_bytes=1_000)
    entries = {entry.path: entry for entry in source.listing().entries}

    with pytest.raises(PageParseError, match="Git LFS"):
        source.fetch(entries["lfs.md"])
    with pytest.raises(PageParseError, match="larger than 1000 bytes"):
        source.fetch(entries["grand.md"])
    assert source.fetch(entries["README.md"]).content


def test_include_and_exclude_are_relative_to_the_folder(repository, open_git):
    assert paths(open_git(folder="docs", exclude=["rh/index.md"]).listing()) == ["rh/conges.md"]
    assert paths(open_git(include=["docs/"]).listing()) == ["docs/rh/conges.md", "docs/rh/index.md"]


def test_a_sync_that_is_stopped_while_fetching_is_incomplete(repository, open_git):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.git"
        with pytest.raises(SourceUnavailableError, match="ls-remote: stopped"):
            open_git(url).listing(Watch(stopped=lambda: True))


def test_a_lock_left_by_a_killed_sync_and_a_lost_memory_do_not_matter(
    repository, open_git, tmp_path
):
    source = open_git()
    listing = source.listing()
    (copy,) = (tmp_path / "cache").iterdir()
    (copy / "refs" / "manuel" / "head.lock").touch()
    (copy / "shallow.lock").touch()
    (copy / "manuel-history.json").write_text('{"head": ')
    repository.write("neuf.md", "# Neuf\n\nUne page.\n")
    repository.push()

    assert len(source.listing().entries) == len(listing.entries) + 1


def test_a_folder_with_a_name_that_means_something_to_git_is_that_folder(repository, open_git):
    repository.write(":(glob)**/a.md", "# A\n\nUne page.\n")
    repository.push(at=FEBRUARY)

    page = read(open_git(folder=":(glob)**"), "a.md")

    assert page.modified_at == utc(FEBRUARY)


def test_a_probe_tells_the_branch_and_what_was_fetched(repository, open_git):
    source = open_git()
    assert source.probe().endswith("not fetched yet")
    source.listing()
    assert source.probe().startswith("main at ")
    assert source.probe().endswith("3 pages")
    repository.push("later")
    assert source.probe().endswith("3 pages at the last sync")


@pytest.mark.parametrize(
    ("repository", "template"),
    [
        ("https://github.com/o/r.git", "https://github.com/o/r/blob/{commit}/{repository_path}"),
        ("git@github.com:o/r.git", "https://github.com/o/r/blob/{commit}/{repository_path}"),
        (
            "ssh://git@gitlab.example.com:2222/a/b/c",
            "https://gitlab.example.com/a/b/c/-/blob/{commit}/{repository_path}",
        ),
        ("https://git.example.com/o/r.git", None),
        ("/srv/git/handbook.git", None),
    ],
)
def test_links_to_well_known_forges_need_no_template(repository, template):
    assert web_template(repository) == template
