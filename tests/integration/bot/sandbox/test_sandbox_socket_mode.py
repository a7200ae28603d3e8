"""The stand-in's Socket Mode over real WebSockets, with a bare client and with Bolt's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox


class BareApp:
    """A WebSocket client that acknowledges only when told to."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    async def next(self) -> dict[str, Any]:
        return await self.socket.receive_json(timeout=5)

    async def acknowledge(self, envelope: dict[str, Any], **more: Any) -> None:
        await self.socket.send_json({"envelope_id": envelope["envelope_id"], **more})


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def connect(sandbox: Sandbox, session: aiohttp.ClientSession) -> BareApp:
    headers = {"Authorization": f"Bearer {sandbox.world.app_token}"}
    async with session.post(f"{sandbox.api_url}apps.connections.open", headers=headers) as response:
        url = (await response.json())["url"]
    app = BareApp(await session.ws_connect(url))
    hello = await app.next()
    assert hello["type"] == "hello"
    return app


async def test_ticket_opens_one_connection_only(sandbox, session):
    await connect(sandbox, session)
    used = f"{sandbox.interactions.base_url}/link?ticket=unknown"
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await session.ws_connect(used)


async def test_acknowledged_event_is_sent_once(sandbox, session):
    app = await connect(sandbox, session)
    sandbox.say("camille", "general", "@Manuel ?")
    envelope = await app.next()
    assert envelope["type"] == "events_api"
    assert envelope["retry_attempt"] == 0
    assert envelope["retry_reason"] == ""
    assert envelope["accepts_response_payload"] is False
    await app.acknowledge(envelope)
    await sandbox.settled()
    [delivery] = sandbox.deliveries("app_mention")
    assert delivery.state is DeliveryState.ACKNOWLEDGED
    assert len(delivery.attempts) == 1
    assert sandbox.problems == []


async def test_event_without_acknowledgement_is_retried_by_slacks_timetable(sandbox, session):
    app = await connect(sandbox, session)
    sandbox.say("camille", "general", "@Manuel ?")
    first = await app.next()
    envelopes = [first]
    for wait_s in (0, 60, 300):
        sandbox.advance(3.01)
        await asyncio.sleep(0.02)
        sandbox.advance(wait_s)
        envelopes.append(await app.next())
    sandbox.advance(3.01)
    await sandbox.settled()
    assert sandbox.deliveries()[0].state is DeliveryState.FAILED
    assert [e["retry_attempt"] for e in envelopes] == [0, 1, 2, 3]
    assert {e["retry_reason"] for e in envelopes[1:]} == {"timeout"}
    assert len({e["envelope_id"] for e in envelopes}) == 4
    assert {e["payload"]["event_id"] for e in envelopes} == {first["payload"]["event_id"]}


async def test_redelivery_is_the_same_event_in_a_new_envelope(sandbox, session):
    app = await connect(sandbox, session)
    sandbox.say("camille", "general", "@Manuel ?")
    first = await app.next()
    await app.acknowledge(first)
    sandbox.redeliver(sandbox.deliveries()[0])
    second = await app.next()
    assert second["payload"] == first["payload"]
    assert second["retry_attempt"] == 1
    assert second["envelope_id"] != first["envelope_id"]


async def test_wrong_acknowledgements_are_problems(sandbox, session):
    app = await connect(sandbox, session)
    sandbox.say("camille", "general", "@Manuel ?")
    envelope = await app.next()
    await app.acknowledge(envelope, payload={"text": "x"})
    await app.acknowledge(envelope)
    await app.acknowledge({"envelope_id": "unknown"})
    await sandbox.wait_until(lambda: len(sandbox.problems) == 3)
    assert "with a payload" in sandbox.problems[0]
    assert "twice" in sandbox.problems[1]
    assert "unknown envelope" in sandbox.problems[2]


async def test_event_without_any_connection_is_lost(sandbox):
    sandbox.say("camille", "general", "@Manuel ?")
    await sandbox.settled()
    assert sandbox.deliveries()[0].state is DeliveryState.LOST


async def test_each_payload_goes_to_one_of_several_connections(sandbox, session):
    apps = [await connect(sandbox, session) for _ in range(2)]
    for n in range(20):
        sandbox.say("camille", "general", f"@Manuel {n} ?")
    await sandbox.wait_until(lambda: all(d.attempts for d in sandbox.deliveries()))
    numbers = {d.attempts[0].connection for d in sandbox.deliveries()}
    assert len(numbers) == len(apps)


async def test_eleventh_connection_is_turned_away(sandbox, session):
    apps = [await connect(sandbox, session) for _ in range(10)]
    headers = {"Authorization": f"Bearer {sandbox.world.app_token}"}
    async with session.post(f"{sandbox.api_url}apps.connections.open", headers=headers) as response:
        url = (await response.json())["url"]
    socket = await session.ws_connect(url)
    frame = await socket.receive_json(timeout=5)
    assert frame["reason"] == "too_many_websockets"
    assert frame["num_connections"] == len(apps)


async def test_warning_leaves_ten_seconds_then_closes(sandbox, session):
    app = await connect(sandbox, session)
    await sandbox.disconnect("warning")
    assert (await app.next())["reason"] == "warning"
    assert len(sandbox.socket_mode.connections) == 1
    sandbox.advance(10.1)
    message = await app.socket.receive(timeout=5)
    assert message.type is aiohttp.WSMsgType.CLOSE


async def test_command_that_is_not_acknowledged_times_out_for_the_person(sandbox, session):
    app = await connect(sandbox, session)
    delivery = sandbox.slash("camille", "general", "/handbook", "congés")
    envelope = await app.next()
    assert envelope["type"] == "slash_commands"
    assert envelope["accepts_response_payload"] is True
    sandbox.advance(3.1)
    await delivery.settled()
    assert delivery.state is DeliveryState.FAILED
    assert await sandbox.wait_until(lambda: sandbox.notices("camille")) == ["operation_timeout"]


async def test_command_nobody_declared_cannot_be_used(sandbox):
    with pytest.raises(LookupError):
        sandbox.slash("camille", "general", "/other")


async def test_direct_message_reaches_the_app_as_message_and_never_as_mention(sandbox):
    sandbox.direct_message("camille", "@Manuel bonjour")
    assert [d.event["type"] for d in sandbox.deliveries()] == ["message"]


async def test_channel_message_without_mention_is_not_sent(sandbox):
    sandbox.say("camille", "general", "bonjour tout le monde")
    assert sandbox.deliveries() == []


async def test_mention_where_the_app_is_not_is_not_sent(sandbox):
    sandbox.add_channel("ailleurs", with_bot=False)
    sandbox.say("camille", "ailleurs", "@Manuel ?")
    assert sandbox.deliveries() == []


async def test_mention_arrives_twice_when_channel_messages_are_subscribed_too():
    content = Manifest.read(DEFAULT_PATH)
    wider = Manifest(
        **{
            name: getattr(content, name)
            for name in content.__slots__
            if name not in ("events", "scopes")
        },
        events=content.events | {"message.channels"},
        scopes=content.scopes | {"channels:history"},
    )
    async with SandboxServer(manifest=wider) as sandbox:
        message = sandbox.say("camille", "general", "@Manuel ?")
        sent = sandbox.deliveries()
        assert [d.event["type"] for d in sent] == ["app_mention", "message"]
        assert {d.event["ts"] for d in sent} == {message.ts}
        assert len({d.payload["event_id"] for d in sent}) == 2


async def test_mention_added_by_an_edit_keeps_its_time_stamp(sandbox):
    message = sandbox.say("camille", "general", "combien ?")
    sandbox.edit(message, "@Manuel combien ?")
    [delivery] = sandbox.deliveries("app_mention")
    assert delivery.event["ts"] == message.ts
    assert delivery.event["edited"]["user"] == message.user_id
    sandbox.edit(message, "@Manuel combien de jours ?")
    assert len(sandbox.deliveries("app_mention")) == 1


async def test_mention_by_another_bot_carries_its_bot_id(sandbox):
    other = sandbox.add_bot("Gazette")
    sandbox.say("Gazette", "general", "@Manuel ?")
    [delivery] = sandbox.deliveries("app_mention")
    assert other.bot is not None
    assert delivery.event["bot_id"] == other.bot.bot_id


async def test_uninstall_events_come_only_where_subscribed(sandbox):
    sandbox.uninstall()
    assert sandbox.deliveries() == []
    http = Manifest.read(DEFAULT_PATH.with_name("manifest.oauth.json"))
    async with SandboxServer(manifest=http) as other:
        other.uninstall()
        assert {d.event["type"] for d in other.deliveries()} == {
            "tokens_revoked",
            "app_uninstalled",
        }


# With Bolt


class BoltApp:
    """A Bolt app connected to the stand-in, recording what its listeners are given."""

    def __init__(self, sandbox: Sandbox, session: aiohttp.ClientSession) -> None:
        environment = sandbox.environment
        client = AsyncWebClient(
            environment["SLACK_BOT_TOKEN"], base_url=sandbox.api_url, session=session
        )
        self.bolt = AsyncApp(client=client, signing_secret="x")
        self.handler = AsyncSocketModeHandler(self.bolt, environment["SLACK_APP_TOKEN"])


@pytest.fixture
async def bolt(sandbox, session) -> AsyncIterator[AsyncApp]:
    app = BoltApp(sandbox, session)
    await app.handler.connect_async()
    await sandbox.wait_for_connection()
    yield app.bolt
    await app.handler.close_async()


async def test_bolt_answers_in_the_thread_and_its_own_message_does_not_reach_it(sandbox, bolt):
    heard = []

    @bolt.event("message")
    async def direct(event, say):
        heard.append(event["text"])
        await say("voilà", thread_ts=event["ts"])

    root = sandbox.direct_message("camille", "bonjour")
    await sandbox.wait_for_reply(root, "voilà")
    await sandbox.settled()
    assert len(sandbox.deliveries("message")) == 2
    assert heard == ["bonjour"]


async def test_bolt_reconnects_after_a_lost_connection(sandbox, bolt):
    @bolt.event("app_mention")
    async def mention(event, say):
        await say("voilà", thread_ts=event["ts"])

    number = sandbox.socket_mode.connections[0].number
    await sandbox.disconnect("refresh_requested")
    connections = sandbox.socket_mode.connections
    await sandbox.wait_until(lambda: bool(connections) and connections[0].number > number)
    root = sandbox.say("camille", "general", "@Manuel ?")
    await sandbox.wait_for_reply(root, "voilà")


async def test_command_answers_by_acknowledgement_and_by_response_url(sandbox, bolt):
    @bolt.command("/handbook")
    async def command(ack, respond, command):
        await ack("je cherche")
        await respond(f"trouvé : {command['text']}")
        await respond("pour tous", response_type="in_channel")

    sandbox.slash("camille", "general", "/handbook", "congés <b>")
    await sandbox.wait_for_ephemeral("camille", "je cherche")
    found = await sandbox.wait_for_ephemeral("camille", "trouvé")
    assert found.text == "trouvé : congés &lt;b&gt;"
    shared = await sandbox.wait_for_message("general")
    assert shared.text == "pour tous"
    assert sandbox.ephemerals("james") == []


async def test_response_url_takes_five_answers_in_thirty_minutes(sandbox, session):
    app = await connect(sandbox, session)
    sandbox.slash("camille", "general", "/handbook", "a")
    sandbox.slash("camille", "general", "/handbook", "b")
    urls = [(await app.next())["payload"]["response_url"] for _ in range(2)]

    async def post(url: str) -> int:
        async with session.post(url, json={"text": "x"}) as response:
            return response.status

    assert [await post(urls[0]) for _ in range(6)] == [200] * 5 + [404]
    sandbox.advance(1801)
    assert await post(urls[1]) == 404


async def test_press_shares_an_ephemeral_and_takes_it_away(sandbox, bolt):
    @bolt.command("/handbook")
    async def command(ack, respond):
        button = {
            "type": "button",
            "action_id": "share",
            "value": "k1",
            "text": {"type": "plain_text", "text": "Partager"},
        }
        await ack()
        await respond("résultat", blocks=[{"type": "actions", "elements": [button]}])

    @bolt.action("share")
    async def share(ack, action, respond):
        await ack()
        await respond(f"partagé {action['value']}", response_type="in_channel")
        await respond(delete_original=True)

    sandbox.slash("camille", "general", "/handbook", "x")
    shown = await sandbox.wait_for_ephemeral("camille", "résultat")
    delivery = sandbox.click("camille", shown, "share")
    assert "message" not in delivery.payload
    shared = await sandbox.wait_for_message("general")
    assert shared.text == "partagé k1"
    await sandbox.wait_until(lambda: sandbox.ephemerals("camille") == [])


async def test_modal_is_submitted_refused_and_then_closed(sandbox, bolt):
    view = {
        "type": "modal",
        "callback_id": "why",
        "title": {"type": "plain_text", "text": "Pourquoi ?"},
        "submit": {"type": "plain_text", "text": "Envoyer"},
        "blocks": [
            {
                "type": "input",
                "block_id": "reason",
                "label": {"type": "plain_text", "text": "Raison"},
                "element": {"type": "plain_text_input", "action_id": "text"},
            }
        ],
    }

    @bolt.shortcut("ask_about_message")
    async def ask(ack, shortcut, client):
        await ack()
        await client.views_open(trigger_id=shortcut["trigger_id"], view=view)

    @bolt.view("why")
    async def submitted(ack, view):
        text = view["state"]["values"]["reason"]["text"]["value"]
        await ack(response_action="errors", errors={"reason": "vide"}) if not text else await ack()

    message = sandbox.say("camille", "general", "combien de congés ?")
    sandbox.shortcut("james", message, "ask_about_message")
    opened = await sandbox.wait_until(lambda: sandbox.modal("james"))
    sandbox.submit("james", {"reason": {"text": {"type": "plain_text_input", "value": ""}}})
    await sandbox.wait_until(lambda: opened.errors == {"reason": "vide"})
    sandbox.submit("james", {"reason": {"text": {"type": "plain_text_input", "value": "faux"}}})
    await sandbox.wait_until(lambda: sandbox.modal("james") is None)
    assert sandbox.problems == []
