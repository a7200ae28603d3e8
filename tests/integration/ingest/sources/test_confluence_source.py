"""Confluence as a source of pages, against a server with the shapes of its interface."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.pipeline import sync
from ingest.records import PUBLIC
from ingest.sources.confluence import ConfluenceLogin, ConfluenceSource
from ingest.sources.web_visitor import SiteAccess
from tests.confluence_site import Attached, Confluence, Content, basic
from tests.fakes import FakeEmbedder, FakeIndexWriter
from tests.web_site import Answer, Site, serving

ACCESS = SiteAccess(requests_per_second=10_000.0, first_retry_s=0.01, private_network=True)
GROUPS = {"hr-team": "rh", "board": "direction", "everybody": "everyone"}


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


@pytest.fixture
def confluence(site: Site) -> Confluence:
    confluence = Confluence()
    confluence.on(site)
    return confluence


@pytest.fixture
def open_confluence(site: Site, confluence: Confluence):
    sources: list[ConfluenceSource] = []

    def open_(**options: object) -> ConfluenceSource:
        settings: dict[str, object] = {"spaces": ["RH"], "group_audiences": GROUPS, **options}
        source = ConfluenceSource("c", f"{site.url}/wiki/", access=ACCESS, **settings)  # type: ignore[arg-type]
        sources.append(source)
        return source

    yield open_
    for source in sources:
        source.close()


def test_pages_of_all_batches_come_with_text_date_and_link(site, confluence, open_confluence):
    for number in range(7):
        body = f"<h2>Durée</h2><p>Le congé {number} dure un jour.</p>"
        confluence.pages[str(number)] = Content(f"Congé {number}", body)
    confluence.pages["9"] = Content("Autre", space="IT")
    writer = FakeIndexWriter()

    report = sync(open_confluence(), writer, FakeEmbedder())

    assert report.added == tuple(f"RH/Congé {number}" for number in range(7))
    page, chunks, _ = writer.pages["c", "RH/Congé 3"]
    assert (page.title, page.url) == ("Congé 3", f"{site.url}/wiki/spaces/RH/pages/3")
    assert page.modified_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert chunks[0].text == "Le congé 3 dure un jour."


def test_only_what_changed_is_asked_for_again(site, confluence, open_confluence):
    confluence.pages = {str(n): Content(f"Page {n}", f"<p>La page {n}.</p>") for n in range(5)}
    writer = FakeIndexWriter()
    sync(open_confluence(), writer, FakeEmbedder())
    confluence.pages["2"] = Content("Page 2", "<p>Autre chose.</p>", version=2)
    del confluence.pages["4"]
    site.requests.clear()

    report = sync(open_confluence(), writer, FakeEmbedder())

    assert (report.updated, report.removed, report.unchanged) == (("RH/Page 2",), ("RH/Page 4",), 3)
    assert len([path for path, _ in site.requests if "cql=id" in path]) == 1


def test_restrictions_are_inherited_and_what_is_not_known_is_for_nobody(
    confluence, open_confluence
):
    confluence.pages = {
        "1": Content("Accueil"),
        "2": Content("Paie", groups=("hr-team", "board"), above=("1",)),
        "3": Content("Primes", above=("1", "2")),
        "4": Content("Direction", groups=("board",), above=("1", "2")),
        "5": Content("Personnel", users=("712020:ada",), above=("1",)),
        "6": Content("Inconnu", groups=("others",), above=("1",)),
        "7": Content("Tu", tells_restrictions=False, above=("1",)),
        "8": Content("Orphelin", above=("404",)),
        "9": Content("Sous personnel", above=("1", "5")),
        "10": Content("En rond", above=("10", "1")),
        "11": Content("Tous", groups=("everybody",), above=("1",)),
    }
    source = open_confluence()

    found = {e.path: source.fetch(e).audiences for e in source.listing().entries}

    assert found == {
        "RH/Accueil": {"everyone"},
        "RH/Paie": {"rh", "direction"},
        "RH/Primes": {"rh", "direction"},
        "RH/Direction": {"direction"},
        "RH/Personnel": set(),
        "RH/Inconnu": set(),
        "RH/Tu": set(),
        "RH/Orphelin": set(),
        "RH/Sous personnel": set(),
        "RH/En rond": {"everyone"},
        "RH/Tous": set(),
    }


def test_a_new_restriction_above_reaches_the_index_without_a_new_version(
    confluence, open_confluence
):
    confluence.pages = {"1": Content("Paie"), "2": Content("Primes", above=("1",))}
    writer = FakeIndexWriter()
    sync(open_confluence(), writer, FakeEmbedder())
    confluence.pages["1"].groups = ("hr-team",)

    sync(open_confluence(), writer, FakeEmbedder())

    assert writer.pages["c", "RH/Primes"][0].audiences == {"rh"}


def test_labels_and_patterns_choose_pages(confluence, open_confluence):
    confluence.pages = {
        "1": Content("A", labels=("guide",)),
        "2": Content("B", labels=("guide", "archive"), above=("1",)),
        "3": Content("C", above=("1",)),
    }

    def listed(**options: object) -> list[str]:
        return [entry.path for entry in open_confluence(**options).listing().entries]

    assert listed(labels=["guide"], exclude_labels=["archive"]) == ["RH/A"]
    assert listed(exclude=["RH/A"]) == ["RH/B", "RH/C"]


@pytest.mark.parametrize(
    ("login", "header"),
    [
        (ConfluenceLogin(SecretStr("t0k"), "ada@example.com"), basic("ada@example.com", "t0k")),
        (ConfluenceLogin(SecretStr("t0k")), "Bearer t0k"),
    ],
)
def test_tokens_of_cloud_and_data_center_let_in(confluence, open_confluence, login, header):
    confluence.pages = {"1": Content("A")}
    confluence.authorization = header

    assert open_confluence(login=login).probe() == "RH: 1 pages"
    with pytest.raises(SourceUnavailableError, match=r"answers 401: look at email and token_env"):
        open_confluence().listing()
    assert "t0k" not in repr(login)


def test_a_site_that_is_busy_or_breaks_once_is_asked_again(confluence, open_confluence):
    confluence.pages = {"1": Content("A")}
    confluence.failures = [Answer(status=429, headers={"Retry-After": "0"}), Answer(status=502)]

    assert len(open_confluence().listing().entries) == 1


@pytest.mark.parametrize("failure", [Answer(status=500), Answer(b"<html>", 200)])
def test_a_listing_that_breaks_off_deletes_nothing(confluence, open_confluence, failure):
    confluence.pages = {str(n): Content(f"Page {n}", f"<p>La page {n}.</p>") for n in range(5)}
    writer = FakeIndexWriter()
    sync(open_confluence(), writer, FakeEmbedder())
    healthy = confluence.answer

    def breaking(request):
        return failure if "cursor=4" in request.path else healthy(request)

    confluence.answer = breaking  # type: ignore[method-assign]
    report = sync(open_confluence(), writer, FakeEmbedder())

    assert (report.complete, report.removed, len(writer.pages)) == (False, (), 5)


def test_a_page_that_the_site_cannot_show_is_skipped_and_a_site_that_shows_none_is_down(
    confluence, open_confluence
):
    confluence.pages = {str(n): Content(f"Page {n}", f"<p>La page {n}.</p>") for n in range(8)}
    healthy, broken = confluence.answer, {"3"}

    def partly(request):
        page_id = request.path.partition("cql=id%3D")[2].partition("&")[0]
        return Answer(status=500) if page_id in broken else healthy(request)

    confluence.answer = partly  # type: ignore[method-assign]
    writer = FakeIndexWriter()

    report = sync(open_confluence(), writer, FakeEmbedder())

    assert [page.path for page in report.skipped] == ["RH/Page 3"]
    assert (len(writer.pages), report.complete) == (7, True)
    broken |= {str(n) for n in range(8)}
    assert not sync(open_confluence(), FakeIndexWriter(), FakeEmbedder()).complete


def test_a_space_without_any_page_is_an_outage(confluence, open_confluence):
    confluence.pages = {"1": Content("A")}
    for ask in ("listing", "probe"):
        with pytest.raises(SourceUnavailableError, match="'HR' has no page"):
            getattr(open_confluence(spaces=["HR"]), ask)()


def test_hard_titles_and_pages_deleted_meanwhile(confluence, open_confluence):
    confluence.pages = {"1": Content('A\n<script>"&'), "2": Content('A <script>"&')}
    source = open_confluence()
    first, second = source.listing().entries
    assert (first.path, second.path) == ('RH/A <script>"&', 'RH/A <script>"& (2)')
    assert b"<h1>A &lt;script&gt;" in source.fetch(first).content
    assert source.fetch(second).found_at == first.path  # rules for its path hold, too
    assert open_confluence(exclude=['A <script>"&']).listing().entries == ()
    confluence.pages.clear()

    with pytest.raises(PageParseError, match="deleted meanwhile"):
        source.fetch(second)


@pytest.mark.parametrize(
    "change", [{"groups": ("board",)}, {"users": ("712020:ada",)}, {"above": ("1",)}]
)
def test_a_page_that_is_restricted_while_it_is_read_is_left_to_the_next_sync(
    confluence, open_confluence, change
):
    confluence.pages = {"1": Content("Paie", groups=("hr-team",)), "2": Content("Primes")}
    source = open_confluence()
    [entry] = [entry for entry in source.listing().entries if entry.path == "RH/Primes"]
    confluence.pages["2"] = Content("Primes", "<p>12 345 euros.</p>", version=2, **change)

    with pytest.raises(PageParseError, match="changed meanwhile"):
        source.fetch(entry)
    [again] = [entry for entry in source.listing().entries if entry.path == "RH/Primes"]
    assert source.fetch(again).audiences != PUBLIC


def attach(confluence: Confluence, name: str, text: str = "Le texte.", page: str = "1") -> Attached:
    file = Attached(name, f"# Fichier\n\n{text}\n".encode(), page)
    confluence.files[f"att{len(confluence.files) + 1}"] = file
    return file


def test_files_of_pages_come_with_their_text_and_the_restrictions_of_the_page(
    site, confluence, open_confluence
):
    confluence.pages = {
        "1": Content("Paie", groups=("hr-team",)),
        "2": Content("Primes", above=("1",)),
        "3": Content("Accueil"),
    }
    attach(confluence, "barème.md", "Le barème.", "2")
    attach(confluence, "plan.md", "Le plan.", "3")
    for name, page in (("photo.png", "1"), ("billet.md", "99"), ("vu.md", "3")):
        attach(confluence, name, page=page)
    confluence.files["att5"].page = None  # of what we may not see
    writer = FakeIndexWriter()

    report = sync(open_confluence(), writer, FakeEmbedder())

    assert report.added == (
        "RH/Accueil",
        "RH/Accueil/plan.md",
        "RH/Paie",
        "RH/Primes",
        "RH/Primes/barème.md",
    )
    page, chunks, _ = writer.pages["c", "RH/Primes/barème.md"]
    assert page.url == f"{site.url}/wiki/spaces/RH/pages/2?preview=att1"
    assert page.modified_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert (page.audiences, chunks[0].text) == ({"rh"}, "Le barème.")


def test_files_change_go_and_are_chosen_like_pages(site, confluence, open_confluence):
    confluence.pages = {"1": Content("A", labels=("guide",)), "2": Content("B")}
    for name in ("un.md", "deux.md", "trois.md"):
        attach(confluence, name)
    attach(confluence, "autre.md", page="2")
    writer = FakeIndexWriter()
    sync(open_confluence(), writer, FakeEmbedder())
    confluence.files["att1"] = Attached("un.md", b"# Un\n\nNeuf.\n", "1", version=2)
    del confluence.files["att2"]
    confluence.pages["1"].groups = ("board",)
    site.requests.clear()

    report = sync(open_confluence(), writer, FakeEmbedder())

    assert report.removed == ("RH/A/deux.md",)
    assert report.updated == ("RH/A", "RH/A/trois.md", "RH/A/un.md")
    assert writer.pages["c", "RH/A/trois.md"][0].audiences == {"direction"}
    assert not [path for path, _ in site.requests if "att4" in path]

    def listed(**options: object) -> list[str]:
        return [entry.path for entry in open_confluence(**options).listing().entries]

    assert listed(labels=["guide"]) == ["RH/A", "RH/A/trois.md", "RH/A/un.md"]
    assert listed(include=["RH/A/**"]) == ["RH/A/trois.md", "RH/A/un.md"]
    assert listed(attachments=False) == ["RH/A", "RH/B"]


def test_a_download_follows_the_redirect_to_where_files_are_kept_without_the_login(
    site, confluence, open_confluence
):
    confluence.pages = {"1": Content("A")}
    confluence.authorization = "Bearer t0k"
    login = ConfluenceLogin(SecretStr("t0k"))
    with serving(Site()) as store:
        store.put("/file?token=k3y", b"# Ailleurs\n\nTexte.\n", "application/octet-stream")
        attach(confluence, "ailleurs.md").store = f"{store.url}/file?token=k3y"
        host = store.url.removeprefix("http://")
        source = open_confluence(login=login, stores=[host])
        entry = source.listing().entries[1]

        assert b"Ailleurs" in source.fetch(entry).content
        assert "authorization" not in store.headers[0]
        stranger = open_confluence(login=login)
        entry = stranger.listing().entries[1]
        with pytest.raises(PageParseError, match="not one of the configured hosts") as refused:
            stranger.fetch(entry)
        assert "k3y" not in str(refused.value)


def test_a_file_that_cannot_be_had_is_skipped_and_the_rest_is_in_sync(confluence, open_confluence):
    confluence.pages = {"1": Content("A"), "2": Content("B")}
    attach(confluence, "grand.md", "x" * 3_000)
    attach(confluence, "page de connexion.docx")
    gone, restricted = attach(confluence, "parti.md"), attach(confluence, "secret.md", page="2")
    source = open_confluence(max_page_bytes=2_000)
    listing = source.listing()
    entries = {entry.path: entry for entry in listing.entries}

    assert entries["RH/A/grand.md"].audiences == PUBLIC  # holds, though it is not fetched
    with pytest.raises(PageParseError, match="larger than 2000 bytes"):
        source.fetch(entries["RH/A/grand.md"])
    healthy = confluence.answer
    login = Answer(b"<html>", headers={"Content-Type": "text/html;charset=UTF-8"})
    confluence.answer = lambda r: login if "att2" in r.path else healthy(r)  # type: ignore[method-assign]
    with pytest.raises(PageParseError, match="a web page in place of the file: look at email"):
        source.fetch(entries["RH/A/page de connexion.docx"])
    del confluence.files["att3"]
    with pytest.raises(PageParseError, match="deleted meanwhile"):
        source.fetch(entries[f"RH/A/{gone.name}"])
    confluence.pages["2"].groups = ("board",)
    with pytest.raises(PageParseError, match="changed meanwhile"):
        source.fetch(entries[f"RH/B/{restricted.name}"])


def test_a_listing_of_files_that_breaks_off_deletes_nothing(confluence, open_confluence):
    confluence.pages = {"1": Content("A")}
    for n in range(5):
        attach(confluence, f"fichier {n}.md", f"Le fichier {n}.")
    writer = FakeIndexWriter()
    sync(open_confluence(), writer, FakeEmbedder())
    healthy = confluence.answer
    broken = Answer(status=500)
    confluence.answer = lambda r: broken if "attachment&" in r.path else healthy(r)  # type: ignore[method-assign]

    report = sync(open_confluence(), writer, FakeEmbedder())

    assert (report.complete, report.removed, len(writer.pages)) == (False, (), 6)
