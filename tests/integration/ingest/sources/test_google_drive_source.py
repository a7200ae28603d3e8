"""Google Drive as a source of pages, against a server with the shapes of its interface."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import openpyxl
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import SecretStr

from ingest.errors import ConfigurationError, PageParseError, SourceUnavailableError
from ingest.parsing import parse
from ingest.pipeline import sync
from ingest.sources.drive import DriveLogin, GoogleDriveSource, folder_id
from ingest.sources.drive_login import open_service_account
from ingest.sources.drive_permissions import Sharing
from ingest.sources.restricted import RestrictedSource
from ingest.sources.web_visitor import SiteAccess
from tests.drive_site import (
    ANYONE,
    COMPANY,
    DOCUMENT,
    FOLDER,
    GOOGLE,
    ROOT,
    SHEET,
    SHORTCUT,
    File,
    GoogleDrive,
    error,
    group,
    person,
)
from tests.fakes import FakeEmbedder, FakeIndexWriter
from tests.web_site import Answer, Site, serving

ACCESS = SiteAccess(requests_per_second=10_000.0, first_retry_s=0.01, private_network=True)
SHARING = Sharing(
    {"company.example"}, {"rh@company.example": "rh", "direction@company.example": "direction"}
)


@pytest.fixture(scope="module")
def private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=2_048)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


@pytest.fixture
def drive(site: Site, private_key: rsa.RSAPrivateKey) -> GoogleDrive:
    public = private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    drive = GoogleDrive({ROOT: File("Manuel", kind=FOLDER, parent="my-drive")}, public.decode())
    drive.on(site)
    return drive


@pytest.fixture
def key(site: Site, private_key: rsa.RSAPrivateKey) -> str:
    pem = private_key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return json.dumps(
        {
            "type": "service_account",
            "client_email": "manuel@company.iam.gserviceaccount.com",
            "private_key_id": "k1",
            "private_key": pem.decode(),
            "token_uri": f"{site.url}/token",
        }
    )


@pytest.fixture
def open_drive(site: Site, drive: GoogleDrive, key: str, tmp_path: Path):
    sources: list[GoogleDriveSource] = []

    def open_(*folders: str, **options: object) -> GoogleDriveSource:
        settings: dict[str, object] = {
            "login": DriveLogin(account=open_service_account(SecretStr(key))),
            "cache": tmp_path / "google-drive",
            "access": ACCESS,
            "sharing": SHARING,
            **options,
        }
        source = GoogleDriveSource("g", folders or [ROOT], api=site.url, **settings)  # type: ignore[arg-type]
        sources.append(source)
        return source

    yield open_
    for source in sources:
        source.close()


def sheet(*rows: tuple[str, ...]) -> bytes:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def document(name: str, text: str = "Texte.", **fields: object) -> File:
    return File(name, text.encode(), DOCUMENT, **fields)  # type: ignore[arg-type]


def paths(source: GoogleDriveSource) -> list[str]:
    return [entry.path for entry in source.listing().entries]


def asked(site: Site, what: str) -> int:
    return sum(what in path for path, _ in site.requests)


def test_documents_sheets_and_files_of_all_folders_come_with_text_date_and_link(drive, open_drive):
    exported = (
        "# **Congés** {#congés}\n\nCinq semaines par an.\n\n![][image1]\n\n"
        "[image1]: <data:image/png;base64,AAAA>\n"
    )
    drive.files |= {
        "folder-rh-1": File("RH/Paie", kind=FOLDER),
        "doc-conges-1": document("Congés 2.0", exported, parent="folder-rh-1"),
        "doc-plain-1": document("Note *1*", "Sans titre.", parent="folder-rh-1"),
        "sheet-frais": File("Frais", sheet(("Repas", "Plafond"), ("Midi", "19")), SHEET),
        "markdown-1": File("badge.md", b"# Badge\n\nLe badge ouvre.\n"),
        "html-typed": File("page", b"<h1>Page</h1><p>Du HTML.</p>", "text/html"),
        "photo-1": File("photo.jpg", b"x", "image/jpeg"),
        "form-1": File("Formulaire", kind=f"{GOOGLE}form"),
        "empty-1": File("vide.md"),
        "trashed-1": document("Corbeille", trashed=True),
    }
    writer = FakeIndexWriter()

    report = sync(open_drive(), writer, FakeEmbedder())

    assert report.complete
    assert report.added == (
        "Frais",
        "RH∕Paie/Congés 2.0",
        "RH∕Paie/Note *1*",
        "badge.md",
        "page",
    )
    assert [(page.path, page.reason) for page in report.skipped] == [
        ("vide.md", "the file is empty")
    ]
    page, chunks, _ = writer.pages["g", "RH∕Paie/Congés 2.0"]
    assert (page.title, page.url) == (
        "Congés",
        "https://docs.google.com/document/d/doc-conges-1/edit",
    )
    assert page.modified_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert (chunks[0].text, page.audiences) == ("Cinq semaines par an.", {"everyone"})
    assert writer.pages["g", "RH∕Paie/Note *1*"][0].title == "Note *1*"
    assert "| Midi | 19 |" in writer.pages["g", "Frais"][0].text


def test_pictures_of_an_exported_document_are_left_out(drive, open_drive):
    drive.files["doc-1-long"] = document(
        "A", "Texte.\n\n![][image1]\n\n[image1]: <data:image/png;base64,AAAA>\n"
    )
    source = open_drive()
    [entry] = source.listing().entries

    assert b"base64" not in source.fetch(entry).content
    assert parse(source.fetch(entry)).text == "A\n\nTexte."


def test_only_what_changed_is_asked_for_again(site, drive, open_drive):
    for n in range(7):
        drive.files[f"document-{n}"] = document(f"Page {n}", f"La page {n}.")
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    site.requests.clear()
    same = sync(open_drive(), writer, FakeEmbedder())
    assert (same.unchanged, asked(site, "/files?"), asked(site, "/export")) == (7, 0, 0)
    drive.files["document-2"] = document("Page 2", "Autre.", modified="2024-06-01T10:00:00.000Z")
    drive.files["document-3"].trashed = True
    drive.touch()

    report = sync(open_drive(), writer, FakeEmbedder())

    assert (report.updated, report.removed, report.unchanged) == (("Page 2",), ("Page 3",), 5)
    assert asked(site, "/export") == 1


def test_changes_that_were_listed_but_not_indexed_are_not_lost(drive, open_drive):
    drive.files["document-1"] = document("Page", "Avant.")
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    drive.files["document-1"] = document("Page", "Après.", modified="2024-06-01T10:00:00.000Z")
    drive.touch()

    would = sync(open_drive(), writer, FakeEmbedder(), dry_run=True)
    did = sync(open_drive(), writer, FakeEmbedder())

    assert would.updated == did.updated == ("Page",)


def test_a_token_of_changes_that_is_too_old_or_was_used_often_means_looking_again(
    site, drive, open_drive, monkeypatch
):
    drive.files["document-1"] = document("Page")
    open_drive().listing()
    drive.oldest_token = 1
    drive.files["document-2"] = document("Neuve")
    assert paths(open_drive()) == ["Neuve", "Page"]
    drive.oldest_token = 0
    monkeypatch.setattr("ingest.sources.drive._MOST_USES", 2)
    site.requests.clear()
    for _ in range(3):
        open_drive().listing()

    assert asked(site, "/files?") == 1


def test_permissions_say_who_may_read_and_what_is_not_known_is_for_nobody(drive, open_drive):
    cases: dict[str, tuple[list[dict[str, object]] | None, set[str]]] = {
        "anyone": ([ANYONE], {"everyone"}),
        "company": ([COMPANY, person("ada")], {"everyone"}),
        "partner": ([{**COMPANY, "domain": "partner.example"}], set()),
        "groups": ([group("RH"), group("direction")], {"rh", "direction"}),
        "other": ([group("it")], set()),
        "person": ([person("ada")], set()),
        "deleted": ([group("rh", deleted=True)], set()),
        "name-only": ([group("rh", view="metadata")], set()),
        "untold": (None, set()),
    }
    for name, (permissions, _) in cases.items():
        drive.files[f"document-{name}"] = document(name, permissions=permissions)
    source = open_drive()
    listing = source.listing()

    found = {entry.path: source.fetch(entry).audiences for entry in listing.entries}

    assert found == {name: audiences for name, (_, audiences) in cases.items()}
    assert "nobody can read 6 of 9 files" in str(listing.problem)
    aside = open_drive(sharing=None, audiences=frozenset({"rh"}))
    assert {aside.fetch(e).audiences for e in aside.listing().entries} == {frozenset({"rh"})}


def test_in_a_shared_drive_folders_say_who_may_read_unless_something_in_them_does(
    site, drive, open_drive
):
    inherited = {"permissionDetails": [{"inherited": True}]}
    shared = {"drive": "shared-drive-1"}
    drive.files = {
        ROOT: File("Drive", kind=FOLDER, parent="", permissions=[group("rh")], **shared),
        "document-1": document("Membres", permissions=None, **shared),
        "document-2": document("Plus", permissions=[group("rh"), ANYONE], augmented=True, **shared),
        "folder-closed": File(
            "Fermé",
            kind=FOLDER,
            permissions=[group("rh", **inherited), group("direction")],
            limited=True,
            **shared,
        ),
        "document-3": document("Dedans", parent="folder-closed", permissions=None, **shared),
        "document-4": document("Secret", permissions=None, limited=True, **shared),
    }
    source = open_drive()

    found = {entry.path: source.fetch(entry).audiences for entry in source.listing().entries}

    assert found == {
        "Membres": {"rh"},
        "Plus": {"everyone"},
        "Fermé/Dedans": {"direction"},
        "Secret": set(),
    }
    site.requests.clear()
    drive.files[ROOT].permissions = [COMPANY]  # of the drive: not told as a change of a file
    again = {entry.path: source.fetch(entry).audiences for entry in source.listing().entries}
    assert again["Membres"] == {"everyone"}


def test_a_new_permission_reaches_the_index_and_one_that_comes_while_reading_waits(
    drive, open_drive
):
    drive.files["document-1"] = document("Primes")
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    drive.files["document-1"].permissions = [group("rh")]
    drive.touch()
    sync(open_drive(), writer, FakeEmbedder())
    assert writer.pages["g", "Primes"][0].audiences == {"rh"}

    source = open_drive()
    [entry] = source.listing().entries
    drive.files["document-1"].permissions = [group("direction")]
    with pytest.raises(PageParseError, match="changed meanwhile"):
        source.fetch(entry)


def test_shortcuts_lead_to_files_and_folders_once_and_never_in_a_circle(site, drive, open_drive):
    away = "elsewhere-folder"
    drive.files |= {
        "document-1": document("Ici"),
        "shortcut-1": File("Vers ici", kind=SHORTCUT, target="document-1"),
        "shortcut-2": File("Vers le haut", kind=SHORTCUT, target=ROOT),
        "shortcut-3": File("Ailleurs", kind=SHORTCUT, target="folder-away"),
        "shortcut-4": File("Seul", kind=SHORTCUT, target="document-3"),
        "shortcut-5": File("Perdu", kind=SHORTCUT, target="not-shared-1"),
        "folder-away": File("Loin", kind=FOLDER, parent=away),
        "document-2": document("Dedans", parent="folder-away"),
        "shortcut-6": File("Retour", kind=SHORTCUT, target="folder-away", parent="folder-away"),
        "document-3": document("Cible", parent=away, drive="shared-drive-9", permissions=[ANYONE]),
    }
    source = open_drive()
    listing = source.listing()

    assert [entry.path for entry in listing.entries] == ["Ailleurs/Dedans", "Ici", "Seul"]
    assert [(page.path, page.reason) for page in listing.skipped] == [
        ("Perdu", "a shortcut to what is not shared with us")
    ]
    assert listing.complete
    assert asked(site, "files/document-1?") == 0
    assert source.fetch(listing.entries[2]).audiences == {"everyone"}


def test_what_a_shortcut_leads_to_in_another_drive_is_looked_at_each_time(drive, open_drive):
    away = {"parent": "elsewhere-folder", "drive": "shared-drive-9", "permissions": [ANYONE]}
    drive.files |= {
        "shortcut-1": File("Seul", kind=SHORTCUT, target="document-1"),
        "document-1": document("Cible", **away),
    }
    [before] = open_drive().listing().entries
    drive.files["document-1"] = document("Cible", modified="2024-06-01T10:00:00.000Z", **away)

    [after] = open_drive().listing().entries

    assert after.version != before.version


def test_files_of_one_name_and_of_several_folders_are_told_apart(drive, open_drive):
    drive.files |= {
        "document-1": document("A\n<b>"),
        "document-2": document("A <b>"),
        "second-folder": File("IT", kind=FOLDER, parent="my-drive"),
        "document-3": document("B", parent="second-folder"),
    }

    assert paths(open_drive()) == ["A <b> (document-1)", "A <b> (document-2)"]
    assert paths(open_drive(exclude=["A <b>"])) == []
    limited = RestrictedSource(open_drive(), {"A <b>": ["rh"]})
    assert [limited.fetch(entry).audiences for entry in limited.listing().entries] == [{"rh"}] * 2
    assert paths(open_drive(ROOT, "second-folder", exclude=["Manuel/"])) == ["IT/B"]


def test_a_server_that_is_busy_is_asked_again_also_when_it_says_so_by_403(drive, open_drive):
    drive.files["document-1"] = document("Page")
    drive.failures = [error(403, "userRateLimitExceeded"), Answer(status=503)]
    assert paths(open_drive()) == ["Page"]
    drive.failures = [error(429, "rateLimitExceeded")]
    assert paths(open_drive()) == ["Page"]


@pytest.mark.parametrize(
    "failure",
    [
        Answer(status=500),
        Answer(b"<html>", headers={"Content-Type": "text/html"}),
        Answer(b"{}"),
        Answer(b'{"files": [{"id": "x"}]}'),
    ],
)
def test_a_listing_that_breaks_off_deletes_nothing(drive, open_drive, failure):
    for n in range(5):
        drive.files[f"document-{n}"] = document(f"Page {n}")
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    drive.touch()
    drive.broken["files"] = failure

    report = sync(open_drive(), writer, FakeEmbedder())

    assert (report.complete, report.removed, len(writer.pages)) == (False, (), 5)


def test_a_search_that_is_incomplete_or_goes_in_a_circle_is_an_outage(drive, open_drive):
    drive.files["document-1"] = document("Page")
    drive.incomplete = True
    with pytest.raises(SourceUnavailableError, match="search is incomplete"):
        open_drive().listing()
    drive.broken["files"] = Answer(b'{"files": [], "nextPageToken": "again"}')
    with pytest.raises(SourceUnavailableError, match="continues where it was already"):
        open_drive().listing()


def test_one_file_that_fails_is_reported_and_the_rest_is_in_sync(drive, open_drive):
    shared = {"drive": "shared-drive-1", "permissions": [COMPANY]}
    drive.files = {ROOT: File("Drive", kind=FOLDER, parent="", **shared)}
    for n in range(5):
        drive.files[f"document-{n}"] = document(f"Page {n}", f"La page {n}.", **shared)
    drive.files["folder-1-open"] = File("RH", kind=FOLDER, **shared)
    drive.files["document-9"] = document("Dedans", parent="folder-1-open", **shared)
    writer = FakeIndexWriter()
    sync(open_drive(), writer, FakeEmbedder())
    drive.touch()
    for n in range(5):
        drive.files[f"document-{n}"].modified = "2024-06-01T10:00:00.000Z"
        drive.files[f"document-{n}"].content = b"Neuve."
    drive.broken = {
        "files/document-0/export": Answer(status=500),
        "files/document-1/export": error(403, "exportSizeLimitExceeded"),
        "files/document-2/permissions": Answer(status=500),
    }
    drive.files["document-2"].augmented = True

    report = sync(open_drive(), writer, FakeEmbedder())

    assert {page.path: page.reason.rpartition("answers ")[2] for page in report.skipped} == {
        "Page 0": "500",
        "Page 1": "403 (exportSizeLimitExceeded)",
        "Page 2": "500",
    }
    assert all(page.kept_previous for page in report.skipped)
    assert (report.complete, report.removed) == (True, ())
    assert report.updated == ("Page 3", "Page 4")

    drive.broken = {"files/folder-1-open/permissions": Answer(status=500)}
    drive.files["folder-1-open"].augmented = True
    drive.touch()
    report = sync(open_drive(), writer, FakeEmbedder())
    assert (report.complete, report.removed) == (False, ())
    assert ("g", "RH/Dedans") in writer.pages


def test_a_file_too_large_or_deleted_meanwhile_is_skipped(drive, open_drive):
    drive.files |= {
        "markdown-1": File("a.md", b"x" * 3_000),
        "document-2": document("B", "x" * 3_000),
        "document-3": document("C"),
    }
    source = open_drive(max_page_bytes=2_000)
    listing = source.listing()

    assert all(entry.audiences is not None for entry in listing.entries)
    entries = {entry.found_at: entry for entry in listing.entries}
    for large in ("a.md", "B"):
        with pytest.raises(PageParseError, match="larger than 2000 bytes"):
            source.fetch(entries[large])
    del drive.files["document-3"]
    with pytest.raises(PageParseError, match="deleted meanwhile"):
        source.fetch(entries["C"])


def test_a_token_that_expires_meanwhile_is_asked_for_again(drive, open_drive):
    drive.files["document-1"] = document("Page")
    source = open_drive()
    [entry] = source.listing().entries
    drive.valid.clear()

    assert b"Texte." in source.fetch(entry).content
    assert drive.tokens == ["ya29.0", "ya29.1"]


def test_delegation_and_access_tokens_let_in(drive, open_drive, key):
    drive.subject = "ada@company.example"
    account = open_service_account(SecretStr(key), "ada@company.example")
    assert open_drive(login=DriveLogin(account=account)).probe() == "Manuel"
    drive.valid.add("ya29.mine")
    assert open_drive(login=DriveLogin(token=SecretStr("ya29.mine"))).probe() == "Manuel"
    with pytest.raises(SourceUnavailableError, match=r"401 \(authError\): look at key_env"):
        open_drive(login=DriveLogin(token=SecretStr("ya29.old"))).probe()


def test_a_key_that_google_refuses_and_a_folder_that_is_not_shared_say_what_to_look_at(
    drive, open_drive
):
    with pytest.raises(SourceUnavailableError, match="is the folder not-shared-1 shared with"):
        open_drive("not-shared-1").listing()
    drive.files["document-1"] = document("Page")
    with pytest.raises(SourceUnavailableError, match="is no folder"):
        open_drive("document-1").probe()
    other = rsa.generate_private_key(public_exponent=65_537, key_size=2_048).public_key()
    drive.public_key = other.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()
    with pytest.raises(SourceUnavailableError, match=r"no token \(invalid_grant\): look at key"):
        open_drive().probe()


def test_a_key_comes_as_json_or_as_a_file_and_is_never_quoted(key, tmp_path):
    file = tmp_path / "key.json"
    file.write_text(key, encoding="utf-8")
    for given in (key, str(file)):
        account = open_service_account(SecretStr(given))
        assert account.address == "manuel@company.iam.gserviceaccount.com"
    damaged = key.replace("BEGIN PRIVATE", "BEGIN SOME")
    for given in (damaged, "{}", "[]", "{secret", str(tmp_path / "absent.json")):
        with pytest.raises(ConfigurationError, match="no key of a Google service account") as wrong:
            open_service_account(SecretStr(given))
        assert "secret" not in str(wrong.value)


def test_without_google_auth_the_extra_is_named(key, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.auth", None)

    with pytest.raises(ConfigurationError, match=r"pip install 'manuel\[google-drive\]'"):
        open_service_account(SecretStr(key))


def test_a_private_address_is_refused_unless_it_is_configured(open_drive):
    with pytest.raises(SourceUnavailableError, match="private address"):
        open_drive(access=SiteAccess(requests_per_second=10_000.0)).listing()


@pytest.mark.parametrize(
    "address",
    [
        "1AbCdEfGhIjKl_-x",
        "https://drive.google.com/drive/folders/1AbCdEfGhIjKl_-x?usp=sharing",
        "https://drive.google.com/drive/u/0/folders/1AbCdEfGhIjKl_-x",
        "https://drive.google.com/open?id=1AbCdEfGhIjKl_-x",
    ],
)
def test_an_id_is_found_in_what_people_copy(address):
    assert folder_id(address) == "1AbCdEfGhIjKl_-x"


def test_a_link_without_an_id_is_a_mistake():
    with pytest.raises(ConfigurationError, match="no link of a Google Drive folder"):
        folder_id("https://drive.google.com/drive/my-drive")
