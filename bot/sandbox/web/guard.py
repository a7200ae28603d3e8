"""Who may talk to the page: a browser of this machine that was given its address."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Middleware

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self';"
        " img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Sent with everything: nothing is loaded from elsewhere, no other page may frame this one."""

_LOCAL_NAMES = ("127.0.0.1", "localhost")
_OWN_REQUESTS = ("same-origin", "none")


def refusal(request: web.Request) -> str:
    """Say why a request is not one of a local program or of our own page; empty when it is.

    A name that a stranger's DNS points at this machine shows in `Host`, a stranger's page in
    `Origin` and `Sec-Fetch-Site`.
    """
    host = request.host.rpartition(":")[0] or request.host
    if host not in _LOCAL_NAMES:
        return "only by the address of this machine"
    origin = request.headers.get("Origin")
    if origin not in (None, f"http://{request.host}"):
        return "not from another page"
    if request.headers.get("Sec-Fetch-Site", "none") not in _OWN_REQUESTS:
        return "not from another page"
    return ""


def guarded(token: str) -> Middleware:
    """Return the middleware that lets in who knows the token, the first part of every path."""

    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        words = refusal(request)
        given = request.path.split("/", 2)[1]
        if not words and not hmac.compare_digest(given.encode(), token.encode()):
            words = "open the address that the terminal shows"
        if words:
            return web.Response(status=403, text=f"{words}\n", headers=HEADERS)
        return await handler(request)

    return guard


async def add_headers(_: web.Request, response: web.StreamResponse) -> None:
    """Put the guarding headers on a response, before it leaves."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
