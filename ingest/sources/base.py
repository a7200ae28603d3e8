"""The `Source` port: list everything, then fetch what changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from ingest.records import Audiences, RawPage, SkippedPage

DEFAULT_MAX_PAGE_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Watch:
    """Whoever waits for a listing that takes long.

    Attributes:
        listed: Told how many pages were looked at so far, and how many are known of.
        stopped: Asked often; once True, the listing ends soon, incomplete.
    """

    listed: Callable[[int, int], None] = lambda done, total: None
    stopped: Callable[[], bool] = lambda: False


UNWATCHED: Final = Watch()


def too_large(max_page_bytes: int) -> str:
    """Return why a page with more bytes is skipped."""
    return f"larger than {max_page_bytes} bytes (MAX_PAGE_BYTES)"


@dataclass(frozen=True, slots=True)
class Entry:
    """One page in a listing.

    Attributes:
        path: Stable name inside the source.
        version: Opaque; when equal to the version stored at the last sync, the page has not
            changed and is not fetched. None when the source cannot tell cheaply.
        size: Bytes, or None when unknown.
        found_at: Another path that it is known by; rules for that one hold, too (`RawPage`).
        audiences: Who may read it at most; None: only fetching it tells. It holds for what is
            known of the page already, whether or not it can be fetched.
    """

    path: str
    version: str | None = None
    size: int | None = None
    found_at: str | None = None
    audiences: Audiences | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Every page a source has now.

    Attributes:
        entries: Sorted by path, paths unique.
        skipped: Things that look like pages but cannot be taken (too large, unreadable…).
        complete: False when the listing ended early: absent pages are then not removed.
        problem: Why it is incomplete; of a complete one, what somebody should look at; else None.
    """

    entries: tuple[Entry, ...]
    skipped: tuple[SkippedPage, ...] = ()
    complete: bool = True
    problem: str | None = None


class Source(Protocol):
    """A place that holds handbook pages."""

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        ...

    def probe(self) -> str:
        """Say in a few words what is there, without a whole listing where one is expensive.

        Raises:
            SourceUnavailableError: If the source cannot be reached or refuses; says what to do.
        """
        ...

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List every page.

        Raises:
            SourceUnavailableError: If the source cannot be reached at all.
        """
        ...

    def fetch(self, entry: Entry) -> RawPage:
        """Read one page.

        Raises:
            SourceUnavailableError: If the source went away.
            PageParseError: If this page cannot be read; the message is the reason.
        """
        ...

    def close(self) -> None:
        """Let go of what reading needed; a later listing opens it again."""
        ...
