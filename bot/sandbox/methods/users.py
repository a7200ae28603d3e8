"""`users.info` and `usergroups.users.list`."""

from __future__ import annotations

from bot.sandbox.arguments import MethodError
from bot.sandbox.methods.call import Call
from bot.sandbox.payloads import user_json
from bot.sandbox.workspace import Json


def info(call: Call) -> Json:
    """Describe a person."""
    user = call.workspace.users.get(call.arguments.text("user"))
    if user is None:
        raise MethodError("user_not_found")
    with_locale = call.arguments.flag("include_locale")
    return {"user": user_json(call.workspace, user, with_locale=with_locale)}


def group_members(call: Call) -> Json:
    """List the people of a user group."""
    group = call.workspace.groups.get(call.arguments.text("usergroup"))
    if group is None:
        raise MethodError("no_such_subteam")
    return {"users": list(group.members)}
