"""The control side over HTTP, `/_sandbox/*`: for tests in another process, for a browser page."""

from __future__ import annotations

import dataclasses
import inspect
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from enum import Enum
from typing import Any

from aiohttp import web

from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import Delivery
from bot.sandbox.payloads import message_json, view_json
from bot.sandbox.web.guard import Handler, refusal
from bot.sandbox.workspace import Channel, Json, Message, User, View, Workspace

COMMANDS = (
    "add_bot",
    "add_channel",
    "add_group",
    "add_user",
    "add_workspace",
    "advance",
    "calls",
    "click",
    "click_in_view",
    "close_modal",
    "delete",
    "deliveries",
    "direct_message",
    "disconnect",
    "drop_connections",
    "edit",
    "ephemerals",
    "fault",
    "home",
    "join",
    "messages",
    "modal",
    "notices",
    "open_home",
    "react",
    "replies",
    "say",
    "settled",
    "shortcut",
    "slash",
    "submit",
    "thread",
    "uninstall",
    "wait_for_call",
    "wait_for_connection",
    "wait_for_ephemeral",
)
"""Methods of `Sandbox` open over HTTP: `POST /_sandbox/<name>` with their arguments as JSON."""


def add_routes(application: web.Application, sandbox: Sandbox) -> None:
    """Serve the control side: commands, state, and what happens as server-sent events."""

    async def run_command(request: web.Request) -> web.Response:
        name = request.match_info["command"]
        if name not in COMMANDS:
            return web.json_response({"error": f"unknown command {name}"}, status=404)
        try:
            arguments = await request.json() if request.can_read_body else {}
            result = getattr(sandbox, name)(**arguments)
            if inspect.isawaitable(result):
                result = await result
        except (LookupError, TypeError, ValueError, TimeoutError) as error:
            return web.json_response({"error": str(error) or type(error).__name__}, status=400)
        return web.json_response({"result": as_json(sandbox, result)})

    async def state(_: web.Request) -> web.Response:
        return web.json_response(_state(sandbox))

    async def follow(request: web.Request) -> web.StreamResponse:
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        after = int(request.headers.get("Last-Event-ID", request.query.get("after", "0")))
        async for change in sandbox.world.changes.follow(after):
            data = json.dumps(change.ids, default=str)
            await response.write(
                f"id: {change.number}\nevent: {change.kind}\ndata: {data}\n\n".encode()
            )
        return response

    application.router.add_get("/_sandbox/state", _local(state))
    application.router.add_get("/_sandbox/events", _local(follow))
    application.router.add_post("/_sandbox/{command}", _local(run_command))


def _local(handler: Handler) -> Handler:
    """Keep other pages of a browser on this machine from steering the stand-in."""

    async def guarded(request: web.Request) -> web.StreamResponse:
        if words := refusal(request):
            return web.json_response({"error": words}, status=403)
        return await handler(request)

    return guarded


def _state(sandbox: Sandbox) -> Json:
    return {
        "api_url": sandbox.api_url,
        "environment": sandbox.environment,
        "connections": len(sandbox.socket_mode.connections),
        "problems": sandbox.problems,
        "last_change": sandbox.world.changes.last_number,
        "workspaces": [
            {
                "team_id": workspace.team_id,
                "name": workspace.name,
                "bot_user_id": workspace.bot.user_id,
                "users": [as_json(sandbox, user) for user in workspace.users.values()],
                "channels": [as_json(sandbox, channel) for channel in workspace.channels.values()],
            }
            for workspace in sandbox.world.workspaces.values()
        ],
    }


def as_json(sandbox: Sandbox, value: Any) -> Any:
    """Return a record of the stand-in as JSON values."""
    match value:
        case Message():
            team = _team(sandbox, value.channel_id)
            return message_json(team, value) | {
                "channel": value.channel_id,
                "visible_to": value.visible_to,
            }
        case View():
            workspace = next(
                w for w in sandbox.world.workspaces.values() if value.user_id in w.users
            )
            return view_json(workspace, value)
        case Channel():
            fields = {f: getattr(value, f) for f in ("channel_id", "name", "members")}
            return fields | {"kind": value.kind.value}
        case User():
            return {
                f: as_json(sandbox, getattr(value, f))
                for f in ("user_id", "team_id", "name", "real_name", "role", "locale", "tz")
            }
        case Delivery():
            return {
                "number": value.number,
                "kind": value.kind.value,
                "state": value.state.value,
                "payload": value.payload,
                "attempts": [dataclasses.asdict(a) for a in value.attempts],
                "response": value.response,
            }
        case Workspace():
            return {"team_id": value.team_id, "name": value.name, "bot_token": value.bot_token}
        case list() | tuple():
            return [as_json(sandbox, item) for item in value]
        case Mapping():
            return {str(k): as_json(sandbox, v) for k, v in value.items()}
        case Enum():
            return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return as_json(sandbox, dataclasses.asdict(value))
    return value


def _team(sandbox: Sandbox, channel_id: str) -> Workspace:
    return next(w for w in sandbox.world.workspaces.values() if channel_id in w.channels)


class ControlClient:
    """Calls the control side of a stand-in that runs in another thread or process."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        # A proxy of the environment has no business between two programs of one machine.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def __call__(self, command: str, **arguments: Any) -> Any:
        """Run one command of `COMMANDS`: `client("say", user="camille", channel="general", …)`.

        Raises:
            RuntimeError: With the stand-in's words, when it refuses.
        """
        return self._open(command, json.dumps(arguments).encode())["result"]

    def state(self) -> Any:
        """Return addresses, environment, people, channels and problems."""
        return self._open("state", None)

    def _open(self, path: str, body: bytes | None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - the address is our own server's
            f"{self.base_url}/_sandbox/{path}",
            data=body,
            headers={"Content-Type": "application/json"},
        )
        try:
            with self._opener.open(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                raise RuntimeError(json.load(error)["error"]) from error
