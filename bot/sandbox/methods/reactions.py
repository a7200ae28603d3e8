"""`reactions.add` and `reactions.remove`."""

from __future__ import annotations

from bot.sandbox.arguments import MethodError
from bot.sandbox.methods.call import Call
from bot.sandbox.workspace import Json, Message


def add(call: Call) -> Json:
    """Add the app's reaction to a message."""
    message, name = _target(call)
    people = message.reactions.setdefault(name, [])
    if call.workspace.bot.user_id in people:
        raise MethodError("already_reacted")
    people.append(call.workspace.bot.user_id)
    _publish(call, message)
    return {}


def remove(call: Call) -> Json:
    """Take the app's reaction back."""
    message, name = _target(call)
    people = message.reactions.get(name, [])
    if call.workspace.bot.user_id not in people:
        raise MethodError("no_reaction")
    people.remove(call.workspace.bot.user_id)
    if not people:
        del message.reactions[name]
    _publish(call, message)
    return {}


def _target(call: Call) -> tuple[Message, str]:
    channel = call.channel(must_be_in=True)
    message = call.message(channel, "timestamp")
    return message, call.arguments.required("name", "invalid_name")


def _publish(call: Call, message: Message) -> None:
    call.slack.world.changes.publish(
        "reaction",
        team_id=call.workspace.team_id,
        channel_id=message.channel_id,
        ts=message.ts,
    )
