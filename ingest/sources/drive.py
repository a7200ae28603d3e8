"""The files of Google Drive folders, by its interface."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from ingest.errors import ConfigurationError, PageParseError, SourceUnavailableError
from ingest.parsing.media import MARKDOWN
from ingest.records import PUBLIC, Audiences, RawPage, narrow
from ingest.sources.base import (
    DEFAULT_MAX_PAGE_BYTES,
    UNWATCHED,
    Entry,
    Listing,
    Watch,
    too_large,
)
from ingest.sources.cache_file import cache_file
from ingest.sources.drive_client import API, FOLDER, DriveClient, DriveFile
from ingest.sources.drive_login import ServiceAccount
from ingest.sources.drive_permissions import Sharing
from ingest.sources.drive_walk import DriveWalk, Folder, FoundFile
from ingest.sources.item_cache import ItemCache
from ingest.sources.paths import PathFilter, distinct_paths, path_part
from ingest.sources.web_json import JsonObject, NotThere, PageByPage, moment_of
from ingest.sources.web_visitor import SiteAccess

logger = logging.getLogger(__name__)

_KEPT_BY: Final = "1"
"""Grows with every change of what is kept of a listing; folders are then listed anew."""
_LAST: Final = "last listing"
_MOST_USES: Final = 24
"""Listings in a row that are taken from the last one, as long as Drive tells of no change."""
_ID: Final = re.compile(r"[A-Za-z0-9_-]{10,}")
_IN_LINK: Final = re.compile(r"/folders/([A-Za-z0-9_-]{10,})|[?&]id=([A-Za-z0-9_-]{10,})")
_TITLE: Final = re.compile(rb"^#\s", re.M)
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def folder_id(address: str) -> str:
    """Return the id in the link of a folder, or the id itself.

    Raises:
        ConfigurationError: If there is none.
    """
    if _ID.fullmatch(address):
        return address
    found = _IN_LINK.search(address)
    if found is None:
        raise ConfigurationError(f"{address!r} is no link of a Google Drive folder")
    return str(found[1] or found[2])


@dataclass(frozen=True, slots=True)
class DriveLogin:
    """Who asks: a service account, or an access token that lasts an hour."""

    account: ServiceAccount | None = None
    token: SecretStr | None = None


class GoogleDriveSource:
    """The files in some folders and below them, named by their path.

    A file may be read by those whom its permissions let read it: everybody, people of our domains,
    or groups as configured. Single people and other groups are not known here, so that a file for
    them alone is for nobody.
    """

    def __init__(
        self,
        name: str,
        folders: Sequence[str],
        *,
        login: DriveLogin,
        cache: Path,
        api: str = API,
        access: SiteAccess | None = None,
        sharing: Sharing | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = PUBLIC,
    ) -> None:
        """Describe the folders; nothing is asked yet.

        Args:
            name: Shown to people and stored with each page.
            folders: Their links or ids; when there are several, paths begin with their names.
            login: Who asks.
            cache: Folder of the files in which listings are kept.
            api: Address of the interface.
            access: How it is asked.
            sharing: What permissions of files mean; None: they are left aside.
            include: Patterns of paths to take; empty means all; see `path_pattern`.
            exclude: Patterns of paths to leave out; they win over `include`.
            max_page_bytes: Larger files are skipped and reported.
            audiences: Who may read the pages at most.

        Raises:
            ConfigurationError: If a folder has no id in it.
        """
        self._name = name
        self._folders = [folder_id(address) for address in folders]
        self._login = login
        self._api = api
        self._access = access or SiteAccess(requests_per_second=10.0)
        self._sharing = sharing
        self._filter = PathFilter(include, exclude)
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        meaning = "" if sharing is None else json.dumps(asdict(sharing), default=sorted)
        self._cache = ItemCache(cache_file(cache, name, _KEPT_BY, api, meaning, *self._folders))
        self._client: DriveClient | None = None
        self._files: dict[str, FoundFile] = {}
        self._reading = PageByPage()

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Look for each folder.

        Raises:
            SourceUnavailableError: If Drive does not answer, refuses, or does not show one.
        """
        client = self._open(UNWATCHED)
        try:
            return ", ".join(self._root(client, one).name for one in self._folders)
        finally:
            client.close()

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List the files; from what was told the last time when nothing changed since.

        Raises:
            SourceUnavailableError: If Drive does not answer, or not to the end.
        """
        self.close()
        self._client = client = self._open(watch)
        try:
            found = self._look(client, watch)
        except PageParseError as error:
            raise SourceUnavailableError(str(error)) from error
        skipped = [page for page in found.skipped if self._filter.wants(page.path)]
        by_id = {one.file.file_id: one for one in found.files if self._filter.wants(one.path)}
        paths = distinct_paths((one.path, file_id) for file_id, one in by_id.items())
        self._files = {path: by_id[paths[path]] for path in sorted(paths)}
        logger.info("drive walked", extra={"source": self._name, "pages": len(self._files)})
        return Listing(
            entries=tuple(
                Entry(path, self._version(one), one.file.size, one.path, self._readers(one))
                for path, one in self._files.items()
            ),
            skipped=tuple(sorted(skipped, key=lambda page: page.path)),
            complete=not found.problems,
            problem="; ".join(found.problems) or self._closed(),
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Download or export one file of the last listing.

        Raises:
            PageParseError: If it was deleted or restricted meanwhile, is empty or too large, or
                cannot be had.
            SourceUnavailableError: If no file can be had any more.
        """
        client, one = self._client, self._files.get(entry.path)
        if client is None or one is None or one.file.exported_as is None:
            raise PageParseError("not in the last listing")
        if reason := self._refusal(one.file):
            raise PageParseError(reason)
        media_type = one.file.exported_as
        with self._reading.page():
            try:
                content = client.content(one.file, media_type)
                shared = self._shared_as_before(client, one)
            except NotThere as error:
                raise PageParseError("it was deleted meanwhile") from error
        if not shared:
            # What was written since may not be for those who could read it then.
            raise PageParseError("who may read it changed meanwhile: the next sync reads it")
        if media_type == MARKDOWN and not _TITLE.search(content):
            title = _MARKUP.sub(r"\\\1", path_part(one.file.name))
            content = f"# {title}\n\n".encode() + content
        return RawPage(
            path=entry.path,
            content=content,
            media_type=media_type,
            modified_at=moment_of(one.file.modified),
            url=one.file.url or None,
            audiences=self._readers(one),
            found_at=one.path,
        )

    def close(self) -> None:
        """Close the connections and the file of listings."""
        self._cache.close()
        if self._client is not None:
            self._client.close()
            self._client = None

    # --- listing ---------------------------------------------------------------------------------

    def _look(self, client: DriveClient, watch: Watch) -> DriveWalk:
        """Return what is in the folders now."""
        walk = DriveWalk(client, self._sharing, watch)
        roots = [self._root(client, one) for one in self._folders]
        readers = {root.file_id: walk.readers_of_root(root) for root in roots}
        told = {file_id: sorted(audiences) for file_id, audiences in readers.items()}
        last = self._cache.get(_LAST)
        if last is not None and last["roots"] == told and self._is_current(client, last):
            walk.files = [_restored(one) for one in last["files"]]
            return walk
        # Before the walk: what changes on the way is looked at the next time.
        tokens = {drive_id: client.start_token(drive_id) for drive_id in _drives(roots)}
        walk.run([Folder(_prefix(root, roots), root, readers[root.file_id]) for root in roots])
        lasts = not walk.problems and not walk.skipped and walk.drives <= tokens.keys()
        files = [_stored(one) for one in walk.files]
        listed: JsonObject = {"roots": told, "tokens": tokens, "uses": 0, "files": files}
        self._cache.replace({_LAST: listed} if lasts else {})
        return walk

    def _is_current(self, client: DriveClient, last: JsonObject) -> bool:
        """Tell whether the last listing still holds: Drive tells of no change since."""
        if last["uses"] >= _MOST_USES:
            return False
        tokens: Mapping[str, str] = last["tokens"]
        try:
            if any(client.changed_since(token, drive) for drive, token in tokens.items()):
                return False
        except (SourceUnavailableError, PageParseError):
            return False  # such as a token that is too old: the walk says what is wrong
        self._cache.put(_LAST, {**last, "uses": last["uses"] + 1})
        return True

    def _root(self, client: DriveClient, file_id: str) -> DriveFile:
        try:
            root = client.file(file_id)
        except PageParseError as error:
            raise SourceUnavailableError(
                f"{error}: is the folder {file_id} shared with the account?"
            ) from error
        if root.kind != FOLDER:
            raise SourceUnavailableError(f"{root.name} ({file_id}) is no folder")
        return root

    def _refusal(self, file: DriveFile) -> str | None:
        if file.size == 0:
            return "the file is empty"
        large = file.size is not None and file.size > self._max_page_bytes
        return too_large(self._max_page_bytes) if large else None

    def _readers(self, one: FoundFile) -> Audiences:
        return narrow(self._audiences, one.readers)

    def _version(self, one: FoundFile) -> str:
        # Permissions change without a new version of the file.
        return f"{one.file.version} {','.join(sorted(one.readers))}"

    def _closed(self) -> str | None:
        """Return what to look at when nobody can read most files."""
        closed = sum(not one.readers for one in self._files.values())
        if 2 * closed <= len(self._files):
            return None
        return (
            f"nobody can read {closed} of {len(self._files)} files here: their permissions name"
            " people, groups and domains that are not in group_audiences and domains, or are not"
            " told to an account that may not share them"
        )

    def _shared_as_before(self, client: DriveClient, one: FoundFile) -> bool:
        """Tell whether a file is for the same people as when it was listed."""
        if self._sharing is None:
            return True
        now = client.file(one.file.file_id)
        marks = (now.parents, now.augmented, now.limited, now.drive_id)
        if marks != (one.file.parents, one.file.augmented, one.file.limited, one.file.drive_id):
            return False
        return DriveWalk(client, self._sharing, UNWATCHED).readers(now, one.readers) == one.readers

    def _open(self, watch: Watch) -> DriveClient:
        return DriveClient(
            self._api,
            account=self._login.account,
            token=self._login.token,
            access=self._access,
            max_file_bytes=self._max_page_bytes,
            stopped=watch.stopped,
        )


def _drives(roots: Sequence[DriveFile]) -> list[str]:
    return sorted({root.drive_id for root in roots})


def _prefix(root: DriveFile, roots: Sequence[DriveFile]) -> str:
    return f"{path_part(root.name)}/" if len(roots) > 1 else ""


def _stored(one: FoundFile) -> JsonObject:
    file = asdict(replace(one.file, permissions=None))
    return {"path": one.path, "file": file, "readers": sorted(one.readers)}


def _restored(stored: JsonObject) -> FoundFile:
    file = {**stored["file"], "parents": tuple(stored["file"]["parents"])}
    return FoundFile(stored["path"], DriveFile(**file), frozenset(stored["readers"]))
