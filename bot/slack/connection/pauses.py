"""How long Slack wants to be left alone, by call and workspace: by every process, also later."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from bot.errors import JobStoreError
from bot.store import Pause, PauseStore

log = logging.getLogger(__name__)


def posting_in(channel_id: str) -> str:
    """Return the call that Slack slows down when it slows down one channel."""
    return f"chat.postMessage {channel_id}"


class Pauses:
    """Remembers the waits that answers with status 429 ask for.

    Args:
        store: Keeps them for other processes; None: they are this one's, and end with it.
        now: Clock in seconds since the epoch.
    """

    def __init__(
        self, store: PauseStore | None = None, *, now: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._now = now
        self._until: dict[tuple[str, str], float] = {}

    async def load(self) -> None:
        """Take over what was asked of other processes, as far as it can be read."""
        if self._store is None:
            return
        try:
            lasting = await asyncio.to_thread(self._store.lasting)
        except JobStoreError as error:
            log.warning("%s; without the pauses of other processes", error)
            return
        for pause in lasting:
            key = pause.team_id, pause.call
            self._until[key] = max(pause.until, self._until.get(key, 0.0))

    def left_s(self, team_id: str, call: str) -> float:
        """Return how many seconds a call is still to wait; 0 when it may be made."""
        left_s = self._until.get((team_id, call), 0.0) - self._now()
        if left_s <= 0:
            self._until.pop((team_id, call), None)
        return max(left_s, 0.0)

    async def begin(self, team_id: str, call: str, seconds: float) -> None:
        """Let a call wait from now on."""
        until = self._now() + seconds
        self._until[team_id, call] = until
        if self._store is None:
            return
        try:
            await asyncio.to_thread(self._store.put, Pause(team_id, call, until))
        except JobStoreError as error:
            log.warning("%s; a pause ends with this process", error)
