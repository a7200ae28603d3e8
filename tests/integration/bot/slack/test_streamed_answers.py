"""Answers that grow in their thread, over real HTTP and WebSocket, and what goes wrong there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import bot.slack.streaming
from bot.answering.streaming import OnClaim
from bot.records import Claim, Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message, SessionStatus
from bot.slack.house_rules import HouseRules
from bot.slack.next_steps import HumanRequest
from bot.slack.presentation import Presentation
from bot.slack.rendering import claim_blocks, render, render_notice
from bot.slack.wording import FRENCH
from bot.store import (
    ChannelSettings,
    ChannelSettingsStore,
    JobState,
    JobStore,
    forget_user,
    open_engine,
)
from ingest import Audiences, IndexStoreError
from tests.live_markup import live_markup
from tests.outcomes import abstention, answer, claim, passage
from tests.slack_running import running

REMOTE = passage("Deux jours de télétravail par semaine.")
BADGE = passage("Le badge se retire à l'accueil.", chunk_id="c2", page="badge.md", title="Badge")
CLAIMS = (
    claim(of=REMOTE, sentence="Vous avez deux jours de télétravail."),
    claim(of=BADGE, sentence="Le badge est remis à l'accueil."),
    claim(of=REMOTE, sentence="C'est par semaine."),
)
WRITTEN = answer(*CLAIMS, generator="modele")
STREAMING = HouseRules(stream_answers=True)
STREAM_METHODS = ("chat.startStream", "chat.appendStream", "chat.stopStream")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot.slack.streaming, "APPEND_EVERY_S", 0.05)


class Writing:
    """Lets claims out one by one, each when it is told to, and then gives its outcome."""

    def __init__(self, *claims: Claim, outcome: Outcome | Exception = WRITTEN) -> None:
        self.claims = claims
        self.outcome = outcome
        self.turn = threading.Semaphore(0)

    def go_on(self, steps: int = 1) -> None:
        self.turn.release(steps)

    def finish(self) -> None:
        self.turn.release(100)

    def __call__(
        self, question: Question, audiences: Audiences, on_claim: OnClaim | None = None
    ) -> Outcome:
        for said in self.claims:
            self.turn.acquire(timeout=10)
            if on_claim is not None:
                on_claim(said)
        self.turn.acquire(timeout=10)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


@pytest.fixture
def writing() -> Iterator[Writing]:
    writing = Writing(*CLAIMS[:2])
    yield writing
    writing.finish()


def visible(sandbox: Sandbox, asked: Message) -> list[Message]:
    return [reply for reply in sandbox.replies(asked) if reply.text or reply.blocks]


def said(message: Message) -> str:
    return str(message.blocks)


async def showing(sandbox: Sandbox, asked: Message, words: str) -> Message:
    """Wait until a reply shows these words."""

    def found() -> Message | None:
        return next((m for m in visible(sandbox, asked) if words in said(m)), None)

    return await sandbox.wait_until(found)


async def done(store: JobStore) -> None:
    async with asyncio.timeout(20):
        while set(store.counts()) - {JobState.DONE, JobState.FAILED}:
            await asyncio.sleep(0.02)


def plain(blocks: object) -> list[object]:
    """Return blocks without their ids."""
    assert isinstance(blocks, list | tuple)
    return [{k: v for k, v in block.items() if k != "block_id"} for block in blocks]


def team(sandbox: Sandbox) -> str:
    return sandbox.workspace().team_id


def the_answer(
    sandbox: Sandbox, store: JobStore, asked: Message, outcome: Outcome = WRITTEN
) -> Message:
    """Return the one visible reply, and make sure that it is the whole outcome."""
    [reply] = visible(sandbox, asked)
    job = store.named(team_id=team(sandbox), channel_id=asked.channel_id, message_ts=asked.ts)
    assert job is not None
    request = HumanRequest(job.job_id, asked.user_id, "")
    whole = Presentation().message(outcome, FRENCH, request)
    assert plain(reply.blocks) == plain(whole.blocks)
    assert reply.text == whole.text
    assert reply.streaming_state != "in_progress"
    assert (job.state, job.posted_ts) == (JobState.DONE, reply.ts)
    return reply


@pytest.mark.parametrize("where", ["channel", "direct message"])
async def test_an_answer_grows_in_its_thread_and_ends_as_the_whole_message(
    sandbox: Sandbox, tmp_path: Path, writing: Writing, where: str
) -> None:
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        if where == "channel":
            asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        else:
            asked = sandbox.direct_message("camille", "le télétravail ?")
        session = await sandbox.wait_until(lambda: sandbox.session(asked))
        assert (session.title, session.status) == ("le télétravail ?", SessionStatus.PROCESSING)
        assert visible(sandbox, asked) == []
        writing.go_on()
        first = await showing(sandbox, asked, "deux jours")
        assert plain(first.blocks) == plain(claim_blocks(CLAIMS[:1]))
        writing.go_on()
        second = await showing(sandbox, asked, "remis à l'accueil")
        assert plain(second.blocks) == plain(claim_blocks(CLAIMS[:2]))
        writing.finish()
        await done(store)
        reply = the_answer(sandbox, store, asked)

        assert reply.ts == first.ts == second.ts
        assert reply.thread_ts == asked.ts
        await sandbox.wait_until(lambda: session.status is SessionStatus.ACTIVE or None)
    assert sandbox.calls("chat.postMessage") == []
    [start] = sandbox.calls("chat.startStream")
    assert ("recipient_user_id" in start.arguments) == (where == "channel")


async def test_many_claims_at_once_are_shown_in_few_pieces(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.slack.streaming, "APPEND_EVERY_S", 0.5)
    sentences = [claim(of=REMOTE, sentence=f"Phrase {n}.") for n in range(9)]
    writing = Writing(*sentences, outcome=answer(*sentences, generator="modele"))
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on(9)
        await showing(sandbox, asked, "Phrase 8.")
        writing.finish()
        await done(store)
        the_answer(sandbox, store, asked, writing.outcome)  # type: ignore[arg-type]
    assert len(sandbox.calls("chat.appendStream")) <= 2


async def test_an_outcome_without_claims_needs_no_stream(sandbox: Sandbox, tmp_path: Path) -> None:
    writing = Writing(outcome=abstention())
    writing.finish()
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await done_after(store, sandbox)
        [reply] = visible(sandbox, asked)
    assert reply.text.startswith("je ne sais pas")
    assert [call.method for call in sandbox.calls() if "Stream" in call.method] == []


async def done_after(store: JobStore, sandbox: Sandbox) -> None:
    await sandbox.settled()
    await done(store)


REFUSALS = [
    ("error", "feature_disabled"),
    ("error", "method_not_supported_for_channel_type"),
    ("error", "message_not_in_streaming_state"),
    ("error", "stopped_by_user"),
    ("error", "internal_error"),
    ("ratelimited", ""),
    ("server_error", ""),
    ("drop_before", ""),
    ("drop_after", ""),
]


@pytest.mark.parametrize(("kind", "error"), REFUSALS)
@pytest.mark.parametrize("method", STREAM_METHODS)
async def test_whatever_goes_wrong_with_a_stream_there_is_one_whole_answer(
    sandbox: Sandbox, tmp_path: Path, writing: Writing, method: str, kind: str, error: str
) -> None:
    sandbox.fault(method, kind, times=1, error=error, seconds=1)
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.direct_message("camille", "le télétravail ?")
        for _ in CLAIMS[:2]:
            writing.go_on()
            await asyncio.sleep(0.15)
        writing.finish()
        await done_after(store, sandbox)
        the_answer(sandbox, store, asked)
        assert sandbox.replies(asked) == visible(sandbox, asked)


@pytest.mark.parametrize("method", STREAM_METHODS)
async def test_where_we_may_not_read_a_lost_confirmation_leaves_nothing_to_read_twice(
    sandbox: Sandbox, tmp_path: Path, writing: Writing, method: str
) -> None:
    sandbox.fault(method, "drop_after")
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        await asyncio.sleep(0.3)
        writing.finish()
        await done_after(store, sandbox)
        the_answer(sandbox, store, asked)


async def test_a_workspace_without_streams_gets_whole_answers_and_is_not_asked_again(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    sandbox.fault("chat.startStream", "error", times=None, error="feature_disabled")
    writing.finish()
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        for _ in range(2):
            asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
            await done_after(store, sandbox)
            the_answer(sandbox, store, asked)
    assert len(sandbox.calls("chat.startStream")) == 1


async def test_a_stream_that_died_of_age_is_replaced_by_the_answer(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    sandbox.world.stream_lifetime_s = 0.2
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        shown = await showing(sandbox, asked, "deux jours")
        await asyncio.sleep(0.4)
        writing.finish()
        await done(store)
        reply = the_answer(sandbox, store, asked)
        assert reply.ts == shown.ts
        assert "deux jours de télétravail" in reply.text
        await sandbox.wait_until(
            lambda: sandbox.session(asked).status is SessionStatus.ACTIVE or None
        )


@pytest.mark.parametrize(
    "outcome",
    [
        answer(claim(of=REMOTE), degraded="model unavailable"),
        answer(CLAIMS[1], CLAIMS[0], generator="modele"),
        abstention(),
    ],
    ids=["quotes", "another order", "abstention"],
)
async def test_an_outcome_that_begins_otherwise_takes_the_place_of_what_was_shown(
    sandbox: Sandbox, tmp_path: Path, outcome: Outcome
) -> None:
    writing = Writing(*CLAIMS[:1], outcome=outcome)
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        shown = await showing(sandbox, asked, "Vous avez deux jours")
        writing.finish()
        await done(store)
        reply = the_answer(sandbox, store, asked, outcome)
    assert reply.ts == shown.ts
    assert reply.text == render_text(outcome)


def render_text(outcome: Outcome) -> str:
    return render(outcome, FRENCH).text


async def test_an_outage_half_way_takes_the_place_of_what_was_shown(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    writing = Writing(*CLAIMS[:1], outcome=IndexStoreError("gone"))
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        await showing(sandbox, asked, "Vous avez deux jours")
        writing.finish()
        await done(store)
        [reply] = visible(sandbox, asked)
    assert plain(reply.blocks) == plain(render_notice(FRENCH.outage).blocks)


@pytest.mark.parametrize("kind", ["error", "ratelimited", "server_error", "drop_after"])
async def test_what_cannot_be_replaced_is_taken_away_or_tried_again(
    sandbox: Sandbox, tmp_path: Path, kind: str
) -> None:
    outcome = answer(claim(of=REMOTE))
    writing = Writing(*CLAIMS[:1], outcome=outcome)
    sandbox.fault("chat.update", kind, times=1, error="edit_window_closed", seconds=1)
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        shown = await showing(sandbox, asked, "Vous avez deux jours")
        writing.finish()
        await done(store)
        reply = the_answer(sandbox, store, asked, outcome)
    assert (reply.ts != shown.ts) == (kind == "error")


async def test_feedback_buttons_that_are_refused_are_plain_buttons_below_a_stream(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    sandbox.fault("chat.stopStream", "error", times=1, error="invalid_blocks")
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        await showing(sandbox, asked, "deux jours")
        writing.finish()
        await done(store)
        [reply] = visible(sandbox, asked)
    assert reply.blocks[-1]["type"] == "actions"
    assert said(reply).count("Vous avez deux jours") == 1


async def test_where_answers_are_private_nothing_is_shown_before(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
        channel = sandbox.workspace().channel("general").channel_id
        ChannelSettingsStore(engine).put(team(sandbox), channel, ChannelSettings(private=True))
        engine.dispose()
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.finish()
        await done_after(store, sandbox)
        assert sandbox.replies(asked) == []
    assert sandbox.calls("chat.startStream") == []
    assert len(sandbox.calls("chat.postMessage")) == 1


async def test_past_what_slack_takes_in_a_minute_answers_come_whole(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot.slack.streaming, "STARTS_A_MINUTE", 2)
    writing = Writing(*CLAIMS[:1])
    writing.turn.release(1_000)
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        for _ in range(4):
            asked = sandbox.direct_message("camille", "le télétravail ?")
            await done_after(store, sandbox)
            the_answer(sandbox, store, asked)
    assert len(sandbox.calls("chat.startStream")) <= 2


async def test_a_stopped_answer_grows_no_more(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.direct_message("camille", "le télétravail ?")
        writing.go_on()
        shown = await showing(sandbox, asked, "deux jours")
        sandbox.press_stop("camille", asked)
        note = await sandbox.wait_until(
            lambda: next((m for m in visible(sandbox, asked) if m.text == FRENCH.stopped), None)
        )
        writing.finish()
        await done(store)
        assert store.counts() == {JobState.FAILED: 1, JobState.DONE: 1}
        assert visible(sandbox, asked) == [shown, note]
    assert plain(shown.blocks) == plain(claim_blocks(CLAIMS[:1]))


def long_claims() -> list[Claim]:
    return [claim(of=REMOTE, sentence=f"Phrase {n} : {'mot ' * 160}fin.") for n in range(9)]


async def test_the_text_of_a_long_streamed_answer_is_never_a_part_of_it(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    claims = long_claims()
    outcome = answer(*claims, generator="modele")
    assert len(render_text(outcome)) > 4_000
    writing = Writing(*claims, outcome=outcome)
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on(9)
        await showing(sandbox, asked, "Phrase 0")
        writing.finish()
        await done(store)
        [reply] = visible(sandbox, asked)
    # Without text screen readers read the blocks.
    assert reply.text == ""
    assert all(f"Phrase {n} :" in said(reply) for n in range(9))
    assert reply.streaming_state == "completed"


@pytest.mark.parametrize("gone", ["undeliverable", "forgotten"])
async def test_the_stream_of_an_answer_that_never_comes_is_taken_away(
    sandbox: Sandbox, tmp_path: Path, writing: Writing, gone: str
) -> None:
    for method in ("chat.stopStream", "chat.postMessage"):
        sandbox.fault(method, "error", times=1, error="account_inactive")
    sandbox.fault("chat.update", "error", times=None, error="edit_window_closed")
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        await showing(sandbox, asked, "deux jours")
        if gone == "forgotten":
            engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
            forget_user(engine, asked.user_id)
            engine.dispose()
        writing.finish()
        await done(store)
        await sandbox.wait_until(lambda: not sandbox.replies(asked) or None)
    assert store.counts() == {JobState.FAILED: 1}


async def test_a_stream_that_was_stopped_without_slack_knowing_is_ended_and_stays(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        shown = await showing(sandbox, asked, "deux jours")
        thread = {"channel_id": asked.channel_id, "thread_ts": asked.ts}
        assert store.stop(team_id=team(sandbox), **thread) == 1
        writing.finish()
        await sandbox.wait_until(lambda: shown.streaming_state == "completed" or None)
        assert visible(sandbox, asked) == [shown]


async def test_a_stream_left_by_a_process_that_died_is_ended_by_the_next_one(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    async with running(sandbox, tmp_path, writing, rules=STREAMING, stop_limit_s=0.1):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        writing.go_on()
        await showing(sandbox, asked, "deux jours")
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    forget_user(engine, asked.user_id)
    engine.dispose()
    async with running(sandbox, tmp_path, writing):
        await sandbox.wait_until(lambda: not sandbox.replies(asked) or None)


async def test_a_pause_that_slack_asked_for_outlives_the_process(
    sandbox: Sandbox, tmp_path: Path, writing: Writing
) -> None:
    writing.finish()
    sandbox.fault("chat.startStream", "ratelimited", times=1, seconds=600)
    for _ in range(2):
        async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
            asked = sandbox.direct_message("camille", "le télétravail ?")
            await done_after(store, sandbox)
            the_answer(sandbox, store, asked)
    assert len(sandbox.calls("chat.startStream")) == 1


async def test_nothing_that_is_streamed_becomes_live(sandbox: Sandbox, tmp_path: Path) -> None:
    nasty = "<!channel> <@U1> <https://evil.example|clic> [a](https://evil.example) & <!here>"
    page = passage(nasty, title=nasty, heading_path=(nasty,), url="https://guide.example/x")
    claims = [claim(of=page), claim(of=page, sentence=f"Deux {nasty}")]
    writing = Writing(*claims, outcome=answer(*claims, generator="modele"))
    async with running(sandbox, tmp_path, writing, rules=STREAMING) as store:
        asked = sandbox.say("camille", "general", f"@Manuel {nasty}")
        writing.go_on(2)
        await showing(sandbox, asked, "Deux <!channel>")
        assert live_markup(sandbox) == []
        writing.finish()
        await done(store)
        the_answer(sandbox, store, asked, writing.outcome)  # type: ignore[arg-type]
    assert live_markup(sandbox, hosts=("https://guide.example/",)) == []


async def test_streams_are_off_where_no_model_writes(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(asked)
        await done(store)
    assert sandbox.calls("chat.startStream") == []
