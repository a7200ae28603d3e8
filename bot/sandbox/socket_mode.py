"""Slack's side of Socket Mode: tickets, connections, envelopes, acknowledgements, retries."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import random
import uuid
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from bot.sandbox.delivery import (
    ACK_TIMEOUT_S,
    Attempt,
    Delivery,
    DeliveryState,
    PayloadKind,
    Sender,
)
from bot.sandbox.workspace import Json, World

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 10
"""Open connections of one app. Source: the Socket Mode page."""

PING_EVERY_S = 10.0
CONNECTION_LIFETIME_S = 18_060
WARNING_S = 10.0
"""Slack closes a connection about this long after `disconnect: warning`."""

HOST = "applink-sandbox"


@dataclass(slots=True, eq=False)
class Connection:
    """One open WebSocket of the app."""

    number: int
    socket: web.WebSocketResponse
    request: web.Request


@dataclass(slots=True)
class _Waiting:
    """An envelope sent and not yet acknowledged in time."""

    delivery: Delivery
    attempt: Attempt
    acknowledged: asyncio.Event = field(default_factory=asyncio.Event)
    response: Json | None = None


class SocketMode(Sender):
    """Gives out one-use addresses, keeps the connections and sends envelopes on any of them."""

    def __init__(self, world: World, *, seed: int = 0) -> None:
        super().__init__(world)
        self.connections: list[Connection] = []
        self._random = random.Random(seed)  # noqa: S311 - picks a connection, guards nothing
        self._tickets: set[str] = set()
        self._numbers = itertools.count(1)
        self._envelopes: dict[str, _Waiting] = {}

    # Connections

    def new_ticket(self) -> str:
        """Return a ticket that opens one connection."""
        ticket = str(uuid.uuid4())
        self._tickets.add(ticket)
        return ticket

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serve one WebSocket until it closes; 408 for a ticket unknown or used."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=408, text="ticket unknown or used")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(heartbeat=PING_EVERY_S)
        await socket.prepare(request)
        connection = Connection(next(self._numbers), socket, request)
        if len(self.connections) >= MAX_CONNECTIONS:
            await self._disconnect(connection, "too_many_websockets", at_once=True)
            return socket
        self.connections.append(connection)
        await socket.send_json(self._hello())
        self._world.changes.publish("connection", open=len(self.connections))
        try:
            await self._receive(connection)
        finally:
            if connection in self.connections:
                self.connections.remove(connection)
            self._world.changes.publish("connection", open=len(self.connections))
        return socket

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.connections),
            "debug_info": {
                "host": HOST,
                "build_number": 1,
                "approximate_connection_time": CONNECTION_LIFETIME_S,
            },
            "connection_info": {"app_id": self._world.app_id},
        }

    async def disconnect(self, reason: str) -> None:
        """Ask every open connection to go: `warning`, `refresh_requested` or `link_disabled`.

        The connection closes 10 s later after a warning, at once otherwise.
        """
        for connection in list(self.connections):
            await self._disconnect(connection, reason, at_once=reason != "warning")

    async def drop(self) -> None:
        """Cut every connection without a word, as a failing network does."""
        for connection in list(self.connections):
            self.connections.remove(connection)
            if (transport := connection.request.transport) is not None:
                transport.abort()

    async def _disconnect(self, connection: Connection, reason: str, *, at_once: bool) -> None:
        frame: Json = {"type": "disconnect", "reason": reason, "debug_info": {"host": HOST}}
        if reason == "too_many_websockets":
            frame["num_connections"] = len(self.connections)
            frame["connection_info"] = {"app_id": self._world.app_id}
        await connection.socket.send_json(frame)
        if connection in self.connections and reason != "warning":
            self.connections.remove(connection)
        if at_once:
            await connection.socket.close()
        else:
            self._tasks.start(self._close_later(connection))

    async def _close_later(self, connection: Connection) -> None:
        await self._world.clock.sleep(WARNING_S)
        if connection in self.connections:
            self.connections.remove(connection)
        await connection.socket.close()

    async def close(self) -> None:
        """Stop sending and close every connection."""
        await self._tasks.close()
        for connection in list(self.connections):
            await connection.socket.close()

    # Acknowledgements

    async def _receive(self, connection: Connection) -> None:
        async for frame in connection.socket:
            if frame.type is not WSMsgType.TEXT:
                continue
            try:
                content = json.loads(frame.data)
            except ValueError:
                # The SDK's own liveness text, not JSON: Slack ignores it too.
                continue
            if isinstance(content, dict):
                self._acknowledged(content)

    def _acknowledged(self, content: Json) -> None:
        envelope_id = content.get("envelope_id")
        waiting = self._envelopes.get(envelope_id) if isinstance(envelope_id, str) else None
        if waiting is None:
            self._world.report(f"acknowledgement of an unknown envelope: {envelope_id}")
            return
        if waiting.attempt.acknowledged_at is not None:
            self._world.report(f"envelope {envelope_id} acknowledged twice")
            return
        if "payload" in content and not waiting.delivery.accepts_response:
            self._world.report(f"acknowledgement with a payload for {waiting.delivery.kind}")
        waiting.attempt.acknowledged_at = self._world.clock.now()
        waiting.response = content.get("payload")
        waiting.acknowledged.set()

    # Sending

    async def _run(self, delivery: Delivery, first_retry: int = 0) -> None:
        reason = "timeout" if first_retry else ""
        retried = delivery.kind is PayloadKind.EVENT
        waits = (0.0, *self.retry_after_s) if retried else (0.0,)
        for attempt, wait_s in enumerate(waits, start=first_retry):
            await self._world.clock.sleep(wait_s)
            if not self.connections and not delivery.attempts:
                self._settle(delivery, DeliveryState.LOST)
                return
            waiting = await self._send(delivery, attempt, reason if attempt == first_retry else "")
            if waiting is not None and await self._in_time(waiting):
                self._settle(delivery, DeliveryState.ACKNOWLEDGED, waiting.response)
                return
            reason = "timeout"
        self._settle(delivery, DeliveryState.FAILED)

    async def _send(self, delivery: Delivery, attempt: int, reason: str) -> _Waiting | None:
        """Send one envelope; None when it could not leave."""
        if not self.connections:
            return None
        connection = self._random.choice(self.connections)
        sent = Attempt(str(uuid.uuid4()), connection.number, self._world.clock.now())
        delivery.attempts.append(sent)
        self._world.changes.publish("delivery", number=delivery.number, state=delivery.state)
        waiting = self._envelopes[sent.envelope_id] = _Waiting(delivery, sent)
        envelope: dict[str, Any] = {
            "envelope_id": sent.envelope_id,
            "payload": delivery.payload,
            "type": delivery.kind.value,
            "accepts_response_payload": delivery.accepts_response,
        }
        if delivery.kind is PayloadKind.EVENT:
            retry_reason = (reason or "timeout") if attempt else ""
            envelope |= {"retry_attempt": attempt, "retry_reason": retry_reason}
        try:
            await connection.socket.send_json(envelope)
        except ConnectionError:
            log.info("connection %s went while sending", connection.number)
            return None
        return waiting

    async def _in_time(self, waiting: _Waiting) -> bool:
        timer = asyncio.ensure_future(self._world.clock.sleep(ACK_TIMEOUT_S))
        acknowledged = asyncio.ensure_future(waiting.acknowledged.wait())
        try:
            await asyncio.wait({timer, acknowledged}, return_when=asyncio.FIRST_COMPLETED)
            return waiting.acknowledged.is_set()
        finally:
            timer.cancel()
            acknowledged.cancel()
