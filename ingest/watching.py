"""Looks at upload folders often, and has a source synced soon after something changed there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from ingest.config import load_config
from ingest.errors import HandbookError, LeaseHeldError
from ingest.settings import IngestSettings
from ingest.sources.configuration import UploadTable
from ingest.sources.factory import open_source

logger = logging.getLogger(__name__)

IDLE_S: Final = 30.0
"""How often handbook.toml is looked at while no folder is watched."""

Synced = Callable[[str], Awaitable[object]]
Signature = tuple[object, ...]


class FolderWatch:
    """Watches the upload folders of handbook.toml until it is cancelled.

    What changed while nothing ran is noticed at the first look.

    Args:
        settings: Where handbook.toml is.
        synced: Syncs the source of a name.
        paused: Says whether to leave everything alone for now.
    """

    def __init__(
        self,
        settings: IngestSettings,
        synced: Synced,
        *,
        paused: Callable[[], bool] = lambda: False,
    ) -> None:
        self._settings = settings
        self._synced = synced
        self._paused = paused
        self._seen: dict[str, Signature] = {}
        self._told: dict[str, str] = {}

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            pause_s = IDLE_S
            try:
                pause_s = await self.look()
            except Exception:
                # The rim of a job that repeats: one failure must not end it.
                logger.exception("upload folders were not looked at")
            await asyncio.sleep(pause_s)

    async def look(self) -> float:
        """Look at each folder once; return how many seconds until the next look."""
        try:
            tables = [] if self._paused() else await asyncio.to_thread(self._watched)
        except HandbookError as error:
            self._tell("", error)
            tables = []
        for table in tables:
            try:
                await self._look_at(table)
            except LeaseHeldError:
                continue  # another sync runs: looked at again in a moment
            except HandbookError as error:
                self._tell(table.name, error)
            else:
                self._told.pop(table.name, None)
        return min((table.watch_s for table in tables), default=IDLE_S)

    async def _look_at(self, table: UploadTable) -> None:
        signature = await asyncio.to_thread(self._signature, table)
        if signature != self._seen.get(table.name):
            await self._synced(table.name)
            self._seen[table.name] = signature

    def _tell(self, name: str, error: HandbookError) -> None:
        """Log what is wrong, once: it is looked at again all the time."""
        if self._told.get(name) != str(error):
            self._told[name] = str(error)
            logger.warning(
                "an upload folder is not synced", extra={"source": name, "reason": str(error)}
            )

    def _watched(self) -> list[UploadTable]:
        sources = load_config(self._settings).sources
        return [table for table in sources if isinstance(table, UploadTable) and table.watch_s]

    def _signature(self, table: UploadTable) -> Signature:
        source = open_source(table, self._settings)
        try:
            listing = source.listing()
        finally:
            source.close()
        # A file that is still being written makes another signature once it is whole.
        return (table.fingerprint, listing.entries, listing.skipped, listing.problem)
