"""A folder on disk, with everything that real folders hold, as a source of pages."""

import os
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingest.errors import ConfigurationError, PageParseError, SourceUnavailableError
from ingest.parsing.media import HTML, MARKDOWN, MEDIA_TYPES
from ingest.records import PUBLIC, RawPage
from ingest.sources.base import Entry, Listing
from ingest.sources.folder import FolderSource
from ingest.sources.restricted import RestrictedSource


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    return folder


def write(path: Path, text: str = "Texte.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def paths(listing: Listing) -> list[str]:
    return [entry.path for entry in listing.entries]


def reasons(listing: Listing) -> dict[str, str]:
    return {page.path: page.reason for page in listing.skipped}


def fetch(source: FolderSource, path: str) -> RawPage:
    return source.fetch(next(e for e in source.listing().entries if e.path == path))


def test_pages_of_every_kind_are_listed_in_order_and_other_files_are_ignored(root: Path) -> None:
    for suffix in MEDIA_TYPES:
        write(root / "a" / f"page{suffix.upper()}")
    for name in ["logo.png", "data.csv", "LICENSE", "script.py", ".hidden.md", ".git/config.md",
                 "_includes/nav.html", "node_modules/x/README.md"]:  # fmt: skip
        write(root / name)
    write(root / "SOURCE.md")
    listing = FolderSource("handbook", root).listing()
    assert paths(listing) == sorted([f"a/page{s.upper()}" for s in MEDIA_TYPES] + ["SOURCE.md"])
    assert listing.complete
    assert not listing.skipped


def test_a_page_comes_with_its_bytes_type_date_link_and_audience(root: Path) -> None:
    file = write(root / "rh" / "congés payés.md", "# Congés")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    source = FolderSource(
        "handbook", root, url_template="https://x.fr/{path}", audiences=frozenset({"managers"})
    )
    page = fetch(source, "rh/congés payés.md")
    assert page == RawPage(
        path="rh/congés payés.md",
        content="# Congés".encode(),
        media_type=MARKDOWN,
        modified_at=datetime.fromtimestamp(1_700_000_000, UTC),
        url="https://x.fr/rh/cong%C3%A9s%20pay%C3%A9s.md",
        audiences=frozenset({"managers"}),
        found_at="rh/congés payés.md",
    )


@pytest.mark.parametrize(
    ("template", "path", "url"),
    [
        ("https://x/{path_without_extension}.html", "a/b c.md", "https://x/a/b%20c.html"),
        ("https://x/{slug}/", "a/b.md", "https://x/a/b/"),
        ("https://x/{slug}", "a/README.md", "https://x/a"),
        ("https://x/{slug}", "index.html", "https://x/"),
        ("https://x/?page={name}", "a/b&c.md", "https://x/?page=b%26c"),
    ],
)
def test_the_link_follows_the_template(root: Path, template: str, path: str, url: str) -> None:
    write(root / path)
    assert fetch(FolderSource("handbook", root, url_template=template), path).url == url


@pytest.mark.parametrize("template", ["https://x/{title}", "https://x/{", "https://x/{0}"])
def test_a_wrong_template_is_refused_at_once(root: Path, template: str) -> None:
    with pytest.raises(ConfigurationError, match="handbook"):
        FolderSource("handbook", root, url_template=template)


def test_the_version_changes_with_the_file_and_only_then(root: Path) -> None:
    file = write(root / "a.md", "un")
    source = FolderSource("handbook", root)
    (before,) = source.listing().entries
    assert source.listing().entries == (before,)
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    file.write_text("de", encoding="utf-8")  # as long as before
    os.utime(file, ns=times)
    (after,) = source.listing().entries
    assert after.version != before.version
    assert before.size == 2


def test_include_and_exclude_patterns_choose_pages(root: Path) -> None:
    for name in ["a.md", "rh/b.md", "rh/paie/c.md", "drafts/d.md", "rh/drafts/e.md", "f.html"]:
        write(root / name)

    def chosen(*, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
        return paths(FolderSource("handbook", root, include=include, exclude=exclude).listing())

    assert chosen(include=("*.html",)) == ["f.html"]
    assert chosen(include=("rh/*.md",)) == ["rh/b.md"]
    assert chosen(include=("rh/**",)) == ["rh/b.md", "rh/drafts/e.md", "rh/paie/c.md"]
    assert chosen(include=("rh/**/*.md",), exclude=("**/drafts/",)) == ["rh/b.md", "rh/paie/c.md"]
    assert chosen(exclude=("drafts/**", "[a-c].md")) == ["f.html", "rh/drafts/e.md"]


def test_what_cannot_be_taken_is_skipped_with_its_reason(root: Path) -> None:
    write(root / "vide.md", "")
    write(root / "gros.md", "x" * 101)
    (root / "casse.md").symlink_to(root / "absent.md")
    (root / "boucle.md").symlink_to(root / "boucle.md")
    os.mkfifo(root / "tube.md")
    write(root / "bon.md", "x" * 100)
    listing = FolderSource("handbook", root, max_page_bytes=100).listing()
    found = reasons(listing)
    assert paths(listing) == ["bon.md"]
    assert found["vide.md"] == "the file is empty"
    assert "MAX_PAGE_BYTES" in found["gros.md"]
    assert found["tube.md"] == "not a regular file"
    assert {"casse.md", "boucle.md"} <= found.keys()
    assert listing.complete


def test_links_are_followed_inside_the_folder_and_never_out_of_it(root: Path) -> None:
    outside = write(root.parent / "secret" / "paie.md", "Salaires")
    write(root / "rh" / "b.md")
    (root / "dehors.md").symlink_to(outside)
    (root / "dossier").symlink_to(outside.parent)
    (root / "lien.md").symlink_to(root / "rh" / "b.md")
    (root / "rh" / "retour").symlink_to(root)
    listing = FolderSource("handbook", root).listing()
    assert paths(listing) == ["lien.md", "rh/b.md"]
    assert reasons(listing) == {
        "dehors.md": "a link that leaves the folder",
        "dossier": "a link that leaves the folder",
        "rh/retour": "a link to a folder it is in",
    }


def test_a_link_to_a_restricted_file_shows_it_to_nobody_else(root: Path) -> None:
    write(root / "paie" / "primes.md")
    write(root / "rh" / "b.md")
    (root / "a-lire.md").symlink_to(root / "paie" / "primes.md")
    (root / "ouvert").symlink_to(root / "paie")
    source = RestrictedSource(FolderSource("s", root), {"paie/": ["rh"]})

    found = {entry.path: source.fetch(entry).audiences for entry in source.listing().entries}

    assert found["paie/primes.md"] == {"rh"}
    assert found["a-lire.md"] == {"rh"}
    assert found["ouvert/primes.md"] == {"rh"}
    assert found["rh/b.md"] == PUBLIC


def test_a_file_that_becomes_a_link_out_of_the_folder_is_not_read(root: Path) -> None:
    outside = write(root.parent / "paie.md", "Salaires")
    file = write(root / "a.md")
    source = FolderSource("handbook", root)
    (entry,) = source.listing().entries
    file.unlink()
    file.symlink_to(outside)
    with pytest.raises(PageParseError, match="leaves the folder"):
        source.fetch(entry)


def test_a_path_is_composed_unicode_and_still_opens_the_file(root: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "congés.html")
    write(root / decomposed, "<p>25 jours</p>")
    page = fetch(FolderSource("handbook", root), "congés.html")
    assert page.content == b"<p>25 jours</p>"
    assert page.media_type == HTML


def test_a_name_that_is_not_unicode_is_skipped_with_a_printable_path(root: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(root) + b"/cong\xe9.md")).write_text("x", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes Unicode names only")
    listing = FolderSource("handbook", root).listing()
    assert not listing.entries
    (skipped,) = listing.skipped
    assert skipped.path.encode()
    assert "Unicode" in skipped.reason


def test_a_missing_folder_or_a_file_in_its_place_is_an_outage(root: Path) -> None:
    for wrong in (root / "absent", write(root / "a.md")):
        with pytest.raises(SourceUnavailableError, match=str(wrong)):
            FolderSource("handbook", wrong).listing()


def test_a_folder_that_cannot_be_listed_makes_the_listing_incomplete(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root / "a.md")
    write(root / "rh" / "b.md")
    scan = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "rh":
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)  # root, who runs tests in containers, may read all
    listing = FolderSource("handbook", root).listing()
    assert paths(listing) == ["a.md"]
    assert not listing.complete
    assert listing.problem == "cannot list rh/: permission denied"


def test_a_page_that_went_away_is_an_error_and_a_folder_that_did_is_an_outage(root: Path) -> None:
    file = write(root / "a.md")
    source = FolderSource("handbook", root)
    (entry,) = source.listing().entries
    file.unlink()
    with pytest.raises(PageParseError, match="cannot be read"):
        source.fetch(entry)
    root.rmdir()
    with pytest.raises(SourceUnavailableError, match="is gone"):
        source.fetch(entry)


def test_a_file_that_grew_too_large_since_the_listing_is_an_error(root: Path) -> None:
    file = write(root / "a.md", "x")
    source = FolderSource("handbook", root, max_page_bytes=100)
    (entry,) = source.listing().entries
    file.write_text("x" * 101, encoding="utf-8")
    with pytest.raises(PageParseError, match="MAX_PAGE_BYTES"):
        source.fetch(entry)


def test_a_page_can_be_fetched_without_listing_first(root: Path) -> None:
    write(root / "rh" / "b.md", "x")
    assert FolderSource("handbook", root).fetch(Entry("rh/b.md")).content == b"x"
