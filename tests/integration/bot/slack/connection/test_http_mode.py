"""HTTP mode on real sockets: who is believed, what is refused, what operators see."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bot.metrics import Metrics
from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer
from bot.slack.connection.http_mode import HttpReceiver
from bot.slack.readiness import HandbookWhenReady
from bot.slack.shortcut import ASK_ABOUT
from bot.slack.wording import NOT_INSTALLED
from bot.web import MAX_BODY_BYTES, WebServer
from ingest import Audiences, ConfigurationError, IndexNotBuiltError
from tests.outcomes import abstention
from tests.slack_running import ScriptedHandbook, knows_remote_work, running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    manifest = Manifest.read(DEFAULT_PATH.with_name("manifest.http.json"))
    async with SandboxServer(manifest=manifest) as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def an_event(sandbox: Sandbox) -> bytes:
    """Return the body of an event as Slack sent it; it is answered already."""
    asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
    await sandbox.wait_for_reply(asked)
    [delivery] = sandbox.deliveries("app_mention")
    return json.dumps(delivery.payload).encode()


async def post(
    sandbox: Sandbox, session: aiohttp.ClientSession, body: bytes, headers: dict[str, str]
) -> int:
    headers = {"Content-Type": "application/json", **headers}
    async with session.post(sandbox.http.request_url, data=body, headers=headers) as response:
        return response.status


async def look(sandbox: Sandbox, session: aiohttp.ClientSession, path: str) -> tuple[int, str]:
    address = sandbox.http.request_url.removesuffix("/slack/events")
    async with session.get(f"{address}{path}") as response:
        return response.status, await response.text()


async def test_the_request_url_answers_the_challenge(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path):
        assert await sandbox.http.verify_url()


@pytest.mark.parametrize("age_s", [-301, 301, 3_600])
async def test_a_request_signed_too_long_ago_or_in_the_future_is_refused(
    sandbox: Sandbox, session: aiohttp.ClientSession, tmp_path: Path, age_s: int
) -> None:
    async with running(sandbox, tmp_path) as store:
        body = (await an_event(sandbox)).replace(b'"event_id": "Ev', b'"event_id": "EvOld')
        signed = sandbox.http.sign(body, at=time.time() - age_s)
        assert await post(sandbox, session, body, signed) == 401
        assert sum(store.counts().values()) == 1


@pytest.mark.parametrize("wrong", ["nothing", "signature", "body", "timestamp"])
async def test_a_request_that_slack_did_not_sign_is_refused(
    sandbox: Sandbox, session: aiohttp.ClientSession, tmp_path: Path, wrong: str
) -> None:
    async with running(sandbox, tmp_path) as store:
        body = (await an_event(sandbox)).replace(b'"ts": "', b'"ts": "9')
        body = body.replace(b'"event_id": "Ev', b'"event_id": "EvForged')
        headers = sandbox.http.sign(body)
        match wrong:
            case "nothing":
                headers = {}
            case "signature":
                headers["X-Slack-Signature"] = "v0=" + "0" * 64
            case "body":
                body = body.replace(b"camille", b"amina") + b" "
            case "timestamp":
                headers["X-Slack-Request-Timestamp"] = str(int(time.time()) - 1)
        assert await post(sandbox, session, body, headers) == 401
        assert sum(store.counts().values()) == 1


async def test_a_request_repeated_within_the_window_is_answered_once(
    sandbox: Sandbox, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path) as store:
        body = await an_event(sandbox)
        headers = sandbox.http.sign(body)
        retry = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
        statuses = [await post(sandbox, session, body, headers) for _ in range(3)]
        statuses.append(await post(sandbox, session, body, headers | retry))
        await asyncio.sleep(0.3)

        assert statuses == [200] * 4
        assert sum(store.counts().values()) == 1
    assert len(sandbox.calls("chat.postMessage")) == 1


async def test_another_workspace_that_has_the_app_by_a_link_is_not_served(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    team = sandbox.add_workspace("Ailleurs").team_id
    sandbox.add_user("zoe", team=team)
    sandbox.add_channel("general", team=team)
    async with running(sandbox, tmp_path) as store:
        said = sandbox.say("zoe", "general", "@Manuel le télétravail ?", team=team)
        sandbox.slash("zoe", "general", "/handbook", "télétravail", team=team)
        sandbox.shortcut("zoe", said, ASK_ABOUT, team=team)
        await sandbox.wait_for_ephemeral("zoe", NOT_INSTALLED, team=team)
        await sandbox.settled()
        await asyncio.sleep(0.3)
        assert store.counts() == {}
        assert len(sandbox.ephemerals("zoe", team=team)) == 1
        assert sandbox.calls("views.open") == []


async def test_what_is_no_request_of_slack_does_no_harm(
    sandbox: Sandbox, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        for body, status in (
            (b"\xff\xfe", 400),
            (b"x" * (MAX_BODY_BYTES + 1), 413),
            (b"", 401),
            (b"{}", 401),
        ):
            assert await post(sandbox, session, body, {}) == status
        assert (await look(sandbox, session, "/slack/events"))[0] == 405
        assert (await look(sandbox, session, "/slack/install"))[0] == 404


async def test_slack_is_asked_to_come_again_until_the_app_is_ready(
    session: aiohttp.ClientSession,
) -> None:
    web = WebServer("127.0.0.1", 0, HttpReceiver("secret").routes)
    await web.start()
    async with session.post(f"http://127.0.0.1:{web.port}/slack/events", data=b"{}") as response:
        assert response.status == 503
    await web.stop()


async def test_an_address_that_is_taken_is_named() -> None:
    first = WebServer("127.0.0.1", 0, [])
    await first.start()
    with pytest.raises(ConfigurationError, match=f"port {first.port} .*HTTP_PORT"):
        await WebServer("127.0.0.1", first.port, []).start()
    await first.stop()


async def test_failed_requests_are_repeated_and_then_answered_once(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.http.retry_after_s = (0.5, 0.5, 0.5)
    url = ""
    async with running(sandbox, tmp_path):
        url, sandbox.http.request_url = sandbox.http.request_url, "http://127.0.0.1:9/"
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await asyncio.sleep(0.2)
        sandbox.http.request_url = url
        await sandbox.wait_for_reply(asked)
        await sandbox.settled()
        [delivery] = sandbox.deliveries("app_mention")

    assert delivery.state is DeliveryState.ACKNOWLEDGED
    assert len(delivery.attempts) == 2
    assert len(sandbox.replies(asked)) == 1


async def test_health_names_what_is_wrong_and_lives_on(
    sandbox: Sandbox, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        status, text = await look(sandbox, session, "/healthz")
        assert status == 503
        assert json.loads(text) == {
            "status": "failing",
            "checks": {
                "database": "ok",
                "index": "not built yet",
                "workers": "ok",
                "slack": "ok",
            },
        }
        assert (await look(sandbox, session, "/healthz/live"))[0] == 200


async def test_metrics_count_what_happened_without_words_or_people(
    sandbox: Sandbox, session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    def known_or_down(question: Question, audiences: Audiences, _on_claim: object) -> Outcome:
        if "panne" in question.text:
            raise IndexNotBuiltError("nothing")
        return abstention() if "coffre" in question.text else knows_remote_work(question, audiences)

    metrics = Metrics()
    scripted = ScriptedHandbook(known_or_down)
    handbook = HandbookWhenReady(lambda: scripted, metrics)
    async with running(sandbox, tmp_path, handbook=handbook, metrics=metrics):  # type: ignore[arg-type]
        for words in ("le télétravail ?", "le code du coffre ?", "la panne ?"):
            asked = sandbox.say("camille", "general", f"@Manuel {words}")
            await sandbox.wait_for_reply(asked)
        sandbox.redeliver(sandbox.deliveries("app_mention")[0])
        await sandbox.settled()
        await asyncio.sleep(0.3)
        status, text = await look(sandbox, session, "/metrics")

    assert status == 200
    lines = text.splitlines()
    assert 'manuel_outcomes_total{outcome="answer",reason=""} 1.0' in lines
    assert 'manuel_outcomes_total{outcome="abstention",reason="unsupported"} 1.0' in lines
    assert 'manuel_outcomes_total{outcome="outage",reason=""} 1.0' in lines
    assert "manuel_answer_seconds_count 2.0" in lines
    assert 'manuel_jobs{state="done"} 3.0' in lines
    assert 'manuel_jobs{state="pending"} 0.0' in lines
    assert 'manuel_slack_requests_total{kind="event_callback",retried="no"} 3.0' in lines
    assert 'manuel_slack_requests_total{kind="event_callback",retried="yes"} 1.0' in lines
    assert 'manuel_slack_calls_total{method="chat.postMessage",result="ok"} 3.0' in lines
    assert "manuel_index_chunks 0.0" in lines
    for secret in ("télétravail", "coffre", sandbox.workspace().user("camille").user_id):
        assert secret not in text


async def test_slack_dropping_events_is_told_to_operators(
    sandbox: Sandbox,
    session: aiohttp.ClientSession,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    notice = {
        "token": "x",
        "type": "app_rate_limited",
        "team_id": sandbox.workspace().team_id,
        "minute_rate_limited": 1_518_467_820,
        "api_app_id": sandbox.world.app_id,
    }
    body = json.dumps(notice).encode()
    async with running(sandbox, tmp_path):
        assert await post(sandbox, session, body, sandbox.http.sign(body)) == 200
        _, text = await look(sandbox, session, "/metrics")

    assert "manuel_slack_events_held_back_total 1.0" in text
    assert [r.levelname for r in caplog.records if "dropped events" in r.message] == ["ERROR"]
