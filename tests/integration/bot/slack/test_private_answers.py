"""`/handbook ask`: an answer for one person, and sharing it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.wording import ENGLISH, FRENCH
from ingest import Audiences, IndexNotBuiltError
from tests.slack_running import ScriptedHandbook, running

QUESTION = "combien de jours de télétravail ?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


async def asked(sandbox: Sandbox, question: str = QUESTION, who: str = "camille") -> Message:
    """Let somebody ask privately, and return the reply that follows the status line."""
    before = len(sandbox.ephemerals(who))
    sandbox.slash(who, "general", "/handbook", f"ask {question}")
    return await sandbox.wait_for_ephemeral(who, count=before + 2)


async def test_a_private_answer_has_its_sources_and_is_seen_by_the_asker_alone(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        reply = await asked(sandbox)

    status = sandbox.ephemerals("camille")[0]
    assert status.text == FRENCH.searching
    assert "Deux jours de télétravail par semaine. [1]" in reply.text
    assert "https://guide.example/teletravail#rythme" in reply.text
    assert sandbox.messages("general") == []
    assert sandbox.ephemerals("james") == []


async def test_a_private_question_without_an_answer_gets_the_fixed_words_and_nothing_to_share(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        reply = await asked(sandbox, "quel est le code du coffre ?")

    assert reply.text.startswith("je ne sais pas")
    assert "share_answer" not in str(reply.blocks)


async def test_an_outage_is_said_to_be_one_and_an_error_is_admitted(
    sandbox: Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def down(question: Question, _audiences: Audiences) -> Outcome:
        if "coffre" in question.text:
            raise KeyError(question.text)
        raise IndexNotBuiltError("no index")

    async with running(sandbox, tmp_path, down):
        outage = await asked(sandbox, "what is the policy on remote work?", who="james")
        failure = await asked(sandbox, "le code du coffre")

    assert outage.text == ENGLISH.outage
    assert failure.text == FRENCH.failure
    assert "coffre" not in caplog.text


async def test_sharing_posts_the_answer_once_for_everybody_and_removes_the_private_one(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        reply = await asked(sandbox, f"{QUESTION} <!channel>")
        pressed = sandbox.click("camille", reply, "share_answer")
        again = sandbox.click("camille", reply, "share_answer")
        shared = await sandbox.wait_for_message("general")
        refused = await sandbox.wait_for_ephemeral("camille", FRENCH.share_gone)
        await sandbox.settled()

    assert [pressed.state, again.state] == [DeliveryState.ACKNOWLEDGED] * 2
    assert "Deux jours de télétravail par semaine." in shared.text
    assert QUESTION in shared.text
    assert "<" not in shared.text
    assert "share_answer" not in str(shared.blocks)
    assert sandbox.messages("general") == [shared]
    assert reply not in sandbox.ephemerals("camille")
    assert refused


async def test_only_the_asker_can_share(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path):
        reply = await asked(sandbox)
        sandbox.click("james", reply, "share_answer")
        refused = await sandbox.wait_for_ephemeral("james")

    assert refused.text == ENGLISH.share_not_yours
    assert sandbox.messages("general") == []


async def test_what_not_everybody_may_read_any_more_is_not_shared(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    handbook = ScriptedHandbook()
    async with running(sandbox, tmp_path, handbook=handbook):
        reply = await asked(sandbox)
        handbook.readable = False
        sandbox.click("camille", reply, "share_answer")
        await sandbox.wait_for_ephemeral("camille", FRENCH.share_changed)

    assert sandbox.messages("general") == []


async def test_sharing_works_after_a_restart_and_where_the_app_is_not_a_member(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.add_channel("ailleurs", with_bot=False)
    async with running(sandbox, tmp_path):
        sandbox.slash("camille", "ailleurs", "/handbook", f"ask {QUESTION}")
        reply = await sandbox.wait_for_ephemeral("camille", "Deux jours")
    async with running(sandbox, tmp_path):
        sandbox.click("camille", reply, "share_answer")
        await sandbox.wait_for_message("ailleurs")


async def test_a_slow_private_answer_is_acknowledged_at_once(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    go_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(question: Question, audiences: Audiences) -> Outcome:
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(10)
        return ScriptedHandbook().answer(question, audiences)

    async with running(sandbox, tmp_path, slow):
        delivery = sandbox.slash("camille", "general", "/handbook", f"ask {QUESTION}")
        await delivery.settled()
        status = await sandbox.wait_for_ephemeral("camille")
        assert status.text == FRENCH.searching
        go_on.set()
        await sandbox.wait_for_ephemeral("camille", "Deux jours")
