"""The files of a SharePoint library or a OneDrive, by Microsoft Graph."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.records import NOBODY, PUBLIC, Audiences, RawPage, SkippedPage, narrow
from ingest.sources.base import (
    DEFAULT_MAX_PAGE_BYTES,
    UNWATCHED,
    Entry,
    Listing,
    Watch,
    too_large,
)
from ingest.sources.cache_file import cache_file
from ingest.sources.graph_client import API, BATCH, Drive, DriveAddress, GraphClient, GraphLogin
from ingest.sources.graph_delta import KEPT_BY, DriveCopy, DriveItem
from ingest.sources.graph_permissions import readers
from ingest.sources.item_cache import ItemCache
from ingest.sources.paths import PathFilter, has_page_suffix, is_hidden, media_type_of, path_part
from ingest.sources.web_json import JsonObject, NotThere, PageByPage, moment_of
from ingest.sources.web_visitor import SiteAccess

logger = logging.getLogger(__name__)

_LOCK_FILE: Final = "~$"
"""How names begin that Office gives to marks of open documents."""


class GraphSource:
    """The files of a drive that can be read, named by their path in it.

    A file may be read by those whom its permissions let read it: everybody, or groups as
    configured. Single people and other groups are not known here, so that a file for them alone
    is for nobody.
    """

    def __init__(
        self,
        name: str,
        drive: DriveAddress,
        *,
        login: GraphLogin,
        cache: Path,
        api: str = API,
        access: SiteAccess | None = None,
        group_audiences: Mapping[str, str] | None = None,
        item_permissions: bool = True,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = PUBLIC,
    ) -> None:
        """Describe a drive; nothing is asked yet.

        Args:
            name: Shown to people and stored with each page.
            drive: Where it is.
            login: Who asks.
            cache: Folder of the files in which what was told of drives is kept.
            api: Address of Microsoft Graph.
            access: How it is asked.
            group_audiences: Audience by name, id or address of a group.
            item_permissions: Whether files are limited by their own permissions.
            include: Patterns of paths to take; empty means all; see `path_pattern`.
            exclude: Patterns of paths to leave out; they win over `include`.
            max_page_bytes: Larger files are skipped and reported.
            audiences: Who may read the pages at most.
        """
        self._name = name
        self._address = drive
        self._folder = "/".join(path_part(part) for part in drive.folder.split("/") if part)
        self._login = login
        self._api = api
        self._access = access or SiteAccess(requests_per_second=10.0)
        self._group_audiences = dict(group_audiences or {})
        self._item_permissions = item_permissions
        self._filter = PathFilter(include, exclude)
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        places = (KEPT_BY, api, drive.site or drive.user or "", drive.library or "")
        self._cache = ItemCache(cache_file(cache, name, *places))
        self._client: GraphClient | None = None
        self._drive: Drive | None = None
        self._files: dict[str, tuple[DriveItem, Audiences]] = {}
        self._reading = PageByPage()

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Look for the drive, and whether its permissions are told.

        Raises:
            SourceUnavailableError: If Graph does not answer, refuses, or does not show them.
        """
        client = self._open(UNWATCHED)
        try:
            drive = client.find(self._address)
            if self._item_permissions:
                client.root_permissions(drive)
        finally:
            client.close()
        return f"{drive.name} answers"

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List the files, by what changed since the last time.

        Raises:
            SourceUnavailableError: If Graph does not answer, or not to the end.
        """
        self.close()
        self._client = client = self._open(watch)
        self._drive = drive = client.find(self._address)
        copy = DriveCopy(self._cache, drive.drive_id)
        copy.follow(client.interface, client.delta(drive))
        if self._folder and self._folder not in copy.folders():
            raise SourceUnavailableError(f"there is no folder {self._folder!r} in {drive.name}")
        skipped: list[SkippedPage] = []
        inside = sorted(self._inside(copy.paths()).items())
        wanted = {path: item for path, item in inside if self._is_wanted(path)}
        self._files = self._with_readers(wanted, skipped, watch)
        lost = sum(1 for _ in copy.strays())
        logger.info("drive followed", extra={"source": self._name, "pages": len(self._files)})
        return Listing(
            entries=tuple(
                Entry(path, _version(item, audiences), item.size, audiences=audiences)
                for path, (item, audiences) in self._files.items()
            ),
            skipped=tuple(sorted(skipped, key=lambda page: page.path)),
            complete=not lost,
            problem=f"{lost} files are in folders that are not told of" if lost else self._closed(),
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Download one file of the last listing.

        Raises:
            PageParseError: If it was deleted or restricted meanwhile, is empty, too large or
                harmful, or cannot be downloaded.
            SourceUnavailableError: If no file can be downloaded any more.
        """
        client, drive = self._client, self._drive
        if entry.path not in self._files or client is None or drive is None:
            raise PageParseError("not in the last listing")
        item, audiences = self._files[entry.path]
        if reason := self._refusal(item):
            raise PageParseError(reason)
        media_type = media_type_of(entry.path)
        with self._reading.page():
            try:
                content = client.download(drive, item.item_id, media_type)
                now = self._readers(client, drive, item)
            except NotThere as error:
                raise PageParseError("it was deleted meanwhile") from error
        if now != audiences:
            # What was written since may not be for those who could read it then.
            raise PageParseError("who may read it changed meanwhile: the next sync reads it")
        return RawPage(
            path=entry.path,
            content=content,
            media_type=media_type,
            modified_at=moment_of(item.modified),
            url=item.url or None,
            audiences=audiences,
        )

    def close(self) -> None:
        """Close the connections and the file of what was told."""
        self._cache.close()
        if self._client is not None:
            self._client.close()
            self._client = None

    # --- which files -----------------------------------------------------------------------------

    def _inside(self, paths: Mapping[str, DriveItem]) -> dict[str, DriveItem]:
        """Return the files in the configured folder, by their path in it."""
        prefix = f"{self._folder}/" if self._folder else ""
        return {
            path.removeprefix(prefix): item
            for path, item in paths.items()
            if path.startswith(prefix)
        }

    def _is_wanted(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if name.startswith(_LOCK_FILE) or any(map(is_hidden, path.split("/"))):
            return False
        return has_page_suffix(path) and self._filter.wants(path)

    def _refusal(self, item: DriveItem) -> str | None:
        if item.harmful:
            return "Microsoft found malware in it"
        if item.size == 0:
            return "the file is empty"
        return too_large(self._max_page_bytes) if item.size > self._max_page_bytes else None

    # --- who may read them -----------------------------------------------------------------------

    def _with_readers(
        self, wanted: Mapping[str, DriveItem], skipped: list[SkippedPage], watch: Watch
    ) -> dict[str, tuple[DriveItem, Audiences]]:
        """Ask who may read each file; those of which that is not told now are skipped."""
        client, drive = self._client, self._drive
        assert client is not None and drive is not None  # noqa: S101, PT018 - listing opened them
        found: dict[str, tuple[DriveItem, Audiences]] = {}
        paths = list(wanted)
        for start in range(0, len(paths), BATCH):
            batch = {path: wanted[path] for path in paths[start : start + BATCH]}
            told = self._told(client, drive, batch.values())
            for path, item in batch.items():
                try:
                    with self._reading.page():
                        readers_ = told.get(item.item_id)
                        if readers_ is None:
                            readers_ = self._readers(client, drive, item)
                except NotThere:
                    continue  # deleted meanwhile
                except PageParseError as error:
                    if watch.stopped():
                        raise SourceUnavailableError("stopped") from error
                    skipped.append(SkippedPage(path, f"who may read it is not told: {error}"))
                else:
                    found[path] = (item, readers_)
            watch.listed(min(start + BATCH, len(paths)), len(paths))
        return found

    def _told(
        self, client: GraphClient, drive: Drive, items: Iterable[DriveItem]
    ) -> dict[str, Audiences]:
        ids = [item.item_id for item in items]
        if not self._item_permissions:
            return dict.fromkeys(ids, self._audiences)
        found = client.permissions_of(drive, ids)
        return {item_id: self._allowed(permissions) for item_id, permissions in found.items()}

    def _readers(self, client: GraphClient, drive: Drive, item: DriveItem) -> Audiences:
        if not self._item_permissions:
            return self._audiences
        return self._allowed(client.permissions(drive, item.item_id))

    def _allowed(self, permissions: Sequence[JsonObject] | None) -> Audiences:
        """Return who may read a file; nobody when we may not see its permissions."""
        told = NOBODY if permissions is None else readers(permissions, self._group_audiences)
        return narrow(self._audiences, told)

    def _closed(self) -> str | None:
        """Return what to look at when nobody can read most files."""
        closed = sum(not audiences for _, audiences in self._files.values())
        if 2 * closed <= len(self._files):
            return None
        return (
            f"nobody can read {closed} of {len(self._files)} files here: their permissions name"
            " people, groups that are not in group_audiences, or are not told"
        )

    def _open(self, watch: Watch) -> GraphClient:
        return GraphClient(
            self._api,
            self._login,
            self._access,
            max_file_bytes=self._max_page_bytes,
            stopped=watch.stopped,
        )


def _version(item: DriveItem, audiences: Audiences) -> str:
    # Permissions change without a new version of the file.
    return f"{item.version} {','.join(sorted(audiences))}"
