"""Answers whose quotes are gone: found after a sync, listed to admins, and corrected once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.app import open_engine_room
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.corrections import DISMISS, NOTE
from bot.slack.house_rules import HouseRules
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import ChannelSettings, ChannelSettingsStore, CitationStore, open_engine
from ingest import AudienceConfig, run_ingest
from tests.slack_running import running, settings_in

PATIENCE_S = 60
PAGE = """# Télétravail

Le télétravail est possible {days} jours par semaine après la période d'essai.

La demande de télétravail se fait dans MonRH avant le 15 du mois.
"""
BADGE = "# Badge\n\nLe badge perdu se déclare à l'accueil le jour même.\n"
ASKED = "combien de jours de télétravail par semaine ?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "handbook.toml").write_text('[[sources]]\nname = "guide"\npath = "pages"\n')
    (tmp_path / "pages").mkdir()
    written(tmp_path, "teletravail.md", PAGE.format(days="deux"))
    written(tmp_path, "badge.md", BADGE)
    for number in range(8):
        written(tmp_path, f"autre{number}.md", f"# Sujet {number}\n\nLe sujet {number} est clos.\n")
    run_ingest(settings_in(tmp_path))
    return tmp_path


def written(folder: Path, name: str, text: str) -> None:
    (folder / "pages" / name).write_text(text, encoding="utf-8")


async def synced(folder: Path) -> None:
    await asyncio.to_thread(run_ingest, settings_in(folder), allow_removals=True)


async def listed(sandbox: Sandbox, who: str, count: int, words: str = "") -> Message:
    sandbox.slash(who, "general", "/handbook", "corrections")
    return await sandbox.wait_for_ephemeral(who, words, count=count)


async def found(folder: Path, count: int, team_id: str) -> None:
    """Wait until so many answers wait for a decision."""
    engine = open_engine(f"sqlite:///{folder / 'manuel.db'}")
    store = CitationStore(engine)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while len(await asyncio.to_thread(store.waiting, team_id, limit=99)) != count:
                await asyncio.sleep(0.05)
    finally:
        engine.dispose()


async def test_what_changed_is_found_listed_and_corrected_once_and_nothing_else(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.corrections.LOOK_S", 0.1)
    sandbox.add_channel("owners")
    owners = sandbox.workspace().channel("owners").channel_id
    sandbox.join(sandbox.bot_id, "owners")
    team_id = sandbox.workspace().team_id
    rules = HouseRules(owners_channel=owners, freshness_days=30)
    with open_engine_room(settings_in(folder)) as handbook:
        async with running(sandbox, folder, handbook=handbook, rules=rules):
            public = sandbox.say("camille", "general", f"@Manuel {ASKED}")
            answer = await sandbox.wait_for_reply(public, "deux jours", timeout_s=PATIENCE_S)
            badge = sandbox.say("james", "general", "@Manuel où se déclare un badge perdu ?")
            await sandbox.wait_for_reply(badge, timeout_s=PATIENCE_S)
            sandbox.slash("james", "general", "/handbook", f"ask {ASKED}")
            await sandbox.wait_for_ephemeral("james", "deux jours", timeout_s=PATIENCE_S)

            # An edit elsewhere in the page, and a page that only moved.
            written(folder, "teletravail.md", PAGE.format(days="deux") + "\nMot de la fin.\n")
            (folder / "pages" / "badge.md").rename(folder / "pages" / "badges.md")
            await synced(folder)
            none = await listed(sandbox, "amina", 1)
            assert none.text == FRENCH.stale_none

            written(folder, "teletravail.md", PAGE.format(days="trois"))
            await synced(folder)
            await found(folder, 2, team_id)
            told = await sandbox.wait_for_message("owners", timeout_s=PATIENCE_S)
            assert told.text == FRENCH.stale_found

            sandbox.open_home("amina")
            await sandbox.wait_until(
                lambda: (
                    FRENCH.home_stale.format(count=2)
                    in json.dumps(
                        home.content if (home := sandbox.home("amina")) else {}, ensure_ascii=False
                    )
                    or None
                ),
                timeout_s=PATIENCE_S,
            )
            refused = await listed(sandbox, "camille", 1)
            assert refused.text == FRENCH.admins_only
            shown = await listed(sandbox, "amina", 2)
            assert shown.text.count("Télétravail (guide)") == 2
            assert "deux jours" not in shown.text
            values = [b["elements"][0]["value"] for b in shown.blocks if b["type"] == "actions"]
            for value in values:
                sandbox.click("amina", shown, NOTE, value)
            await sandbox.wait_for_reply(public, "a changé depuis", timeout_s=PATIENCE_S)
            private = sandbox.workspace().direct(sandbox.workspace().user("james").user_id)
            said = await sandbox.wait_for_message(
                private.channel_id, lambda m: "has changed since" in m.text, timeout_s=PATIENCE_S
            )
            sandbox.click("amina", shown, NOTE, values[0])
            await sandbox.wait_for_ephemeral(
                "amina", FRENCH.correction_decided, timeout_s=PATIENCE_S
            )

    assert said.text == ENGLISH.correction_private.format(title="Télétravail") + "\n" + (
        ENGLISH.correction_asked.format(question=ASKED)
    )
    notes = [m.text for m in sandbox.replies(public) if m.ts != answer.ts]
    assert notes == [FRENCH.correction_note.format(title="Télétravail")]
    assert len(sandbox.replies(badge)) == 1


async def test_an_answer_whose_page_is_gone_can_be_let_be(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.corrections.LOOK_S", 0.1)
    team_id = sandbox.workspace().team_id
    with open_engine_room(settings_in(folder)) as handbook:
        rules = HouseRules(freshness_days=30)
        async with running(sandbox, folder, handbook=handbook, rules=rules):
            asked = sandbox.direct_message("camille", ASKED)
            await sandbox.wait_for_reply(asked, "deux jours", timeout_s=PATIENCE_S)
            (folder / "pages" / "teletravail.md").unlink()
            await synced(folder)
            await found(folder, 1, team_id)
            shown = await listed(sandbox, "amina", 1)
            value = shown.blocks[-1]["elements"][1]["value"]
            sandbox.click("amina", shown, DISMISS, value)
            await sandbox.wait_for_ephemeral("amina", FRENCH.correction_dismissed)
            assert (await listed(sandbox, "amina", 3)).text == FRENCH.stale_none

    assert len(sandbox.replies(asked)) == 1


async def test_a_page_that_an_admin_may_not_read_is_not_named_to_them(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.corrections.LOOK_S", 0.1)
    (folder / "handbook.toml").write_text(
        '[[sources]]\nname = "guide"\npath = "pages"\npath_audiences = {"teletravail*" = ["rh"]}\n'
    )
    written(folder, "teletravail-plus.md", PAGE.format(days="deux").replace("Télé", "Autre télé"))
    await synced(folder)
    team_id = sandbox.workspace().team_id
    hr = AudienceConfig(users=frozenset({sandbox.workspace().user("camille").user_id}))
    rules = HouseRules(freshness_days=30, audiences={"rh": hr})
    with open_engine_room(settings_in(folder)) as handbook:
        async with running(sandbox, folder, handbook=handbook, rules=rules):
            asked = sandbox.direct_message("camille", ASKED)
            await sandbox.wait_for_reply(asked, "deux jours", timeout_s=PATIENCE_S)
            badge = sandbox.say("james", "general", "@Manuel où se déclare un badge perdu ?")
            await sandbox.wait_for_reply(badge, "accueil", timeout_s=PATIENCE_S)
            written(folder, "teletravail.md", PAGE.format(days="trois"))
            (folder / "pages" / "teletravail-plus.md").unlink()
            (folder / "pages" / "badge.md").unlink()
            await synced(folder)
            await found(folder, 2, team_id)
            shown = await listed(sandbox, "amina", 1)

    assert "Télétravail" not in json.dumps(shown.blocks, ensure_ascii=False) + shown.text
    assert shown.text.count(FRENCH.stale_hidden) == 1
    assert "Badge (guide)" in shown.text  # everybody in the channel could read it


async def test_what_went_to_a_direct_message_is_corrected_there(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.corrections.LOOK_S", 0.1)
    team_id = sandbox.workspace().team_id
    channel_id = sandbox.workspace().channel("general").channel_id
    rules = HouseRules(freshness_days=30)
    with open_engine_room(settings_in(folder)) as handbook:
        async with running(sandbox, folder, handbook=handbook, rules=rules):
            engine = open_engine(f"sqlite:///{folder / 'manuel.db'}")
            quietly = ChannelSettings(private=True)
            ChannelSettingsStore(engine).put(team_id, channel_id, quietly)
            asked = sandbox.say("camille", "general", f"@Manuel {ASKED}")
            private = sandbox.workspace().direct(sandbox.workspace().user("camille").user_id)
            await sandbox.wait_for_message(
                private.channel_id, lambda m: "deux jours" in m.text, timeout_s=PATIENCE_S
            )
            ChannelSettingsStore(engine).put(team_id, channel_id, ChannelSettings())
            engine.dispose()
            written(folder, "teletravail.md", PAGE.format(days="trois"))
            await synced(folder)
            await found(folder, 1, team_id)
            shown = await listed(sandbox, "amina", 1)
            value = shown.blocks[-1]["elements"][0]["value"]
            sandbox.click("amina", shown, NOTE, value)
            await sandbox.wait_for_message(
                private.channel_id, lambda m: "a changé depuis" in m.text, timeout_s=PATIENCE_S
            )
            await sandbox.wait_for_ephemeral("amina", FRENCH.correction_posted)

    assert FRENCH.stale_private in shown.text
    assert sandbox.replies(asked) == []
