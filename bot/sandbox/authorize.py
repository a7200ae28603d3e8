"""`/oauth/v2/authorize`: where somebody agrees, or not, to install the app."""

from __future__ import annotations

from urllib.parse import urlencode

from aiohttp import web

from bot.sandbox.methods.oauth import new_install
from bot.sandbox.workspace import Role, World

_MAY_INSTALL = frozenset({Role.ADMIN, Role.OWNER, Role.PRIMARY_OWNER})


def handle(world: World, request: web.Request) -> web.Response:
    """Agree at once, as the first admin of the workspace in `team` (default: the first one).

    `deny=1`, which only the stand-in knows, is the person saying no.
    """
    query = request.query
    if query.get("client_id") != world.client_id:
        return web.Response(text="invalid_client_id", status=400)
    workspace = world.workspaces.get(query.get("team", next(iter(world.workspaces))))
    if workspace is None:
        return web.Response(text="invalid_team_for_non_distributed_app", status=400)
    scopes = frozenset(s for s in query.get("scope", "").split(",") if s)
    unknown = scopes - world.manifest.scopes - world.manifest.optional_scopes
    if unknown or not scopes:
        return web.Response(text=f"invalid_scope: {','.join(sorted(unknown))}", status=400)
    redirect_uri = query.get("redirect_uri", "")
    if not redirect_uri:
        return web.Response(text="redirect_uri is missing", status=400)
    people = [u for u in workspace.users.values() if u.bot is None]
    admins = [u for u in people if u.role in _MAY_INSTALL]
    back = {"state": query.get("state", "")}
    if query.get("deny"):
        back["error"] = "access_denied"
    else:
        installer = (admins or people)[0].user_id
        back["code"] = new_install(workspace, installer, scopes, redirect_uri)
    raise web.HTTPFound(f"{redirect_uri}?{urlencode(back)}")
