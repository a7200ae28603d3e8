"""What happened in the stand-in, as a stream: tests wait on it, a browser page can follow it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

KEPT = 1_000
"""Changes remembered for a reader that comes late."""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that happened.

    Attributes:
        number: From 1, growing by one.
        kind: `message`, `message_changed`, `message_deleted`, `ephemeral`, `view`, `session`,
            `delivery`, `call`, `connection`, `problem`, `reaction`, `person`, `channel`.
        ids: Ids of what changed: `team_id`, `channel_id`, `ts`, `user_id`…
    """

    number: int
    kind: str
    ids: dict[str, Any] = field(default_factory=dict)


class ChangeLog:
    """An in-memory log of changes that wakes its readers."""

    def __init__(self) -> None:
        self._changes: deque[Change] = deque(maxlen=KEPT)
        self._number = 0
        self._published = asyncio.Event()

    @property
    def last_number(self) -> int:
        """Number of the newest change; 0 before the first."""
        return self._number

    def publish(self, kind: str, **ids: Any) -> None:
        """Record a change and wake every reader."""
        self._number += 1
        self._changes.append(Change(self._number, kind, ids))
        published, self._published = self._published, asyncio.Event()
        published.set()

    async def follow(self, after: int = 0) -> AsyncIterator[Change]:
        """Yield changes numbered above `after`, past ones first, then new ones for ever."""
        while True:
            published = self._published
            for change in [c for c in self._changes if c.number > after]:
                after = change.number
                yield change
            if self._number == after or published is self._published:
                await published.wait()

    async def wait_until(self, found: Callable[[], T | None], *, timeout_s: float) -> T:
        """Return the first true value of `found()`, asked again after each change.

        Raises:
            TimeoutError: After `timeout_s` seconds of real time.
        """
        async with asyncio.timeout(timeout_s):
            while True:
                published = self._published
                value = found()
                if value:
                    return value
                await published.wait()
