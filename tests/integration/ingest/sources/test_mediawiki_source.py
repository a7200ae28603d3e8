"""A real MediaWiki as a source of pages, and what goes wrong with others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.pipeline import sync
from ingest.sources.mediawiki import MediaWikiSource, WikiLogin
from ingest.sources.web_visitor import SiteAccess
from tests.fakes import FakeEmbedder, FakeIndexWriter
from tests.media_wiki import PASSWORD, Wiki, running_wiki
from tests.web_site import Answer, Site, serving

ACCESS = SiteAccess(requests_per_second=10_000.0, first_retry_s=0.01, private_network=True)


def text_of(number: int) -> str:
    return (
        f"== Durée ==\n\nLe congé {number} dure {number} jours.\n\n"
        '{| class="wikitable"\n! Cas !! Jours\n|-\n| Mariage || 4\n|}\n'
    )


@pytest.fixture(scope="module")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wiki]:
    with running_wiki(tmp_path_factory.mktemp("wiki")) as wiki:
        pages = {f"Congé {number:03}": text_of(number) for number in range(300)}
        wiki.write(
            {**pages, "Paie": f"{text_of(0)}\n[[Catégorie:RH]]", "Vieux": "#REDIRECT [[Paie]]"}
        )
        yield wiki


def opened(api: str, **options: object) -> MediaWikiSource:
    return MediaWikiSource("wiki", api, access=ACCESS, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_wiki_is_followed_through_edits_moves_and_deletions(wiki: Wiki) -> None:
    writer, embedder = FakeIndexWriter(), FakeEmbedder()
    source = opened(wiki.api)

    first = sync(source, writer, embedder)

    assert (first.complete, first.skipped) == (True, ())
    assert len(first.added) == 302  # with the wiki's own first page, and no redirect
    page, chunks, _ = writer.pages["wiki", "Congé 007"]
    assert (page.title, page.language) == ("Congé 007", "fr")
    assert "Le congé 7 dure 7 jours." in page.text
    assert "| Mariage | 4 |" in page.text
    assert (page.url or "").endswith("/index.php/Cong%C3%A9_007")
    assert chunks[0].heading_path == ("Durée",)
    assert chunks[0].anchor
    assert page.modified_at is not None
    assert datetime.now(UTC) - page.modified_at < timedelta(hours=1)

    again = sync(source, writer, embedder)
    assert (again.unchanged, again.updated, again.embeddings_computed) == (302, (), 0)

    wiki.write({"Congé 007": text_of(70)})
    wiki.delete("Congé 008")
    wiki.move("Congé 009", "Congé neuf")
    changed = sync(source, writer, embedder)
    source.close()

    assert changed.added == ("Congé neuf",)
    assert changed.updated == ("Congé 007",)
    assert changed.removed == ("Congé 008", "Congé 009")
    assert "70 jours" in writer.pages["wiki", "Congé 007"][0].text


@pytest.mark.slow
def test_categories_titles_and_limits_choose_pages(wiki: Wiki) -> None:
    def titles(**options: object) -> list[str]:
        source = opened(wiki.api, **options)
        listing = source.listing()
        source.close()
        return [entry.path for entry in listing.entries]

    assert titles(categories=["RH"]) == ["Paie"]
    assert "Paie" not in titles(exclude_categories=["RH"])
    assert titles(include=["Congé 01?"]) == [f"Congé {n:03}" for n in range(10, 20)]
    assert titles(namespaces=[4]) == []
    source = opened(wiki.api, max_pages=10)
    assert not source.listing().complete
    source.close()


@pytest.mark.slow
def test_a_probe_tells_the_wikis_name(wiki: Wiki) -> None:
    source = opened(wiki.api)
    assert source.probe().startswith("Guide, ")
    source.close()


@pytest.mark.slow
def test_a_closed_wiki_wants_a_login_and_says_so(tmp_path: Path) -> None:
    with running_wiki(tmp_path) as wiki:
        wiki.write({"Paie": text_of(1)})
        wiki.close_to_strangers()
        with pytest.raises(SourceUnavailableError, match=r"readapidenied.*password_env"):
            opened(wiki.api).listing()
        for password in ("wrong", ""):
            login = WikiLogin("Admin", SecretStr(password or "x"))
            with pytest.raises(
                SourceUnavailableError, match="refuses the login of Admin"
            ) as caught:
                opened(wiki.api, login=login).listing()
            assert "wrong" not in str(caught.value)
        source = opened(wiki.api, login=WikiLogin("Admin", SecretStr(PASSWORD)))
        assert "Paie" in [entry.path for entry in source.listing().entries]
        source.close()


# --- answers that no wiki in order gives ---------------------------------------------------------


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


def answering(site: Site, *answers: object) -> MediaWikiSource:
    """A source of a server that answers these, whatever it is asked; the last one for ever."""
    told = [a if isinstance(a, Answer) else Answer(json.dumps(a).encode()) for a in answers]
    asked = iter(range(1_000))

    class Whatever(dict[str, object]):
        def get(self, path: str, default: object = None) -> object:
            return told[min(next(asked), len(told) - 1)]

    site.answers = Whatever()  # type: ignore[assignment]
    return opened(f"{site.url}/api.php")


def page(title: str, page_id: int = 1) -> dict[str, object]:
    return {"pageid": page_id, "title": title, "contentmodel": "wikitext", "lastrevid": 1}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(b"<html>Connexion</html>", headers={"Content-Type": "text/html"}), "no JSON"),
        (Answer(b"[]"), "no object"),
        (Answer(status=401), "answers 401"),
        (Answer(status=404), "address of api.php"),
        (Answer(status=500), "answers 500"),
        (Answer(status=302, headers={"Location": "https://sso.example.com/"}), "answers 302"),
        ({"error": {"code": "internal_api_error", "info": "a\nb"}}, "internal_api_error: a b"),
    ],
)
def test_an_answer_that_is_none_is_an_outage_with_the_reason(site, answer, said):
    source = answering(site, answer)

    with pytest.raises(SourceUnavailableError, match=said):
        source.listing()
    source.close()


def test_a_listing_that_goes_in_circles_or_breaks_off_is_no_listing(site):
    further = {"query": {"pages": [page("A")]}, "continue": {"gapcontinue": "A"}}
    for answers, said in [((further,), "already"), ((further, Answer(status=500)), "500")]:
        source = answering(site, *answers)
        with pytest.raises(SourceUnavailableError, match=said):
            source.listing()
        source.close()


def test_a_page_deleted_between_listing_and_reading_is_skipped(site):
    listed = {"query": {"pages": [page("A"), page('B <i>"\n</i>', 2)]}}
    gone = {"error": {"code": "nosuchpageid", "info": "There is no page with ID 1."}}
    shown = {"parse": {"text": "<p>Texte.</p>"}}
    source = answering(site, listed, gone, shown)
    first, second = source.listing().entries

    with pytest.raises(PageParseError, match="deleted meanwhile"):
        source.fetch(first)
    assert b"<h1>B &lt;i&gt;" in source.fetch(second).content
    source.close()


def test_pages_of_programs_are_no_pages(site):
    source = answering(site, {"query": {"pages": [page("A") | {"contentmodel": "javascript"}]}})
    assert source.listing().entries == ()
    source.close()
