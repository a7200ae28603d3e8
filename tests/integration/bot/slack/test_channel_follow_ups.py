"""Follow-ups in channels need no mention where the company lets the app hear them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer
from bot.slack.wording import FRENCH
from bot.store import JobState
from ingest import Audiences
from tests.outcomes import answer
from tests.slack_running import running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    content = json.loads(DEFAULT_PATH.read_text(encoding="utf-8"))
    content["settings"]["event_subscriptions"]["bot_events"].append("message.channels")
    async with SandboxServer(manifest=Manifest.parse(content)) as sandbox:
        sandbox.workspace().granted |= {"channels:history"}
        yield sandbox
        assert sandbox.problems == []


async def test_whoever_asked_goes_on_asking_and_others_talk_undisturbed(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    asked: list[Question] = []

    def note(question: Question, _audiences: Audiences) -> Outcome:
        asked.append(question)
        return answer()

    async with running(sandbox, tmp_path, note) as store:
        root = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(root)
        for who, text in (
            ("james", "and for me?"),
            ("camille", "merci"),
            ("camille", "@James tu savais ?"),
        ):
            sandbox.say(who, "general", text, thread_ts=root.ts)
        sandbox.say("camille", "general", "et le reste ?")
        sandbox.say("camille", "general", "et à temps partiel ?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, count=2)
        sandbox.say("camille", "general", "@Manuel et le vendredi ?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, count=3)
        await sandbox.settled()
        await asyncio.sleep(0.5)
        assert store.counts() == {JobState.DONE: 3}

    texts = [question.text for question in asked]
    assert texts == ["le télétravail ?", "et à temps partiel ?", "et le vendredi ?"]
    assert asked[1].context == ("le télétravail ?",)


async def test_a_muted_thread_gets_no_follow_ups(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path):
        root = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(root)
        sandbox.say("camille", "general", "@Manuel mute", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, FRENCH.muted)
        sandbox.say("camille", "general", "et le télétravail du lundi ?", thread_ts=root.ts)
        await sandbox.settled()
        await asyncio.sleep(0.5)
        assert len(sandbox.replies(root)) == 2

        sandbox.say("camille", "general", "@Manuel unmute", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, FRENCH.unmuted)
        sandbox.say("camille", "general", "et le télétravail du mardi ?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, "Deux jours", count=2)
