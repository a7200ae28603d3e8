"""`/handbook schedule` in the stand-in, with a real scheduler on a real database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.maintenance import Maintenance
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.settings import BotSettings
from bot.slack.admin.commands import EXAMPLE_CRON
from bot.slack.wording import ENGLISH, FRENCH
from ingest import IngestScheduler, read_schedule
from tests.slack_running import running, settings_in

PARIS = ZoneInfo("Europe/Paris")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def settings(tmp_path: Path) -> BotSettings:
    return settings_in(tmp_path).model_copy(update={"reindex_cron": "0 5 * * *"})


@asynccontextmanager
async def scheduling(sandbox: Sandbox, settings: BotSettings, folder: Path) -> AsyncIterator[None]:
    """Run the app with its scheduler, as `manuel serve` does."""
    scheduler = IngestScheduler(settings)
    scheduler.start()
    try:
        async with running(sandbox, folder, maintenance=Maintenance(settings, scheduler)):
            yield
    finally:
        await scheduler.shutdown()


async def ordered(sandbox: Sandbox, text: str, who: str = "amina") -> Message:
    count = len(sandbox.ephemerals(who)) + 1
    sandbox.slash(who, "general", "/handbook", text)
    return await sandbox.wait_for_ephemeral(who, count=count)


async def test_the_schedule_is_shown_in_the_readers_zone(
    sandbox: Sandbox, settings: BotSettings, tmp_path: Path
) -> None:
    sandbox.add_user("tomo", role="admin", locale="en-US", tz="Asia/Tokyo")
    sandbox.join("tomo", "general")
    async with scheduling(sandbox, settings, tmp_path):
        shown = await ordered(sandbox, "schedule", who="tomo")
        next_run_at = read_schedule(settings).next_run_at

    assert next_run_at is not None
    tokyo = next_run_at.astimezone(ZoneInfo("Asia/Tokyo"))
    moment = f"{ENGLISH.format_date(tokyo)} at {tokyo:%H:%M}"
    assert shown.text.split("\n") == [
        ENGLISH.schedule_set.format(cron="0 5 * * *", timezone="Europe/Paris"),
        ENGLISH.state_next.format(moment=moment),
    ]


@pytest.mark.parametrize(
    "typed", ['"0 6 * * 1-5"', "0 6 * * 1-5", "“0 6 * * 1-5”", "«0 6 * * 1-5»"]
)
async def test_an_admin_changes_the_schedule(
    sandbox: Sandbox, settings: BotSettings, tmp_path: Path, typed: str
) -> None:
    async with scheduling(sandbox, settings, tmp_path):
        shown = await ordered(sandbox, f"schedule {typed}")
        schedule = read_schedule(settings)

    assert shown.text.startswith(
        FRENCH.schedule_set.format(cron="0 6 * * 1-5", timezone="Europe/Paris")
    )
    assert schedule.next_run_at is not None
    local = schedule.next_run_at.astimezone(PARIS)
    assert (local.hour, local.minute) == (6, 0)
    assert local.weekday() < 5


async def test_the_chosen_schedule_outlives_a_restart_and_overrides_the_configuration(
    sandbox: Sandbox, settings: BotSettings, tmp_path: Path
) -> None:
    async with scheduling(sandbox, settings, tmp_path):
        await ordered(sandbox, "schedule 30 7 * * *")
    configured = settings.model_copy(update={"reindex_cron": ""})
    async with scheduling(sandbox, configured, tmp_path):
        shown = await ordered(sandbox, "schedule")
        chosen = read_schedule(configured)
        await ordered(sandbox, "schedule default")
        default = read_schedule(configured)

    assert "30 7 * * *" in shown.text
    assert FRENCH.schedule_chosen_here.format(command="/handbook") in shown.text
    assert chosen.next_run_at is not None
    assert (chosen.next_run_at.astimezone(PARIS).hour, chosen.chosen) == (7, True)
    assert (default.next_run_at, default.chosen) == (None, False)


@pytest.mark.parametrize(
    "typed", ["tous les jours", "99 * * * *", "0 5 31 2 *", "0 5 * *", "0 5 * * lundi"]
)
async def test_a_wrong_schedule_is_refused_with_an_example(
    sandbox: Sandbox, settings: BotSettings, tmp_path: Path, typed: str
) -> None:
    async with scheduling(sandbox, settings, tmp_path):
        shown = await ordered(sandbox, f"schedule {typed}")
        schedule = read_schedule(settings)

    assert shown.text == FRENCH.schedule_wrong.format(example=EXAMPLE_CRON)
    assert schedule.cron == "0 5 * * *"
    assert schedule.next_run_at is not None


async def test_a_pause_lasts_until_it_is_resumed_whatever_the_schedule_becomes(
    sandbox: Sandbox, settings: BotSettings, tmp_path: Path
) -> None:
    async with scheduling(sandbox, settings, tmp_path):
        paused = await ordered(sandbox, "schedule pause")
        changed = await ordered(sandbox, "schedule 0 9 * * *")
    async with scheduling(sandbox, settings, tmp_path):
        restarted = await ordered(sandbox, "schedule")
        resumed = await ordered(sandbox, "schedule resume")
        schedule = read_schedule(settings)

    for shown in (paused, changed, restarted):
        assert FRENCH.state_paused in shown.text
    assert FRENCH.state_paused not in resumed.text
    assert schedule.next_run_at is not None
    assert schedule.next_run_at.astimezone(PARIS).hour == 9


@pytest.mark.parametrize("typed", ["schedule", "schedule pause", "schedule 0 6 * * *"])
async def test_nobody_else_changes_the_schedule(
    sandbox: Sandbox, settings: BotSettings, tmp_path: Path, typed: str
) -> None:
    async with scheduling(sandbox, settings, tmp_path):
        shown = await ordered(sandbox, typed, who="james")
        schedule = read_schedule(settings)

    words = typed.removeprefix("schedule ")
    searched = ENGLISH.no_hits.format(terms=f"schedule {words}")
    assert shown.text == (ENGLISH.admins_only if typed == "schedule" else searched)
    assert (schedule.cron, schedule.paused) == ("0 5 * * *", False)


async def test_without_a_scheduler_the_failure_is_told(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path):
        assert (await ordered(sandbox, "schedule pause")).text == FRENCH.schedule_failed
