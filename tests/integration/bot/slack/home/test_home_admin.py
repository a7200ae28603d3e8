"""What admins see and press in their Home tab, in the stand-in, on a real index and schedule."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.maintenance import Maintenance
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message, Role, View
from bot.settings import BotSettings
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import LoggedQuestion, QuestionLog, migrate, open_engine
from ingest import (
    ConfigurationError,
    IndexNotBuiltError,
    IngestReport,
    IngestScheduler,
    Progress,
    open_reader,
    read_schedule,
)
from tests.slack_running import ScriptedHandbook, running, settings_in


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def settings(tmp_path: Path) -> BotSettings:
    """Two sources of some pages, described in handbook.toml, synced every morning."""
    for name in ("guide", "notes"):
        (tmp_path / name).mkdir()
        for number in range(3):
            page = tmp_path / name / f"page{number}.md"
            page.write_text(f"# Page {number}\n\nLe sujet {number}.\n", encoding="utf-8")
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "guide"\npath = "guide"\n\n[[sources]]\nname = "notes"\n'
        'path = "notes"\n',
        encoding="utf-8",
    )
    return settings_in(tmp_path).model_copy(update={"reindex_cron": "0 5 * * *"})


class Counted(Maintenance):
    """Syncs for real, writes down what it was asked, and may be held up."""

    def __init__(self, settings: BotSettings, scheduler: IngestScheduler) -> None:
        super().__init__(settings, scheduler)
        self.asked: list[tuple[tuple[str, ...], bool]] = []
        self.go_on = threading.Event()
        self.go_on.set()

    def sync(
        self, sources: Sequence[str], *, progress: Progress, dry_run: bool = False, **options: Any
    ) -> list[IngestReport]:
        self.asked.append((tuple(sources), dry_run))
        self.go_on.wait(20)
        return super().sync(sources, progress=progress, dry_run=dry_run, **options)


@asynccontextmanager
async def serving(
    sandbox: Sandbox, settings: BotSettings, handbook: ScriptedHandbook | None = None
) -> AsyncIterator[Counted]:
    scheduler = IngestScheduler(settings)
    scheduler.start()
    maintenance = Counted(settings, scheduler)
    try:
        folder = settings.handbook_config.parent
        async with running(sandbox, folder, maintenance=maintenance, handbook=handbook):
            yield maintenance
    finally:
        await scheduler.shutdown()


async def home(sandbox: Sandbox, who: str, text: str) -> View:
    """Return somebody's Home tab once it shows a text; it is opened first if it never was."""
    if sandbox.home(who) is None:
        sandbox.open_home(who)

    def found() -> View | None:
        view = sandbox.home(who)
        return view if view and text in str(view.content["blocks"]) else None

    return await sandbox.wait_until(found)


async def told(sandbox: Sandbox, who: str, text: str) -> Message:
    """Return what somebody is told in their direct message."""
    place = sandbox.workspace().direct(sandbox.workspace().user(who).user_id)
    return await sandbox.wait_for_message(place.channel_id, lambda message: text in message.text)


def pages(settings: BotSettings) -> int:
    with open_reader(settings) as reader:
        return reader.status().pages


async def test_everything_is_synced_from_home_and_the_report_comes_in_a_direct_message(
    sandbox: Sandbox, settings: BotSettings
) -> None:
    async with serving(sandbox, settings) as maintenance:
        await home(sandbox, "amina", FRENCH.state_not_built)
        maintenance.go_on.clear()
        sandbox.click_in_view("amina", "home_sync", "all")
        await home(sandbox, "amina", FRENCH.home_sync_started)
        maintenance.go_on.set()
        report = await told(sandbox, "amina", "guide : 3 pages ajoutées")
        after = await home(sandbox, "amina", "guide : 3 pages")

    assert "notes : 3 pages ajoutées" in report.text
    assert FRENCH.home_sync_started not in str(after.content)
    assert pages(settings) == 6


async def test_one_source_is_synced_by_the_button_beside_it(
    sandbox: Sandbox, settings: BotSettings
) -> None:
    Maintenance(settings).sync([], progress=lambda _: None)
    async with serving(sandbox, settings) as maintenance:
        await home(sandbox, "amina", "notes : 3 pages")
        sandbox.click_in_view("amina", "home_sync", "source:notes")
        await told(sandbox, "amina", "notes : 0 pages ajoutées")

    assert maintenance.asked == [(("notes",), False)]


def test_what_a_button_says_never_makes_a_folder_a_source(
    settings: BotSettings, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="not configured"):
        Maintenance(settings).sync([f"folder:{tmp_path / 'guide'}"], progress=lambda _: None)
    with pytest.raises(IndexNotBuiltError):
        pages(settings)


async def test_a_dry_run_changes_nothing(sandbox: Sandbox, settings: BotSettings) -> None:
    Maintenance(settings).sync([], progress=lambda _: None)
    (settings.handbook_config.parent / "guide" / "new.md").write_text("# Neuf\n\nOui.\n")
    async with serving(sandbox, settings) as maintenance:
        await home(sandbox, "amina", "guide : 3 pages")
        sandbox.click_in_view("amina", "home_dry_run")
        await told(sandbox, "amina", "1 pages seraient ajoutées")

    assert maintenance.asked == [((), True)]
    assert pages(settings) == 6


async def test_removals_that_were_stopped_are_confirmed_in_the_direct_message(
    sandbox: Sandbox, settings: BotSettings
) -> None:
    folder = settings.handbook_config.parent / "guide"
    for number in range(3, 12):
        (folder / f"page{number}.md").write_text(
            f"# Page {number}\n\nUn sujet.\n", encoding="utf-8"
        )
    Maintenance(settings).sync([], progress=lambda _: None)
    for page in sorted(folder.iterdir())[1:]:
        page.unlink()
    async with serving(sandbox, settings):
        await home(sandbox, "amina", "guide : 12 pages")
        sandbox.click_in_view("amina", "home_sync", "source:guide")
        question = await told(sandbox, "amina", "11 pages ont disparu")
        assert pages(settings) == 15
        sandbox.click("james", question, "confirm_removals")
        await sandbox.wait_for_ephemeral("james", ENGLISH.admins_only)
        sandbox.click("amina", question, "confirm_removals")
        await sandbox.wait_for_ephemeral("amina", "11 retirées")

    assert pages(settings) == 4


async def test_pages_that_could_not_be_read_are_named_with_the_reason(
    sandbox: Sandbox, settings: BotSettings
) -> None:
    (settings.handbook_config.parent / "guide" / "broken.pdf").write_bytes(b"%PDF-1.4 no")
    Maintenance(settings).sync([], progress=lambda _: None)
    async with serving(sandbox, settings):
        shown = await home(sandbox, "amina", FRENCH.home_skipped.format(count=1))

    assert "broken.pdf" in str(shown.content)


async def test_the_schedule_is_paused_and_resumed_from_home(
    sandbox: Sandbox, settings: BotSettings
) -> None:
    async with serving(sandbox, settings):
        await home(sandbox, "amina", FRENCH.home_pause)
        sandbox.click_in_view("amina", "home_pause")
        await home(sandbox, "amina", FRENCH.state_paused)
        paused = read_schedule(settings)
        sandbox.click_in_view("amina", "home_resume")
        await home(sandbox, "amina", FRENCH.home_pause)
        resumed = read_schedule(settings)

    assert paused.paused
    assert resumed.next_run_at is not None


@pytest.mark.parametrize("action_id", ["home_sync", "home_dry_run", "home_pause"])
async def test_who_is_an_admin_is_asked_again_on_each_press(
    sandbox: Sandbox, settings: BotSettings, monkeypatch: pytest.MonkeyPatch, action_id: str
) -> None:
    monkeypatch.setattr("bot.slack.people.KEEP_ROLE_S", 0.0)
    async with serving(sandbox, settings) as maintenance:
        await home(sandbox, "amina", FRENCH.home_admin)
        sandbox.workspace().user("amina").role = Role.MEMBER
        sandbox.click_in_view("amina", action_id)
        shown = await sandbox.wait_until(
            lambda: (
                view
                if (view := sandbox.home("amina")) and FRENCH.home_admin not in str(view.content)
                else None
            )
        )

    assert FRENCH.home_ask in str(shown.content)
    assert maintenance.asked == []
    assert not read_schedule(settings).paused


async def test_members_see_nothing_of_it(sandbox: Sandbox, settings: BotSettings) -> None:
    async with serving(sandbox, settings):
        shown = await home(sandbox, "james", ENGLISH.home_ask)

    assert ENGLISH.home_admin not in str(shown.content)
    assert ENGLISH.home_gaps.format(days=30) not in str(shown.content)


def ask_in_vain(sandbox: Sandbox, settings: BotSettings, *asked: str) -> str:
    """Write down questions without an answer; returns the id of whoever asked them."""
    engine = open_engine(settings.database_url)
    migrate(engine)
    log, team_id = QuestionLog(engine, keep_days=90), sandbox.workspace().team_id
    user_id = sandbox.workspace().user("camille").user_id
    for question in asked:
        log.record(
            LoggedQuestion(
                question_id=question[:32],
                team_id=team_id,
                channel_id="C1",
                thread_ts=None,
                message_ts=None,
                user_id=user_id,
                question=question,
                outcome="abstention",
                generator="extractive",
                language="fr",
                confidence=0.1,
                passages=(),
            )
        )
    engine.dispose()
    return user_id


class SlowEncoder(ScriptedHandbook):
    """An encoder that waits for its turn, and that finds all texts alike."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.encoded: list[str] = []

    def vectors(self, texts: Sequence[str]) -> Any:
        self.go_on.wait(20)
        self.encoded += texts
        return np.ones((len(texts), 1))


async def test_home_does_not_wait_for_the_encoder_and_shows_the_groups_when_they_are_there(
    sandbox: Sandbox, settings: BotSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.home.admin.PATIENCE_S", 0.05)
    handbook = SlowEncoder()
    ask_in_vain(sandbox, settings, "wifi ?", "chien ?")
    async with serving(sandbox, settings, handbook=handbook):
        await home(sandbox, "amina", FRENCH.home_gaps_pending)
        handbook.go_on.set()
        await home(sandbox, "amina", "chien ? (2)")
        ask_in_vain(sandbox, settings, "parking ?")
        sandbox.open_home("amina")
        await home(sandbox, "amina", "chien ? (3)")

    assert sorted(handbook.encoded) == ["chien ?", "parking ?", "wifi ?"]


async def test_unanswered_questions_are_grouped_and_counted_without_a_name(
    sandbox: Sandbox, settings: BotSettings
) -> None:
    user_id = ask_in_vain(
        sandbox,
        settings,
        "mot de passe du wifi ?",
        "les mots de passe du wifi",
        "horaires de la cantine ?",
    )
    async with serving(sandbox, settings):
        shown = str((await home(sandbox, "amina", FRENCH.home_gaps.format(days=30))).content)

    assert "les mots de passe du wifi (2)" in shown
    assert "horaires de la cantine ? (1)" in shown
    assert user_id not in shown
    assert "Camille" not in shown
