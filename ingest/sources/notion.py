"""The pages of Notion page trees and databases, by its API."""

from __future__ import annotations

import hashlib
import logging
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from ingest.errors import ConfigurationError, PageParseError, SourceUnavailableError
from ingest.parsing.media import HTML
from ingest.records import NOBODY, Audiences, RawPage, SkippedPage
from ingest.sources.base import (
    DEFAULT_MAX_PAGE_BYTES,
    UNWATCHED,
    Entry,
    Listing,
    Watch,
    too_large,
)
from ingest.sources.cache_file import cache_file
from ingest.sources.item_cache import ItemCache
from ingest.sources.notion_blocks import CHILDREN, render_page, text_of
from ingest.sources.paths import PathFilter, distinct_paths, path_part
from ingest.sources.web_addresses import place_of
from ingest.sources.web_client import WebClient
from ingest.sources.web_json import (
    MAX_REPLY_BYTES,
    BadRequest,
    JsonInterface,
    JsonObject,
    NotThere,
    PageByPage,
    moment_of,
)
from ingest.sources.web_visitor import SiteAccess

logger = logging.getLogger(__name__)

API: Final = "https://api.notion.com"
API_VERSION: Final = "2025-09-03"
"""The first in which a database has data sources."""
_BATCH: Final = 100
_DEEPEST: Final = 30
"""Blocks inside blocks; a page has far fewer."""
_SETTLED_AFTER: Final = timedelta(minutes=2)
"""Times of edits are told in whole minutes: a page edited just now may change within its minute."""
_ROUNDS: Final = 24
"""A page is read again at one listing in so many: Notion tells no time for some edits, such as
those of other integrations."""
_STATE: Final = "walks"
"""Key beside those of pages in the cache."""
_LOGIN: Final = "look at token_env, and at the connections of the page in Notion"
_UNTOLD: Final = (
    "nobody can read these pages: Notion does not tell who may, so `audience` has to be set in"
    " handbook.toml"
)
_ID: Final = re.compile(r"[0-9a-f]{32}")
_RENDERED_BY: Final = "1"
"""Grows with every change of how blocks are written; pages are then read again."""


def notion_id(address: str) -> str:
    """Return the id in the link of a page or database, or in an id as Notion writes it.

    Raises:
        ConfigurationError: If there is none.
    """
    bare = address.partition("?")[0].partition("#")[0].replace("-", "").lower()
    found = _ID.findall(bare[-32:])
    if not found:
        raise ConfigurationError(f"{address!r} is no link of a Notion page or database")
    return str(found[0])


@dataclass(frozen=True, slots=True)
class _Node:
    """A page that is to be looked at.

    Attributes:
        page_id: Without dashes.
        folder: Path of what it is in, "" at the root.
        title: As the place that led here shows it.
        edited: When it was last edited, likewise; None: not told there.
        page: The page as the interface shows it, when it came along.
    """

    page_id: str
    folder: str = ""
    title: str = ""
    edited: str | None = None
    page: JsonObject | None = None

    @property
    def path(self) -> str:
        return _path(self.folder, self.title)


class NotionSource:
    """The pages below some pages and databases, named by the titles on the way to them.

    A listing walks through the trees: it reads every page that has others below it, those whose
    time of the last edit is another than at the last sync, and some of the others in turn.
    What it read is kept in the cache, and a page is taken from there.
    """

    def __init__(
        self,
        name: str,
        roots: Sequence[str],
        *,
        token: SecretStr,
        cache: Path,
        api: str = API,
        access: SiteAccess | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = NOBODY,
    ) -> None:
        """Describe the trees; nothing is asked yet.

        Args:
            name: Shown to people and stored with each page.
            roots: Links or ids of the pages and databases at the top.
            token: Of an integration that these are shared with.
            cache: Folder of the files in which what was read is kept.
            api: Address of the interface.
            access: How it is asked.
            include: Patterns of paths to take; empty means all; see `path_pattern`.
            exclude: Patterns of paths to leave out; they win over `include`.
            max_page_bytes: Larger pages are skipped and reported.
            audiences: Who may read the pages; Notion does not tell, so nobody unless it is said.

        Raises:
            ConfigurationError: If a root has no id in it.
        """
        self._name = name
        self._roots = [notion_id(root) for root in roots]
        self._token = token
        self._api = api.rstrip("/")
        self._access = access or SiteAccess(requests_per_second=3.0)
        self._filter = PathFilter(include, exclude)
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        self._cache = ItemCache(cache_file(cache, name, self._api, _RENDERED_BY, *self._roots))
        self._pages: dict[str, _Page] = {}
        self._interface: JsonInterface | None = None

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Look for each root.

        Raises:
            SourceUnavailableError: If Notion does not answer, refuses, or does not show one.
        """
        interface = self._open(UNWATCHED)
        try:
            walk = _Walk(interface, self._api, self._cache, UNWATCHED, self._max_page_bytes)
            titles = [walk.root(root)[1] for root in self._roots]
        finally:
            interface.close()
        found = ", ".join(title or "untitled" for title in titles)
        return found if self._audiences else f"{found}; {_UNTOLD}"

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """Walk through the trees.

        Raises:
            SourceUnavailableError: If Notion does not answer, refuses, or does not show a root.
        """
        self.close()
        interface = self._open(watch)
        walk = _Walk(interface, self._api, self._cache, watch, self._max_page_bytes)
        try:
            for root in self._roots:
                walk.begin(root)
            walk.finish()
        finally:
            interface.close()
        if not walk.problems:
            self._cache.keep_only(walk.seen | {_STATE})
        by_id = {page.page_id: page for page in walk.pages if self._filter.wants(page.path)}
        paths = distinct_paths((page.path, page_id) for page_id, page in by_id.items())
        self._pages = {path: by_id[paths[path]] for path in sorted(paths)}
        logger.info("notion walked", extra={"source": self._name, "pages": len(self._pages)})
        return Listing(
            entries=tuple(
                Entry(path, page.version, found_at=page.path) for path, page in self._pages.items()
            ),
            skipped=tuple(sorted(walk.skipped, key=lambda page: page.path)),
            complete=not walk.problems,
            problem="; ".join(walk.problems) or (None if self._audiences else _UNTOLD),
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Return one page of the last listing, as it was read then.

        Raises:
            PageParseError: If it was not in it.
            SourceUnavailableError: If what was read is not there any more.
        """
        page = self._pages.get(entry.path)
        known = None if page is None else self._cache.get(page.page_id)
        if page is None or known is None:
            raise PageParseError("not in the last listing")
        return RawPage(
            path=entry.path,
            content=str(known["html"]).encode("utf-8", "replace"),
            media_type=HTML,
            modified_at=moment_of(known["edited"]),
            url=known["url"] or None,
            audiences=self._audiences,
            found_at=page.path,
        )

    def close(self) -> None:
        """Close the file of what was read."""
        self._cache.close()

    def _open(self, watch: Watch) -> JsonInterface:
        client = WebClient(
            {place_of(self._api)},
            headers={
                "Authorization": SecretStr(f"Bearer {self._token.get_secret_value()}"),
                "Notion-Version": SecretStr(API_VERSION),
            },
            cookies={},
            private_network=self._access.private_network,
            requests_per_second=self._access.requests_per_second,
            max_bytes=MAX_REPLY_BYTES,
            first_retry_s=self._access.first_retry_s,
            stopped=watch.stopped,
        )
        return JsonInterface(client, login=_LOGIN)


@dataclass(frozen=True, slots=True)
class _Page:
    """A page with text that a walk found."""

    path: str
    page_id: str
    version: str


@dataclass(slots=True)
class _Walk:
    """One walk through the trees.

    Attributes:
        pages: Those with text.
        seen: Ids of all that were looked at: pages that lead in a circle are so once.
        skipped: What could not be read.
        problems: Why the walk is incomplete; empty when it is complete.
    """

    interface: JsonInterface
    api: str
    cache: ItemCache
    watch: Watch
    max_page_bytes: int
    pages: list[_Page] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    skipped: list[SkippedPage] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _round: int = 0
    _waiting: deque[_Node] = field(default_factory=deque)
    _reading: PageByPage = field(default_factory=PageByPage)

    def root(self, root: str) -> tuple[JsonObject, str]:
        """Return the page or database at the top of a tree, and its title.

        Raises:
            SourceUnavailableError: If it is not there, or not shown to us.
        """
        for kind in ("pages", "databases"):
            try:
                found = self._get(f"{kind}/{root}")
            except (NotThere, BadRequest):
                continue  # an id does not say what it is of
            except PageParseError as error:
                raise SourceUnavailableError(f"{kind}/{root}: {error}") from error
            if not _is_gone(found):
                return found, _title(found)
        raise self.interface.refused(f"Notion shows no page or database {root}")

    def begin(self, root: str) -> None:
        """Put the top of a tree on the way."""
        found, title = self.root(root)
        if found.get("object") == "database":
            with self._attempt(_path("", title)):
                self._database(root, "", found)
        else:
            node = _Node(root, "", title, str(found.get("last_edited_time")), found)
            self._waiting.append(node)

    def finish(self) -> None:
        """Look at everything on the way, and at what that leads to."""
        state = self.cache.get(_STATE) or {"walks": 0}
        self._round = state["walks"] % _ROUNDS
        self.cache.put(_STATE, {"walks": state["walks"] + 1})
        while self._waiting:
            node = self._waiting.popleft()
            if node.page_id in self.seen:
                continue
            self.seen.add(node.page_id)
            self._look_at(node)
            self.watch.listed(len(self.seen), len(self.seen) + len(self._waiting))

    def _look_at(self, node: _Node) -> None:
        known = self.cache.get(node.page_id)
        if known is None or self._is_due(node, known):
            with self._attempt(node.path):
                try:
                    known = self._read(node)
                except NotThere:
                    return  # deleted meanwhile
        if known is None:
            return
        path = _path(node.folder, known["title"])
        if known["html"]:
            version = f"{known['edited']} {known['digest']}"
            self.pages.append(_Page(path, node.page_id, version))
        for below in known["below"]:
            self._follow(below, path)

    def _is_due(self, node: _Node, known: JsonObject) -> bool:
        """Tell whether a page that was read has to be read again."""
        if known["told"] != node.edited or known["below"] or not known["settled"]:
            return True
        return int(node.page_id, 16) % _ROUNDS == self._round

    def _follow(self, below: JsonObject, folder: str) -> None:
        if below["type"] == "child_page":
            self._waiting.append(_Node(below["id"], folder, below["title"], below["edited"]))
        elif below["id"] not in self.seen:
            with self._attempt(_path(folder, below["title"])):
                try:
                    database = self._get(f"databases/{below['id']}")
                except NotThere as error:
                    raise PageParseError(
                        "a view of a database that is not shared with the integration"
                    ) from error
                self._database(below["id"], folder, database)

    def _database(self, database_id: str, folder: str, database: JsonObject) -> None:
        """Put the pages of a database on the way: those of all its data sources."""
        self.seen.add(database_id)
        if not _is_gone(database):
            path = _path(folder, _title(database))
            for source in database["data_sources"]:
                self._rows(source["id"], path)

    def _rows(self, source_id: str, path: str) -> None:
        self.seen.add(_bare(source_id))
        for row in self._batches(f"data_sources/{source_id}/query", post=True):
            if _is_gone(row):
                continue
            row_id = _bare(row["id"])
            if row.get("object") == "page":
                edited = str(row["last_edited_time"])
                self._waiting.append(_Node(row_id, path, _title(row), edited, row))
            elif row.get("object") == "data_source" and row_id not in self.seen:
                self._rows(row["id"], _path(path, _title(row)))

    @contextmanager
    def _attempt(self, path: str) -> Iterator[None]:
        """Read one page or database in the body; if that fails, note it and go on.

        Raises:
            SourceUnavailableError: If the ones before failed too, or whoever waits has had enough.
        """
        try:
            with self._reading.page():
                try:
                    yield
                except (KeyError, TypeError, AttributeError) as error:
                    raise SourceUnavailableError(f"Notion describes it without {error}") from error
        except PageParseError as error:
            if self.watch.stopped():
                raise SourceUnavailableError("stopped") from error
            self.skipped.append(SkippedPage(path, str(error)))
            if isinstance(error.__cause__, SourceUnavailableError):
                # What lies below may be anywhere, or nowhere.
                self.problems.append(f"{path}: {error}")

    def _read(self, node: _Node) -> JsonObject:
        page = node.page or self._get(f"pages/{node.page_id}")
        if _is_gone(page):
            raise NotThere("in the trash")
        below: list[JsonObject] = []
        blocks = self._blocks(node.page_id, below, frozenset({node.page_id}))
        title, edited = _title(page), str(page.get("last_edited_time"))
        document = render_page(title, page.get("properties") or {}, blocks)
        content = document.encode("utf-8", "replace")
        if len(content) > self.max_page_bytes:
            raise PageParseError(too_large(self.max_page_bytes))
        moment = moment_of(edited)
        known: JsonObject = {
            "title": title,
            "url": page.get("url"),
            "told": node.edited,
            "edited": edited,
            "settled": moment is not None and moment <= self.interface.told_at - _SETTLED_AFTER,
            "html": document,
            "digest": hashlib.sha256(content).hexdigest()[:16],
            "below": below,
        }
        self.cache.put(node.page_id, known)
        return known

    def _blocks(
        self, block_id: str, below: list[JsonObject], around: frozenset[str]
    ) -> list[JsonObject]:
        """Return the blocks in a block, each with those in it; pages among them go to `below`."""
        blocks = []
        for block in self._batches(f"blocks/{block_id}/children"):
            if _is_gone(block):
                continue
            kind = str(block["type"])
            inside = _bare(_origin(block))
            if kind in ("child_page", "child_database"):
                title, edited = _one_line(block[kind]["title"]), str(block["last_edited_time"])
                below.append({"type": kind, "id": inside, "title": title, "edited": edited})
            elif block.get("has_children") and inside not in around and len(around) < _DEEPEST:
                # A synced block may show one that is not shared with us.
                with suppress(NotThere):
                    block = {**block, CHILDREN: self._blocks(inside, below, around | {inside})}
            blocks.append(block)
        return blocks

    def _batches(self, what: str, *, post: bool = False) -> Iterator[JsonObject]:
        """Yield the objects of a list, batch by batch, until Notion says it is done."""
        further: dict[str, str | int] = {}
        seen: set[str] = set()
        while True:
            try:
                found = self._get(what, {"page_size": _BATCH, **further}, post=post)
            except BadRequest as error:  # of a kind of block that it does not show
                raise PageParseError(str(error)) from None
            yield from found["results"]
            if not found["has_more"]:
                return
            cursor = str(found["next_cursor"])
            if cursor in seen:
                raise SourceUnavailableError("Notion continues where it was already")
            seen.add(cursor)
            further = {"start_cursor": cursor}

    def _get(
        self, what: str, parameters: Mapping[str, str | int] | None = None, *, post: bool = False
    ) -> JsonObject:
        address = f"{self.api}/v1/{what}"
        if post:
            return self.interface.query(address, dict(parameters or {}))
        return self.interface.get(address, parameters)


def _path(folder: str, title: str) -> str:
    part = path_part(title) or "Untitled"
    return f"{folder}/{part}" if folder else part


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _title(found: JsonObject) -> str:
    """Return the title of a page (a property of it) or of a database."""
    if "title" in found:
        return _one_line(text_of(found["title"]))
    for prop in (found.get("properties") or {}).values():
        if prop.get("type") == "title":
            return _one_line(text_of(prop.get("title")))
    return ""


def _is_gone(found: JsonObject) -> bool:
    return bool(found.get("in_trash") or found.get("archived"))


def _origin(block: JsonObject) -> str:
    """Return the id of the block whose content a block shows: a synced one shows another's."""
    origin = (block.get("synced_block") or {}).get("synced_from") or {}
    return str(origin.get("block_id") or block.get("id"))


def _bare(some_id: str) -> str:
    return some_id.replace("-", "")
