"""`/handbook reindex` and `/handbook status` in the stand-in, on a real index."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.maintenance import Maintenance
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message, Role
from bot.slack.admin import commands
from bot.slack.wording import ENGLISH, FRENCH
from ingest import IngestReport, Progress, ProgressEvent, open_reader
from tests.slack_running import running, settings_in

PAGES = 12


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A handbook of a dozen pages, described in handbook.toml."""
    (tmp_path / "pages").mkdir()
    for number in range(PAGES):
        page = tmp_path / "pages" / f"page{number:02}.md"
        page.write_text(f"# Page {number}\n\nLe sujet numéro {number}.\n", encoding="utf-8")
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "guide"\npath = "pages"\n', encoding="utf-8"
    )
    return tmp_path


def pages_in(folder: Path) -> int:
    with open_reader(settings_in(folder)) as reader:
        return reader.status().pages


async def ordered(sandbox: Sandbox, text: str, who: str = "amina", count: int = 1) -> Message:
    sandbox.slash(who, "general", "/handbook", text)
    return await sandbox.wait_for_ephemeral(who, count=count)


async def test_an_owner_reindexes_and_gets_the_report_in_private(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        report = await ordered(sandbox, "reindex")

    assert report.text.startswith(f"guide : {PAGES} pages ajoutées, 0 modifiées, 0 retirées")
    assert pages_in(folder) == PAGES
    assert sandbox.messages("general") == []


@pytest.mark.parametrize("typed", ["reindex guide --dry-run", "reindex —dry-run guide"])
async def test_a_dry_run_says_what_would_change_and_changes_nothing(
    sandbox: Sandbox, folder: Path, typed: str
) -> None:
    async with running(sandbox, folder):
        await ordered(sandbox, "reindex guide")
        (folder / "pages" / "page00.md").write_text("# Page 0\n\nAutre chose.\n", encoding="utf-8")
        (folder / "pages" / "page01.md").unlink()
        report = await ordered(sandbox, typed, count=2)

    assert "essai sans rien changer" in report.text
    assert "1 modifiées, 1 retirées, 10 inchangées" in report.text
    assert pages_in(folder) == PAGES


@pytest.mark.parametrize("text", ["reindex", "reindex guide --dry-run", "status"])
async def test_others_are_refused(sandbox: Sandbox, folder: Path, text: str) -> None:
    async with running(sandbox, folder):
        refusal = await ordered(sandbox, text, who="james")

    assert refusal.text == ENGLISH.admins_only


async def test_whoever_is_named_in_admin_users_is_an_admin(sandbox: Sandbox, folder: Path) -> None:
    james = sandbox.workspace().user("james").user_id
    async with running(sandbox, folder, admins=frozenset({james})):
        report = await ordered(sandbox, "reindex", who="james")

    assert f"{PAGES} pages added" in report.text


async def test_whoever_is_in_an_admin_group_is_an_admin(sandbox: Sandbox, folder: Path) -> None:
    group = sandbox.add_group("guide-admins", ["james"])
    async with running(sandbox, folder, admin_groups=frozenset({group.group_id})):
        report = await ordered(sandbox, "reindex --dry-run", who="james")
        refusal = await ordered(sandbox, "reindex", who="camille")
        await ordered(sandbox, "status", who="james", count=2)

    assert f"{PAGES} pages would be added" in report.text
    assert refusal.text == FRENCH.admins_only
    assert len(sandbox.calls("usergroups.users.list")) == 1


async def test_a_group_that_slack_does_not_know_makes_nobody_an_admin(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder, admin_groups=frozenset({"S0NOBODY"})):
        refusal = await ordered(sandbox, "reindex", who="james")

    assert refusal.text == ENGLISH.admins_only


async def test_nobody_is_an_admin_while_slack_does_not_say_so(
    sandbox: Sandbox, folder: Path
) -> None:
    sandbox.fault("users.info", "server_error", times=None)
    async with running(sandbox, folder):
        refusal = await ordered(sandbox, "reindex")

    assert refusal.text == FRENCH.admins_only


@pytest.mark.parametrize("source", ["autre", "folder:/etc"])
async def test_only_configured_sources_can_be_named(
    sandbox: Sandbox, folder: Path, source: str
) -> None:
    async with running(sandbox, folder):
        refusal = await ordered(sandbox, f"reindex {source}")

    assert refusal.text == FRENCH.unknown_source.format(names="guide")


async def test_a_wrong_configuration_is_a_failure_and_not_silence(
    sandbox: Sandbox, folder: Path
) -> None:
    (folder / "handbook.toml").write_text("[[sources]\n", encoding="utf-8")
    async with running(sandbox, folder):
        assert (await ordered(sandbox, "reindex")).text == FRENCH.sync_failed


class HeldUp(Maintenance):
    """Syncs for real, and waits in the middle until it may go on."""

    def __init__(self, folder: Path) -> None:
        super().__init__(settings_in(folder))
        self.begun, self.go_on = threading.Event(), threading.Event()

    def sync(
        self, sources: Sequence[str], *, progress: Progress, **options: Any
    ) -> list[IngestReport]:
        def wait(event: ProgressEvent) -> None:
            progress(event)
            self.begun.set()
            self.go_on.wait(20)

        return super().sync(sources, progress=wait, **options)


async def test_a_long_sync_tells_how_far_it_is_and_a_second_one_is_refused(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "PROGRESS_AFTER_S", (1.0,))
    maintenance = HeldUp(folder)
    async with running(sandbox, folder, maintenance=maintenance):
        sandbox.slash("amina", "general", "/handbook", "reindex")
        progress = await sandbox.wait_for_ephemeral("amina", FRENCH.sync_running)
        assert f"pages lues sur {PAGES}" in progress.text
        assert maintenance.begun.is_set()

        sandbox.slash("amina", "general", "/handbook", "reindex guide")
        await sandbox.wait_for_ephemeral("amina", FRENCH.sync_busy)
        maintenance.go_on.set()
        await sandbox.wait_for_ephemeral("amina", f"{PAGES} pages ajoutées")


async def test_the_end_of_a_very_long_sync_is_told_in_a_direct_message(
    sandbox: Sandbox, folder: Path
) -> None:
    maintenance = HeldUp(folder)
    async with running(sandbox, folder, maintenance=maintenance):
        sandbox.slash("amina", "general", "/handbook", "reindex")
        await sandbox.settled()
        assert await asyncio.to_thread(maintenance.begun.wait, 20)
        sandbox.advance(31 * 60)
        maintenance.go_on.set()
        call = await sandbox.wait_for_call("chat.postMessage")

    assert f"{PAGES} pages ajoutées" in call.arguments["text"]
    assert call.arguments["channel"] == sandbox.workspace().user("amina").user_id


async def blocked(sandbox: Sandbox, folder: Path) -> Message:
    """Lose most pages, and return what the admin is asked."""
    await ordered(sandbox, "reindex")
    for page in sorted((folder / "pages").iterdir())[1:]:
        page.unlink()
    return await ordered(sandbox, "reindex", count=2)


async def test_many_removals_wait_for_an_admin_who_has_seen_the_list(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        question = await blocked(sandbox, folder)
        assert "11 pages ont disparu" in question.text
        assert "• page07.md" in question.text
        assert pages_in(folder) == PAGES

        sandbox.click("amina", question, "confirm_removals")
        await sandbox.wait_for_ephemeral("amina", "11 retirées")

    assert pages_in(folder) == 1
    assert question not in sandbox.ephemerals("amina")


async def test_a_confirmation_by_somebody_who_is_no_admin_is_refused(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        question = await blocked(sandbox, folder)
        sandbox.click("james", question, "confirm_removals")
        await sandbox.wait_for_ephemeral("james", ENGLISH.admins_only)

    assert pages_in(folder) == PAGES


async def test_a_confirmation_counts_for_the_list_that_was_shown_only(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        question = await blocked(sandbox, folder)
        (folder / "pages" / "page00.md").unlink()
        (folder / "pages" / "page05.md").write_text("# Page 5\n\nDe retour.\n", encoding="utf-8")
        sandbox.click("amina", question, "confirm_removals")
        again = await sandbox.wait_for_ephemeral("amina", "• page00.md")

    assert "• page05.md" not in again.text
    assert "confirm_removals" in str(again.blocks)
    assert pages_in(folder) == PAGES


async def test_status_shows_sources_and_last_runs_in_the_readers_zone(
    sandbox: Sandbox, folder: Path
) -> None:
    sandbox.add_user("tomo", role=Role.ADMIN, locale="en-US", tz="Asia/Tokyo")
    sandbox.join("tomo", "general")
    async with running(sandbox, folder):
        assert (await ordered(sandbox, "status")).text.startswith(FRENCH.state_not_built)
        await ordered(sandbox, "reindex", count=2)
        state = await ordered(sandbox, "status", who="tomo")
        with open_reader(settings_in(folder)) as reader:
            [source] = reader.status().sources

    assert source.last_run_at is not None
    assert state.text.startswith(f"Handbook: {PAGES} pages")
    shown = source.last_run_at.astimezone(ZoneInfo("Asia/Tokyo"))
    assert f"last read: {ENGLISH.format_date(shown)} at {shown:%H:%M};" in state.text
    assert ENGLISH.state_no_schedule in state.text


async def test_help_names_the_commands_of_admins_to_admins_only(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        for_admin = await ordered(sandbox, "help")
        for_others = await ordered(sandbox, "help", who="camille")

    assert "/handbook reindex" in for_admin.text
    assert "/handbook reindex" not in for_others.text
