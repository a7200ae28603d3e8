"""HTTP mode: Slack sends signed requests to a public address of the app.

Bolt checks the signature and that it is at most five minutes old. A request that is repeated
within those minutes, by Slack or by somebody who listened, is recognised by its event's id.
"""

from __future__ import annotations

import asyncio

from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

EVENTS_PATH = "/slack/events"
"""Request URL of events, commands and interactions; deploy/build_manifests.py has it too."""


class HttpReceiver:
    """Receives at `EVENTS_PATH`; until it has started Slack is asked to come again.

    Args:
        signing_secret: Proves that a request comes from Slack.
    """

    def __init__(self, signing_secret: str) -> None:
        if not signing_secret:
            raise ValueError("without a signing secret anybody could speak for Slack")
        self.signing_secret = signing_secret
        self._handler: AsyncSlackRequestHandler | None = None
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def routes(self) -> list[BaseRoute]:
        """Return what the web server must serve."""
        return [Route(EVENTS_PATH, self._receive, methods=["POST"])]

    async def start(self, bolt: AsyncApp) -> None:
        """Begin to take requests."""
        self._handler = AsyncSlackRequestHandler(bolt)

    async def is_receiving(self) -> bool:
        """Say whether requests are taken."""
        return self._handler is not None

    async def stop(self) -> None:
        """Take no more requests, and wait for those under way."""
        self._handler = None
        await self._idle.wait()

    async def _receive(self, request: Request) -> Response:
        handler = self._handler
        if handler is None:
            return Response("not ready", status_code=503)
        self._under_way += 1
        self._idle.clear()
        try:
            (await request.body()).decode()
            return await handler.handle(request)
        except UnicodeDecodeError:
            return Response("not UTF-8", status_code=400)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()
