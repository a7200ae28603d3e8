"""Ends the streams whose answer will never come, so that none stays "in progress" for ever.

A job may end while its answer grows: it is stopped, its asker is forgotten, it cannot be delivered,
or its outcome stands elsewhere. Whoever ends it may be another process, or one that dies then; so
the database tells which streams are left, and any process ends them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol

from bot.errors import JobStoreError, SlackDeliveryError, VaultError, WorkspaceUnavailable
from bot.slack.delivery import Posted
from bot.store import LeftStream, LeftStreams

log = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0


class Ending(Protocol):
    """Ends streams; see `bot.slack.streaming.Streams`."""

    async def end(self, place: Posted) -> None:
        """End one, whose message stays."""
        ...

    async def take_away(self, place: Posted) -> None:
        """End one, and delete its message."""
        ...


class StreamClosing:
    """Looks for streams that are left, as long as it runs.

    Args:
        streams: Ends them.
        left: Knows them.
        enter: Enters the workspace of one; returns None when it is not served any more.
    """

    def __init__(
        self,
        streams: Ending,
        left: LeftStreams,
        enter: Callable[[str], Awaitable[object | None]],
    ) -> None:
        self._streams = streams
        self._left = left
        self._enter = enter
        self._looking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """End; what is left is found by the next process."""
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def _look(self) -> None:
        while True:
            try:
                while (left := await asyncio.to_thread(self._left.claim)) is not None:
                    await self._close(left)
            except (JobStoreError, SlackDeliveryError, VaultError, WorkspaceUnavailable) as error:
                log.info("a stream is not ended yet: %s", error)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _close(self, left: LeftStream) -> None:
        place = Posted(left.channel_id, left.ts)
        if await self._enter(left.team_id) is None:
            log.info("a stream's workspace has gone", extra={"team_id": left.team_id})
        elif left.keeps:
            await self._streams.end(place)
        else:
            await self._streams.take_away(place)
        await asyncio.to_thread(self._left.forget, left)
