"""Asks web servers, politely and guardedly: the only importer of httpx2 for sources."""

from __future__ import annotations

import ipaddress
import logging
import socket
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, TypedDict

import httpx2
from pydantic import SecretStr

from ingest.errors import PageParseError, SourceUnavailableError
from ingest.sources.base import too_large
from ingest.sources.web_addresses import place_of
from ingest.sources.web_markup import Unpacker

logger = logging.getLogger(__name__)

USER_AGENT: Final = "Manuel/0.1 (handbook indexer)"
_TRIES: Final = 3
_WORTH_A_RETRY: Final = frozenset({429, 500, 502, 503, 504, 529})
_LONGEST_WAIT_S: Final = 120.0
_ASK_EVERY_S: Final = 0.2
_METADATA: Final = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "fd20:ce::254")))
"""Where clouds keep the credentials of machines that have IPv6 alone: AWS, Google."""
_IPV4_IN_LAST_BITS: Final = tuple(
    map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0/96", "64:ff9b::/96"))
)
"""Compatible, mapped and translated (NAT64) addresses. Source: RFC 4291, RFC 6052."""


class _Sent(TypedDict, total=False):
    """What goes along with a request, as httpx2 names it."""

    data: Mapping[str, str]
    json: object


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server said; `headers` has lower-case names."""

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    def header(self, name: str) -> str:
        """Return a header, "" when it is absent."""
        return self.headers.get(name, "")


def is_busy(reply: Reply) -> bool:
    """Tell whether a reply asks to come back later, by its status."""
    return reply.status in _WORTH_A_RETRY


class WebClient:
    """Gets pages from a few hosts, one after the other.

    Args:
        places: Hosts (with port, if it is another) that may be asked.
        headers: Sent with every request, to these hosts alone.
        cookies: Likewise.
        private_network: Whether hosts may have private addresses.
        requests_per_second: Never more.
        max_bytes: A longer reply is refused.
        timeout_s: For connecting, and between two pieces of a reply.
        reply_limit_s: For a whole reply, however steadily it drips.
        first_retry_s: Doubled with each retry, unless the server names a delay.
        busy: Tells a reply that asks to come back later.
        stopped: Asked while waiting.
    """

    def __init__(
        self,
        places: Collection[str],
        *,
        headers: Mapping[str, SecretStr],
        cookies: Mapping[str, SecretStr],
        private_network: bool,
        requests_per_second: float,
        max_bytes: int,
        timeout_s: float = 30.0,
        reply_limit_s: float = 120.0,
        first_retry_s: float = 1.0,
        busy: Callable[[Reply], bool] = is_busy,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._places = frozenset(places)
        self._interval_s = 1.0 / requests_per_second
        self._max_bytes = max_bytes
        self._reply_limit_s = reply_limit_s
        self._first_retry_s = first_retry_s
        self._busy = busy
        self._stopped = stopped
        self._free_at = 0.0
        self.requests = 0
        """Requests made so far."""
        self._client = httpx2.Client(
            transport=GuardedTransport(private_network=private_network),
            headers={
                "User-Agent": USER_AGENT,
                "Accept-Encoding": "gzip",
                **{name: value.get_secret_value() for name, value in headers.items()},
            },
            cookies={name: value.get_secret_value() for name, value in cookies.items()},
            timeout=timeout_s,
            follow_redirects=False,
            trust_env=False,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def slow_down(self, interval_s: float) -> None:
        """Leave at least so much time between two requests."""
        self._interval_s = max(self._interval_s, interval_s)

    def get(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        max_bytes: int | None = None,
    ) -> Reply:
        """Ask once, and again when the server is overloaded or the connection breaks.

        Args:
            url: Normalized; a query of its own is kept.
            headers: For this request alone.
            max_bytes: Another limit for this reply.

        Raises:
            PageParseError: If the reply is too large or damaged.
            SourceUnavailableError: If there is no reply, the host may not be asked, or whoever
                waits has had enough.
        """
        return self._ask("GET", url, headers or {}, max_bytes or self._max_bytes)

    def post(
        self,
        url: str,
        form: Mapping[str, str] | None = None,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a form, or a body as JSON, with the same promises; it must do no harm sent twice."""
        sent: _Sent = {"json": body} if form is None else {"data": form}
        return self._ask("POST", url, headers or {}, self._max_bytes, sent)

    def serves(self, url: str) -> bool:
        """Tell whether an address is on a host that may be asked."""
        return place_of(url) in self._places

    def _ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        max_bytes: int,
        sent: _Sent | None = None,
    ) -> Reply:
        if not self.serves(url):
            raise SourceUnavailableError(f"{place_of(url)} is not one of the configured hosts")
        for tried in range(1, _TRIES + 1):
            self._wait(max(0.0, self._free_at - time.monotonic()))
            try:
                reply = self._ask_once(method, url, headers, max_bytes, sent or {})
            except httpx2.TransportError as error:
                if tried == _TRIES:
                    why = str(error) or type(error).__name__
                    # Without the query: that of a download can be a key.
                    address = url.partition("?")[0]
                    raise SourceUnavailableError(f"{address} does not answer: {why}") from error
                self._wait(self._first_retry_s * 2 ** (tried - 1))
                continue
            if not self._busy(reply) or tried == _TRIES:
                break
            delay_s = _retry_after_s(reply) or self._first_retry_s * 2 ** (tried - 1)
            if delay_s > _LONGEST_WAIT_S:
                break
            self._wait(delay_s)
        return reply

    def _ask_once(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        max_bytes: int,
        sent: _Sent,
    ) -> Reply:
        self._free_at = time.monotonic() + self._interval_s
        self.requests += 1
        deadline = time.monotonic() + self._reply_limit_s
        with self._client.stream(method, url, headers=headers, **sent) as response:
            pieces, size = [], 0
            encoding = response.headers.get("content-encoding", "identity").lower()
            if encoding not in ("gzip", "x-gzip", "identity"):
                raise PageParseError(f"compressed by {encoding}, which was not asked for")
            unpacker = None if encoding == "identity" else Unpacker(max_bytes)
            for piece in response.iter_raw():
                size += len(piece)
                if size > max_bytes:
                    raise PageParseError(too_large(max_bytes))
                if time.monotonic() > deadline or self._stopped():
                    raise PageParseError(f"took longer than {self._reply_limit_s:g} s")
                pieces.append(unpacker.feed(piece) if unpacker else piece)
            if unpacker and size:
                unpacker.finish()
            return Reply(
                url=url,
                status=response.status_code,
                headers={name.lower(): value for name, value in response.headers.items()},
                content=b"".join(pieces),
            )

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopped():
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, _ASK_EVERY_S))
        raise SourceUnavailableError("stopped")


class GuardedTransport(httpx2.BaseTransport):
    """Connects to addresses that were looked at: a name cannot lead into a private network.

    The name is resolved here, once, and the connection made to what was checked; so a name that
    resolves to something else a moment later changes nothing. Each name has connections of its own:
    an open one to the same address has shown the certificate of another name.
    """

    def __init__(self, *, private_network: bool) -> None:
        self._private_network = private_network
        self._trusted = httpx2.create_ssl_context()  # SSL_CERT_FILE and SSL_CERT_DIR, too
        self._by_host: dict[str, httpx2.HTTPTransport] = {}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request (raises `SourceUnavailableError` where an address is refused)."""
        host, port = request.url.host, request.url.port
        addresses = self._resolve(host, port or (443 if request.url.scheme == "https" else 80))
        for last, address in enumerate(addresses, start=1 - len(addresses)):
            direct = httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,  # with the name as Host
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return self._transport(host).handle_request(direct)
            except httpx2.ConnectError:
                if last == 0:
                    raise
        raise httpx2.ConnectError(f"{host} has no address")

    def close(self) -> None:
        """Close the connections."""
        for transport in self._by_host.values():
            transport.close()

    def _transport(self, host: str) -> httpx2.HTTPTransport:
        if host not in self._by_host:
            self._by_host[host] = httpx2.HTTPTransport(verify=self._trusted)
        return self._by_host[host]

    def _resolve(self, host: str, port: int) -> list[str]:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(f"{host} cannot be resolved: {error}") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        for address in addresses:
            if not self._may_connect(address):
                raise SourceUnavailableError(
                    f"{host} has the private address {address}, which is refused; for an intranet"
                    " set private_network = true"
                )
        return addresses

    def _may_connect(self, address: str) -> bool:
        ip = _reached(address)
        # Link-local addresses are where clouds keep the credentials of their machines.
        if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip in _METADATA:
            return False
        return self._private_network or ip.is_global


def _reached(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address, or the IPv4 one that a gateway reaches through it."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if any(ip in network for network in _IPV4_IN_LAST_BITS):
        return ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
    return ip.sixtofour or ip


def _retry_after_s(reply: Reply) -> float | None:
    value = reply.header("retry-after").strip()
    if value.isdigit():
        return float(value)
    moment = http_date(value)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment else None


def http_date(value: str) -> datetime | None:
    """Return the moment of an HTTP date, None when it is none."""
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
