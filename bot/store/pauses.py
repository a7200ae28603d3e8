"""Calls that Slack wants less of for a while, for whoever starts meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine, and_, delete, insert, or_, select

from bot.store.tables import pauses
from bot.store.transactions import transaction


@dataclass(frozen=True, slots=True)
class Pause:
    """A call that is to wait.

    Attributes:
        call: A method of Slack's Web API, with the channel where Slack counts by channel.
        until: Seconds since the epoch.
    """

    team_id: str
    call: str
    until: float


class PauseStore:
    """Keeps pauses until they are over; safe to share between threads.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        now: Clock in seconds since the epoch.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now

    def put(self, pause: Pause) -> None:
        """Keep a pause, instead of an earlier one of the same call."""
        same = and_(pauses.c.team_id == pause.team_id, pauses.c.call == pause.call)
        values = {"team_id": pause.team_id, "call": pause.call, "until": pause.until}
        with transaction(self._engine) as connection:
            over = pauses.c.until < self._now()
            connection.execute(delete(pauses).where(or_(same, over)))
            connection.execute(insert(pauses).values(values))

    def lasting(self) -> list[Pause]:
        """Return the pauses that are not over."""
        found = select(pauses).where(pauses.c.until > self._now())
        with transaction(self._engine, reads=True) as connection:
            rows = connection.execute(found).all()
        return [Pause(row.team_id, row.call, row.until) for row in rows]
