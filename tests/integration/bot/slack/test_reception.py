"""Who is not answered, and threads that want silence."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.house_rules import HouseRules
from bot.slack.wording import ENGLISH, FRENCH
from tests.slack_running import running

QUESTION = "combien de jours de télétravail ?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        sandbox.add_user("gaston", role="guest")
        sandbox.add_user("solange", role="single_channel_guest", locale="en-US")
        sandbox.add_user("etienne").team_id = "T0ELSEWHERE"
        yield sandbox
        assert sandbox.problems == []


async def quiet(sandbox: Sandbox) -> None:
    await sandbox.settled()
    await asyncio.sleep(0.5)


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ("gaston", FRENCH.not_for_guests),
        ("solange", ENGLISH.not_for_guests),
        ("etienne", FRENCH.not_for_guests),
    ],
)
async def test_guests_and_strangers_are_refused_once_in_a_thread(
    sandbox: Sandbox, tmp_path: Path, who: str, said: str
) -> None:
    async with running(sandbox, tmp_path):
        asked = sandbox.say(who, "general", f"@Manuel {QUESTION}")
        refusal = await sandbox.wait_for_reply(asked)
        sandbox.say(who, "general", f"@Manuel {QUESTION}", thread_ts=asked.ts)
        await quiet(sandbox)
        assert [message.text for message in sandbox.replies(asked)] == [said]
        assert refusal.text == said

        sandbox.slash(who, "general", "/handbook", f"ask {QUESTION}")
        await sandbox.wait_for_ephemeral(who, said)
        sandbox.slash(who, "general", "/handbook", "télétravail")
        await sandbox.wait_for_ephemeral(who, said, count=2)


async def test_a_member_is_answered_in_the_thread_of_a_guest(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        asked = sandbox.say("gaston", "general", f"@Manuel {QUESTION}")
        await sandbox.wait_for_reply(asked, FRENCH.not_for_guests)
        sandbox.say("camille", "general", f"@Manuel {QUESTION}", thread_ts=asked.ts)
        await sandbox.wait_for_reply(asked, "Deux jours")


async def test_a_channel_shared_with_another_company_gets_no_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.add_channel("projet", is_ext_shared=True)
    async with running(sandbox, tmp_path):
        asked = sandbox.say("camille", "projet", f"@Manuel {QUESTION}")
        refusal = await sandbox.wait_for_reply(asked)

        sandbox.slash("camille", "projet", "/handbook", f"ask {QUESTION}")
        private = await sandbox.wait_for_ephemeral("camille", "Deux jours")
        sandbox.click("camille", private, "share_answer")
        await sandbox.wait_for_ephemeral("camille", FRENCH.not_in_shared_channels)
        await quiet(sandbox)

    assert refusal.text == FRENCH.not_in_shared_channels
    assert len(sandbox.messages("projet")) == 2


async def test_the_company_may_want_guests_and_shared_channels_answered(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.add_channel("projet", is_ext_shared=True)
    rules = HouseRules(allow_guests=True, allow_shared_channels=True)
    async with running(sandbox, tmp_path, rules=rules):
        for who in ("gaston", "etienne", "camille"):
            asked = sandbox.say(who, "projet", f"@Manuel {QUESTION}")
            await sandbox.wait_for_reply(asked, "Deux jours")


async def answers(sandbox: Sandbox, root: Message) -> int:
    await quiet(sandbox)
    return sum("Deux jours" in message.text for message in sandbox.replies(root))


@pytest.mark.parametrize("order", ["mute", "Silence !"])
async def test_a_muted_thread_of_direct_messages_stays_silent_until_it_is_unmuted(
    sandbox: Sandbox, tmp_path: Path, order: str
) -> None:
    async with running(sandbox, tmp_path):
        root = sandbox.direct_message("camille", QUESTION)
        await sandbox.wait_for_reply(root)
        sandbox.direct_message("camille", order, thread_ts=root.ts)
        await sandbox.wait_for_reply(root, FRENCH.muted)
        sandbox.direct_message("camille", QUESTION, thread_ts=root.ts)
        assert await answers(sandbox, root) == 1
        elsewhere = sandbox.direct_message("camille", QUESTION)
        await sandbox.wait_for_reply(elsewhere)

    async with running(sandbox, tmp_path):
        sandbox.direct_message("camille", QUESTION, thread_ts=root.ts)
        assert await answers(sandbox, root) == 1
        sandbox.direct_message("camille", "unmute", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, FRENCH.unmuted)
        sandbox.direct_message("camille", QUESTION, thread_ts=root.ts)
        await sandbox.wait_for_reply(root, "Deux jours", count=2)


async def test_in_a_muted_thread_of_a_channel_a_mention_is_answered(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        root = sandbox.say("camille", "general", f"@Manuel {QUESTION}")
        await sandbox.wait_for_reply(root)
        sandbox.say("camille", "general", "@Manuel mute", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, FRENCH.muted)
        sandbox.say("james", "general", f"@Manuel {QUESTION}", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, "Deux jours", count=2)
