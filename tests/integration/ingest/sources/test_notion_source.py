"""Notion as a source of pages, against a server with the shapes of its interface."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from ingest.errors import ConfigurationError, SourceUnavailableError
from ingest.parsing import parse
from ingest.pipeline import sync
from ingest.records import PUBLIC
from ingest.sources.notion import NotionSource, notion_id
from ingest.sources.restricted import RestrictedSource
from ingest.sources.web_visitor import SiteAccess
from tests.fakes import FakeEmbedder, FakeIndexWriter
from tests.notion_site import (
    TOKEN,
    Block,
    Database,
    Notion,
    Page,
    bare,
    child,
    id_of,
    paragraph,
    words,
)
from tests.web_site import Answer, Site, serving

ACCESS = SiteAccess(requests_per_second=10_000.0, first_retry_s=0.01, private_network=True)
ROOT = 1


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


@pytest.fixture
def notion(site: Site) -> Notion:
    notion = Notion()
    notion.on(site)
    return notion


@pytest.fixture
def open_notion(site: Site, notion: Notion, tmp_path: Path):
    sources: list[NotionSource] = []

    def open_(*roots: str, **options: object) -> NotionSource:
        settings: dict[str, object] = {
            "token": SecretStr(TOKEN),
            "cache": tmp_path / "notion",
            "access": ACCESS,
            "audiences": PUBLIC,
            **options,
        }
        source = NotionSource("n", roots or [id_of(ROOT)], api=site.url, **settings)  # type: ignore[arg-type]
        sources.append(source)
        return source

    yield open_
    for source in sources:
        source.close()


def paths(source: NotionSource) -> list[str]:
    return [entry.path for entry in source.listing().entries]


def text_of_root(notion: Notion, source: NotionSource, *blocks: Block) -> str:
    """Return the text that the root page has with these blocks."""
    notion.pages[ROOT] = Page("Guide", list(blocks))
    [entry] = source.listing().entries
    return parse(source.fetch(entry)).text


def test_pages_of_a_tree_and_rows_of_all_data_sources_come_with_text_date_and_link(
    notion, open_notion
):
    toggle = Block("toggle", "Plus", inside=[child(3)])
    notion.pages = {
        ROOT: Page("Manuel", [child(2), toggle, child(9, "child_database")]),
        2: Page("Congés/RTT", [paragraph("Le congé dure cinq semaines.")]),
        3: Page("Cachée", [paragraph("Une page dans un bloc.")]),
        **{n: Page(f"Ligne {n}", [paragraph(f"La ligne {n}.")]) for n in range(10, 15)},
    }
    notion.databases = {9: Database("Procédures", [[10, 11, 12], [13, 14]])}
    writer = FakeIndexWriter()

    report = sync(open_notion(), writer, FakeEmbedder())

    assert report.complete
    assert sorted(report.added) == [
        "Manuel",
        "Manuel/Cachée",
        "Manuel/Congés∕RTT",
        *(f"Manuel/Procédures/Ligne {n}" for n in range(10, 15)),
    ]
    page, chunks, _ = writer.pages["n", "Manuel/Congés∕RTT"]
    assert (page.title, page.url) == ("Congés/RTT", f"https://www.notion.so/Page-{bare(2)}")
    assert page.modified_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert chunks[0].text == "Le congé dure cinq semaines."


def test_every_kind_of_block_keeps_its_words_and_headings_their_anchor(notion, open_notion):
    notion.pages[7] = Page("Autre", [paragraph("Ailleurs.")])
    cell_rows = [
        Block("table_row", content={"cells": [words("Motif"), words("Jours")]}),
        Block("table_row", content={"cells": [words("Mariage"), words("4")]}),
    ]
    synced = Block("synced_block", content={"synced_from": None}, number=77)
    synced.inside = [paragraph("Texte synchronisé.")]
    source = open_notion()

    text = text_of_root(
        notion,
        source,
        Block("heading_1", "Durée", number=55),
        Block("bulleted_list_item", "Pièces", inside=[Block("bulleted_list_item", "Passeport")]),
        Block("to_do", "Signer", {"checked": True}),
        Block("numbered_list_item", "Ouvrir"),
        Block("numbered_list_item", "Fermer"),
        Block("quote", "Citation."),
        Block("callout", "Attention au délai.", {"icon": {"emoji": "⚠️"}}),
        Block("code", "make <b>", {"language": "shell", "caption": []}),
        Block("equation", content={"expression": "a < b"}),
        Block("bookmark", content={"url": "https://a.example/f", "caption": words("Formulaire")}),
        Block("table", content={"has_column_header": True}, inside=cell_rows),
        Block("column_list", inside=[Block("column", inside=[paragraph("À gauche.")])]),
        synced,
        Block("synced_block", content={"synced_from": {"block_id": id_of(77)}}, number=78),
        Block("toggle", "Et pour <les> stagiaires ?", inside=[paragraph("Pareil.")]),
        Block("image", content={"caption": words("Plan du site")}),
        Block("unsupported"),
        Block("ai_summary", "Un bloc à venir."),
    )

    for expected in (
        "Durée",
        "- Pièces\n  - Passeport",
        "- Signer",
        "1. Ouvrir\n2. Fermer",
        "Citation.",
        "Attention au délai.",
        "make <b>",
        "a < b",
        "Formulaire",
        "| Motif | Jours |\n| Mariage | 4 |",
        "À gauche.",
        "Texte synchronisé.",
        "Et pour <les> stagiaires ?",
        "Pareil.",
        "Plan du site",
        "Un bloc à venir.",
    ):
        assert expected in text, expected
    [entry] = source.listing().entries
    blocks = parse(source.fetch(entry)).blocks
    assert bare(55) in [block.anchor for block in blocks]


def test_struck_out_words_go_and_line_breaks_stay(notion, open_notion):
    old = Block("paragraph", content={"rich_text": words("Trois jours.", strikethrough=True)})

    text = text_of_root(notion, open_notion(), old, paragraph("Un\ndeux"))

    assert "Trois jours." not in text
    assert "Un\ndeux" in text


def test_properties_of_a_row_are_read(notion, open_notion):
    properties = {
        "Plafond": {"type": "number", "number": 45.5},
        "Équipe": {"type": "select", "select": {"name": "RH <Paris>"}},
        "Mots": {"type": "multi_select", "multi_select": [{"name": "a"}, {"name": "b"}]},
        "Note": {"type": "rich_text", "rich_text": words("Sur justificatif")},
        "Validité": {"type": "date", "date": {"start": "2024-01-01", "end": "2024-12-31"}},
        "Actif": {"type": "checkbox", "checkbox": True},
        "Calcul": {"type": "formula", "formula": {"type": "string", "string": "45 euros"}},
        "Somme": {"type": "rollup", "rollup": {"type": "number", "number": 3}},
        "Responsable": {"type": "people", "people": [{"name": "Ada"}, {"id": "sans nom"}]},
        "Code": {"type": "unique_id", "unique_id": {"prefix": "P", "number": 7}},
        "Vide": {"type": "url", "url": None},
        "Lien": {"type": "relation", "relation": [{"id": id_of(3)}]},
        "Créé": {"type": "created_time", "created_time": "2020-01-01T00:00:00.000Z"},
    }
    notion.pages[2] = Page("Repas", properties=properties)
    notion.databases[ROOT] = Database("Frais", [[2]])
    source = open_notion()

    [entry] = source.listing().entries
    text = parse(source.fetch(entry)).text

    assert entry.path == "Frais/Repas"
    assert [line for line in text.split("\n") if line.startswith("- ")] == [
        "- Actif : ☑",
        "- Calcul : 45 euros",
        "- Code : P-7",
        "- Mots : a, b",
        "- Note : Sur justificatif",
        "- Plafond : 45.5",
        "- Responsable : Ada",
        "- Somme : 3",
        "- Validité : 2024-01-01 – 2024-12-31",
        "- Équipe : RH <Paris>",
    ]


def test_only_what_changed_is_read_again_and_what_is_trashed_goes(site, notion, open_notion):
    notion.pages = {
        ROOT: Page("Manuel", [child(n) for n in (2, 3, 4)]),
        **{n: Page(f"Page {n}", [paragraph(f"La page {n}.")]) for n in (2, 3, 4)},
    }
    writer = FakeIndexWriter()
    sync(open_notion(), writer, FakeEmbedder())
    notion.pages[2] = Page("Page 2", [paragraph("Autre chose.")], "2024-06-01T10:00:00.000Z")
    notion.pages[3].in_trash = True
    notion.pages[ROOT].blocks = [child(2), child(4)]
    site.requests.clear()

    report = sync(open_notion(), writer, FakeEmbedder())

    assert report.updated == ("Manuel/Page 2",)
    assert report.removed == ("Manuel/Page 3",)
    read = {path.split("/")[3].partition("?")[0] for path, _ in site.requests}
    assert read == {bare(ROOT), bare(2)}


def test_an_edit_within_the_same_minute_is_not_missed(notion, open_notion):
    now = datetime.now(UTC).isoformat(timespec="minutes")
    notion.pages[5] = Page("Manuel", [paragraph("Avant.")], now)
    writer = FakeIndexWriter()
    sync(open_notion(id_of(5)), writer, FakeEmbedder())
    notion.pages[5] = Page("Manuel", [paragraph("Après.")], now)

    assert sync(open_notion(id_of(5)), writer, FakeEmbedder()).updated == ("Manuel",)


def test_our_own_clock_does_not_matter(site, notion, open_notion, monkeypatch):
    class SetBack(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime(2000, 1, 1, tzinfo=UTC)

    monkeypatch.setattr("ingest.sources.web_json.datetime", SetBack)
    notion.pages[5] = Page("Manuel", [paragraph("Texte.")])
    open_notion(id_of(5)).listing()
    site.requests.clear()

    open_notion(id_of(5)).listing()

    assert [path for path, _ in site.requests if "children" in path] == []


def test_an_edit_of_which_notion_tells_no_time_is_found_within_a_few_listings(
    notion, open_notion, monkeypatch
):
    monkeypatch.setattr("ingest.sources.notion._ROUNDS", 3)
    notion.pages[ROOT] = Page("Manuel", [paragraph("Avant.")])
    writer = FakeIndexWriter()
    sync(open_notion(), writer, FakeEmbedder())
    notion.pages[ROOT] = Page("Manuel", [paragraph("Par un robot.")])

    found = [sync(open_notion(), writer, FakeEmbedder()).updated for _ in range(3)]

    assert sorted(found) == [(), (), ("Manuel",)]


def test_pages_that_lead_in_a_circle_or_share_a_title_are_each_taken_once(notion, open_notion):
    notion.pages = {
        ROOT: Page("Manuel", [child(2), child(3), paragraph("Haut.")]),
        2: Page("Congés", [child(3), child(ROOT), paragraph("Un.")]),
        3: Page("Congés", [child(2), paragraph("Deux.")]),
    }

    assert paths(open_notion()) == [
        "Manuel",
        f"Manuel/Congés ({bare(2)})",
        f"Manuel/Congés ({bare(3)})",
    ]


def test_what_is_said_of_a_title_holds_for_every_page_that_has_it(notion, open_notion):
    notion.pages = {
        ROOT: Page("Manuel", [child(2), child(3), paragraph("Haut.")]),
        2: Page("Paie", [paragraph("Un.")]),
        3: Page("Paie", [paragraph("Deux.")]),
    }
    limited = RestrictedSource(open_notion(), {"Manuel/Paie": ["rh"]})
    listing = limited.listing()

    found = [sorted(limited.fetch(entry).audiences) for entry in listing.entries]

    assert (found, listing.problem) == ([["everyone"], ["rh"], ["rh"]], None)
    assert paths(open_notion(exclude=["Paie"])) == ["Manuel"]


def test_a_block_that_shows_itself_ends(notion, open_notion):
    mirror = Block("synced_block", content={"synced_from": {"block_id": id_of(77)}}, number=78)
    mirror.inside = [paragraph("…")]
    around = Block("synced_block", number=77)
    around.inside = [paragraph("Une fois."), mirror]

    assert text_of_root(notion, open_notion(), around).count("Une fois.") == 1


def test_a_block_that_shows_one_that_is_not_shared_leaves_the_rest(notion, open_notion):
    lost = Block("synced_block", content={"synced_from": {"block_id": id_of(404)}}, number=78)
    lost.inside = [paragraph("…")]

    assert text_of_root(notion, open_notion(), lost, paragraph("Reste.")) == "Guide\n\nReste."


def test_hard_titles_are_one_line_and_harmless(notion, open_notion):
    notion.pages[ROOT] = Page('A\n<script>"&', [paragraph("Texte.")])
    source = open_notion()
    [entry] = source.listing().entries

    assert entry.path == 'A <script>"&'
    assert b"<h1>A &lt;script&gt;" in source.fetch(entry).content


def test_nobody_reads_the_pages_unless_their_audience_is_said(notion, open_notion):
    notion.pages[ROOT] = Page("Manuel", [paragraph("Texte.")])
    source = open_notion(audiences=frozenset())
    listing = source.listing()

    assert source.fetch(listing.entries[0]).audiences == frozenset()
    assert listing.complete
    assert "`audience` has to be set" in str(listing.problem)
    assert "`audience` has to be set" in source.probe()
    assert open_notion().probe() == "Manuel"


def test_patterns_choose_pages(notion, open_notion):
    notion.pages = {
        ROOT: Page("Manuel", [paragraph("Haut."), child(2), child(3)]),
        2: Page("RH", [paragraph("Un.")]),
        3: Page("IT", [paragraph("Deux.")]),
    }

    assert paths(open_notion(include=["Manuel/*"], exclude=["IT"])) == ["Manuel/RH"]


def test_a_server_that_is_busy_or_breaks_once_is_asked_again(notion, open_notion):
    notion.pages[ROOT] = Page("Manuel", [paragraph("Texte.")])
    notion.failures = [Answer(status=429, headers={"Retry-After": "0"}), Answer(status=529)]

    assert paths(open_notion()) == ["Manuel"]


@pytest.mark.parametrize(
    "failure",
    [
        Answer(status=500),
        Answer(b"<html>", 200),
        Answer(b"{}", 200),
        Answer(json.dumps({"results": [], "has_more": True}).encode()),
    ],
)
def test_what_cannot_be_read_now_is_reported_keeps_its_version_and_deletes_nothing(
    notion, open_notion, failure
):
    notion.pages = {
        ROOT: Page("Manuel", [child(2), child(3), child(4)]),
        **{n: Page(f"Page {n}", [paragraph(f"La page {n}.")]) for n in (2, 3, 4)},
    }
    writer = FakeIndexWriter()
    sync(open_notion(), writer, FakeEmbedder())
    notion.broken[f"blocks/{bare(2)}/children"] = failure
    for n in (2, 3):
        notion.pages[n] = Page(f"Page {n}", [paragraph("Nouveau.")], "2024-06-01T10:00:00.000Z")
    notion.pages[ROOT].blocks = [child(2), child(3)]

    report = sync(open_notion(), writer, FakeEmbedder())

    assert [(page.path, page.kept_previous) for page in report.skipped] == [("Manuel/Page 2", True)]
    assert (report.complete, report.updated, report.removed) == (False, ("Manuel/Page 3",), ())
    assert writer.pages["n", "Manuel/Page 2"][1][0].text == "La page 2."
    notion.broken.clear()
    again = sync(open_notion(), writer, FakeEmbedder())
    assert (again.complete, again.updated, again.removed) == (
        True,
        ("Manuel/Page 2",),
        ("Manuel/Page 4",),
    )


def test_pages_too_large_or_not_for_the_interface_leave_the_listing_complete(notion, open_notion):
    notion.pages = {
        ROOT: Page("Manuel", [child(2), child(3), child(4), child(9, "child_database")]),
        2: Page("Grande", [paragraph("x" * 40_000)]),
        3: Page("Étrange", [paragraph("Texte.")]),
        4: Page("Bonne", [paragraph("Texte.")]),
    }
    notion.broken[f"blocks/{bare(3)}/children"] = Answer(
        b'{"object": "error", "status": 400, "code": "validation_error"}', 400
    )
    listing = open_notion(max_page_bytes=20_000).listing()

    assert [entry.path for entry in listing.entries] == ["Manuel/Bonne"]
    assert {page.path: page.reason.rpartition(": ")[2] for page in listing.skipped} == {
        "Manuel/Grande": "larger than 20000 bytes (MAX_PAGE_BYTES)",
        "Manuel/Étrange": listing.skipped[2].reason,
        "Manuel/Ailleurs": "a view of a database that is not shared with the integration",
    }
    assert listing.skipped[2].reason.endswith("answers 400 (validation_error)")
    assert listing.complete


def test_a_server_that_shows_no_page_any_more_is_down(notion, open_notion):
    notion.pages = {
        ROOT: Page("Manuel", [child(n) for n in range(2, 10)]),
        **{n: Page(f"Page {n}", [paragraph("Texte.")]) for n in range(2, 10)},
    }
    notion.broken = {f"pages/{bare(n)}": Answer(status=401) for n in range(2, 10)}

    with pytest.raises(SourceUnavailableError, match="answers 401: look at token_env"):
        open_notion().listing()


def test_a_refused_token_and_a_root_that_is_not_shared_say_what_to_look_at(notion, open_notion):
    notion.pages[ROOT] = Page("Manuel", [paragraph("Texte.")])
    with pytest.raises(SourceUnavailableError, match=r"401 \(unauthorized\): look at token_env"):
        open_notion(token=SecretStr("ntn_other")).probe()
    with pytest.raises(SourceUnavailableError, match=r"shows no page or database .*connections"):
        open_notion(id_of(404)).listing()


def test_a_private_address_is_refused_unless_it_is_configured(notion, open_notion):
    notion.pages[ROOT] = Page("Manuel", [paragraph("Texte.")])

    with pytest.raises(SourceUnavailableError, match="private address"):
        open_notion(access=SiteAccess(requests_per_second=10_000.0)).listing()


@pytest.mark.parametrize(
    "address",
    [
        id_of(255),
        bare(255),
        f"https://www.notion.so/company/Handbook-{bare(255)}?pvs=4",
        f"https://www.notion.so/{bare(255)}?v={bare(3)}#{bare(4)}",
    ],
)
def test_an_id_is_found_in_what_people_copy(address):
    assert notion_id(address) == bare(255)


def test_a_link_without_an_id_is_a_mistake():
    with pytest.raises(ConfigurationError, match="no link of a Notion page"):
        notion_id("https://www.notion.so/company/Handbook")
