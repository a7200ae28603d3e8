"""The Slack app against the stand-in, over real HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState, PayloadKind
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer
from bot.settings import BotSettings
from bot.slack.app import serve
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import JobState, open_engine
from ingest import Audiences, ConfigurationError, IndexNotBuiltError
from tests.outcomes import abstention, answer, claim, passage
from tests.slack_running import knows_remote_work, running

ABSTENTION = "je ne sais pas"
MANIFESTS = {
    "socket": Manifest.read(DEFAULT_PATH),
    "http": Manifest.read(DEFAULT_PATH.with_name("manifest.http.json")),
}


@pytest.fixture(params=["socket", "http"])
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """A stand-in that reaches the app in either way."""
    async with SandboxServer(manifest=MANIFESTS[request.param]) as sandbox:
        yield sandbox
        assert sandbox.problems == []


async def quiet(sandbox: Sandbox, seconds: float = 0.5) -> None:
    """Wait until every event is settled, and long enough for a wrong reply to show."""
    await sandbox.settled()
    await asyncio.sleep(seconds)


async def test_a_mention_gets_one_answer_in_its_thread_with_its_source(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path) as store:
        asked = sandbox.say("camille", "general", "@Manuel combien de télétravail ?")
        reply = await sandbox.wait_for_reply(asked)
        await quiet(sandbox)

        assert sandbox.replies(asked) == [reply]
        assert reply.thread_ts == asked.ts
        assert "Deux jours de télétravail par semaine. [1]" in reply.text
        assert "https://guide.example/teletravail#rythme" in reply.text
        assert store.counts() == {JobState.DONE: 1}
    post = sandbox.calls("chat.postMessage")[0].arguments
    assert post["unfurl_links"] in (False, "false", "False", "0")
    assert post["unfurl_media"] in (False, "false", "False", "0")


async def test_a_mention_in_a_thread_is_answered_in_that_thread(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        root = sandbox.say("james", "general", "question de télétravail")
        sandbox.say("camille", "general", "@Manuel une idée du télétravail ?", thread_ts=root.ts)
        reply = await sandbox.wait_for_reply(root)

    assert reply.thread_ts == root.ts


async def test_a_first_direct_message_is_answered_in_its_thread(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        asked = sandbox.direct_message("james", "How much remote work is allowed?")
        reply = await sandbox.wait_for_reply(asked)

    assert ENGLISH.quoted in reply.text
    assert reply.thread_ts == asked.ts


async def test_an_unanswerable_question_gets_the_fixed_words_and_no_source(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        asked = sandbox.say("camille", "general", "@Manuel quel est le code du coffre ?")
        reply = await sandbox.wait_for_reply(asked)

    assert reply.text == f"{ABSTENTION}\n\n{FRENCH.try_next}"
    assert reply.blocks[0]["text"]["text"] == ABSTENTION
    assert "http" not in str(reply.blocks)
    assert "Cuisine secrète" not in str(reply.blocks)


async def test_a_mention_without_a_question_gets_an_explanation(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        asked = sandbox.say("camille", "general", "@Manuel")
        reply = await sandbox.wait_for_reply(asked)

    assert reply.text == FRENCH.help


async def test_the_same_event_twice_and_its_message_twin_get_one_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(asked)
        [delivery] = sandbox.deliveries("app_mention")
        await sandbox.redeliver(delivery).settled()
        # Another event of the same message, as when channel messages are subscribed to as well.
        for event_type in ("app_mention", "message"):
            twin = {
                **delivery.payload,
                "event_id": f"Ev-twin-{event_type}",
                "event": {**delivery.event, "type": event_type, "channel_type": "channel"},
            }
            sent = sandbox.transport.deliver(PayloadKind.EVENT, twin, accepts_response=False)
            await sent.settled()
            assert sent.state is DeliveryState.ACKNOWLEDGED
        await quiet(sandbox)

        assert len(sandbox.replies(asked)) == 1
        assert store.counts() == {JobState.DONE: 1}


async def test_edits_deletions_bots_and_strange_messages_get_no_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.add_bot("Autre")
    sandbox.join("Autre", "general")
    async with running(sandbox, tmp_path) as store:
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        private = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_for_reply(asked)
        await sandbox.wait_for_reply(private)
        sandbox.edit(asked, "@Manuel et le télétravail du vendredi ?")
        sandbox.edit(private, "et le télétravail du vendredi ?")
        plain = sandbox.say("camille", "general", "bonjour le télétravail")
        sandbox.edit(plain, "@Manuel bonjour le télétravail")
        sandbox.say("Autre", "general", "@Manuel le télétravail ?")
        await quiet(sandbox)
        sandbox.delete(private)
        await quiet(sandbox)

        assert store.counts() == {JobState.DONE: 2}
    assert all(delivery.state is DeliveryState.ACKNOWLEDGED for delivery in sandbox.deliveries())
    assert len(sandbox.calls("chat.postMessage")) == 2


async def test_unknown_events_and_commands_are_acknowledged(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        sandbox.open_home("camille")
        command = await sandbox.slash("camille", "general", "/handbook", "x").settled()
        await sandbox.settled()

    assert command.state is DeliveryState.ACKNOWLEDGED
    assert [d.state for d in sandbox.deliveries("app_home_opened")] == [DeliveryState.ACKNOWLEDGED]


async def test_nothing_in_a_question_or_a_page_becomes_live(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    nasty = "<!channel> <@U1> <https://evil.example|clic> & <!subteam^S1>"
    page = passage(nasty, title=nasty, heading_path=(nasty,), url="https://guide.example/x")
    async with running(sandbox, tmp_path, lambda *_: answer(claim(of=page))):
        asked = sandbox.say("camille", "general", f"@Manuel {nasty}")
        reply = await sandbox.wait_for_reply(asked)

    assert "<" not in reply.text
    assert ">" not in reply.text
    texts = str([block for block in reply.blocks if block["type"] != "rich_text"])
    assert "<" not in texts
    links = [
        element
        for block in reply.blocks
        if block["type"] == "rich_text"
        for part in block["elements"]
        for item in part["elements"]
        for element in item.get("elements", [item])
        if element["type"] not in {"text", "link"}
    ]
    assert links == []


async def test_an_outage_is_said_to_be_one(sandbox: Sandbox, tmp_path: Path) -> None:
    def broken(_question: Question, _audiences: Audiences) -> Outcome:
        raise IndexNotBuiltError("nothing here: secret details")

    async with running(sandbox, tmp_path, broken):
        asked = sandbox.say("james", "general", "@Manuel what is the remote policy?")
        reply = await sandbox.wait_for_reply(asked)

    assert reply.text == ENGLISH.outage
    assert ABSTENTION not in reply.text


async def test_an_unexpected_error_is_tried_again_then_admitted_and_logged_without_the_question(
    sandbox: Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[str] = []

    def broken(question: Question, _audiences: Audiences) -> Outcome:
        tries.append(question.text)
        raise KeyError(question.text)

    async with running(sandbox, tmp_path, broken):
        asked = sandbox.say("camille", "general", "@Manuel mon salaire secret ?")
        reply = await sandbox.wait_for_reply(asked, timeout_s=20)

    assert reply.text == FRENCH.failure
    assert len(tries) == 3
    assert "unexpected KeyError" in caplog.text
    assert "salaire" not in caplog.text


async def test_a_failing_answer_that_works_the_second_time_is_given(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    tries: list[str] = []

    def once_broken(question: Question, audiences: Audiences) -> Outcome:
        tries.append(question.text)
        if len(tries) == 1:
            raise RuntimeError
        return knows_remote_work(question, audiences)

    async with running(sandbox, tmp_path, once_broken):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        reply = await sandbox.wait_for_reply(asked)

    assert "Deux jours" in reply.text


async def test_asking_to_slow_down_delays_the_answer(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.fault("chat.postMessage", "ratelimited", times=2, seconds=1)
    async with running(sandbox, tmp_path):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(asked, timeout_s=20)
        await quiet(sandbox)

    assert len(sandbox.replies(asked)) == 1
    assert len(sandbox.calls("chat.postMessage")) == 3


@pytest.mark.parametrize("kind", ["drop_before", "drop_after", "server_error", "error"])
async def test_a_post_of_unknown_fate_is_looked_for_before_it_is_repeated(
    sandbox: Sandbox, tmp_path: Path, kind: str
) -> None:
    sandbox.fault("chat.postMessage", kind)
    async with running(sandbox, tmp_path) as store:
        asked = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_for_reply(asked, timeout_s=20)
        await sandbox.wait_until(
            lambda: sandbox.calls("conversations.replies") or None, timeout_s=20
        )
        await quiet(sandbox, 1.0)

        assert store.counts() == {JobState.DONE: 1}
    assert len(sandbox.replies(asked)) == 1
    assert len(sandbox.calls("conversations.replies")) == 1


async def test_a_terminal_refusal_is_recorded_and_not_repeated(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.fault("chat.postMessage", "error", times=None, error="account_inactive")
    async with running(sandbox, tmp_path) as store:
        sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_call("chat.postMessage")
        await quiet(sandbox, 1.5)

        assert store.counts() == {JobState.FAILED: 1}
    assert len(sandbox.calls("chat.postMessage")) == 1


async def test_a_closed_place_is_answered_in_a_direct_message(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.fault("chat.postMessage", "error", error="restricted_action_thread_locked")
    async with running(sandbox, tmp_path):
        sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_call("chat.postMessage", count=2)
        await quiet(sandbox)

    direct = sandbox.workspace().direct(sandbox.workspace().user("camille").user_id)
    [message] = [m for m in direct.messages.values() if m.bot]
    assert message.text.startswith(FRENCH.moved_here)
    assert "Deux jours" in message.text


async def test_refused_blocks_leave_the_plain_text(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.fault("chat.postMessage", "error", times=2, error="invalid_blocks")
    async with running(sandbox, tmp_path):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        reply = await sandbox.wait_for_reply(asked)

    assert "Deux jours" in reply.text
    assert reply.blocks == []


@pytest.mark.parametrize("sandbox", ["socket"], indirect=True)
async def test_a_dropped_connection_loses_no_question(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path):
        for cut in (sandbox.drop_connections, sandbox.disconnect):
            before = sandbox.socket_mode.connections[0].number
            await cut()
            await sandbox.wait_until(
                lambda before=before: any(
                    c.number > before for c in sandbox.socket_mode.connections
                ),
                timeout_s=20,
            )
            asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
            await sandbox.wait_for_reply(asked, timeout_s=20)


async def test_stopping_lets_an_answer_under_way_end(sandbox: Sandbox, tmp_path: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(question: Question, audiences: Audiences) -> Outcome:
        begun.set()
        go_on.wait(10)
        return knows_remote_work(question, audiences)

    async with running(sandbox, tmp_path, slow):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await asyncio.to_thread(begun.wait, 10)
        asyncio.get_running_loop().call_later(0.3, go_on.set)

    # Answered, and delivered at the latest after the restart.
    async with running(sandbox, tmp_path):
        await sandbox.wait_for_reply(asked)
        await quiet(sandbox)
    assert len(sandbox.replies(asked)) == 1


async def test_what_does_not_end_in_time_is_handed_back_and_answered_after_the_restart(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def stuck(_question: Question, _audiences: Audiences) -> Outcome:
        begun.set()
        go_on.wait(10)
        return abstention()

    async with running(sandbox, tmp_path, stuck, stop_limit_s=0.2):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await asyncio.to_thread(begun.wait, 10)
    go_on.set()
    async with running(sandbox, tmp_path, lease_s=600) as store:
        reply = await sandbox.wait_for_reply(asked)
        await quiet(sandbox)
        assert store.counts() == {JobState.DONE: 1}

    assert "Deux jours" in reply.text
    assert len(sandbox.replies(asked)) == 1


async def test_many_questions_at_once_get_one_answer_each(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.fault("chat.postMessage", "ratelimited", times=None, share=0.05, seconds=1)
    async with running(sandbox, tmp_path) as store:
        asked = [
            sandbox.say("camille", "general", f"@Manuel télétravail numéro {n} ?")
            for n in range(60)
        ]
        for question in asked:
            await sandbox.wait_for_reply(question, timeout_s=60)
        await quiet(sandbox)

        assert store.counts() == {JobState.DONE: 60}
    assert [len(sandbox.replies(question)) for question in asked] == [1] * 60


async def test_a_question_that_cannot_be_stored_is_not_acknowledged_and_comes_again(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        blocker = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
        with blocker.begin():  # holds the write lock
            asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
            [delivery] = sandbox.deliveries("app_mention")
            await asyncio.sleep(3.5)
            assert delivery.attempts[0].acknowledged_at is None
        blocker.dispose()
        await sandbox.wait_for_reply(asked, timeout_s=20)
        await quiet(sandbox)

    assert len(sandbox.replies(asked)) == 1


async def test_oauth_variables_in_the_environment_change_nothing(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_CLIENT_ID", "1.2")
    monkeypatch.setenv("SLACK_CLIENT_SECRET", "secret")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-other")
    async with running(sandbox, tmp_path):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(asked)


@pytest.mark.parametrize("sandbox", ["socket"], indirect=True)
@pytest.mark.parametrize("variable", ["SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"])
async def test_a_refused_or_missing_token_is_named(
    sandbox: Sandbox, tmp_path: Path, variable: str
) -> None:
    tokens = {
        "SLACK_BOT_TOKEN": sandbox.workspace().bot_token,
        "SLACK_APP_TOKEN": sandbox.world.app_token,
    }
    common = {
        "database_url": f"sqlite:///{tmp_path / 'manuel.db'}",
        "embedding_model": "none",
        "slack_api_url": sandbox.api_url,
    }
    for wrong in ("", f"{tokens[variable][:5]}wrong"):
        chosen = {**tokens, variable: wrong}
        settings = BotSettings(
            _env_file=None, **common, **{name.lower(): token for name, token in chosen.items()}
        )
        with pytest.raises(ConfigurationError, match=variable):
            await serve(settings)
    sandbox.problems.clear()
