"""Serves what stands beside the sandbox's app, on this machine alone."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from aiohttp import web

HOST = "127.0.0.1"


class LoopbackServer:
    """Serves an application while its `async with` block lasts.

    Args:
        application: What answers; what it opens and closes is in its `cleanup_ctx`.
        port: Port to listen on; 0 for any free one.
    """

    def __init__(self, application: web.Application, port: int = 0) -> None:
        self._application = application
        self._port = port
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """Where it answers."""
        if self._runner is None:
            raise RuntimeError("it is not served yet")
        return f"http://{HOST}:{self._runner.addresses[0][1]}"

    async def __aenter__(self) -> Self:
        """Start listening.

        Raises:
            OSError: If the port is taken.
        """
        self._runner = web.AppRunner(self._application, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, HOST, self._port).start()
        except OSError:
            await self._runner.cleanup()
            raise
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
