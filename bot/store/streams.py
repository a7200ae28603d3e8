"""Messages that answers grow in, so that each of them ends, whatever becomes of its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Engine, and_, delete, or_, select, update

from bot.store.tables import jobs, streams
from bot.store.transactions import transaction

STOPPED = "stopped"
"""Why a job failed that a person ended; what it has shown stays."""
TRY_AGAIN_S = 30.0
"""How long a stream waits that somebody is ending, or that could not be ended."""


@dataclass(frozen=True, slots=True)
class LeftStream:
    """A message that grows no more, and is no outcome.

    Attributes:
        keeps: What it shows stays: a person stopped the answer.
    """

    team_id: str
    channel_id: str
    ts: str
    keeps: bool


class LeftStreams:
    """Finds the streams whose answer ended otherwise; `JobStore` records them as they begin.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        now: Clock in seconds since the epoch.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now

    def claim(self) -> LeftStream | None:
        """Return one to end, and to `forget` then; it is offered again after a while."""
        now = self._now()
        its_job_ended = or_(jobs.c.job_id.is_(None), jobs.c.finished_at.is_not(None))
        left = (
            select(streams, jobs.c.failure)
            .outerjoin(jobs, jobs.c.job_id == streams.c.job_id)
            .where(streams.c.due_at <= now, its_job_ended)
            .order_by(streams.c.due_at)
            .limit(1)
        )
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(left).one_or_none()
        if row is None:
            return None
        found = LeftStream(row.team_id, row.channel_id, row.ts, keeps=row.failure == STOPPED)
        still_due = and_(_is(found), streams.c.due_at == row.due_at)
        taking = update(streams).where(still_due).values(due_at=now + TRY_AGAIN_S)
        with transaction(self._engine) as connection:
            return found if connection.execute(taking).rowcount else None

    def forget(self, left: LeftStream) -> None:
        """Note that it has ended."""
        with transaction(self._engine) as connection:
            connection.execute(delete(streams).where(_is(left)))


def _is(left: LeftStream) -> ColumnElement[bool]:
    return and_(
        streams.c.team_id == left.team_id,
        streams.c.channel_id == left.channel_id,
        streams.c.ts == left.ts,
    )
