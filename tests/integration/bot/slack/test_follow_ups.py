"""Questions in the thread of an answer are understood with those before them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.store import JobState
from ingest import Audiences
from tests.outcomes import answer
from tests.slack_running import running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


def noting(asked: list[Question]) -> Callable[[Question, Audiences], Outcome]:
    def note(question: Question, _audiences: Audiences) -> Outcome:
        asked.append(question)
        return answer()

    return note


async def test_a_follow_up_in_a_direct_message_needs_no_mention(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    asked: list[Question] = []
    async with running(sandbox, tmp_path, noting(asked)):
        root = sandbox.direct_message("camille", "combien de jours de télétravail ?")
        await sandbox.wait_for_reply(root)
        sandbox.direct_message("camille", "et à temps partiel ?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, count=2)
        sandbox.direct_message("camille", "et les stagiaires ?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, count=3)
        elsewhere = sandbox.direct_message("camille", "et le matériel ?")
        await sandbox.wait_for_reply(elsewhere)

    first, second = "combien de jours de télétravail ?", "et à temps partiel ?"
    assert asked == [
        Question(first),
        Question(second, (first,)),
        Question("et les stagiaires ?", (first, second)),
        Question("et le matériel ?"),
    ]


async def test_a_mention_in_a_thread_is_understood_with_everybodys_questions_there(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    asked: list[Question] = []
    async with running(sandbox, tmp_path, noting(asked)):
        root = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(root)
        sandbox.say("james", "general", "merci beaucoup", thread_ts=root.ts)
        sandbox.say("james", "general", "@Manuel and for interns?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, count=2)

    assert asked[1] == Question("and for interns?", ("le télétravail ?",))


async def test_the_thread_is_remembered_by_a_restarted_app(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    asked: list[Question] = []
    async with running(sandbox, tmp_path, noting(asked)):
        root = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_for_reply(root)
    async with running(sandbox, tmp_path, noting(asked)):
        sandbox.direct_message("camille", "et à temps partiel ?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, count=2)

    assert asked[1].context == ("le télétravail ?",)


async def test_without_a_question_log_each_question_stands_alone(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    asked: list[Question] = []
    async with running(sandbox, tmp_path, noting(asked), question_log_days=0) as store:
        root = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_for_reply(root)
        async with asyncio.timeout(10):
            while store.counts() != {JobState.DONE: 1}:  # until then the queue holds its words
                await asyncio.sleep(0.02)
        sandbox.direct_message("camille", "et à temps partiel ?", thread_ts=root.ts)
        await sandbox.wait_for_reply(root, count=2)

    assert asked[1].context == ()
