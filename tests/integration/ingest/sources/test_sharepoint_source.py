"""SharePoint and OneDrive as sources of pages, against a server with the shapes of Graph."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import docx
import pytest
from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.pipeline import sync
from ingest.sources.graph import GraphSource
from ingest.sources.graph_client import DriveAddress, GraphLogin
from ingest.sources.web_visitor import SiteAccess
from tests.fakes import FakeEmbedder, FakeIndexWriter
from tests.graph_site import (
    CLIENT,
    DRIVE,
    EVERYBODY,
    ORGANIZATION,
    SECRET,
    TENANT,
    Graph,
    Item,
    group,
    person,
    site_group,
)
from tests.web_site import Answer, Site, serving

ACCESS = SiteAccess(requests_per_second=10_000.0, first_retry_s=0.01, private_network=True)
HANDBOOK = DriveAddress(site="https://company.sharepoint.com/sites/manuel")
GROUPS = {"RH": "rh", "direction@company.example": "direction", "Visiteurs": "everyone"}


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


@pytest.fixture
def graph(site: Site) -> Iterator[Graph]:
    with serving(Site()) as storage:
        graph = Graph(storage)
        graph.on(site)
        yield graph


@pytest.fixture
def open_drive(site: Site, graph: Graph, tmp_path: Path):
    sources: list[GraphSource] = []

    def open_(drive: DriveAddress = HANDBOOK, secret: str = SECRET, **options: object):
        settings: dict[str, object] = {
            "login": GraphLogin(TENANT, CLIENT, SecretStr(secret), site.url),
            "cache": tmp_path / "sharepoint",
            "access": ACCESS,
            "group_audiences": GROUPS,
            **options,
        }
        source = GraphSource("s", drive, api=site.url, **settings)  # type: ignore[arg-type]
        sources.append(source)
        return source

    yield open_
    for source in sources:
        source.close()


def word(text: str) -> bytes:
    document = docx.Document()
    document.add_heading("Congés", 1)
    document.add_paragraph(text)
    document.core_properties.modified = datetime(2024, 5, 1, 10)  # noqa: DTZ001 - as it takes them
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def page(text: str, **fields: object) -> Item:
    name = str(fields.pop("name", "page.md"))
    return Item(name, f"# Page\n\n{text}\n".encode(), **fields)  # type: ignore[arg-type]


def asked(site: Site, what: str) -> list[str]:
    return [path for path, _ in site.requests if what in path]


def test_files_of_all_folders_come_with_text_date_and_link_and_others_stay(graph, open_drive):
    graph.items = {
        "1": Item("RH"),
        "2": Item("Congés.docx", word("Le congé dure cinq semaines."), parent="1"),
        "3": page("Le badge.", name="badge.md", parent="1"),
        "4": Item("photo.jpg", b"x", parent="1"),
        "5": Item("~$Congés.docx", b"x", parent="1"),
        "6": Item("vide.md", b""),
        "7": Item("piège.md", b"x", facets={"malware": {}}),
        "8": Item("Carnet", facets={"package": {"type": "oneNote"}}),
    }
    writer = FakeIndexWriter()

    report = sync(open_drive(), writer, FakeEmbedder())

    assert report.complete
    assert report.added == ("RH/Congés.docx", "RH/badge.md")
    assert {page.path: page.reason for page in report.skipped} == {
        "vide.md": "the file is empty",
        "piège.md": "Microsoft found malware in it",
    }
    page_, chunks, _ = writer.pages["s", "RH/Congés.docx"]
    assert (page_.title, page_.url) == ("Congés", "https://company.sharepoint.com/sites/manuel/2")
    assert page_.modified_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert page_.audiences == {"everyone"}
    assert chunks[0].text == "Le congé dure cinq semaines."


def test_changes_deletions_and_moved_folders_are_followed_by_the_delta_link(
    site, graph, open_drive
):
    for n in range(8):
        graph.put(str(n), page(f"La page {n}.", name=f"p{n}.md"))
    graph.put("f", Item("Vieux"))
    graph.put("g", page("Dedans.", name="in.md", parent="f"))
    graph.put("h", Item("Fini"))
    graph.put("i", page("Perdue.", name="lost.md", parent="h"))
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    graph.put("3", page("Autre chose.", name="p3.md", version=2))
    graph.put("f", Item("Neuf"))
    graph.remove("4")
    del graph.items["i"]  # its folder alone is told to be deleted
    graph.remove("h")
    site.requests.clear()

    report = sync(open_drive(), writer, FakeEmbedder())

    assert (report.added, report.updated) == (("Neuf/in.md",), ("p3.md",))
    assert report.removed == ("Fini/lost.md", "Vieux/in.md", "p4.md")
    assert len(asked(site, "delta?since=12")) == len(asked(site, "delta")) == 2
    assert len(asked(site, "/content")) == 2
    site.requests.clear()
    assert sync(open_drive(), writer, FakeEmbedder()).unchanged == 8
    assert (len(asked(site, "/content")), len(asked(site, "$batch"))) == (0, 1)


def test_changes_that_were_followed_but_not_indexed_are_not_lost(graph, open_drive):
    graph.put("1", page("Un.", name="a.md"))
    graph.put("2", page("Deux.", name="b.md"))
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    graph.put("1", page("Autre.", name="a.md", version=2))
    graph.remove("2")

    would = sync(open_drive(), writer, FakeEmbedder(), dry_run=True)
    did = sync(open_drive(), writer, FakeEmbedder())

    assert (would.updated, would.removed) == (did.updated, did.removed) == (("a.md",), ("b.md",))


def test_a_link_that_is_too_old_or_a_lost_cache_begins_anew(graph, open_drive, tmp_path):
    graph.put("1", page("Un.", name="a.md"))
    graph.put("2", page("Deux.", name="b.md"))
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    graph.remove("1")
    graph.first_link = 3

    assert sync(open_drive(), writer, FakeEmbedder()).removed == ("a.md",)
    for file in (tmp_path / "sharepoint").iterdir():
        file.write_bytes(b"no database")
    again = sync(open_drive(), writer, FakeEmbedder())
    assert (again.unchanged, again.complete) == (1, True)


def test_permissions_say_who_may_read_and_what_is_not_known_is_for_nobody(site, graph, open_drive):
    cases: dict[str, tuple[list[dict[str, object]], set[str]]] = {
        "company": ([EVERYBODY], {"everyone"}),
        "link": ([ORGANIZATION], {"everyone"}),
        "anonymous": ([{"roles": ["read"], "link": {"scope": "anonymous"}}], {"everyone"}),
        "password": (
            [{"roles": ["read"], "hasPassword": True, "link": {"scope": "anonymous"}}],
            set(),
        ),
        "visitors": ([site_group("Visiteurs"), site_group("Propriétaires", "owner")], {"everyone"}),
        "groups": ([group("RH"), group("direction"), person("Ada")], {"rh", "direction"}),
        "some": (
            [
                {
                    "roles": ["read"],
                    "link": {"scope": "users"},
                    "grantedToIdentitiesV2": [{"group": {"displayName": "RH"}}],
                }
            ],
            {"rh"},
        ),
        "person": ([person("Ada")], set()),
        "other": ([group("IT"), site_group("Membres")], set()),
        "limited": ([site_group("RH", "sp.limited access")], set()),
        "empty": ([], set()),
    }
    for item_id, (permissions, _) in cases.items():
        graph.put(item_id, page("Texte.", name=f"{item_id}.md", permissions=permissions))
    graph.put("refused", page("Texte.", name="refused.md"))
    graph.batched["refused"] = 403
    graph.broken[f"/drives/{DRIVE}/items/refused/permissions"] = Answer(status=403)
    source = open_drive()
    entries = source.listing().entries
    assert not asked(site, "/permissions")

    found = {entry.path: source.fetch(entry).audiences for entry in entries}

    expected = {f"{item_id}.md": audiences for item_id, (_, audiences) in cases.items()}
    assert found == {**expected, "refused.md": set()}
    narrowed = open_drive(audiences=frozenset({"rh"}))
    found = {e.path: narrowed.fetch(e).audiences for e in narrowed.listing().entries}
    assert (found["company.md"], found["groups.md"]) == ({"rh"}, {"rh"})


def test_a_new_permission_reaches_the_index_without_a_change_of_the_file(graph, open_drive):
    graph.put("1", page("Primes.", permissions=[EVERYBODY]))
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    graph.items["1"].permissions = [group("RH")]  # nothing is told by delta

    sync(open_drive(), writer, FakeEmbedder())

    assert writer.pages["s", "page.md"][0].audiences == {"rh"}


def test_a_file_that_is_restricted_while_it_is_read_is_left_to_the_next_sync(graph, open_drive):
    graph.put("1", page("Primes."))
    source = open_drive()
    [entry] = source.listing().entries
    graph.items["1"].permissions = [group("RH")]

    with pytest.raises(PageParseError, match="changed meanwhile"):
        source.fetch(entry)


def test_permissions_that_mean_nothing_here_are_pointed_out_and_can_be_left_aside(
    site, graph, open_drive
):
    graph.put("1", page("Texte.", permissions=[person("Ada")]))

    assert "nobody can read 1 of 1 files" in str(open_drive().listing().problem)
    site.requests.clear()
    source = open_drive(item_permissions=False, audiences=frozenset({"rh"}))
    [entry] = source.listing().entries
    assert source.fetch(entry).audiences == {"rh"}
    assert not asked(site, "$batch") + asked(site, "/permissions")


def test_a_folder_a_library_a_person_and_patterns_choose_files(graph, open_drive):
    graph.items = {
        "1": Item("RH"),
        "2": Item("Manuel", parent="1"),
        "3": page("Un.", name="a.md", parent="2"),
        "4": page("Deux.", name="b.html", parent="2"),
        "5": page("Trois.", name="c.md"),
    }

    def listed(drive: DriveAddress, **options: object) -> list[str]:
        return [entry.path for entry in open_drive(drive, **options).listing().entries]

    site = HANDBOOK.site
    assert listed(DriveAddress(site, folder="/RH/Manuel/")) == ["a.md", "b.html"]
    assert listed(DriveAddress(site, library="Documents"), include=["**/*.md"]) == [
        "RH/Manuel/a.md",
        "c.md",
    ]
    assert listed(DriveAddress(user="ada@company.example"), exclude=["RH/"]) == ["c.md"]
    with pytest.raises(SourceUnavailableError, match="no folder 'Absent' in Documents"):
        listed(DriveAddress(site, folder="Absent"))
    with pytest.raises(SourceUnavailableError, match="has no library 'Autre'"):
        listed(DriveAddress(site, library="Autre"))
    with pytest.raises(SourceUnavailableError, match=r"404.*look at site"):
        listed(DriveAddress("https://company.sharepoint.com/sites/absent"))


def test_a_token_that_expires_meanwhile_is_asked_for_again(graph, open_drive):
    graph.put("1", page("Texte."))
    source = open_drive()
    [entry] = source.listing().entries
    graph.valid.clear()

    assert b"Texte." in source.fetch(entry).content
    assert graph.tokens == ["token-0", "token-1"]


def test_a_refused_secret_and_missing_rights_say_what_to_look_at(graph, open_drive, caplog):
    with pytest.raises(
        SourceUnavailableError, match=r"\(invalid_client AADSTS7000215\): look at tenant, client_id"
    ) as refused:
        open_drive(secret="wr0ng").probe()
    assert "wr0ng" not in str(refused.value) + caplog.text
    assert open_drive().probe() == "Documents answers"
    graph.broken[f"/drives/{DRIVE}/root/permissions"] = Answer(status=403)
    with pytest.raises(SourceUnavailableError, match=r"403: look at .*Sites\.Read\.All"):
        open_drive().probe()


def test_a_server_that_is_busy_or_breaks_once_is_asked_again(graph, open_drive):
    graph.put("1", page("Texte."))
    graph.failures = [Answer(status=429, headers={"Retry-After": "0"}), Answer(status=503)]

    assert len(open_drive().listing().entries) == 1


@pytest.mark.parametrize(
    "failure",
    [
        Answer(status=500),
        Answer(b"<html>login</html>", headers={"Content-Type": "text/html"}),
        Answer(b"{}"),
        Answer(json.dumps({"value": []}).encode()),
        Answer(json.dumps({"value": [{"id": "9"}], "@odata.deltaLink": "x"}).encode()),
    ],
)
def test_changes_that_break_off_delete_nothing(graph, open_drive, failure):
    for n in range(5):
        graph.put(str(n), page(f"La page {n}.", name=f"p{n}.md"))
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    graph.remove("1")
    graph.broken[f"/drives/{DRIVE}/root/delta"] = failure

    report = sync(open_drive(), writer, FakeEmbedder())

    assert (report.complete, report.removed, len(writer.pages)) == (False, (), 5)
    graph.broken.clear()
    assert sync(open_drive(), writer, FakeEmbedder()).removed == ("p1.md",)


def test_a_link_that_leads_to_itself_is_an_outage(site, graph, open_drive):
    address = f"{site.url}/v1.0/drives/{DRIVE}/root/delta"
    around = {"value": [], "@odata.nextLink": address}
    graph.broken[f"/drives/{DRIVE}/root/delta"] = Answer(json.dumps(around).encode())

    with pytest.raises(SourceUnavailableError, match="continues where it was already"):
        open_drive().listing()


def test_files_in_a_circle_of_folders_make_the_listing_incomplete(graph, open_drive):
    graph.items = {
        "1": Item("A", parent="2"),
        "2": Item("B", parent="1"),
        "3": page("Texte.", parent="2"),
        "4": page("Texte.", name="b.md"),
    }
    listing = open_drive().listing()

    assert [entry.path for entry in listing.entries] == ["b.md"]
    assert not listing.complete
    assert listing.problem == "3 files are in folders that are not told of"


def test_one_file_that_fails_is_reported_and_the_rest_is_in_sync(graph, open_drive):
    for n in range(6):
        graph.put(str(n), page(f"La page {n}.", name=f"p{n}.md"))
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    for n in range(6):
        graph.put(str(n), page(f"Neuve {n}.", name=f"p{n}.md", version=2))
    graph.broken[f"/drives/{DRIVE}/items/2/content"] = Answer(status=500)
    graph.batched["4"] = 429
    graph.broken[f"/drives/{DRIVE}/items/4/permissions"] = Answer(status=503)
    graph.batched["5"] = 429  # told when asked for alone

    report = sync(open_drive(), writer, FakeEmbedder())

    assert [(page.path, page.kept_previous) for page in report.skipped] == [
        ("p4.md", True),
        ("p2.md", True),
    ]
    assert "permissions answers 503" in report.skipped[0].reason
    assert report.updated == ("p0.md", "p1.md", "p3.md", "p5.md")
    assert (report.complete, report.removed) == (True, ())


def test_a_download_shows_no_key_and_goes_to_the_host_of_the_drive_alone(graph, open_drive):
    graph.put("1", page("Texte.", name="a.md"))
    graph.put("2", Item("b.docx", b"x"))
    source = open_drive()
    first, second = source.listing().entries
    graph.broken["storage"] = Answer(b"<html>", headers={"Content-Type": "text/html"})
    with pytest.raises(PageParseError, match="a web page in place of the file") as failed:
        source.fetch(second)
    assert "k3y" not in str(failed.value)

    elsewhere = {"Location": "http://127.0.0.2:9/x?tempauth=k3y"}
    graph.broken[f"/drives/{DRIVE}/items/1/content"] = Answer(status=302, headers=elsewhere)
    with pytest.raises(PageParseError, match=r"127.0.0.2:9 is not one of the configured hosts"):
        source.fetch(first)


def test_a_file_too_large_or_deleted_meanwhile_is_skipped(graph, open_drive):
    graph.put("1", page("x" * 3_000, name="a.md"))
    graph.put("2", page("Texte.", name="b.md"))
    graph.put("3", page("Texte.", name="c.md"))
    source = open_drive(max_page_bytes=2_000)
    listing = source.listing()
    first, second, third = listing.entries

    assert all(entry.audiences is not None for entry in listing.entries)
    with pytest.raises(PageParseError, match="larger than 2000 bytes"):
        source.fetch(first)
    graph.items["2"].content = b"x" * 3_000  # grew since
    with pytest.raises(PageParseError, match="larger than 2000 bytes"):
        source.fetch(second)
    graph.remove("3")
    with pytest.raises(PageParseError, match="deleted meanwhile"):
        source.fetch(third)


def test_hard_names_are_one_line(graph, open_drive):
    graph.put("1", page("Texte.", name='A\n<script>"&.md'))

    assert [entry.path for entry in open_drive().listing().entries] == ['A <script>"&.md']


def test_a_private_address_is_refused_unless_it_is_configured(open_drive):
    with pytest.raises(SourceUnavailableError, match="private address"):
        open_drive(access=SiteAccess(requests_per_second=10_000.0)).listing()
