"""A payload on its way from Slack to the app, and the port that carries it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from bot.sandbox.workspace import Json

ACK_TIMEOUT_S = 3.0
"""An app has this long to acknowledge. Source: the Events API and interactivity pages."""

RETRY_AFTER_S = (0.0, 60.0, 300.0)
"""Waits before the three retries of an event: at once, 1 min, 5 min. Source: the Events API."""


class DeliveryState(StrEnum):
    """How a delivery stands."""

    PENDING = "pending"
    ACKNOWLEDGED = "acknowledged"
    FAILED = "failed"
    LOST = "lost"
    """There was no connection to send it on."""


class PayloadKind(StrEnum):
    """What a delivery carries; the value is the `type` of its Socket Mode envelope."""

    EVENT = "events_api"
    COMMAND = "slash_commands"
    INTERACTION = "interactive"


@dataclass(slots=True)
class Attempt:
    """One sending of a payload."""

    envelope_id: str
    connection: int
    """Number of the connection it went to."""
    sent_at: float
    acknowledged_at: float | None = None


@dataclass(slots=True, eq=False)
class Delivery:
    """A payload, every attempt to send it, and the app's answer."""

    number: int
    kind: PayloadKind
    payload: Json
    accepts_response: bool
    state: DeliveryState = DeliveryState.PENDING
    attempts: list[Attempt] = field(default_factory=list)
    response: Json | None = None
    """Payload of the acknowledgement."""
    _settled: asyncio.Event = field(default_factory=asyncio.Event)

    def settle(self, state: DeliveryState, response: Json | None = None) -> None:
        """Give the delivery its final state."""
        self.state = state
        self.response = response
        self._settled.set()

    async def settled(self, timeout_s: float = 10.0) -> Delivery:
        """Wait for the acknowledgement, or for Slack to give up; returns itself.

        Raises:
            TimeoutError: After `timeout_s` seconds of real time.
        """
        async with asyncio.timeout(timeout_s):
            await self._settled.wait()
        return self

    @property
    def event(self) -> Json:
        """The event inside an Events API payload; empty for other kinds."""
        event = self.payload.get("event", {})
        return event if isinstance(event, dict) else {}


class Transport(Protocol):
    """Carries payloads to the app: Socket Mode, or signed HTTP requests."""

    deliveries: list[Delivery]
    """Everything sent so far, oldest first."""

    def deliver(self, kind: PayloadKind, payload: Json, *, accepts_response: bool) -> Delivery:
        """Start sending a payload and return at once."""
        ...

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Send an event once more, as a retry."""
        ...
