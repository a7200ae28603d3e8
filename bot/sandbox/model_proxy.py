"""Stands between the app and its model, to let the model be slow on demand."""

from __future__ import annotations

import asyncio
from types import TracebackType

import aiohttp
from aiohttp import web

HOST = "127.0.0.1"
MAX_BODY_BYTES = 50_000_000
LONGEST_S = 600.0
_NOT_FORWARDED = frozenset(
    {"connection", "content-encoding", "content-length", "host", "transfer-encoding"}
)
"""Headers that belong to one connection, or that aiohttp sets itself."""


class ModelProxy:
    """Forwards every request to an OpenAI-compatible endpoint while its `async with` block lasts.

    Args:
        upstream: Base URL of the endpoint.

    Attributes:
        delay_s: Added to every chat completion.
    """

    def __init__(self, upstream: str) -> None:
        self.delay_s = 0.0
        self._upstream = upstream.rstrip("/")
        self._runner: web.AppRunner | None = None
        self._session: aiohttp.ClientSession | None = None

    @property
    def base_url(self) -> str:
        """Where the app finds its model meanwhile."""
        if self._runner is None:
            raise RuntimeError("the proxy is not served yet")
        return f"http://{HOST}:{self._runner.addresses[0][1]}"

    async def __aenter__(self) -> ModelProxy:
        """Start listening."""
        timeout = aiohttp.ClientTimeout(total=LONGEST_S)
        self._session = aiohttp.ClientSession(timeout=timeout, trust_env=True)
        application = web.Application(client_max_size=MAX_BODY_BYTES)
        application.router.add_route("*", "/{path:.*}", self._forward)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, 0).start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()
        if self._session is not None:
            await self._session.close()

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
