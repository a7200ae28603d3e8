"""A watched folder: files are read once they are whole, and uploads replace one another."""

from __future__ import annotations

import asyncio
import io
import os
import time
import zipfile
from pathlib import Path

import docx
import pytest

from ingest.errors import IndexNotBuiltError, LeaseHeldError, PageParseError
from ingest.index.factory import open_reader, open_writer
from ingest.schedule import IngestScheduler
from ingest.settings import IngestSettings
from ingest.sources.upload import BEING_WRITTEN, UploadSource
from ingest.uploads import UploadFolder, open_uploads
from ingest.watching import FolderWatch

LONG_AGO = 1_700_000_000
PATIENCE_S = 60


def write(path: Path, text: str = "# Titre\n\nTexte.\n", *, at: float = LONG_AGO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (at, at))
    return path


def settings_in(folder: Path, **keys: object) -> IngestSettings:
    lines = [f"{key} = {str(value).lower()}" for key, value in keys.items()]
    (folder / "handbook.toml").write_text(
        "\n".join(['[[sources]]\nname = "depot"\ntype = "upload"\npath = "depot"', *lines])
    )
    return IngestSettings(
        _env_file=None,
        database_url=f"sqlite:///{folder / 'manuel.db'}",
        handbook_config=folder / "handbook.toml",
        embedding_model="none",
        reindex_cron="",
    )


def word(text: str) -> bytes:
    document, buffer = docx.Document(), io.BytesIO()
    document.add_paragraph(text)
    document.save(buffer)
    return buffer.getvalue()


# --- half-written files --------------------------------------------------------------------------


def test_a_file_that_is_still_being_written_keeps_its_last_version(tmp_path: Path) -> None:
    write(tmp_path / "fini.md")
    write(tmp_path / "en-cours.md", at=LONG_AGO + 98)
    write(tmp_path / "demain.md", at=LONG_AGO + 86_400)
    write(tmp_path / "~$fini.docx")
    (tmp_path / "copie.docx.part").write_bytes(b"PK")
    clock = [LONG_AGO + 100.0]
    source = UploadSource("depot", tmp_path, settle_s=5, now=lambda: clock[0])

    listing = source.listing()

    assert [entry.path for entry in listing.entries] == ["demain.md", "fini.md"]
    assert [(p.path, p.reason) for p in listing.skipped] == [("en-cours.md", BEING_WRITTEN)]
    assert listing.complete
    clock[0] += 5
    assert [entry.path for entry in source.listing().entries] == [
        "demain.md", "en-cours.md", "fini.md"
    ]  # fmt: skip


def test_a_file_that_is_written_again_between_listing_and_reading_is_not_read(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "page.md")
    source = UploadSource("depot", tmp_path, settle_s=5, now=lambda: LONG_AGO + 100.0)
    (entry,) = source.listing().entries
    write(path, "# Tit", at=LONG_AGO + 99)
    with pytest.raises(PageParseError, match="still being written"):
        source.fetch(entry)


# --- putting files there -------------------------------------------------------------------------


def folder_at(path: Path, *, max_bytes: int = 1_000_000) -> UploadFolder:
    return UploadFolder("depot", path, settle_s=5, max_bytes=max_bytes)


def test_an_upload_is_readable_at_once_and_replaces_the_one_of_its_name(tmp_path: Path) -> None:
    uploads, source = folder_at(tmp_path / "depot"), UploadSource("depot", tmp_path / "depot")
    assert uploads.files() == []
    assert uploads.put("dossier/Congés.docx", word("Vingt-cinq jours.")) == "Congés.docx"
    assert uploads.put("congés.DOCX", word("Vingt-sept jours.")) == "congés.DOCX"

    (entry,) = source.listing().entries

    assert entry.path == "congés.DOCX"
    assert source.fetch(entry).content == (tmp_path / "depot" / "congés.DOCX").read_bytes()
    assert [upload.name for upload in uploads.files()] == ["congés.DOCX"]
    assert uploads.remove("congés.DOCX")
    assert not uploads.remove("congés.DOCX")
    assert list((tmp_path / "depot").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("page.exe", b"MZ", "not one of"),
        ("../../.ssh", b"x", "not one of"),
        (".md", b"x", "not one of"),
        ("page.docx", b"<html>Connexion</html>", "not a Word document"),
        ("page.xlsx", b"PK\x03\x04", "not a spreadsheet"),
        ("page.pptx", word("Texte."), "not a presentation"),
        ("page.pdf", b"%!PS", "not a PDF"),
        ("page.md", b"\x89PNG\r\n", "not text"),
        ("page.txt", b"a\0b", "not text"),
        ("page.html", b"bonjour", "not a web page"),
        ("page.md", b" \n", "empty"),
        ("page.docx", b"\xd0\xcf\x11\xe0" + bytes(600), "password"),
        ("page.md", b"x" * 2_000, "larger than"),
        (f"{'a' * 300}.md", b"x", "name"),
    ],
)
def test_what_is_no_page_is_not_kept(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    uploads = folder_at(tmp_path, max_bytes=60_000 if name.endswith("x") else 1_500)
    with pytest.raises(PageParseError, match=reason):
        uploads.put(name, content)
    assert list(tmp_path.iterdir()) == []


def test_a_name_stays_in_the_folder(tmp_path: Path) -> None:
    uploads = folder_at(tmp_path / "depot")
    assert uploads.put("..\\..\\page.md", b"# Titre\n\nTexte.") == "page.md"
    (tmp_path / "dehors.md").write_text("x")
    assert not uploads.remove("../dehors.md")
    assert (tmp_path / "dehors.md").exists()


def test_the_source_that_takes_files_from_slack_is_the_first_that_says_so(tmp_path: Path) -> None:
    uploads = open_uploads(settings_in(tmp_path))
    assert uploads is not None
    assert uploads.source == "depot"
    assert open_uploads(settings_in(tmp_path, slack=False)) is None


# --- watching ------------------------------------------------------------------------------------


async def test_a_change_is_synced_once_and_again_when_another_sync_was_running(
    tmp_path: Path,
) -> None:
    write(tmp_path / "depot" / "a.md")
    synced: list[str] = []
    busy = [True]

    async def sync(name: str) -> None:
        if busy[0]:
            raise LeaseHeldError("busy")
        synced.append(name)

    paused = [False]
    watch = FolderWatch(settings_in(tmp_path, watch_s=2), sync, paused=lambda: paused[0])
    assert await watch.look() == 2
    busy[0] = False
    await watch.look()
    await watch.look()
    assert synced == ["depot"]
    paused[0] = True
    write(tmp_path / "depot" / "b.md")
    await watch.look()
    paused[0] = False
    assert synced == ["depot"]
    await watch.look()
    (tmp_path / "depot" / "b.md").unlink()
    await watch.look()
    assert synced == ["depot"] * 3


async def test_a_folder_that_is_away_is_told_of_once_and_synced_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    synced: list[str] = []

    async def sync(name: str) -> None:
        synced.append(name)

    watch = FolderWatch(settings_in(tmp_path), sync)
    await watch.look()
    await watch.look()
    assert [record.message for record in caplog.records] == ["an upload folder is not synced"]
    write(tmp_path / "depot" / "a.md")
    await watch.look()
    assert synced == ["depot"]


async def test_new_changed_and_removed_files_reach_the_index_without_a_scheduled_sync(
    tmp_path: Path,
) -> None:
    for name in ("a", "b", "c", "d", "e"):
        write(tmp_path / "depot" / f"{name}.md", f"# Page {name}\n\nTexte {name}.\n")
    settings = settings_in(tmp_path, watch_s=0.05, settle_s=0)
    scheduler = IngestScheduler(settings)
    scheduler.start()
    try:
        await pages_become(settings, {"a", "b", "c", "d", "e"})
        (tmp_path / "depot" / "a.md").unlink()
        write(tmp_path / "depot" / "f.md", "# Page f\n\nTexte f.\n")
        await pages_become(settings, {"b", "c", "d", "e", "f"})
    finally:
        await scheduler.shutdown()


async def pages_become(settings: IngestSettings, names: set[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    found: set[str] = set()
    while time.monotonic() < deadline:
        found = await asyncio.to_thread(page_names, settings)
        if found == names:
            return
        await asyncio.sleep(0.05)
    pytest.fail(f"{found} is not {names}")


def page_names(settings: IngestSettings) -> set[str]:
    with open_reader(settings) as reader:
        try:
            reader.status()
        except IndexNotBuiltError:
            return set()
    with open_writer(settings) as writer:
        return {path.removesuffix(".md") for path in writer.page_states("depot")}


def test_zip_of_something_else_is_told_apart(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "x")
    with pytest.raises(PageParseError, match="not a Word document"):
        folder_at(tmp_path).put("page.docx", buffer.getvalue())
