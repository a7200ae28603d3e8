"""Keeps a copy of what is in a drive, brought up to date by the changes Microsoft Graph tells.

Source: learn.microsoft.com/graph/api/driveitem-delta.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Final

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.sources.item_cache import ItemCache
from ingest.sources.paths import path_part
from ingest.sources.web_json import BadRequest, JsonInterface, JsonObject

KEPT_BY: Final = "1"
"""Grows with every change of what is kept of an item; drives are then told from the beginning."""
_CURSOR: Final = ""
"""Key beside those of the items: ids are never empty."""


@dataclass(frozen=True, slots=True)
class DriveItem:
    """A file or folder.

    Attributes:
        item_id: Unique in the drive.
        parent: Id of the folder it is in, "" for the root.
        name: Without its folder.
        is_file: Folders and notebooks are none.
        version: Changes with its content.
        size: Bytes.
        modified: ISO moment of its last change, "" when unknown.
        url: Link for readers, "" when there is none.
        harmful: Whether Microsoft found malware in it.
    """

    item_id: str
    parent: str
    name: str
    is_file: bool
    version: str
    size: int
    modified: str
    url: str
    harmful: bool


class DriveCopy:
    """What is in a drive.

    Args:
        cache: Holds the items and how far changes were followed; may be empty.
        drive_id: Another drive in the cache is forgotten.
    """

    def __init__(self, cache: ItemCache, drive_id: str) -> None:
        self._cache = cache
        self._drive_id = drive_id
        self._items: dict[str, DriveItem] = {}
        self._gone: set[str] = set()

    def follow(self, interface: JsonInterface, delta: str) -> None:
        """Bring the copy up to date.

        Args:
            interface: Of Microsoft Graph.
            delta: Address that tells all of the drive.

        Raises:
            SourceUnavailableError: If Graph does not answer, or not to the end; the copy stays.
        """
        cursor = self._restore()
        if cursor is not None:
            try:
                cursor = self._apply(interface, cursor)
            except (PageParseError, BadRequest):
                cursor = None  # too old: 410 asks for a new start
        if cursor is None or any(True for _ in self.strays()):
            self._items, self._gone = {}, set()
            try:
                cursor = self._apply(interface, delta)
            except PageParseError as error:
                raise SourceUnavailableError(str(error)) from error
        self._store(cursor)

    def paths(self) -> dict[str, DriveItem]:
        """Return the files that hang below the root, by their path from there."""
        found = {}
        for item in self._items.values():
            names = self._names(item)
            if item.is_file and names is not None:
                found["/".join(names)] = item
        return found

    def folders(self) -> Collection[str]:
        """Return the paths of the folders."""
        names = (self._names(item) for item in self._items.values() if not item.is_file)
        return {"/".join(parts) for parts in names if parts is not None}

    def strays(self) -> Iterator[DriveItem]:
        """Yield the items that hang nowhere: what is known of the drive is not all of it."""
        for item in self._items.values():
            if self._names(item) is None and not self._is_gone(item):
                yield item

    def _names(self, item: DriveItem) -> list[str] | None:
        """Return the names on the way from the root, None when it does not lead there."""
        names: list[str] = []
        seen: set[str] = set()
        at: DriveItem | None = item
        while at is not None and at.item_id not in seen:
            if not at.parent:
                return names[::-1]
            seen.add(at.item_id)
            names.append(path_part(at.name))
            at = self._items.get(at.parent)
        return None

    def _is_gone(self, item: DriveItem) -> bool:
        """Tell whether a folder around it was deleted: what was in it is not always told of."""
        seen: set[str] = set()
        at: DriveItem | None = item
        while at is not None and at.item_id not in seen:
            if at.parent in self._gone:
                return True
            seen.add(at.item_id)
            at = self._items.get(at.parent)
        return False

    def _apply(self, interface: JsonInterface, address: str) -> str:
        """Follow changes to their end and return where the next ones will be told."""
        seen: set[str] = set()
        while address not in seen:
            seen.add(address)
            found = interface.get(address)
            try:
                for told in found["value"]:
                    self._take(told)
                following = found.get("@odata.nextLink")
                if following is None:
                    return str(found["@odata.deltaLink"])
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise SourceUnavailableError(
                    f"Microsoft Graph tells changes without {error}"
                ) from error
            address = str(following)
        raise SourceUnavailableError("Microsoft Graph continues where it was already")

    def _take(self, told: JsonObject) -> None:
        item_id = str(told["id"])
        if "deleted" in told:
            self._items.pop(item_id, None)
            self._gone.add(item_id)
            return
        self._gone.discard(item_id)
        self._items[item_id] = DriveItem(
            item_id=item_id,
            parent="" if "root" in told else str(told["parentReference"]["id"]),
            name=str(told["name"]),
            is_file="file" in told,
            version=str(told.get("cTag") or told.get("eTag") or ""),
            size=int(told.get("size") or 0),
            modified=str(told.get("lastModifiedDateTime") or ""),
            url=str(told.get("webUrl") or ""),
            harmful="malware" in told,
        )

    def _restore(self) -> str | None:
        stored = self._cache.all()
        cursor: Mapping[str, str] = stored.pop(_CURSOR, {})
        if cursor.get("drive") != self._drive_id:
            return None
        self._items = {item_id: DriveItem(**fields) for item_id, fields in stored.items()}
        return cursor["link"]

    def _store(self, cursor: str) -> None:
        for item in [item for item in self._items.values() if self._is_gone(item)]:
            del self._items[item.item_id]
        rows: dict[str, JsonObject] = {key: asdict(item) for key, item in self._items.items()}
        self._cache.replace({**rows, _CURSOR: {"drive": self._drive_id, "link": cursor}})
