"""What admins may do to the index from Slack: sync it, and see how it is."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from bot.settings import BotSettings
from ingest import (
    IndexNotBuiltError,
    IndexStatus,
    IngestReport,
    Progress,
    ScheduleStatus,
    load_config,
    open_reader,
    read_schedule,
    run_ingest,
)


@dataclass(frozen=True, slots=True)
class HandbookState:
    """The index and its schedule.

    Attributes:
        index: None before the first sync.
    """

    index: IndexStatus | None
    schedule: ScheduleStatus


class Maintenance:
    """Syncs the configured sources and describes the index. Slow: called in threads."""

    def __init__(self, settings: BotSettings) -> None:
        self._settings = settings
        self._stopping = threading.Event()

    def sources(self) -> tuple[str, ...]:
        """Return the names of the configured sources: all that may be synced from Slack.

        Raises:
            ConfigurationError: If handbook.toml is wrong.
        """
        return tuple(source.name for source in load_config(self._settings).sources)

    def sync(
        self,
        sources: Sequence[str],
        *,
        progress: Progress,
        dry_run: bool = False,
        allow_removals: bool = False,
    ) -> list[IngestReport]:
        """Bring sources up to date, all of them when none is named (see `ingest.run_ingest`).

        Raises:
            LeaseHeldError: If a sync is running, here or in another process.
            HandbookError: If nothing could be synced.
        """
        return run_ingest(
            self._settings,
            specs=sources,
            dry_run=dry_run,
            allow_removals=allow_removals,
            progress=progress,
            stopped=self._stopping.is_set,
        )

    def state(self) -> HandbookState:
        """Describe the index and the schedule.

        Raises:
            IndexStoreError: If the index cannot be read.
        """
        with open_reader(self._settings) as reader:
            try:
                index: IndexStatus | None = reader.status()
            except IndexNotBuiltError:
                index = None
        return HandbookState(index, read_schedule(self._settings))

    def stop(self) -> None:
        """Let a running sync end after its current batch; the next one completes it."""
        self._stopping.set()
