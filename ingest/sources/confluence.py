"""The pages of Confluence spaces and the files attached to them, Cloud or Data Center, by REST."""

from __future__ import annotations

import base64
import html
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.parsing.media import HTML
from ingest.records import EVERYONE, NOBODY, PUBLIC, Audiences, RawPage, narrow
from ingest.sources.base import (
    DEFAULT_MAX_PAGE_BYTES,
    UNWATCHED,
    Entry,
    Listing,
    Watch,
    too_large,
)
from ingest.sources.confluence_attachments import (
    ATTACHMENT_DETAILS,
    STORES,
    Attachment,
    read_attachment,
)
from ingest.sources.paths import PathFilter, has_page_suffix, media_type_of
from ingest.sources.web_addresses import place_of
from ingest.sources.web_client import WebClient
from ingest.sources.web_json import (
    MAX_REPLY_BYTES,
    JsonInterface,
    JsonObject,
    NotThere,
    PageByPage,
    moment_of,
)
from ingest.sources.web_visitor import SiteAccess

_SEARCH: Final = "/rest/api/content/search"
_BATCH: Final = 100
_DETAILS: Final = (
    "version,ancestors,metadata.labels,restrictions.read.restrictions.user,"
    "restrictions.read.restrictions.group"
)
_BODY: Final = "body.export_view"
"""As Confluence shows it to readers elsewhere: macros are carried out, addresses are absolute."""
_LOGIN: Final = "look at email and token_env"


@dataclass(frozen=True, slots=True)
class ConfluenceLogin:
    """An API token of Cloud, with the account's address; or a personal token of Data Center."""

    token: SecretStr
    email: str | None = None

    @property
    def header(self) -> SecretStr:
        """Return the value of the Authorization header."""
        token = self.token.get_secret_value()
        if self.email is None:
            return SecretStr(f"Bearer {token}")
        pair = base64.b64encode(f"{self.email}:{token}".encode()).decode()
        return SecretStr(f"Basic {pair}")


@dataclass(frozen=True, slots=True)
class _Page:
    page_id: str
    title: str
    version: str
    url: str | None
    modified_at: datetime | None
    labels: frozenset[str]
    ancestors: tuple[str, ...]
    restriction: Audiences
    """Who may read it as far as its own restrictions go."""


@dataclass(frozen=True, slots=True)
class _File:
    attachment: Attachment
    page: _Page
    audiences: Audiences


class ConfluenceSource:
    """The current pages of some spaces, named `SPACE/title`, and their files (`…/name.pdf`).

    A page may be read by those whom its own restrictions and those of every page above it let
    read it. Groups of Confluence become audiences as configured; a restriction to people, or to a
    group that is not configured, or one that is not told, lets nobody read the page here. A file
    may be read by those who may read its page.
    """

    def __init__(
        self,
        name: str,
        site: str,
        *,
        spaces: Sequence[str],
        access: SiteAccess | None = None,
        login: ConfluenceLogin | None = None,
        group_audiences: Mapping[str, str] | None = None,
        labels: Sequence[str] = (),
        exclude_labels: Sequence[str] = (),
        attachments: bool = True,
        stores: Collection[str] = STORES,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = PUBLIC,
    ) -> None:
        """Describe a site; nothing is asked yet.

        Args:
            name: Shown to people and stored with each page.
            site: Its address with its folder: `https://company.atlassian.net/wiki`.
            spaces: Keys of the spaces.
            access: How it lets us in.
            login: None for a site that is open to everybody.
            group_audiences: Audience by Confluence group.
            labels: Pages with one of these only; none: all.
            exclude_labels: Pages with one of these are left out.
            attachments: Whether the files of the pages are taken, too.
            stores: Further hosts that downloads may be redirected to; they see no login.
            include: Patterns of `SPACE/title` to take; empty means all; see `path_pattern`.
            exclude: Patterns to leave out; they win over `include`.
            max_page_bytes: Larger pages are skipped and reported.
            audiences: Who may read the pages that are not restricted.
        """
        self._name = name
        self._site = site.rstrip("/")
        self._spaces = tuple(spaces)
        self._access = access or SiteAccess()
        self._login = login
        self._group_audiences = dict(group_audiences or {})
        self._labels = frozenset(labels)
        self._exclude_labels = frozenset(exclude_labels)
        self._with_attachments = attachments
        self._stores = frozenset(stores)
        self._filter = PathFilter(include, exclude)
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        self._pages: dict[str, tuple[_Page, Audiences]] = {}
        self._files: dict[str, _File] = {}
        self._storage: WebClient | None = None
        self._interface: JsonInterface | None = None
        self._reading = PageByPage()

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Look for a page in each space.

        Raises:
            SourceUnavailableError: If the site does not answer, refuses, or shows no page of one.
        """
        counts = []
        for space in self._spaces:
            found = self._search(f'space="{space}" and type=page', limit=1)
            if not found.get("results"):
                raise self._empty(space)
            counts.append(f"{space}: {found.get('totalSize') or 'some'} pages")
        return ", ".join(counts)

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List the pages.

        Raises:
            SourceUnavailableError: If the site does not answer, or not to the end.
        """
        self.close()
        self._interface = self._open(watch)
        self._pages, self._files = {}, {}
        for space in self._spaces:
            found: dict[str, _Page] = {}
            for result in self._results(f'space="{space}" and type=page', _DETAILS):
                page = self._page(result)
                found[page.page_id] = page
                listed = len(self._pages) + len(found)
                watch.listed(listed, listed)
            if not found:
                raise self._empty(space)
            paths = self._take_pages(space, found)
            if self._with_attachments:
                self._take_files(space, found, paths)
        told = {path: (page.version, who) for path, (page, who) in self._pages.items()}
        for path, file in self._files.items():
            told[path] = (file.attachment.version, file.audiences)
        return Listing(
            entries=tuple(
                Entry(path, _version(number, who), audiences=who)
                for path, (number, who) in sorted(told.items())
            )
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Ask for one page or file of the last listing.

        Raises:
            PageParseError: If it was deleted or restricted meanwhile, or the site cannot show it.
            SourceUnavailableError: If the site shows no page any more.
        """
        if entry.path in self._files:
            return self._fetch_file(entry.path, self._files[entry.path])
        if entry.path not in self._pages:
            raise PageParseError("not in the last listing")
        page, audiences = self._pages[entry.path]
        with self._reading.page():
            result = self._unchanged(page, f"{_DETAILS},{_BODY}")
        try:
            body = result["body"]["export_view"]["value"]
        except (KeyError, TypeError) as error:
            raise PageParseError("the site does not show its text") from error
        document = (
            f"<html><body><main><h1>{html.escape(page.title)}</h1>{body}</main></body></html>"
        )
        content = document.encode("utf-8", "replace")
        if len(content) > self._max_page_bytes:
            raise PageParseError(too_large(self._max_page_bytes))
        return RawPage(
            path=entry.path,
            content=content,
            media_type=HTML,
            modified_at=page.modified_at,
            url=page.url,
            audiences=audiences,
            found_at=f"{_space(entry.path)}/{page.title}",
        )

    def _fetch_file(self, path: str, file: _File) -> RawPage:
        attachment, media_type = file.attachment, media_type_of(path)
        if (attachment.size or 0) > self._max_page_bytes:
            raise PageParseError(too_large(self._max_page_bytes))
        with self._reading.page():
            try:
                content = self._asking().file(
                    self._address(attachment.download),
                    media_type,
                    max_bytes=self._max_page_bytes,
                    storage=self._store(),
                )
            except NotThere as error:
                raise PageParseError("it was deleted meanwhile") from error
            self._unchanged(file.page, _DETAILS)
        return RawPage(
            path=path,
            content=content,
            media_type=media_type,
            modified_at=moment_of(attachment.modified),
            url=self._address(attachment.shown) if attachment.shown else file.page.url,
            audiences=file.audiences,
            found_at=f"{_space(path)}/{file.page.title}/{attachment.name}",
        )

    def _unchanged(self, page: _Page, expand: str) -> JsonObject:
        """Return a page as the site shows it now.

        Raises:
            PageParseError: If it was deleted since, or is for others.
        """
        results = self._search(f"id={page.page_id}", expand=expand).get("results")
        if not results:
            raise PageParseError("it was deleted meanwhile")
        now = self._page(results[0])
        if (now.restriction, now.ancestors) != (page.restriction, page.ancestors):
            # What was written since may not be for those who could read it then.
            raise PageParseError("who may read it changed meanwhile: the next sync reads it")
        found: JsonObject = results[0]
        return found

    def close(self) -> None:
        """Close the connections."""
        if self._interface is not None:
            self._interface.close()
            self._interface = None
        if self._storage is not None:
            self._storage.close()
            self._storage = None

    def _take_pages(self, space: str, found: Mapping[str, _Page]) -> dict[str, str]:
        """List the pages of a space that are wanted; return the path of each, wanted or not."""
        paths: dict[str, str] = {}
        for page in found.values():
            path = named = f"{space}/{page.title}"
            if path in self._pages:
                path = f"{path} ({page.page_id})"
            paths[page.page_id] = path
            if self._is_wanted(named, page):
                self._pages[path] = (page, self._readers(page, found))
        return paths

    def _take_files(self, space: str, found: Mapping[str, _Page], paths: Mapping[str, str]) -> None:
        """List the files of a space's pages that can be parsed."""
        for result in self._results(f'space="{space}" and type=attachment', ATTACHMENT_DETAILS):
            attachment = read_attachment(result)
            if attachment is None or attachment.page_id not in found:
                continue  # of a blog post, or of a page that we do not see
            page = found[attachment.page_id]
            path = f"{paths[page.page_id]}/{attachment.name}"
            named = f"{space}/{page.title}/{attachment.name}"
            if not has_page_suffix(path) or not self._is_wanted(named, page):
                continue
            self._files[path] = _File(attachment, page, self._readers(page, found))

    def _is_wanted(self, path: str, page: _Page) -> bool:
        if page.labels & self._exclude_labels or (self._labels and not page.labels & self._labels):
            return False
        return self._filter.wants(path)

    def _readers(self, page: _Page, space: Mapping[str, _Page]) -> Audiences:
        """Return who may read a page, with what the pages above it demand."""
        readers = narrow(self._audiences, page.restriction)
        for ancestor in page.ancestors:
            above = space.get(ancestor)
            # A page above that we do not see may be restricted: nobody knows.
            readers = narrow(readers, above.restriction if above else NOBODY)
        return readers

    def _page(self, result: JsonObject) -> _Page:
        try:
            version = result["version"]
            links = result.get("_links", {})
            return _Page(
                page_id=str(result["id"]),
                title=unicodedata.normalize("NFC", " ".join(str(result["title"]).split())),
                version=str(version["number"]),
                url=f"{self._site}{links['webui']}" if links.get("webui") else None,
                modified_at=moment_of(version.get("when")),
                labels=_labels(result),
                ancestors=tuple(str(above["id"]) for above in result["ancestors"]),
                restriction=self._restriction(result),
            )
        except (KeyError, TypeError) as error:
            raise SourceUnavailableError(
                f"{self._site} describes a page without {error}"
            ) from error

    def _restriction(self, result: JsonObject) -> Audiences:
        try:
            told = result["restrictions"]["read"]["restrictions"]
            users, groups = told["user"]["results"], told["group"]["results"]
            names = [group["name"] for group in groups]
        except (KeyError, TypeError):
            return NOBODY  # not told
        if not users and not names:
            return PUBLIC
        return frozenset(
            self._group_audiences[name]
            for name in names
            if self._group_audiences.get(name, EVERYONE) != EVERYONE
        )

    # --- asking ----------------------------------------------------------------------------------

    def _results(self, cql: str, expand: str) -> Iterator[JsonObject]:
        """Yield what a search finds, batch by batch, until the site says it is done."""
        found = self._search(cql, expand=expand, limit=_BATCH)
        seen: set[str] = set()
        while True:
            yield from found.get("results") or ()
            further = (found.get("_links") or {}).get("next")
            if not further:
                return
            address = self._address(str(further))
            if address in seen:
                raise SourceUnavailableError(f"{self._site} continues where it was already")
            seen.add(address)
            found = self._get(address)

    def _search(self, cql: str, **parameters: str | int) -> JsonObject:
        return self._get(f"{self._site}{_SEARCH}", {"cql": cql, **parameters})

    def _get(self, url: str, parameters: Mapping[str, str | int] | None = None) -> JsonObject:
        try:
            return self._asking().get(url, parameters)
        except NotThere as error:
            raise SourceUnavailableError(f"{error}: is it the address of Confluence?") from error

    def _address(self, further: str) -> str:
        """Return the address of the next batch: told without the site, with or without folder."""
        parts = urlsplit(self._site)
        if further.startswith(("http://", "https://")):
            return further  # the client asks no other host
        if parts.path and further.startswith(f"{parts.path}/"):
            return f"{parts.scheme}://{parts.netloc}{further}"
        return f"{self._site}{further}"

    def _empty(self, space: str) -> SourceUnavailableError:
        return SourceUnavailableError(
            f"the space {space!r} has no page that this account may see: {_LOGIN}"
        )

    def _asking(self) -> JsonInterface:
        if self._interface is None:
            self._interface = self._open(UNWATCHED)
        return self._interface

    def _open(self, watch: Watch) -> JsonInterface:
        headers = {**self._access.headers, "Accept": SecretStr("application/json, */*;q=0.5")}
        if self._login is not None:
            headers["Authorization"] = self._login.header
        client = self._client({place_of(self._site)}, headers, self._access.cookies, watch)
        return JsonInterface(client, login=_LOGIN)

    def _store(self) -> WebClient:
        """Return what follows downloads to where the site keeps files, without the login."""
        if self._storage is None:
            self._storage = self._client(self._stores, {}, {}, UNWATCHED)
        return self._storage

    def _client(
        self,
        places: Collection[str],
        headers: Mapping[str, SecretStr],
        cookies: Mapping[str, SecretStr],
        watch: Watch,
    ) -> WebClient:
        return WebClient(
            places,
            headers=headers,
            cookies=cookies,
            private_network=self._access.private_network,
            requests_per_second=self._access.requests_per_second,
            max_bytes=max(MAX_REPLY_BYTES, self._max_page_bytes),
            first_retry_s=self._access.first_retry_s,
            stopped=watch.stopped,
        )


def _space(path: str) -> str:
    return path.partition("/")[0]


def _version(number: str, audiences: Audiences) -> str:
    # Restrictions change without a new version of the page.
    return f"{number} {','.join(sorted(audiences))}"


def _labels(result: JsonObject) -> frozenset[str]:
    labels = ((result.get("metadata") or {}).get("labels") or {}).get("results") or ()
    return frozenset(str(label.get("name")) for label in labels)
