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

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(await self.look())

    async def look(self) -> float:
        """Look at each folder once; return how many seconds until the next look."""
        try:
            tables = [] if self._paused() else await asyncio.to_thread(self._watched)
        except HandbookError as error:
            logger.warning("upload folders are not watched", extra={"reason": str(error)})
            tables = []
        for table in tables:
            await self._look_at(table)
        return min((table.watch_s for table in tables), default=IDLE_S)

    async def _look_at(self, table: UploadTable) -> None:
        try:
            signature = await asyncio.to_thread(self._signature, table)
            if signature == self._seen.get(table.name):
                return
            await self._synced(table.name)
        except LeaseHeldError:
            return  # another sync runs: looked at again in a moment
        except HandbookError as error:
            logger.warning(
                "an upload folder was not synced",
                extra={"source": table.name, "reason": str(error)},
            )
            return
        self._seen[table.name] = signature

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
