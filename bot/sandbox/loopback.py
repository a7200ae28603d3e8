"""Serves what stands beside the sandbox's app, on this machine alone."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from aiohttp import web

HOST = "127.0.0.1"


class LoopbackServer:
    """Serves an application on a free port while its `async with` block lasts.

    Args:
        application: What answers; what it opens and closes is in its `cleanup_ctx`.
    """

    def __init__(self, application: web.Application) -> None:
        self._application = application
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """Where it answers."""
        if self._runner is None:
            raise RuntimeError("it is not served yet")
        return f"http://{HOST}:{self._runner.addresses[0][1]}"

    async def __aenter__(self) -> Self:
        """Start listening."""
        self._runner = web.AppRunner(self._application, access_log=None, shutdown_timeout=0.5)
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
