"""`auth.test`, `auth.revoke` and `apps.connections.open`."""

from __future__ import annotations

from bot.sandbox.methods.call import Call
from bot.sandbox.workspace import Json


def test(call: Call) -> Json:
    """Say whose token it is."""
    workspace = call.workspace
    return {
        "url": f"https://{workspace.domain}.slack.com/",
        "team": workspace.name,
        "user": workspace.users[workspace.bot.user_id].name,
        "team_id": workspace.team_id,
        "user_id": workspace.bot.user_id,
        "bot_id": workspace.bot.bot_id,
        "is_enterprise_install": False,
    }


def revoke(call: Call) -> Json:
    """End the token of the call, and with it the installation."""
    revoked = not call.arguments.flag("test")
    if revoked:
        call.workspace.installed = False
    return {"revoked": revoked}


def open_connection(call: Call) -> Json:
    """Return a one-use WebSocket address."""
    host = call.slack.interactions.base_url.removeprefix("http://")
    ticket = call.slack.socket_mode.new_ticket()
    return {"url": f"ws://{host}/link?ticket={ticket}&app_id={call.slack.world.app_id}"}
