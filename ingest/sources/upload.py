"""A watched folder as a source: what people put there, once it is whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ingest.errors import PageParseError
from ingest.records import RawPage, SkippedPage
from ingest.sources.base import UNWATCHED, Entry, Listing, Watch
from ingest.sources.folder import FolderSource

SETTLE_S: Final = 5.0
BEING_WRITTEN: Final = "still being written: taken as soon as it is whole"
_LOCK_PREFIX: Final = "~$"
"""Of the file that Office puts beside one that is open."""


class UploadSource(FolderSource):
    """The pages in a folder that people copy files into.

    A file that changed a moment ago may still be half of one: its last version stays until it is
    left alone.
    """

    def __init__(
        self,
        name: str,
        root: Path | str,
        *,
        settle_s: float = SETTLE_S,
        now: Callable[[], float] = time.time,
        **options: Any,
    ) -> None:
        """Describe a folder; nothing is read yet.

        Args:
            name: Shown to people and stored with each page.
            root: The folder.
            settle_s: How long a file must have been left alone.
            now: Clock in seconds since the epoch.
            options: The others of `FolderSource`.
        """
        super().__init__(name, root, **options)
        self._folder = Path(root)
        self._settle_s = settle_s
        self._now = now

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List the pages that are whole (raises as `FolderSource.listing`)."""
        found = super().listing(watch)
        entries: list[Entry] = []
        skipped = [page for page in found.skipped if not _is_lock(page.path)]
        for entry in found.entries:
            if _is_lock(entry.path):
                continue
            if self._is_settled(entry):
                entries.append(entry)
            else:
                skipped.append(SkippedPage(entry.path, BEING_WRITTEN))
        skipped.sort(key=lambda page: page.path)
        return replace(found, entries=tuple(entries), skipped=tuple(skipped))

    def fetch(self, entry: Entry) -> RawPage:
        """Read one page.

        Raises:
            SourceUnavailableError: If the folder went away.
            PageParseError: If it cannot be read, or somebody is writing it.
        """
        before = self._written_at(entry)
        page = super().fetch(entry)
        if self._written_at(entry) != before or not self._is_settled(entry):
            raise PageParseError(BEING_WRITTEN)
        return page

    def _is_settled(self, entry: Entry) -> bool:
        written_at = self._written_at(entry)
        # A date in the future is that of another clock, and tells nothing of now.
        return written_at is None or not 0 <= self._now() - written_at < self._settle_s

    def _written_at(self, entry: Entry) -> float | None:
        try:
            return (self._folder / self.location(entry.path)).stat().st_mtime
        except OSError:
            return None  # gone: fetching it says so


def _is_lock(path: str) -> bool:
    return PurePosixPath(path).name.startswith(_LOCK_PREFIX)
