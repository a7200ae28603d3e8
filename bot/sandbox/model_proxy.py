"""Stands between the app and its model, to let the model be slow on demand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
from aiohttp import web

from bot.sandbox.loopback import LoopbackServer

MAX_BODY_BYTES = 50_000_000
LONGEST_S = 600.0
_NOT_FORWARDED = frozenset(
    {"connection", "content-encoding", "content-length", "host", "transfer-encoding"}
)
"""Headers that belong to one connection, or that aiohttp sets itself."""


class ModelProxy(LoopbackServer):
    """Forwards every request to an OpenAI-compatible endpoint while its `async with` block lasts.

    Args:
        upstream: Base URL of the endpoint.

    Attributes:
        delay_s: Added to every chat completion.
    """

    def __init__(self, upstream: str) -> None:
        self.delay_s = 0.0
        self._upstream = upstream.rstrip("/")
        self._session: aiohttp.ClientSession | None = None
        application = web.Application(client_max_size=MAX_BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._forward)
        application.cleanup_ctx.append(self._connected)
        super().__init__(application)

    async def _connected(self, _application: web.Application) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=LONGEST_S)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:
            self._session = session
            yield

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        if path == "chat/completions":
            await asyncio.sleep(self.delay_s)
        if self._session is None:
            raise RuntimeError("the proxy is not served yet")
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _NOT_FORWARDED}
        response: web.StreamResponse | None = None
        try:
            async with self._session.request(
                request.method,
                f"{self._upstream}/{path}",
                params=request.query,
                headers=headers,
                data=await request.read(),
            ) as answer:
                kept = {k: v for k, v in answer.headers.items() if k.lower() not in _NOT_FORWARDED}
                # In pieces, as they come: the app shows an answer while it is written.
                response = web.StreamResponse(status=answer.status, headers=kept)
                await response.prepare(request)
                async for piece in answer.content.iter_any():
                    await response.write(piece)
                return response
        except aiohttp.ClientError as error:
            if response is not None:  # half of an answer is none: it breaks off here, too
                if request.transport is not None:
                    request.transport.abort()
                return response
            return web.json_response({"error": {"message": str(error)}}, status=502)
