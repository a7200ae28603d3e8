"""The stand-in as Slack in HTTP mode: signatures, timetable of retries, what ends them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from slack_sdk.signature import SignatureVerifier

from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer


@dataclass
class App:
    """An app that answers as told, and remembers what it got."""

    answers: list[web.Response] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    slow_s: float = 0.0

    async def handle(self, request: web.Request) -> web.Response:
        self.got.append((dict(request.headers), await request.read()))
        await asyncio.sleep(self.slow_s)
        return self.answers.pop(0) if self.answers else web.Response()


@pytest.fixture
async def app() -> App:
    return App()


@pytest.fixture
async def sandbox(app: App) -> AsyncIterator[Sandbox]:
    served = web.Application()
    served.router.add_post("/slack/events", app.handle)
    runner = web.AppRunner(served, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    manifest = Manifest.read(DEFAULT_PATH.with_name("manifest.http.json"))
    async with SandboxServer(manifest=manifest) as sandbox:
        port = runner.addresses[0][1]
        sandbox.http.request_url = f"http://127.0.0.1:{port}/slack/events"
        sandbox.http.retry_after_s = (0.0, 0.0, 0.0)
        yield sandbox
        assert sandbox.problems == []
    await runner.cleanup()


async def test_every_request_bears_a_signature_that_slacks_own_verifier_accepts(sandbox, app):
    sandbox.say("camille", "general", "@Manuel ça marche ?")
    sandbox.slash("camille", "general", "/handbook", "congés & RTT")
    await sandbox.settled()
    verifier = SignatureVerifier(sandbox.world.signing_secret)
    assert len(app.got) == 2
    for headers, body in app.got:
        assert verifier.is_valid_request(body, headers)
        assert not verifier.is_valid_request(body + b" ", headers)


async def test_an_event_is_sent_again_with_its_number_and_the_reason_until_it_is_taken(
    sandbox, app
):
    app.answers = [web.Response(status=500), web.Response(status=404)]
    sandbox.say("camille", "general", "@Manuel ?")
    await sandbox.settled()
    told = [(h.get("X-Slack-Retry-Num"), h.get("X-Slack-Retry-Reason")) for h, _ in app.got]
    assert told == [(None, None), ("1", "http_error"), ("2", "http_error")]
    assert len({json.loads(body)["event_id"] for _, body in app.got}) == 1
    [delivery] = sandbox.deliveries()
    assert delivery.state is DeliveryState.ACKNOWLEDGED


async def test_slack_gives_up_after_three_retries_or_at_once_where_it_is_asked_to(sandbox, app):
    app.answers = [web.Response(status=500) for _ in range(4)]
    sandbox.say("camille", "general", "@Manuel un")
    await sandbox.settled()
    assert len(app.got) == 4
    app.answers = [web.Response(status=500, headers={"X-Slack-No-Retry": "1"})]
    sandbox.say("camille", "general", "@Manuel deux")
    await sandbox.settled()
    assert len(app.got) == 5
    assert [d.state for d in sandbox.deliveries()] == [DeliveryState.FAILED] * 2


async def test_a_command_is_sent_once_and_its_answer_is_shown(sandbox, app):
    app.answers = [web.json_response({"text": "bonjour"}), web.Response(status=500)]
    sandbox.slash("camille", "general", "/handbook", "un")
    shown = await sandbox.wait_for_ephemeral("camille")
    assert shown.text == "bonjour"
    await sandbox.slash("camille", "general", "/handbook", "deux").settled()
    await sandbox.wait_until(lambda: sandbox.notices("camille"))
    assert sandbox.notices("camille") == ["operation_timeout"]
    assert len(app.got) == 2


async def test_an_answer_after_three_seconds_comes_too_late(sandbox, app, monkeypatch):
    monkeypatch.setattr("bot.sandbox.http_mode.ACK_TIMEOUT_S", 0.1)
    app.slow_s = 0.3
    await sandbox.slash("camille", "general", "/handbook", "un").settled()
    assert [d.state for d in sandbox.deliveries()] == [DeliveryState.FAILED]


async def test_the_challenge_counts_only_when_it_comes_back(sandbox, app):
    assert not await sandbox.http.verify_url()
    app.answers = [web.json_response({"challenge": "other"})]
    assert not await sandbox.http.verify_url()
