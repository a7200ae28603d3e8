"""Killing the process while an answer grows: what was shown becomes the one whole answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from tests.e2e.test_restart_keeps_questions import gone, serving


@pytest.fixture
async def sandbox(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sandbox]:
    monkeypatch.setenv("ANSWER_MODEL", "m")
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


def shown(sandbox: Sandbox, asked: Message) -> list[Message]:
    return [reply for reply in sandbox.replies(asked) if reply.text or reply.blocks]


async def whole(sandbox: Sandbox, asked: Message) -> Message:
    """Wait for the whole answer, and make sure that it stands alone."""

    def found() -> Message | None:
        return next((m for m in shown(sandbox, asked) if "par semaine" in str(m.blocks)), None)

    await sandbox.wait_until(found, timeout_s=30)
    await asyncio.sleep(1.5)
    [reply] = shown(sandbox, asked)
    words = str(reply.blocks)
    assert words.count("Vous avez deux jours.") == words.count("C'est par semaine.") == 1
    assert "feedback" in words
    assert reply.streaming_state != "in_progress"
    return reply


@pytest.mark.parametrize("where", ["channel", "direct message"])
async def test_killed_after_the_first_sentence_the_message_is_finished_after_the_restart(
    sandbox: Sandbox, tmp_path: Path, where: str
) -> None:
    async with serving(sandbox, tmp_path, answer_seconds=30) as process:
        if where == "channel":
            asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        else:
            asked = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_until(lambda: shown(sandbox, asked) or None, timeout_s=20)
        [partial] = shown(sandbox, asked)
        process.kill()
        await process.wait()
        await gone(sandbox)
    assert "par semaine" not in str(partial.blocks)

    async with serving(sandbox, tmp_path):
        reply = await whole(sandbox, asked)
    assert reply.ts == partial.ts


@pytest.mark.parametrize("then", ["streamed again", "posted whole"])
@pytest.mark.parametrize(
    ("method", "state"), [("chat.startStream", "in_progress"), ("chat.stopStream", "completed")]
)
async def test_killed_while_slack_confirms_there_is_one_answer_after_the_restart(
    sandbox: Sandbox, tmp_path: Path, method: str, state: str, then: str
) -> None:
    fault = sandbox.fault(method, "delay", seconds=2)
    async with serving(sandbox, tmp_path, answer_seconds=1) as process:
        asked = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_until(lambda: fault.hits or None, timeout_s=20)
        process.kill()
        await process.wait()
        await gone(sandbox)

    def carried_out() -> Message | None:
        return next((m for m in sandbox.replies(asked) if m.streaming_state == state), None)

    await sandbox.wait_until(carried_out, timeout_s=20)

    async with serving(sandbox, tmp_path, answer_seconds=2 if then == "streamed again" else 0):
        await whole(sandbox, asked)
    assert sandbox.replies(asked) == shown(sandbox, asked)
