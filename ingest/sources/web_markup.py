"""What a crawl reads in pages and sitemaps: links, canonical addresses, lists of pages. Pure."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import lxml.etree
import lxml.html

from ingest.errors import PageParseError
from ingest.sources.web_addresses import normalized

SITEMAP_MAX_BYTES: Final = 52_428_800
"""Source: sitemaps.org/protocol.html, 50 MB uncompressed."""
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 47
"""zlib's word for: either a gzip or a zlib header."""


@dataclass(frozen=True, slots=True)
class Markup:
    """What an HTML page says of other pages.

    Attributes:
        links: Normalized addresses, in the page's order, each once.
        canonical: Address under which it wants to be known, or None.
        wants_password: It has a field for a password.
    """

    links: tuple[str, ...] = ()
    canonical: str | None = None
    wants_password: bool = False


def read_markup(content: bytes, url: str) -> Markup:
    """Read an HTML page; one that cannot be read has no links."""
    try:
        document = lxml.html.document_fromstring(content)
    except (lxml.etree.ParserError, ValueError):
        return Markup()
    base = url
    for element in document.iter("base"):
        base = normalized(element.get("href") or "", url) or url
        break
    links: dict[str, None] = {}
    for element in document.iter("a", "area"):
        href = element.get("href")
        target = normalized(href, base) if href else None
        if target:
            links[target] = None
    canonical = None
    for element in document.iter("link"):
        if "canonical" in (element.get("rel") or "").lower().split():
            canonical = normalized(element.get("href") or "", base)
            break
    wants_password = any(
        (element.get("type") or "").lower() == "password" for element in document.iter("input")
    )
    return Markup(tuple(links), canonical, wants_password)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """One sitemap.

    Attributes:
        pages: Addresses as written, with the date they were last changed, if told.
        sitemaps: Addresses of further sitemaps.
    """

    pages: tuple[tuple[str, str | None], ...]
    sitemaps: tuple[str, ...]


def read_sitemap(content: bytes) -> Sitemap:
    """Read a sitemap or an index of sitemaps, packed by gzip or not.

    Raises:
        PageParseError: If it is neither, or too large once unpacked.
    """
    if content.startswith(_GZIP):
        content = unpacked(content, SITEMAP_MAX_BYTES)
    parser = lxml.etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True
    )
    try:
        root = lxml.etree.fromstring(content.strip(), parser=parser)
    except (lxml.etree.XMLSyntaxError, ValueError) as error:
        raise PageParseError(f"not a sitemap: {error}") from error
    name = "" if root is None else lxml.etree.QName(root).localname
    if name not in ("urlset", "sitemapindex"):
        raise PageParseError(f"not a sitemap but <{name}>")
    entries = []
    for element in root.iterchildren("{*}url", "{*}sitemap"):
        location = (element.findtext("{*}loc") or "").strip()
        if location:
            entries.append((location, (element.findtext("{*}lastmod") or "").strip() or None))
    if name == "urlset":
        return Sitemap(tuple(entries), ())
    return Sitemap((), tuple(location for location, _ in entries))


def unpacked(content: bytes, limit: int) -> bytes:
    """Unpack gzip or zlib data.

    Raises:
        PageParseError: If there is more than `limit` bytes in it, or it is damaged.
    """
    unpacker = Unpacker(limit)
    return unpacker.feed(content) + unpacker.finish()


class Unpacker:
    """Unpacks gzip data piece by piece, and never holds more than the limit."""

    def __init__(self, limit: int) -> None:
        self._zlib = zlib.decompressobj(_GZIP_WINDOW)
        self._left = limit
        self._limit = limit

    def feed(self, piece: bytes) -> bytes:
        """Return what comes out of the next piece.

        Raises:
            PageParseError: If it is too much, or damaged.
        """
        try:
            output = self._zlib.decompress(piece, self._left + 1)
        except zlib.error as error:
            raise PageParseError(f"damaged compression: {error}") from error
        self._left -= len(output)
        if self._left < 0:
            raise PageParseError(f"larger than {self._limit} bytes once unpacked")
        return output

    def finish(self) -> bytes:
        """Return nothing, if the data is whole.

        Raises:
            PageParseError: If it ends early.
        """
        if not self._zlib.eof:
            raise PageParseError("damaged compression: it ends early")
        return b""


def read_date(text: str | None) -> datetime | None:
    """Return the moment of a sitemap's `lastmod` (W3C date), None when it is none."""
    try:
        moment = datetime.fromisoformat((text or "").strip())
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment if moment <= datetime.now(UTC) else None
