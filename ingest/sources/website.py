"""The pages of a website as a source: those of its sitemap, or those that links lead to."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal

from ingest.errors import ConfigurationError, PageParseError, SourceUnavailableError
from ingest.records import PUBLIC, Audiences, RawPage
from ingest.sources.base import DEFAULT_MAX_PAGE_BYTES, UNWATCHED, Entry, Listing, Watch
from ingest.sources.cache_file import cache_file
from ingest.sources.web_addresses import Scope, normalized, place_of
from ingest.sources.web_cache import WebCache
from ingest.sources.web_visitor import NoPage, SiteAccess, SiteLimits, Visitor

logger = logging.getLogger(__name__)

Mode = Literal["auto", "sitemap", "crawl"]


class WebsiteSource:
    """The pages of a site, each known by its canonical address.

    A listing visits every page, with conditional requests for those that were sent before, and
    keeps what is sent; `fetch` then reads from there.
    """

    def __init__(
        self,
        name: str,
        start: Sequence[str],
        *,
        cache: Path,
        access: SiteAccess | None = None,
        limits: SiteLimits | None = None,
        hosts: Sequence[str] = (),
        sitemap: str | None = None,
        mode: Mode = "auto",
        keep_query: bool = False,
        trust_lastmod: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        max_page_bytes: int = DEFAULT_MAX_PAGE_BYTES,
        audiences: Audiences = PUBLIC,
    ) -> None:
        """Describe a site; nothing is asked yet.

        Args:
            name: Shown to people and stored with each page.
            start: Addresses to begin at; pages outside their folders are left out.
            cache: Folder for what sites sent; this one gets a file in it.
            access: How it lets us in.
            limits: How much of it is taken.
            hosts: Further hosts whose pages belong to it.
            sitemap: Address of its sitemap; None for what robots.txt names, else /sitemap.xml.
            mode: Whether pages come from the sitemap or from links.
            keep_query: Whether links with a query are followed.
            trust_lastmod: Whether a page is not asked for when its date in the sitemap is the same.
            include: Patterns of paths to take; empty means all; see `path_pattern`.
            exclude: Patterns of paths to leave out; they win over `include`.
            max_page_bytes: Larger pages are skipped and reported.
            audiences: Who may read the pages.

        Raises:
            ConfigurationError: If an address is none of a web page.
        """
        self._name = name
        self._start = [_address(url) for url in start]
        self._sitemap = None if sitemap is None else _address(sitemap)
        self._scope = Scope(
            self._start, hosts=[host.lower() for host in hosts], include=include, exclude=exclude
        )
        self._access = access or SiteAccess()
        self._limits = limits or SiteLimits()
        self._mode = mode
        self._keep_query = keep_query
        self._trust_lastmod = trust_lastmod
        self._max_page_bytes = max_page_bytes
        self._audiences = audiences
        self._cache = WebCache(cache_file(cache, name, *self._start))
        self._visited: dict[str, str] = {}  # path of an entry -> address it was sent from

    @property
    def name(self) -> str:
        """Name shown to people and stored with each page."""
        return self._name

    def probe(self) -> str:
        """Read robots.txt and the sitemap, or the first page.

        Raises:
            SourceUnavailableError: If the site does not answer or does not let us in.
        """
        visitor = self._visitor(UNWATCHED)
        try:
            found = visitor.sitemap_pages() if self._mode != "crawl" else None
            if found is None:
                visitor.visit(self._start[0])
        except NoPage:
            raise SourceUnavailableError(f"{self._start[0]} is not there, or is no page") from None
        except PageParseError as error:
            raise SourceUnavailableError(f"{self._start[0]}: {error}") from error
        finally:
            visitor.close()
        if found is None:
            return "answers; pages are found by following links"
        return f"{len(found)} pages in the sitemap"

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        """Visit every page of the site.

        Raises:
            SourceUnavailableError: If the site does not answer or does not let us in.
        """
        visitor = self._visitor(watch)
        try:
            told = visitor.sitemap_pages() if self._mode != "crawl" else None
            if told is None and self._mode == "sitemap":
                raise SourceUnavailableError(f"{place_of(self._start[0])} has no sitemap")
            visitor.visit_all(told)
        finally:
            visitor.close()
        pages = visitor.by_canonical()
        self._visited = {path: seen.url for path, seen in pages.items()}
        if not visitor.problems:
            self._cache.keep_only(visitor.visits.keys())
        logger.info(
            "website visited",
            extra={
                "source": self._name,
                "requests": visitor.requests,
                "pages": len(self._visited),
                "unchanged": visitor.unchanged,
            },
        )
        return Listing(
            entries=tuple(
                Entry(path, pages[path].version, pages[path].size) for path in sorted(pages)
            ),
            skipped=tuple(sorted(visitor.skipped(), key=lambda page: page.path)),
            complete=not visitor.problems,
            problem="; ".join(visitor.problems) or None,
        )

    def fetch(self, entry: Entry) -> RawPage:
        """Read one page of the last listing.

        Raises:
            PageParseError: If it was not in it.
            SourceUnavailableError: If what was sent cannot be read any more.
        """
        visit = self._cache.get(self._visited.get(entry.path, entry.path))
        if visit is None:
            raise PageParseError("not in the last listing")
        return RawPage(
            path=entry.path,
            content=visit.body,
            media_type=visit.media_type,
            modified_at=datetime.fromisoformat(visit.modified_at) if visit.modified_at else None,
            url=entry.path,
            audiences=self._audiences,
            found_at=visit.url,
        )

    def close(self) -> None:
        """Close the file of what was sent."""
        self._cache.close()

    def _visitor(self, watch: Watch) -> Visitor:
        return Visitor(
            start=self._start,
            sitemap=self._sitemap,
            scope=self._scope,
            access=self._access,
            limits=self._limits,
            cache=self._cache,
            watch=watch,
            keep_query=self._keep_query,
            trust_lastmod=self._trust_lastmod,
            max_page_bytes=self._max_page_bytes,
        )


def _address(url: str) -> str:
    address = normalized(url)
    if address is None:
        raise ConfigurationError(f"{url!r} is no address of a web page")
    return address
