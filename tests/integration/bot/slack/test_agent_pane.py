"""The agent pane: prompts, a title, "Working…", and a stop that is honoured."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.answering.abandoning import abandonable
from bot.errors import AnswerAbandoned
from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message, Session, SessionStatus
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import JobState
from ingest import Audiences
from tests.slack_running import knows_remote_work, running

QUESTION = "combien de jours\nde télétravail ?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


class Slow:
    """Answers when it is let."""

    def __init__(self) -> None:
        self.go_on = threading.Event()

    def __call__(self, question: Question, audiences: Audiences) -> Outcome:
        self.go_on.wait(10)
        return knows_remote_work(question, audiences)


async def session(sandbox: Sandbox, root: Message, status: SessionStatus) -> Session:
    def found() -> Session | None:
        session = sandbox.session(root)
        return session if session is not None and session.status is status else None

    return await sandbox.wait_until(found)


async def test_prompts_are_offered_in_the_language_of_whoever_opens_the_pane(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    workspace = sandbox.workspace()
    async with running(sandbox, tmp_path):
        for who, words in (("camille", FRENCH), ("james", ENGLISH)):
            direct = workspace.direct(workspace.user(who).user_id).channel_id
            sandbox.open_home(who, tab="messages")
            offered = await sandbox.wait_until(lambda d=direct: workspace.prompts.get(d))
            assert offered.title == words.prompts_title
            assert [(p["title"], p["message"]) for p in offered.prompts] == list(words.prompts)


async def test_a_question_gets_a_session_with_its_title_that_works_and_then_rests(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    slow = Slow()
    async with running(sandbox, tmp_path, slow):
        asked = sandbox.direct_message("camille", QUESTION)
        working = await session(sandbox, asked, SessionStatus.PROCESSING)
        assert working.title == "combien de jours de télétravail ?"
        slow.go_on.set()
        await sandbox.wait_for_reply(asked)
        await session(sandbox, asked, SessionStatus.ACTIVE)


async def test_a_stopped_question_posts_nothing_more_and_the_next_one_is_answered(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    slow = Slow()
    async with running(sandbox, tmp_path, slow) as store:
        asked = sandbox.direct_message("camille", QUESTION)
        await session(sandbox, asked, SessionStatus.PROCESSING)
        sandbox.press_stop("camille", asked)
        await sandbox.settled()
        slow.go_on.set()
        said = await sandbox.wait_for_reply(asked)
        assert said.text == FRENCH.stopped
        async with asyncio.timeout(20):
            while store.counts() != {JobState.FAILED: 1, JobState.DONE: 1}:
                await asyncio.sleep(0.02)
        await session(sandbox, asked, SessionStatus.ACTIVE)

        sandbox.direct_message("camille", "et le télétravail ?", thread_ts=asked.ts)
        await sandbox.wait_until(lambda: len(sandbox.replies(asked)) == 2 or None)
        await session(sandbox, asked, SessionStatus.ACTIVE)
    [said, answered] = sandbox.replies(asked)
    assert "Deux jours" in answered.text


class Waiting:
    """Answers never: it waits until it is given up."""

    def __init__(self) -> None:
        self.is_given_up = threading.Event()

    def __call__(self, question: Question, audiences: Audiences) -> Outcome:
        try:
            with abandonable() as abandonment:
                abandonment.pause(60)
        except AnswerAbandoned:
            self.is_given_up.set()
            raise
        return knows_remote_work(question, audiences)


async def test_what_computes_a_stopped_answer_is_given_up(sandbox: Sandbox, tmp_path: Path) -> None:
    waiting = Waiting()
    async with running(sandbox, tmp_path, waiting, answer_workers=1) as store:
        asked = sandbox.direct_message("camille", QUESTION)
        await session(sandbox, asked, SessionStatus.PROCESSING)
        sandbox.press_stop("camille", asked)
        await sandbox.wait_until(lambda: waiting.is_given_up.is_set() or None, timeout_s=20)
        await session(sandbox, asked, SessionStatus.ACTIVE)
        async with asyncio.timeout(20):
            while store.counts() != {JobState.FAILED: 1, JobState.DONE: 1}:
                await asyncio.sleep(0.02)
    assert [said.text for said in sandbox.replies(asked)] == [FRENCH.stopped]


async def test_an_answer_that_a_stop_gives_up_is_given_after_the_restart(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    waiting = Waiting()
    async with running(sandbox, tmp_path, waiting, stop_limit_s=60) as store:
        asked = sandbox.direct_message("camille", QUESTION)
        await session(sandbox, asked, SessionStatus.PROCESSING)
    assert waiting.is_given_up.is_set()
    assert store.counts() == {JobState.PENDING: 1}
    async with running(sandbox, tmp_path):
        answered = await sandbox.wait_for_reply(asked)
        await session(sandbox, asked, SessionStatus.ACTIVE)
    assert "Deux jours" in answered.text
    assert len(sandbox.replies(asked)) == 1


async def test_the_end_of_the_work_is_shown_although_slack_asks_to_slow_down(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    slow = Slow()
    async with running(sandbox, tmp_path, slow):
        asked = sandbox.direct_message("camille", QUESTION)
        await session(sandbox, asked, SessionStatus.PROCESSING)
        sandbox.fault("agents.sessions.setStatus", "ratelimited", times=1, seconds=1)
        slow.go_on.set()
        await sandbox.wait_for_reply(asked)
        await session(sandbox, asked, SessionStatus.ACTIVE)


@pytest.mark.parametrize("kind", ["error", "ratelimited", "server_error", "drop_before"])
async def test_without_sessions_questions_are_answered_all_the_same(
    sandbox: Sandbox, tmp_path: Path, kind: str
) -> None:
    sandbox.fault("agents.sessions.setStatus", kind, times=None, error="feature_disabled")
    async with running(sandbox, tmp_path):
        for _ in range(2):
            asked = sandbox.direct_message("camille", QUESTION)
            await sandbox.wait_for_reply(asked)

    if kind == "error":  # it is asked for once, not for each question
        assert len(sandbox.calls("agents.sessions.setStatus")) == 1


async def test_a_thread_of_a_channel_shows_that_an_answer_is_on_its_way(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    slow = Slow()
    async with running(sandbox, tmp_path, slow):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await session(sandbox, asked, SessionStatus.PROCESSING)
        slow.go_on.set()
        await sandbox.wait_for_reply(asked)
        await session(sandbox, asked, SessionStatus.ACTIVE)


async def test_what_one_process_shows_another_takes_away(sandbox: Sandbox, tmp_path: Path) -> None:
    slow = Slow()
    async with running(sandbox, tmp_path, slow, stop_limit_s=0.1):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await session(sandbox, asked, SessionStatus.PROCESSING)
    slow.go_on.set()
    sandbox.fault("agents.sessions.setStatus", "server_error", times=1)  # not begun once more
    async with running(sandbox, tmp_path, slow):
        await sandbox.wait_for_reply(asked)
        await session(sandbox, asked, SessionStatus.ACTIVE)


@pytest.mark.parametrize("where", ["channel", "direct message"])
async def test_what_a_process_that_died_still_shows_the_next_one_takes_away(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    for name in ("LEFT_S", "LOOK_EVERY_S"):
        monkeypatch.setattr(f"bot.slack.agent_pane.{name}", 0.1)
    slow = Slow()
    async with running(sandbox, tmp_path, slow):
        if where == "channel":
            asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        else:
            asked = sandbox.direct_message("camille", "le télétravail ?")
        await session(sandbox, asked, SessionStatus.PROCESSING)
        sandbox.fault("agents.sessions.setStatus", "server_error", times=None)
        slow.go_on.set()
        await sandbox.wait_for_reply(asked)
    sandbox.web_api.faults.clear()
    async with running(sandbox, tmp_path) as store:
        await session(sandbox, asked, SessionStatus.ACTIVE)
        async with asyncio.timeout(20):  # and then it is left alone
            while store.left_statuses(older_than_s=0.0, limit=1):
                await asyncio.sleep(0.02)


async def test_past_what_slack_takes_in_a_minute_channels_show_nothing(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.agent_pane.STATUSES_A_MINUTE", 1)
    async with running(sandbox, tmp_path):
        first = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await session(sandbox, first, SessionStatus.ACTIVE)
        second = sandbox.say("camille", "general", "@Manuel encore le télétravail ?")
        await sandbox.wait_for_reply(second)

    shown = {call.arguments["thread_ts"] for call in sandbox.calls("agents.sessions.setStatus")}
    assert shown == {first.ts}


@pytest.mark.parametrize("where", ["channel", "direct message"])
async def test_without_sessions_words_of_our_own_are_shown_at_once(
    sandbox: Sandbox, tmp_path: Path, where: str
) -> None:
    slow = Slow()
    sandbox.fault("agents.sessions.setStatus", "error", times=None, error="feature_disabled")
    async with running(sandbox, tmp_path, slow):
        if where == "channel":
            asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        else:
            asked = sandbox.direct_message("camille", "le télétravail ?")
        shown = await session(sandbox, asked, SessionStatus.PROCESSING)
        assert shown.loading == FRENCH.at_work
        slow.go_on.set()
        await sandbox.wait_for_reply(asked)
        assert shown.loading == ""


async def test_where_no_status_is_taken_at_all_questions_are_answered(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    for method in ("agents.sessions.setStatus", "assistant.threads.setStatus"):
        sandbox.fault(method, "error", times=None, error="feature_disabled")
    async with running(sandbox, tmp_path):
        for _ in range(2):
            await sandbox.wait_for_reply(sandbox.direct_message("camille", QUESTION))

    assert len(sandbox.calls("assistant.threads.setStatus")) == 1
