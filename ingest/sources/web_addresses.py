"""Addresses of web pages: one spelling each, and which belong to a site. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from ingest.sources.paths import PathFilter

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_ESCAPE: Final = re.compile("%[0-9a-f]{2}", re.I)
_SAFE: Final = "%/:@!$&'()*+,;=~-._"


def normalized(url: str, base: str = "") -> str | None:
    """Return the one spelling of an address, absolute and without fragment.

    Args:
        url: As somebody wrote it.
        base: Address of the page it stands on.

    Returns:
        None when it is no address of a web page.
    """
    try:
        parts = urlsplit(urljoin(base, url.strip()))
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        return None
    netloc = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        netloc = f"{netloc}:{port}"
    path = parts.path or "/"
    if "/." in path and not path.startswith("//"):
        path = urlsplit(urljoin("http://host/", path)).path
    path, query = _escaped(path, _SAFE), _escaped(parts.query, _SAFE + "?")
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def _escaped(text: str, safe: str) -> str:
    return _ESCAPE.sub(lambda match: match[0].upper(), quote(text, safe=safe))


def place_of(url: str) -> str:
    """Return host and port of a normalized address, as in `wiki.example.com:8080`."""
    return urlsplit(url).netloc


class Scope:
    """The pages that belong to a site.

    Args:
        start: Normalized addresses; what lies in their folders belongs.
        hosts: Further hosts (with the port, if it is another) that belong as a whole.
        include: Patterns of paths to take, without the first `/`; empty means all.
        exclude: Patterns of paths to leave out.
    """

    def __init__(
        self,
        start: Sequence[str],
        *,
        hosts: Sequence[str] = (),
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> None:
        self._folders = tuple(url[: url.rindex("/") + 1] for url in map(_without_query, start))
        self._hosts = frozenset(hosts)
        self._filter = PathFilter(include, exclude)
        self.places = frozenset(place_of(url) for url in start) | self._hosts
        """Hosts that may be asked for anything at all."""

    def holds(self, url: str) -> bool:
        """Tell whether a normalized address is one of the site's pages."""
        path = _without_query(url)
        inside = path.startswith(self._folders) or place_of(url) in self._hosts
        return inside and self._filter.wants(urlsplit(path).path.removeprefix("/"))

    def surrounds(self, url: str) -> bool:
        """Tell whether an address is in the site's folders, whatever the patterns say."""
        return _without_query(url).startswith(self._folders) or place_of(url) in self._hosts


def _without_query(url: str) -> str:
    return url.partition("?")[0]
