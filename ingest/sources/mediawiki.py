"""The pages of a MediaWiki, by its API."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.parsing.media import HTML
from ingest.records import PUBLIC, Audiences, RawPage
from ingest.sources.base import DEFAULT_MAX_PAGE_BYTES, UNWATCHED, Entry, Listing, Watch
from ingest.sources.paths import PathFilter
from ingest.sources.web_addresses import place_of
from ingest.sources.web_client import WebClient
from ingest.sources.web_json import JsonInterface, JsonObject, NotThere, PageByPage
from ingest.sources.web_visitor import SiteAccess

_BATCH: Final = 500
"""Pages per request; wikis give 50 to 500 whatever is asked for."""
_GONE: Final = frozenset({"missingtitle", "nosuchpageid", "nosuchrevid", "pagecannotexist"})
_REFUSED: Final = frozenset({"readapidenied", "permissiondenied", "assertuserfailed"})
_LOGIN: Final = "look at username and password_env (a bot password), or headers_env"


@dataclass(frozen=True, slots=True)
class WikiLogin:
    """A bot password (Special:BotPasswords)."""

    username: str
    password: SecretStr


@dataclass(frozen=True, slots=True)
class _Page:
    page_id: int
    url: str
    language: str
    modified_at: datetime | None


class MediaWikiSource:
    """The pages of some namespaces, named by their titles.

    A listing asks for each page's last revision and when it was last touched (its templates
    count); only what changed is then asked for, as the wiki shows it.
    """

    def __init__(
        self,
        name: str,
        api: str,
        *,
        access: SiteAccess | None = None,
        login: WikiLogin | None = None,
        namespaces: Sequence[int] = (0,),
        categories: Sequence[str] = (),
        exclude_categories: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_pages: int = 20_000,
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = PUBLIC,
    ) -> None:
        """Describe a wiki; nothing is asked yet.

        Args:
            name: Shown to people and stored with each page.
            api: Address of its api.php.
            access: How it lets us in.
            login: For a wiki that is not open to everybody.
            namespaces: Numbers of the namespaces to take.
            categories: Pages in one of these only; none: all.
            exclude_categories: Pages in one of these are left out.
            include: Patterns of titles to take; empty means all; see `path_pattern`.
            exclude: Patterns of titles to leave out; they win over `include`.
            max_pages: A wiki with more is not listed completely.
            max_page_bytes: Larger pages are skipped and reported.
            audiences: Who may read the pages.
        """
        self._name = name
        self._api = api
        self._access = access or SiteAccess()
        self._login = login
        self._namespaces = tuple(namespaces)
        self._categories = tuple(categories)
        self._exclude_categories = tuple(exclude_categories)
        self._filter = PathFilter(include, exclude)
        self._max_pages = max_pages
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        self._pages: dict[str, _Page] = {}
        self._interface: JsonInterface | None = None
        self._reading = PageByPage()

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Ask the wiki for its name and how many content pages it counts.

        Raises:
            SourceUnavailableError: If it does not answer or does not let us in.
        """
        try:
            site = self._ask(meta="siteinfo", siprop="general|statistics")["query"]
            return f"{site['general']['sitename']}, {site['statistics']['articles']} content pages"
        except (KeyError, TypeError) as error:
            raise SourceUnavailableError(f"{self._api} is no MediaWiki") from error

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """List the pages.

        Raises:
            SourceUnavailableError: If the wiki does not answer, or not to the end.
        """
        self.close()
        self._interface = self._open(watch)
        left_out = {
            page["title"]
            for category in self._exclude_categories
            for page in self._in_category(category)
        }
        pages: dict[str, _Page] = {}
        versions: dict[str, str] = {}
        for page in self._candidates():
            title = page["title"]
            if page.get("contentmodel") != "wikitext" or "lastrevid" not in page:
                continue
            if title in left_out or not self._filter.wants(title):
                continue
            pages[title] = _Page(
                page_id=page["pageid"],
                url=page.get("canonicalurl") or page.get("fullurl", ""),
                language=page.get("pagelanguagehtmlcode") or page.get("pagelanguage", ""),
                modified_at=_revised_at(page),
            )
            versions[title] = f"{page['lastrevid']} {page.get('touched', '')}"
            watch.listed(len(pages), len(pages))
            if len(pages) > self._max_pages:
                break
        self._pages = pages
        whole = len(pages) <= self._max_pages
        return Listing(
            entries=tuple(Entry(title, versions[title]) for title in sorted(pages)),
            complete=whole,
            problem=None if whole else f"more than {self._max_pages} pages (max_pages)",
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Ask for one page of the last listing, as the wiki shows it.

        Raises:
            PageParseError: If it was deleted meanwhile, or the wiki cannot show it.
            SourceUnavailableError: If the wiki shows no page any more.
        """
        page = self._pages.get(entry.path)
        if page is None:
            raise PageParseError("not in the last listing")
        with self._reading.page():
            found = self._ask(
                action="parse",
                pageid=page.page_id,
                prop="text|displaytitle",
                disableeditsection=1,
                disabletoc=1,
                disablelimitreport=1,  # it has the time in it
            )
        parsed = found.get("parse") or {}
        title = parsed.get("displaytitle") or html.escape(entry.path)
        document = (
            f'<html lang="{html.escape(page.language)}"><body><main>'
            f"<h1>{title}</h1>{parsed.get('text', '')}</main></body></html>"
        )
        return RawPage(
            path=entry.path,
            content=document.encode("utf-8", "replace"),
            media_type=HTML,
            modified_at=page.modified_at,
            url=page.url or None,
            audiences=self._audiences,
        )

    def close(self) -> None:
        """Close the connections."""
        if self._interface is not None:
            self._interface.close()
            self._interface = None

    def _candidates(self) -> Iterator[JsonObject]:
        if not self._categories:
            for namespace in self._namespaces:
                yield from self._query(
                    generator="allpages",
                    gapnamespace=namespace,
                    gapfilterredir="nonredirects",
                    gaplimit=_BATCH,
                )
        for category in self._categories:
            yield from self._in_category(category)

    def _in_category(self, category: str) -> Iterator[JsonObject]:
        return self._query(
            generator="categorymembers",
            gcmtitle=f"Category:{category}",  # every wiki knows the English name
            gcmnamespace="|".join(map(str, self._namespaces)),
            gcmtype="page",
            gcmlimit=_BATCH,
        )

    def _query(self, **parameters: str | int) -> Iterator[JsonObject]:
        """Yield the pages of a generator, batch by batch, until the wiki says it is done."""
        details = {"prop": "info|revisions", "inprop": "url", "rvprop": "timestamp"}
        further: dict[str, str] = {}
        while True:
            found = self._ask(**details, **parameters, **further)
            yield from found.get("query", {}).get("pages", ())
            following = found.get("continue")
            if not following:
                return
            if following == further:
                raise SourceUnavailableError(f"{self._api} continues where it was already")
            further = following

    def _ask(self, **parameters: str | int) -> JsonObject:
        if self._interface is None:
            self._interface = self._open(UNWATCHED)
        common: dict[str, str | int] = {
            "action": "query",
            "format": "json",
            "formatversion": 2,
        }
        if self._login is not None:
            common["assert"] = "user"
        try:
            found = self._interface.get(self._api, {**common, **parameters})
        except NotThere as error:
            raise SourceUnavailableError(f"{error}: is it the address of api.php?") from error
        return self._accepted(found)

    def _accepted(self, found: JsonObject) -> JsonObject:
        error = found.get("error")
        if not isinstance(error, dict):
            return found
        code, info = str(error.get("code")), " ".join(str(error.get("info")).split())
        if code in _GONE:
            raise PageParseError("it was deleted meanwhile")
        if code in _REFUSED and self._interface is not None:
            raise self._interface.refused(f"the wiki refuses ({code})")
        raise SourceUnavailableError(f"the wiki answers {code}: {info}")

    def _open(self, watch: Watch) -> JsonInterface:
        client = WebClient(
            {place_of(self._api)},
            headers=self._access.headers,
            cookies=self._access.cookies,
            private_network=self._access.private_network,
            requests_per_second=self._access.requests_per_second,
            max_bytes=self._max_page_bytes,
            first_retry_s=self._access.first_retry_s,
            stopped=watch.stopped,
        )
        interface = JsonInterface(client, login=_LOGIN)
        if self._login is not None:
            try:
                self._log_in(interface, self._login)
            except BaseException:
                interface.close()
                raise
        return interface

    def _log_in(self, interface: JsonInterface, login: WikiLogin) -> None:
        common = {"format": "json", "formatversion": "2"}
        asked = interface.get(
            self._api, {**common, "action": "query", "meta": "tokens", "type": "login"}
        )
        try:
            token = asked["query"]["tokens"]["logintoken"]
        except (KeyError, TypeError) as error:
            raise SourceUnavailableError(f"{self._api} is no MediaWiki") from error
        form = {
            "action": "login",
            "lgname": login.username,
            "lgpassword": login.password.get_secret_value(),
            "lgtoken": token,
        }
        result = interface.post(self._api, {**common, **form}).get("login", {}).get("result")
        if result != "Success":
            raise interface.refused(f"the wiki refuses the login of {login.username} ({result})")


def _revised_at(page: JsonObject) -> datetime | None:
    for revision in page.get("revisions", ()):
        try:
            return datetime.fromisoformat(str(revision.get("timestamp")))
        except ValueError:
            return None
    return None
