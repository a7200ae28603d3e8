"""A payload on its way from Slack to the app, and the port that carries it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum

from bot.sandbox.background import BackgroundTasks
from bot.sandbox.workspace import Json, World

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


class Sender(ABC):
    """Carries payloads to the app; what differs is how one is sent, in Socket Mode or by HTTP.

    Attributes:
        deliveries: Everything sent so far, oldest first.
        retry_after_s: Waits before the retries of an event.
    """

    def __init__(self, world: World) -> None:
        self.deliveries: list[Delivery] = []
        self.retry_after_s: tuple[float, ...] = RETRY_AFTER_S
        self._world = world
        self._tasks = BackgroundTasks()

    def deliver(self, kind: PayloadKind, payload: Json, *, accepts_response: bool) -> Delivery:
        """Start sending a payload and return at once."""
        delivery = self._new(kind, payload, accepts_response)
        self._tasks.start(self._run(delivery))
        return delivery

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Send an event once more as a first retry, as Slack does when an answer went lost."""
        again = self._new(delivery.kind, delivery.payload, delivery.accepts_response)
        self._tasks.start(self._run(again, first_retry=1))
        return again

    @abstractmethod
    async def _run(self, delivery: Delivery, first_retry: int = 0) -> None:
        """Send a payload, and again where Slack would, until it is settled."""

    def _new(self, kind: PayloadKind, payload: Json, accepts_response: bool) -> Delivery:
        delivery = Delivery(len(self.deliveries) + 1, kind, payload, accepts_response)
        self.deliveries.append(delivery)
        return delivery

    def _settle(
        self, delivery: Delivery, state: DeliveryState, response: Json | None = None
    ) -> None:
        delivery.settle(state, response)
        self._world.changes.publish("delivery", number=delivery.number, state=state)
