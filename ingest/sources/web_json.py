"""Asks JSON interfaces, and says clearly what they answer instead of JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, Protocol
from urllib.parse import urlencode, urljoin

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.parsing.media import HTML
from ingest.sources.web_client import Reply, WebClient, http_date

JsonObject = dict[str, Any]

_DOWN_AFTER: Final = 5
"""Pages in a row that a server does not show before it counts as down."""
_MAX_REDIRECTS: Final = 5
MAX_REPLY_BYTES: Final = 20_000_000
"""Of JSON, however large pages may be."""
_ERROR_CODE: Final = re.compile(r"[\w.-]{1,60}")


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


class BadRequest(SourceUnavailableError):  # noqa: N818 - as HTTP names it
    """The server understands us and will not do this (status 400)."""


class Forbidden(SourceUnavailableError):  # noqa: N818 - as HTTP names it
    """The server knows us and does not let us see this (status 403)."""


class Bearer(Protocol):
    """Who we are, in one line that may have to be renewed."""

    def header(self) -> str:
        """Return the value of the Authorization header.

        Raises:
            SourceUnavailableError: If there is none to be had.
        """
        ...

    def renew(self) -> None:
        """Forget the value: it was refused."""
        ...


class JsonInterface:
    """A JSON interface behind one client.

    Args:
        client: Asks politely.
        login: What a person must look at when we are refused: names the settings.
        bearer: Authorizes each request, beside what the client sends with all of them.
    """

    def __init__(self, client: WebClient, *, login: str, bearer: Bearer | None = None) -> None:
        self._client = client
        self._login = login
        self._bearer = bearer
        self._told_at: datetime | None = None
        self._encrypted = False

    @property
    def told_at(self) -> datetime:
        """Return when the last reply was sent, by the server's clock: ours may be wrong."""
        return self._told_at or datetime.now(UTC)

    def get(self, url: str, parameters: Mapping[str, str | int] | None = None) -> JsonObject:
        """Return the object at an address.

        Raises:
            NotThere: If there is none.
            SourceUnavailableError: If the server does not answer, refuses, or sends no JSON.
        """
        query = urlencode(parameters or {})
        return self._read(self._reply(f"{url}?{query}" if query else url))

    def post(self, url: str, form: Mapping[str, str]) -> JsonObject:
        """Send a form and return the object it is answered with (raises as `get`)."""
        return self._read(self._client.post(url, form))

    def query(self, url: str, question: JsonObject) -> JsonObject:
        """Send a question as JSON and return the object it is answered with (raises as `get`)."""
        return self._read(
            self._asked(url, lambda headers: self._client.post(url, body=question, headers=headers))
        )

    def file(
        self, url: str, media_type: str, *, max_bytes: int, storage: WebClient | None = None
    ) -> bytes:
        """Return the file at an address.

        Args:
            url: Its address.
            media_type: What it is: HTML in place of anything else is a page to log in.
            max_bytes: A larger file is refused.
            storage: Follows redirects to hosts that hold files, without our login.

        Raises:
            NotThere: If there is none.
            PageParseError: If it is too large.
            SourceUnavailableError: If the server does not answer, refuses, or sends a web page.
        """
        reply = self._reply(url, max_bytes)
        for _ in range(_MAX_REDIRECTS):
            if not 300 <= reply.status < 400 or not reply.header("location"):
                break
            target = urljoin(reply.url, reply.header("location"))
            if storage is not None and storage.serves(target):
                reply = storage.get(target, max_bytes=max_bytes)
            else:
                reply = self._reply(target, max_bytes)
        self._check(reply)
        if media_type != HTML and reply.header("content-type").startswith(HTML):
            raise self.refused(f"{_address(reply)} sends a web page in place of the file")
        return reply.content

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def refused(self, said: str) -> SourceUnavailableError:
        """Return the error that says we may not read, and what to look at."""
        return SourceUnavailableError(f"{said}: {self._login}")

    def _reply(self, url: str, max_bytes: int | None = None) -> Reply:
        return self._asked(url, lambda headers: self._client.get(url, headers, max_bytes=max_bytes))

    def _asked(self, url: str, ask: Callable[[Mapping[str, str]], Reply]) -> Reply:
        if url.startswith("https://"):
            self._encrypted = True
        elif self._encrypted:  # a link to further results, or a redirect, must not lead out of it
            address = url.partition("?")[0]
            raise SourceUnavailableError(f"{address} would be asked without encryption")
        if self._bearer is None:
            reply = ask({})
        else:
            reply = ask({"Authorization": self._bearer.header()})
            if reply.status == 401:
                self._bearer.renew()
                reply = ask({"Authorization": self._bearer.header()})
        self._told_at = http_date(reply.header("date"))
        return reply

    def _read(self, reply: Reply) -> JsonObject:
        self._check(reply)
        return json_object(reply, f"is it the address of the interface, and {self._login}?")

    def _check(self, reply: Reply) -> None:
        code = error_code(reply)
        said = f"{_address(reply)} answers {reply.status}{f' ({code})' if code else ''}"
        if reply.status == 403:
            raise Forbidden(f"{said}: {self._login}")
        if reply.status == 401 or 300 <= reply.status < 400:
            raise self.refused(said)
        if reply.status in (404, 410):
            raise NotThere(said)
        if reply.status == 400:
            raise BadRequest(said)
        if reply.status != 200:
            raise SourceUnavailableError(said)


def json_object(reply: Reply, hint: str = "is it the right address?") -> JsonObject:
    """Return the object in a reply.

    Raises:
        SourceUnavailableError: If there is something else in it; ends with the hint.
    """
    try:
        found = json.loads(reply.content)
    except (ValueError, RecursionError) as error:
        kind = reply.header("content-type").partition(";")[0] or "something"
        raise SourceUnavailableError(
            f"{_address(reply)} sends {kind} that is no JSON: {hint}"
        ) from error
    if not isinstance(found, dict):
        raise SourceUnavailableError(f"{_address(reply)} sends JSON that is no object")
    return found


def moment_of(text: object) -> datetime | None:
    """Return the moment that an interface tells in ISO 8601, None when it is none."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def error_code(reply: Reply) -> str:
    """Return the code that a JSON interface gives its error, "" when it has none."""
    try:
        found = json.loads(reply.content)
    except (ValueError, RecursionError):
        return ""
    code = found.get("code") or found.get("error") if isinstance(found, dict) else None
    if isinstance(code, dict):
        reasons = code.get("errors")
        first = reasons[0] if isinstance(reasons, list) and reasons else None
        code = first.get("reason") if isinstance(first, dict) else code.get("code")
    return code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""


def _address(reply: Reply) -> str:
    return reply.url.partition("?")[0]
