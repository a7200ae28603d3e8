"""Asks the JSON interfaces of wikis, and says clearly what they answer instead of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlencode

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.sources.web_client import Reply, WebClient

JsonObject = dict[str, Any]

_DOWN_AFTER: Final = 5
"""Pages in a row that a server does not show before it counts as down."""


class NotThere(PageParseError):  # noqa: N818 - what a reply says, as the interfaces put it
    """There is nothing at this address (any more)."""


class PageByPage:
    """Lets a page that a server cannot show be skipped, until so many fail that it must be down."""

    def __init__(self) -> None:
        self._failed = 0

    @contextmanager
    def page(self) -> Iterator[None]:
        """Read one page in the body.

        Raises:
            PageParseError: If the server does not show this page.
            SourceUnavailableError: If it did not show the ones before either.
        """
        try:
            yield
        except SourceUnavailableError as error:
            self._failed += 1
            if self._failed >= _DOWN_AFTER:
                raise
            raise PageParseError(str(error)) from error
        self._failed = 0


class JsonInterface:
    """A JSON interface behind one client.

    Args:
        client: Asks politely.
        login: What a person must look at when we are refused: names the settings.
    """

    def __init__(self, client: WebClient, *, login: str) -> None:
        self._client = client
        self._login = login

    def get(self, url: str, parameters: Mapping[str, str | int] | None = None) -> JsonObject:
        """Return the object at an address.

        Raises:
            NotThere: If there is none.
            SourceUnavailableError: If the server does not answer, refuses, or sends no JSON.
        """
        query = urlencode(parameters or {})
        return self._read(self._client.get(f"{url}?{query}" if query else url))

    def post(self, url: str, form: Mapping[str, str]) -> JsonObject:
        """Send a form and return the object it is answered with (raises as `get`)."""
        return self._read(self._client.post(url, form))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def refused(self, said: str) -> SourceUnavailableError:
        """Return the error that says we may not read, and what to look at."""
        return SourceUnavailableError(f"{said}: {self._login}")

    def _read(self, reply: Reply) -> JsonObject:
        address = reply.url.partition("?")[0]
        if reply.status in (401, 403) or 300 <= reply.status < 400:
            raise self.refused(f"{address} answers {reply.status}")
        if reply.status in (404, 410):
            raise NotThere(f"{address} answers {reply.status}")
        if reply.status != 200:
            raise SourceUnavailableError(f"{address} answers {reply.status}")
        try:
            found = json.loads(reply.content)
        except (ValueError, RecursionError) as error:
            kind = reply.header("content-type").partition(";")[0] or "something"
            raise SourceUnavailableError(
                f"{address} sends {kind} that is no JSON: is it the address of the interface,"
                f" and {self._login}?"
            ) from error
        if not isinstance(found, dict):
            raise SourceUnavailableError(f"{address} sends JSON that is no object")
        return found
