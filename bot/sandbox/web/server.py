"""Serves the page on this machine: its files, what a person sees as it changes, what they do."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from aiohttp import web

from bot.sandbox.control import Sandbox
from bot.sandbox.loopback import LoopbackServer
from bot.sandbox.web import behind
from bot.sandbox.web.acting import Acting
from bot.sandbox.web.guard import add_headers, guarded
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.questions import asked_for_message, asked_for_view
from bot.sandbox.web.snapshot import people, snapshot
from bot.sandbox.web.switches import Switches
from bot.sandbox.workspace import Json, Message

T = TypeVar("T")

STATIC = Path(__file__).parent / "static"
GATHER_S = 0.03
"""Changes this close together are shown at once."""

ALIVE_EVERY_S = 10.0
_DOWNLOADED = ("application/pdf", "application/vnd.openxmlformats")
"""Beginnings of the types of source pages that are no text."""


class PageServer(LoopbackServer):
    """Serves the page of a stand-in while its `async with` block lasts; yields itself.

    Args:
        sandbox: What is shown and acted on.
        beside: What runs beside it.
        port: Port to listen on; 0 for any free one.
    """

    def __init__(self, sandbox: Sandbox, beside: Beside | None = None, port: int = 0) -> None:
        self._sandbox = sandbox
        self._beside = beside or Beside()
        self._acting = Acting(sandbox)
        self._switches = Switches(sandbox, self._beside)
        self._token = secrets.token_urlsafe(16)
        super().__init__(self._routed(), port)

    @property
    def address(self) -> str:
        """Where to open the page; it holds the token."""
        return f"{self.base_url}/{self._token}/"

    def _routed(self) -> web.Application:
        application = web.Application(middlewares=[guarded(self._token), _explain_refusals])
        application.on_response_prepare.append(add_headers)
        router, root = application.router, f"/{self._token}"
        router.add_get(f"{root}/", self._index)
        router.add_get(f"{root}/api/world", self._world)
        router.add_get(f"{root}/api/live", self._live)
        router.add_post(f"{root}/api/act/{{action}}", self._act)
        router.add_post(f"{root}/api/switch", self._switch)
        router.add_get(f"{root}/api/behind", self._behind)
        router.add_get(f"{root}/api/why", self._why)
        router.add_get(f"{root}/api/source", self._source)
        router.add_static(f"{root}/", STATIC)
        return application

    async def _index(self, _: web.Request) -> web.StreamResponse:
        return web.FileResponse(STATIC / "index.html")

    async def _world(self, _: web.Request) -> web.StreamResponse:
        return web.json_response(
            {
                "people": people(self._sandbox.workspace()),
                "can_explain": self._beside.explain is not None,
                "can_open_sources": self._beside.pages is not None,
            }
        )

    async def _live(self, request: web.Request) -> web.StreamResponse:
        """Send what the person sees, whole, after each change."""
        user_id = request.query["as"]
        self._snapshot(user_id)  # refuses an unknown person before the stream starts
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        shown = -1
        with suppress(ConnectionResetError):  # the page was closed
            while True:
                shown = await self._show_change(user_id, response, shown)
        return response

    async def _show_change(self, user_id: str, response: web.StreamResponse, shown: int) -> int:
        """Wait for a change after the one numbered `shown` and send it; returns its number."""
        changes = self._sandbox.world.changes
        if shown == changes.last_number:
            try:
                await changes.wait_until(
                    lambda: changes.last_number != shown, timeout_s=ALIVE_EVERY_S
                )
            except TimeoutError:
                await response.write(b": still here\n\n")
                return shown
            await asyncio.sleep(GATHER_S)
        seen = self._snapshot(user_id)
        # What making it has changed (a conversation opened) is in it already.
        shown = changes.last_number
        await response.write(f"data: {json.dumps(seen)}\n\n".encode())
        return shown

    def _snapshot(self, user_id: str) -> Json:
        return snapshot(self._sandbox, user_id) | self._switches.state()

    async def _act(self, request: web.Request) -> web.StreamResponse:
        fields = await request.json()
        return web.json_response(await self._acting.act(request.match_info["action"], fields))

    async def _switch(self, request: web.Request) -> web.StreamResponse:
        fields = await request.json()
        if "on" in fields:
            await self._switches.set(str(fields["name"]), on=bool(fields["on"]))
        else:
            await self._switches.once(str(fields["name"]))
        return web.json_response({})

    async def _behind(self, request: web.Request) -> web.StreamResponse:
        if view_id := request.query.get("view"):
            view = self._sandbox.workspace().find_view(view_id)
            return web.json_response(behind.view_behind(self._sandbox, _existing(view)))
        return web.json_response(behind.message_behind(self._sandbox, self._message(request)))

    async def _why(self, request: web.Request) -> web.StreamResponse:
        if view_id := request.query.get("view"):
            view = _existing(self._sandbox.workspace().find_view(view_id))
            asked = asked_for_view(self._sandbox, view)
        else:
            asked = asked_for_message(self._sandbox, self._message(request))
        if self._beside.explain is None or not asked:
            raise LookupError("there is no explanation of this message")
        question, *earlier = asked
        return web.json_response(await self._beside.explain(question, tuple(earlier)))

    async def _source(self, request: web.Request) -> web.StreamResponse:
        page = self._beside.pages.read(request.query["url"]) if self._beside.pages else None
        if page is None:
            raise LookupError("this page is not one of the handbook")
        # Sandboxed by the browser: a page of the handbook runs nothing here.
        headers = {"X-Page-Name": json.dumps(page.name), "Content-Security-Policy": "sandbox"}
        if page.media_type.startswith(_DOWNLOADED):
            headers["Content-Disposition"] = "attachment"
            return web.Response(body=page.content, content_type=page.media_type, headers=headers)
        return web.Response(
            body=page.content, content_type="text/plain", charset="utf-8", headers=headers
        )

    def _message(self, request: web.Request) -> Message:
        found = self._sandbox.workspace().find_message(
            request.query["channel"], request.query["ts"]
        )
        return _existing(found)


def _existing(found: T | None) -> T:
    if found is None:
        raise LookupError("it is not there any more")
    return found


@web.middleware
async def _explain_refusals(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Answer what cannot be done with words instead of a stack trace."""
    try:
        return await handler(request)
    except (LookupError, ValueError, TypeError) as error:
        return web.json_response({"error": str(error)}, status=400)
