"""Walks through a website: robots.txt, sitemaps, links, redirects, and what changed since."""

from __future__ import annotations

import hashlib
import mimetypes
import re
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import urljoin, urlsplit

from protego import Protego
from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.parsing.media import HTML, MARKDOWN, MEDIA_TYPES, PLAIN_TEXT
from ingest.records import SkippedPage
from ingest.sources.base import Watch
from ingest.sources.paths import has_page_suffix
from ingest.sources.web_addresses import Scope, normalized, place_of
from ingest.sources.web_cache import Visit, WebCache
from ingest.sources.web_client import USER_AGENT, Reply, WebClient, http_date
from ingest.sources.web_markup import (
    SITEMAP_MAX_BYTES,
    read_date,
    read_markup,
    read_sitemap,
)

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS: Final = 5
_GONE: Final = frozenset({404, 410})
_LOCKED: Final = frozenset({401, 403, 407})
_FAILURES_IN_A_ROW: Final = 10
"""Pages in a row that fail before the site counts as down."""
_MOST_COPIES: Final = 20
_SHARE_OF_COPIES: Final = 0.1
"""More addresses of one page than both of these are not believed."""
_MAX_SITEMAPS: Final = 2_000
_MAX_CRAWL_DELAY_S: Final = 30.0
_CHARSET: Final = re.compile(r"charset\s*=\s*[\"']?([\w-]+)", re.I)
_MEDIA_TYPES: Final = frozenset(MEDIA_TYPES.values())
_SAME_MEDIA: Final = {"application/xhtml+xml": HTML, "text/x-markdown": MARKDOWN}
_PROGRAMS: Final = frozenset({"", ".php", ".asp", ".aspx", ".jsp", ".do", ".cgi", ".shtml"})
"""Suffixes of addresses that programs answer, mostly with pages."""


@dataclass(frozen=True, slots=True)
class SiteAccess:
    """How a site lets us in, and how we behave there; see `WebsiteTable`."""

    headers: Mapping[str, SecretStr] = field(default_factory=dict)
    cookies: Mapping[str, SecretStr] = field(default_factory=dict)
    private_network: bool = False
    obey_robots: bool = True
    requests_per_second: float = 5.0
    first_retry_s: float = 1.0

    @property
    def has_credentials(self) -> bool:
        """Tell whether we show who we are."""
        return bool(self.headers or self.cookies)


@dataclass(frozen=True, slots=True)
class SiteLimits:
    """How much of a site is taken; past them a listing is incomplete."""

    max_pages: int = 20_000
    time_limit_s: float = 7_200.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What is kept in memory of a visited page."""

    url: str
    canonical: str
    version: str
    size: int


class NoPage(Exception):  # noqa: N818 - no error: an address that leads to nothing to index
    """Nothing at this address is to be indexed."""


class _HiddenPageError(PageParseError):
    """A page that may be there and have links, but was not sent."""


class Visitor:
    """One walk through a site; remembers what is sent in the cache.

    Attributes:
        visits: Pages visited so far, by address.
        problems: Why the walk is incomplete; empty when it is complete.
        unchanged: Pages that the server did not send again.
    """

    def __init__(
        self,
        *,
        start: Sequence[str],
        sitemap: str | None,
        scope: Scope,
        access: SiteAccess,
        limits: SiteLimits,
        cache: WebCache,
        watch: Watch,
        keep_query: bool,
        trust_lastmod: bool,
        max_page_bytes: int,
    ) -> None:
        self._start = start
        self._sitemap = sitemap
        self._scope = scope
        self._access = access
        self._limits = limits
        self._cache = cache
        self._watch = watch
        self._keep_query = keep_query
        self._trust_lastmod = trust_lastmod
        self._deadline = time.monotonic() + limits.time_limit_s
        self._client = WebClient(
            scope.places,
            headers=access.headers,
            cookies=access.cookies,
            private_network=access.private_network,
            requests_per_second=access.requests_per_second,
            max_bytes=max_page_bytes,
            first_retry_s=access.first_retry_s,
            stopped=watch.stopped,
        )
        self._robots: dict[str, Protego] = {}
        self._failures = 0
        self.visits: dict[str, Seen] = {}
        self._failed: list[tuple[str, str, str]] = []  # address, canonical address, reason
        self.problems: list[str] = []
        self.unchanged = 0

    @property
    def requests(self) -> int:
        """Requests made so far."""
        return self._client.requests

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    # --- robots.txt and sitemaps -----------------------------------------------------------------

    def _rules(self, url: str) -> Protego:
        """Return the robots.txt that applies to an address; see RFC 9309 for what errors mean."""
        place = place_of(url)
        if place not in self._robots:
            rules = Protego.parse("")
            if self._access.obey_robots:
                address = urljoin(url, "/robots.txt")
                try:
                    reply = self._client.get(address)
                except PageParseError as error:
                    raise SourceUnavailableError(f"{address}: {error}") from error
                if reply.status >= 500:
                    raise SourceUnavailableError(
                        f"{address} answers {reply.status}, so nothing there may be asked for"
                    )
                if reply.status < 300:
                    rules = Protego.parse(reply.content.decode("utf-8", "replace"))
                delay = rules.crawl_delay(USER_AGENT)
                if delay:
                    self._client.slow_down(min(float(delay), _MAX_CRAWL_DELAY_S))
            self._robots[place] = rules
        return self._robots[place]

    def sitemap_pages(self) -> dict[str, str | None] | None:
        """Return the pages of the sitemap, with their dates as written; None without a sitemap.

        Raises:
            SourceUnavailableError: If there is one, and it cannot be read.
        """
        rules = self._rules(self._start[0])
        named = (
            [self._sitemap] if self._sitemap else [n for n in map(normalized, rules.sitemaps) if n]
        )
        guessed = not named
        waiting = deque(named or [urljoin(self._start[0], "/sitemap.xml")])
        seen, pages, told = set(waiting), dict[str, str | None](), 0
        while waiting:
            url = waiting.popleft()
            try:
                sitemap = read_sitemap(self._follow(url, page=False).content)
            except NoPage:
                if guessed:
                    return None
                self._give_up_on(url, "there is no such sitemap", first=len(seen) == 1)
                continue
            except PageParseError as error:
                if guessed and len(seen) == 1:
                    return None  # many sites answer any address with a page
                self._give_up_on(url, str(error), first=len(seen) == 1)
                continue
            told += len(sitemap.pages)
            for location, lastmod in sitemap.pages:
                page = normalized(location, url)
                if page and self._scope.holds(page):
                    pages.setdefault(page, lastmod)
            for location in sitemap.sitemaps:
                further = normalized(location, url)
                if further and further not in seen and place_of(further) in self._scope.places:
                    seen.add(further)
                    waiting.append(further)
            if len(seen) > _MAX_SITEMAPS:
                self.problems.append(f"more than {_MAX_SITEMAPS} sitemaps")
                break
        if not pages:
            raise SourceUnavailableError(
                f"none of the {told} addresses in the sitemap is below {self._start[0]}"
            )
        return pages

    def _give_up_on(self, url: str, why: str, *, first: bool) -> None:
        if first:
            raise SourceUnavailableError(f"{url}: {why}")
        self.problems.append(f"{url}: {why}")

    # --- pages -----------------------------------------------------------------------------------

    def visit_all(self, pages: Mapping[str, str | None] | None) -> None:
        """Visit the pages of a sitemap, or else whatever the links of visited pages lead to."""
        waiting = deque(self._start if pages is None else pages)
        known, begun = set(waiting), 0
        while waiting:
            url = waiting.popleft()
            if not self._may_go_on(begun):
                return
            begun += 1
            lastmod = pages.get(url) if pages else None
            links = self._visit_or_skip(url, lastmod, first=pages is None and begun == 1)
            if pages is None:
                for link in links:
                    if link not in known and self._is_worth_visiting(link):
                        known.add(link)
                        waiting.append(link)
            self._watch.listed(begun, len(known))

    def _may_go_on(self, begun: int) -> bool:
        if self._watch.stopped():
            self.problems.append("stopped")
        elif begun >= self._limits.max_pages:
            self.problems.append(f"more than {self._limits.max_pages} pages (max_pages)")
        elif time.monotonic() > self._deadline:
            self.problems.append(f"took longer than {self._limits.time_limit_s:g} s (time_limit_s)")
        elif self._failures >= _FAILURES_IN_A_ROW:
            self.problems.append(f"{self._failures} pages in a row failed")
        else:
            return True
        return False

    def _is_worth_visiting(self, url: str) -> bool:
        if ("?" in url and not self._keep_query) or not self._scope.surrounds(url):
            return False
        path = urlsplit(url).path
        suffix = PurePosixPath(path).suffix.lower()
        if suffix in _PROGRAMS or has_page_suffix(path):
            return True
        return mimetypes.guess_type(f"x{suffix}")[0] is None  # `/guide/v1.2` is a page

    def _visit_or_skip(self, url: str, lastmod: str | None, *, first: bool) -> Sequence[str]:
        """Visit a page, report it when that fails, and return its links."""
        try:
            links = self.visit(url, lastmod)
        except NoPage:
            self._failures = 0
            if first:
                raise SourceUnavailableError(f"{url} is not there, or is no page") from None
            return ()
        except PageParseError as error:
            why, hidden = str(error), isinstance(error, _HiddenPageError)
        except SourceUnavailableError as error:
            why, hidden = str(error), True
        else:
            self._failures = 0
            return links
        if first:
            raise SourceUnavailableError(f"{url}: {why}")
        if self._watch.stopped():
            return ()
        self._failures += hidden
        before = self._cache.get(url)
        self._failed.append((url, before.canonical if before else url, why))
        if before is not None:
            return before.links  # what its links led to is still part of the site
        if hidden:
            problem = "pages that failed may have links to others"
            if problem not in self.problems:
                self.problems.append(problem)
        return ()

    def visit(self, url: str, lastmod: str | None = None) -> Sequence[str]:
        """Visit one page and remember it; returns its links.

        Raises:
            PageParseError: If it cannot be taken; the message is the reason.
            SourceUnavailableError: If the server does not answer.
            NoPage: If there is nothing to index.
        """
        before = self._cache.get(url)
        if before and self._trust_lastmod and lastmod and before.lastmod == lastmod:
            self.unchanged += 1
            return self._remember(before)
        reply = self._follow(url, before)
        if reply.url in self.visits:
            return ()  # several addresses lead there
        before = self._cache.get(reply.url)
        if reply.status == 304 and before is not None:
            self.unchanged += 1
            visit = before
            if lastmod and lastmod != before.lastmod:
                moment = _moment(reply, lastmod) or before.modified_at
                visit = replace(before, lastmod=lastmod, modified_at=moment)
                self._cache.put(visit)
            return self._remember(visit)
        visit = self._read(reply, lastmod or "")
        self._cache.put(visit)
        return self._remember(visit)

    def _remember(self, visit: Visit) -> Sequence[str]:
        body = hashlib.sha256(visit.body).hexdigest()[:32]
        version = f"{body} {visit.modified_at}"
        if self._scope.holds(visit.url):
            self.visits[visit.url] = Seen(visit.url, visit.canonical, version, len(visit.body))
        return visit.links

    def _follow(
        self,
        url: str,
        before: Visit | None = None,
        *,
        page: bool = True,
    ) -> Reply:
        """Ask for an address, and for those it sends us to, as long as they are the site's."""
        max_bytes = None if page else SITEMAP_MAX_BYTES
        for _ in range(_MAX_REDIRECTS + 1):
            if self._would_tell_the_network(url):
                raise PageParseError("would show the login over http")
            if page and not self._rules(url).can_fetch(url, USER_AGENT):
                raise PageParseError("robots.txt forbids it")
            reply = self._client.get(url, _conditions(before), max_bytes=max_bytes)
            if reply.status not in _REDIRECTS:
                return self._accepted(reply, before)
            target = normalized(reply.header("location"), url)
            if target is None or place_of(target) not in self._scope.places:
                host = place_of(target) if target else "nowhere"
                raise PageParseError(f"redirects to {host}: {self._remedy()}")
            if url.startswith("https:") and not target.startswith("https:"):
                raise PageParseError("redirects from https to http")
            if page and not self._scope.surrounds(target):
                raise PageParseError(f"redirects out of the site: {self._remedy()}")
            url, before = target, self._cache.get(target) if page else None
        raise PageParseError(f"redirects more than {_MAX_REDIRECTS} times")

    def _would_tell_the_network(self, url: str) -> bool:
        """Tell whether asking sends credentials in clear, though the site is one of https."""
        is_secure = self._start[0].startswith("https:")
        return self._access.has_credentials and is_secure and url.startswith("http:")

    def _accepted(self, reply: Reply, before: Visit | None) -> Reply:
        if reply.status in _GONE:
            raise NoPage
        if reply.status in _LOCKED:
            raise PageParseError(f"answers {reply.status}: {self._remedy()}")
        if reply.status != 200 and (reply.status != 304 or before is None):
            raise _HiddenPageError(f"answers {reply.status}")
        return reply

    def _remedy(self) -> str:
        if self._access.has_credentials:
            return "the login may have expired (headers_env, cookies_env)"
        return "it may want a login (headers_env, cookies_env)"

    def _read(self, reply: Reply, lastmod: str) -> Visit:
        media_type = _media_type(reply)
        if media_type is None:
            raise NoPage
        body, canonical, links = reply.content, reply.url, tuple[str, ...]()
        if media_type in (HTML, PLAIN_TEXT, MARKDOWN):
            body = _as_utf8(body, reply)
        if media_type == HTML:
            markup = read_markup(body, reply.url)
            if markup.wants_password:
                raise PageParseError(f"a form to log in: {self._remedy()}")
            links = markup.links
            if markup.canonical and self._scope.holds(markup.canonical):
                canonical = markup.canonical
        return Visit(
            url=reply.url,
            media_type=media_type,
            body=body,
            etag=reply.header("etag"),
            last_modified=reply.header("last-modified"),
            lastmod=lastmod,
            modified_at=_moment(reply, lastmod),
            canonical=canonical,
            links=links,
        )

    # --- the outcome -----------------------------------------------------------------------------

    def by_canonical(self) -> dict[str, Seen]:
        """Return one visit per page: of several addresses of one page, the one it goes by.

        Where many pages claim one canonical address, a template is wrong, and each is its own.
        """
        believed = self._believed()
        chosen: dict[str, Seen] = {}
        for seen in sorted(self.visits.values(), key=lambda s: (s.url != s.canonical, s.url)):
            chosen.setdefault(seen.canonical if seen.canonical in believed else seen.url, seen)
        return chosen

    def skipped(self) -> list[SkippedPage]:
        """Return the pages that could not be taken, and why."""
        believed = self._believed()
        return [
            SkippedPage(canonical if canonical in believed else url, why)
            for url, canonical, why in self._failed
        ]

    def _believed(self) -> set[str]:
        claims = Counter(seen.canonical for seen in self.visits.values())
        claims.update(canonical for _, canonical, _ in self._failed)
        limit = max(_MOST_COPIES, _SHARE_OF_COPIES * claims.total())
        return {canonical for canonical, count in claims.items() if count <= limit}


def _conditions(before: Visit | None) -> dict[str, str]:
    conditions = {}
    if before and before.etag:
        conditions["If-None-Match"] = before.etag
    if before and before.last_modified:
        conditions["If-Modified-Since"] = before.last_modified
    return conditions


def _media_type(reply: Reply) -> str | None:
    """Return the media type, None for what is no page."""
    told = reply.header("content-type").partition(";")[0].strip().lower()
    told = _SAME_MEDIA.get(told, told)
    path = urlsplit(reply.url).path
    if told in ("", "application/octet-stream", PLAIN_TEXT) and has_page_suffix(path):
        return MEDIA_TYPES[PurePosixPath(path).suffix.lower()]
    return told if told in _MEDIA_TYPES else None


def _as_utf8(body: bytes, reply: Reply) -> bytes:
    """Apply the charset that only the reply's header knows."""
    match = _CHARSET.search(reply.header("content-type"))
    if match is None or match[1].lower() in ("utf-8", "utf8"):
        return body
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return body.decode(match[1]).encode()
        except (LookupError, UnicodeDecodeError):
            return body
    return body


def _moment(reply: Reply, lastmod: str) -> str:
    """Return when the page was changed, "" when nobody knows: the sitemap says, else the server."""
    moment = read_date(lastmod)
    if moment is None:
        moment = http_date(reply.header("last-modified"))
        sent = http_date(reply.header("date"))
        if moment and sent and moment > sent - timedelta(seconds=5):
            moment = None  # made while we asked: says nothing of the text
    return moment.isoformat() if moment else ""
