"""The HTTP servers inside `manuel serve`: one for Slack's requests and health, one for metrics."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from ingest import ConfigurationError

log = logging.getLogger(__name__)

MAX_BODY_BYTES = 1_000_000
"""Far above what Slack sends: its largest payloads hold a modal of at most 250 kB."""
STOP_LIMIT_S = 5
"""How long requests under way may take when stopping; Slack waits 3 s for an answer."""


class WebServer:
    """Serves routes in the running event loop, between `start` and `stop`.

    Args:
        host: Address to listen on.
        port: Port; 0 takes any free one.
        routes: What is served.
        chosen_by: The settings that say where it listens, for whoever has to change them.
    """

    def __init__(
        self,
        host: str,
        port: int,
        routes: Sequence[BaseRoute],
        *,
        chosen_by: str = "HTTP_HOST and HTTP_PORT",
    ) -> None:
        self._chosen_by = chosen_by
        self._host = host
        self._port = port
        self._server = _Server(
            uvicorn.Config(
                Starlette(routes=list(routes), max_body_size=MAX_BODY_BYTES),
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=STOP_LIMIT_S,
            )
        )
        self._serving: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """Return the port it listens on, once started."""
        return self._port

    async def start(self) -> None:
        """Listen.

        Raises:
            ConfigurationError: If the address cannot be listened on.
        """
        listener = _listen(self._host, self._port, self._chosen_by)
        self._port = listener.getsockname()[1]
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))
        log.info("listening", extra={"host": self._host, "port": self._port})

    async def stop(self) -> None:
        """Let requests under way end, within `STOP_LIMIT_S`, and stop listening."""
        if self._serving is not None:
            self._server.should_exit = True
            await self._serving


class _Server(uvicorn.Server):
    """Leaves signals alone: the app has its own way to stop."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(host: str, port: int, chosen_by: str) -> socket.socket:
    # Bound here, since uvicorn ends the process when it cannot.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2_048)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"cannot listen on {host}, port {port} ({chosen_by}): {error}"
        ) from error
