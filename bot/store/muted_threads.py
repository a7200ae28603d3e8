"""Threads in which somebody told the bot to be quiet."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import ColumnElement, Engine, and_, delete, insert, select

from bot.store.tables import muted_threads
from bot.store.transactions import transaction

KEEP_S = 365 * 86_400.0
"""A thread that was quiet for a year is over."""


class MutedThreads:
    """Remembers where to be quiet; safe to share between threads of the process.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        now: Clock in seconds since the epoch.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now

    def mute(self, team_id: str, channel_id: str, thread_ts: str) -> None:
        """Be quiet in this thread from now on."""
        now = self._now()
        values = {
            "team_id": team_id,
            "channel_id": channel_id,
            "thread_ts": thread_ts,
            "muted_at": now,
        }
        with transaction(self._engine) as connection:
            connection.execute(delete(muted_threads).where(_is(team_id, channel_id, thread_ts)))
            connection.execute(insert(muted_threads).values(values))
            old = muted_threads.c.muted_at < now - KEEP_S
            connection.execute(delete(muted_threads).where(old))

    def unmute(self, team_id: str, channel_id: str, thread_ts: str) -> None:
        """Speak in this thread again."""
        with transaction(self._engine) as connection:
            connection.execute(delete(muted_threads).where(_is(team_id, channel_id, thread_ts)))

    def is_muted(self, team_id: str, channel_id: str, thread_ts: str) -> bool:
        """Say whether to be quiet in this thread."""
        found = select(muted_threads.c.team_id).where(_is(team_id, channel_id, thread_ts))
        with transaction(self._engine, reads=True) as connection:
            return connection.execute(found).first() is not None


def _is(team_id: str, channel_id: str, thread_ts: str) -> ColumnElement[bool]:
    return and_(
        muted_threads.c.team_id == team_id,
        muted_threads.c.channel_id == channel_id,
        muted_threads.c.thread_ts == thread_ts,
    )
