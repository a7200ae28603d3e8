"""Files that people share: how Slack describes them, and hands them to an app."""

from __future__ import annotations

import mimetypes
from pathlib import PurePosixPath
from urllib.parse import quote

from aiohttp import web

from bot.sandbox.workspace import Json, UploadedFile, Workspace, World

PATH = "/files-pri/{team}-{file}/download/{name}"
SCOPE = "files:read"


def file_json(workspace: Workspace, file: UploadedFile, user_id: str, base_url: str) -> Json:
    """Return a file as a message and `files.info` show it."""
    suffix = PurePosixPath(file.name).suffix.removeprefix(".").lower()
    place = f"{base_url}/files-pri/{workspace.team_id}-{file.file_id}"
    now = int(workspace.world.clock.now())
    return {
        "id": file.file_id,
        "created": now,
        "timestamp": now,
        "name": file.name,
        "title": file.title or file.name,
        "mimetype": mimetypes.guess_type(file.name)[0] or "application/octet-stream",
        "filetype": suffix or "binary",
        "pretty_type": suffix.upper(),
        "user": user_id,
        "editable": False,
        "size": len(file.content or b""),
        "mode": "hosted",
        "is_external": False,
        "external_type": "",
        "is_public": False,
        "public_url_shared": False,
        "display_as_bot": False,
        "username": "",
        "url_private": f"{place}/{quote(file.name)}",
        "url_private_download": f"{place}/download/{quote(file.name)}",
        "permalink": f"https://example.slack.com/files/{user_id}/{file.file_id}/{quote(file.name)}",
    }


def hand_over(world: World, request: web.Request) -> web.Response:
    """Answer with the bytes, or, to whoever may not have them, with the way to log in."""
    workspace = world.workspaces.get(request.match_info["team"])
    file = workspace.files.get(request.match_info["file"]) if workspace else None
    if workspace is None or file is None or file.content is None:
        return web.Response(status=404, text="not found")
    authorised = request.headers.get("Authorization") == f"Bearer {workspace.bot_token}"
    if not authorised or SCOPE not in workspace.granted:
        return web.Response(status=302, headers={"Location": "/?redir=files"})
    return web.Response(body=file.content, content_type="application/octet-stream")
