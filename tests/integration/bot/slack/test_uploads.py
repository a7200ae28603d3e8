"""Pages that admins send in a direct message, over the stand-in: indexed, listed, removed."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest

from bot.maintenance import Maintenance
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.upload_views import REMOVE
from bot.slack.wording import FRENCH
from bot.store import NewUpload, SentFile, UploadStore, migrate, open_engine
from ingest import LeaseHeldError, open_reader
from tests.slack_running import running, settings_in

ADMIN, MEMBER = "amina", "camille"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "depot"\ntype = "upload"\npath = "depot"\n', encoding="utf-8"
    )
    return tmp_path


def word(text: str) -> bytes:
    document = docx.Document()
    document.add_paragraph(text)
    return _saved(document)


def deck(text: str) -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Badge", text
    return _saved(presentation)


def sheet(*row: str) -> bytes:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].append(row)
    return _saved(workbook)


def _saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def pages_in(folder: Path) -> int:
    with open_reader(settings_in(folder)) as reader:
        return reader.status().pages


async def told(sandbox: Sandbox, sent: Message, words: str) -> str:
    """Wait until our message below one of theirs holds these words, and return all of it."""
    return (await sandbox.wait_for_reply(sent, words, timeout_s=60)).text


async def test_an_admin_sends_pages_and_they_are_indexed_replaced_listed_and_removed(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        sent = sandbox.share(
            ADMIN,
            {
                "Congés.docx": word("Vingt-cinq jours de congés."),
                "badge.pptx": deck("À demander à l'accueil"),
                "sites.xlsx": sheet("Paris", "12 rue des Lilas"),
                "faux.pdf": b"<html>Connexion</html>",
            },
        )
        said = await told(sandbox, sent, "3 pages indexées")
        assert said == (
            "3 pages indexées : Congés.docx, badge.pptx, sites.xlsx\n"
            "Non retenu :\n• faux.pdf : it is not a PDF"
        )
        assert len(sandbox.replies(sent)) == 1
        assert pages_in(folder) == 3

        again = sandbox.share(ADMIN, {"Congés.docx": word("Vingt-sept jours.")})
        assert await told(sandbox, again, "1 page") == "1 page indexée : Congés.docx"
        assert pages_in(folder) == 3

        sandbox.slash(ADMIN, "general", "/handbook", "uploads")
        listed = await sandbox.wait_for_ephemeral(ADMIN)
        assert listed.text.splitlines()[0] == "Pages envoyées : 3"
        assert [line.split(" · ")[0] for line in listed.text.splitlines()[1:]] == [
            "Congés.docx", "badge.pptx", "sites.xlsx"
        ]  # fmt: skip
        value = listed.blocks[1]["accessory"]["value"]
        sandbox.click(ADMIN, listed, REMOVE, value=value)
        removed = await sandbox.wait_for_ephemeral(ADMIN, count=2)
        assert removed.text == "Page retirée : Congés.docx"
        assert pages_in(folder) == 2
        sandbox.click(ADMIN, listed, REMOVE, value=value)
        gone = await sandbox.wait_for_ephemeral(ADMIN, count=3)
        assert gone.text == FRENCH.upload_gone.format(name="Congés.docx")


async def test_others_are_refused_politely_and_nothing_is_fetched_or_kept(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        sent = sandbox.share(MEMBER, {"page.md": b"# Titre"})
        await told(sandbox, sent, FRENCH.upload_admins_only)
        sandbox.slash(MEMBER, "general", "/handbook", "uploads")
        listed = await sandbox.wait_for_ephemeral(MEMBER)

    assert listed.text == FRENCH.admins_only
    assert sandbox.calls("files.info") == []
    assert not (folder / "depot").exists()


async def test_a_question_with_a_file_is_answered_too_and_pictures_are_no_pages(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        page, question = {"page.md": b"# Titre\n\nTexte."}, "Puis-je faire du télétravail ?"
        both = sandbox.share(ADMIN, page, question)
        picture = sandbox.share(ADMIN, {"photo.png": b"\x89PNG"}, "Et cette photo de télétravail")
        await told(sandbox, both, "1 page indexée : page.md")
        await told(sandbox, both, "Deux jours")
        await told(sandbox, picture, "Deux jours")

    assert len(sandbox.calls("files.info")) == 1


async def test_without_a_source_for_uploads_an_admin_is_told_what_to_add(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "handbook.toml").write_text('[[sources]]\nname = "a"\npath = "."\n')
    async with running(sandbox, tmp_path):
        sent = sandbox.share(ADMIN, {"page.md": b"# Titre"})
        await told(sandbox, sent, FRENCH.upload_nowhere)


async def test_without_the_scope_the_reason_is_told(sandbox: Sandbox, folder: Path) -> None:
    workspace = sandbox.workspace()
    workspace.granted = frozenset(workspace.granted) - {"files:read"}
    async with running(sandbox, folder):
        sent = sandbox.share(ADMIN, {"page.md": b"# Titre"})
        said = await told(sandbox, sent, "Non retenu")
    assert "page.md : Slack does not hand it over (missing_scope)" in said


async def test_a_sync_that_is_running_is_waited_for(sandbox: Sandbox, folder: Path) -> None:
    class Busy(Maintenance):
        refusals = 1

        def sync(self, *arguments: object, **options: object):  # type: ignore[no-untyped-def]
            if self.refusals:
                self.refusals -= 1
                raise LeaseHeldError("busy")
            return super().sync(*arguments, **options)  # type: ignore[arg-type]

    maintenance = Busy(settings_in(folder))
    async with running(sandbox, folder, maintenance=maintenance):
        sent = sandbox.share(ADMIN, {"page.md": b"# T\n\nTexte."})
        await told(sandbox, sent, "1 page")
    assert len(sandbox.calls("files.info")) == 1


async def test_an_unexpected_failure_is_tried_again_and_ends_no_other_upload(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(Maintenance):
        failures = 1

        def uploads(self):  # type: ignore[no-untyped-def]
            if self.failures:
                self.failures -= 1
                raise RuntimeError("odd")
            return super().uploads()

    monkeypatch.setattr("bot.slack.uploads.RETRY_S", 0.01)
    async with running(sandbox, folder, maintenance=Odd(settings_in(folder))):
        sent = sandbox.share(ADMIN, {"page.md": b"# T\n\nTexte."})
        await told(sandbox, sent, "1 page indexée")


async def test_what_a_dead_process_left_is_indexed_by_the_next(
    sandbox: Sandbox, folder: Path
) -> None:
    sent = sandbox.share(ADMIN, {"page.md": b"# Titre\n\nTexte."})  # before we listen
    engine = open_engine(f"sqlite:///{folder / 'manuel.db'}")
    migrate(engine)
    dead = UploadStore(engine, lease_s=0.2)
    file = sent.files[0]
    dead.accept(
        NewUpload(
            sandbox.workspace().team_id,
            sent.channel_id,
            sent.ts,
            sent.ts,
            sent.user_id,
            (SentFile(file["id"], file["name"]),),
        )
    )
    assert dead.claim() is not None
    engine.dispose()

    async with running(sandbox, folder):
        assert await told(sandbox, sent, "1 page") == "1 page indexée : page.md"
    assert pages_in(folder) == 1
