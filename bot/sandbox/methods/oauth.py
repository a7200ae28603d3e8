"""`oauth.v2.access`: a code, or a refresh token, for a bot token."""

from __future__ import annotations

import secrets

from bot.sandbox.arguments import MethodError
from bot.sandbox.methods.call import Call
from bot.sandbox.workspace import Install, Json, Workspace

TOKEN_LIFETIME_S = 43_200
"""Source: the token rotation page."""

CODE_LIFETIME_S = 600.0
"""Source: the OAuth page."""


def access(call: Call) -> Json:
    """Exchange a code once, or a refresh token once, for a token."""
    world, arguments = call.slack.world, call.arguments
    if arguments.text("client_id") != world.client_id:
        raise MethodError("invalid_client_id")
    if arguments.text("client_secret") != world.client_secret:
        raise MethodError("bad_client_secret")
    if arguments.text("grant_type") == "refresh_token":
        return _refresh(call)
    install = world.installs.pop(arguments.text("code"), None)
    if install is None:
        raise MethodError("invalid_code")
    if world.clock.now() - install.made_at > CODE_LIFETIME_S:
        raise MethodError("code_expired")
    if arguments.text("redirect_uri", install.redirect_uri) != install.redirect_uri:
        raise MethodError("bad_redirect_uri")
    workspace = world.workspaces[install.team_id]
    workspace.granted = install.scopes
    workspace.installed = True
    workspace.installer = install.user_id
    return _answer(call, workspace)


def new_install(workspace: Workspace, user_id: str, scopes: frozenset[str], uri: str) -> str:
    """Note that somebody agreed to an installation; returns the code to exchange for a token."""
    code = secrets.token_hex(12)
    made_at = workspace.world.clock.now()
    workspace.world.installs[code] = Install(workspace.team_id, user_id, scopes, uri, made_at)
    return code


def _refresh(call: Call) -> Json:
    token = call.arguments.text("refresh_token")
    workspaces = call.slack.world.workspaces.values()
    workspace = next((w for w in workspaces if token and w.refresh_token == token), None)
    if workspace is None:
        raise MethodError("invalid_refresh_token")
    return _answer(call, workspace)


def _answer(call: Call, workspace: Workspace) -> Json:
    world = call.slack.world
    rotating = world.manifest.token_rotation
    prefix = "xoxe.xoxb" if rotating else "xoxb"
    workspace.bot_token = f"{prefix}-{workspace.team_id}-{secrets.token_hex(8)}"
    answer: Json = {
        "access_token": workspace.bot_token,
        "token_type": "bot",
        "scope": ",".join(sorted(workspace.granted)),
        "bot_user_id": workspace.bot.user_id,
        "app_id": world.app_id,
        "team": {"name": workspace.name, "id": workspace.team_id},
        "enterprise": None,
        "is_enterprise_install": False,
        "authed_user": {"id": workspace.installer},
    }
    if rotating:
        workspace.refresh_token = f"xoxe-1-{secrets.token_hex(12)}"
        workspace.token_expires_at = world.clock.now() + TOKEN_LIFETIME_S
        answer |= {"refresh_token": workspace.refresh_token, "expires_in": TOKEN_LIFETIME_S}
    return answer
