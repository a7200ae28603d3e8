"""Says who may read the pages of a source: by where they stand, by workspace, by themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from ingest.records import RawPage, narrow
from ingest.sources.base import UNWATCHED, Entry, Listing, Source, Watch
from ingest.sources.paths import path_pattern


class RestrictedSource:
    """A source with rules of its own about who may read its pages.

    Args:
        source: Delivers the pages.
        path_audiences: Audiences by path pattern, of web pages by that of their address without
            the first `/`; a page that several match is for those whom all of them allow.
        workspaces: Ids of the workspaces whose people may read the pages; none: no limit.
        obey_pages: Whether the audience that a page itself names limits it.
    """

    def __init__(
        self,
        source: Source,
        path_audiences: Mapping[str, Sequence[str]],
        workspaces: Collection[str] = (),
        *,
        obey_pages: bool = True,
    ) -> None:
        self._source = source
        self._workspaces = frozenset(workspaces)
        self._obey_pages = obey_pages
        self._rules = [
            (glob, path_pattern(glob), frozenset(names)) for glob, names in path_audiences.items()
        ]

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._source.name

    def probe(self) -> str:
        """Say what is there."""
        return self._source.probe()

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List every page, and tell of rules that hold for none: their pattern may be mistyped."""
        listing = self._source.listing(watch)
        paths = [entry.path for entry in listing.entries]
        paths += [entry.found_at for entry in listing.entries if entry.found_at]
        paths += [skipped.path for skipped in listing.skipped]
        places = [place for path in paths for place in _places(path)]
        idle = [glob for glob, pattern, _ in self._rules if not any(map(pattern.match, places))]
        if not idle or not listing.complete:
            return listing
        patterns = ", ".join(map(repr, idle))
        return replace(listing, problem=f"path_audiences: {patterns} matches no page")

    def fetch(self, entry: Entry) -> RawPage:
        """Read one page."""
        raw = self._source.fetch(entry)
        audiences = raw.audiences
        places = {place for path in (raw.path, raw.found_at) if path for place in _places(path)}
        for _, pattern, names in self._rules:
            if any(pattern.match(place) for place in places):
                audiences = narrow(audiences, names)
        return replace(
            raw,
            audiences=audiences,
            workspaces=self._workspaces,
            obeys_itself=self._obey_pages,
        )

    def close(self) -> None:
        """Let go of what reading needed."""
        self._source.close()


def _places(path: str) -> tuple[str, ...]:
    """Return the ways to write where a page stands: a rule meant for one of them holds."""
    if not path.startswith(("http://", "https://")):
        return (path,)
    inside = urlsplit(path).path.removeprefix("/")
    return path, inside, unquote(inside)
