"""The stand-in as a server on this machine: Web API, Socket Mode, response addresses, control."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from aiohttp import web

from bot.sandbox import authorize, control_api, responses, shared_files
from bot.sandbox.control import Sandbox
from bot.sandbox.manifest import Manifest

HOST = "127.0.0.1"
"""The stand-in never listens beyond this machine."""

MAX_BODY_BYTES = 20_000_000


class SandboxServer:
    """Serves a `Sandbox` while its `async with` block lasts.

    Args:
        port: Port to listen on; 0 for any free one.
        manifest: The app's manifest; default: the one in deploy/.
    """

    def __init__(self, port: int = 0, manifest: Manifest | None = None) -> None:
        self._port = port
        self._manifest = manifest
        self._runner: web.AppRunner | None = None
        self._sandbox: Sandbox | None = None

    async def __aenter__(self) -> Sandbox:
        """Start listening and return the hands of the stand-in."""
        sandbox = Sandbox(self._manifest)
        self._runner = web.AppRunner(_application(sandbox), access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, self._port)
        await site.start()
        address = self._runner.addresses[0]
        sandbox.interactions.base_url = f"http://{HOST}:{address[1]}"
        self._sandbox = sandbox
        return sandbox

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection and stop listening."""
        if self._sandbox is not None:
            await self._sandbox.close()
        if self._runner is not None:
            await self._runner.cleanup()


def _application(sandbox: Sandbox) -> web.Application:
    async def answer_response_url(request: web.Request) -> web.Response:
        return await responses.handle(sandbox.slack, request)

    async def take_upload(request: web.Request) -> web.Response:
        workspace = sandbox.world.workspaces.get(request.match_info["team"])
        file = workspace.files.get(request.match_info["file"]) if workspace else None
        if file is None:
            return web.Response(status=404, text="not found")
        file.content = await request.read()
        return web.Response(text=f"OK - {len(file.content)}")

    async def hand_over(request: web.Request) -> web.Response:
        return shared_files.hand_over(sandbox.world, request)

    async def authorise(request: web.Request) -> web.Response:
        return authorize.handle(sandbox.world, request)

    application = web.Application(client_max_size=MAX_BODY_BYTES)
    application.router.add_route("*", "/api/{method}", sandbox.web_api.handle)
    application.router.add_get("/link", sandbox.socket_mode.connect)
    for kind in ("commands", "actions", "app"):
        application.router.add_post(f"/{kind}/{{team}}/{{token}}", answer_response_url)
    application.router.add_get("/oauth/v2/authorize", authorise)
    application.router.add_post("/upload/{team}/{file}", take_upload)
    application.router.add_get(shared_files.PATH, hand_over)
    control_api.add_routes(application, sandbox)
    return application


@contextmanager
def running_sandbox(
    port: int = 0, manifest: Manifest | None = None
) -> Iterator[control_api.ControlClient]:
    """Serve a stand-in from a thread of its own and yield a client of its control API.

    For code that has no event loop; asynchronous code uses `SandboxServer`.
    """
    ready: threading.Event = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    address: list[str] = []

    async def serve() -> None:
        async with SandboxServer(port, manifest) as sandbox:
            address.append(sandbox.interactions.base_url)
            ready.set()
            await stop.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            ready.set()
            loop.close()

    thread = threading.Thread(target=run, name="sandbox", daemon=True)
    thread.start()
    ready.wait()
    try:
        if not address:
            raise RuntimeError("the stand-in did not start")
        yield control_api.ControlClient(address[0])
    finally:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)
        thread.join()
