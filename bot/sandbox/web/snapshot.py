"""Everything one person sees, as one JSON value."""

from __future__ import annotations

from bot.sandbox.control import Sandbox
from bot.sandbox.payloads import message_json, view_json
from bot.sandbox.workspace import Channel, Json, Message, Role, User, View, Workspace

MESSAGES_SHOWN = 300
"""Newest messages of each conversation."""

GUESTS = (Role.GUEST, Role.SINGLE_CHANNEL_GUEST)


def snapshot(sandbox: Sandbox, user_id: str) -> Json:
    """Return what a person of the first workspace sees.

    Raises:
        LookupError: If there is no such person.
    """
    workspace = sandbox.workspace()
    person = workspace.user(user_id)
    direct = workspace.direct(person.user_id)
    visible = [c for c in workspace.channels.values() if person.user_id in c.members]
    return {
        "change": sandbox.world.changes.last_number,
        "me": _user(person),
        "team": {"id": workspace.team_id, "name": workspace.name},
        "app": _app(sandbox, workspace),
        "users": [_user(user) for user in workspace.users.values()],
        "channels": [_channel(workspace, person, channel) for channel in visible],
        "direct": direct.channel_id,
        "home": _view(workspace, workspace.homes.get(person.user_id)),
        "modals": [_view(workspace, v) for v in workspace.modals.get(person.user_id, ())],
        "prompts": _prompts(sandbox, workspace, direct),
        "sessions": [
            {
                "channel": session.channel_id,
                "thread_ts": session.thread_ts,
                "status": session.status.value,
                "title": session.title,
                "loading": session.loading,
                "loading_messages": session.loading_messages,
            }
            for session in workspace.sessions.values()
        ],
        "notices": [words for who, words in workspace.notices if who == person.user_id],
        "problems": sandbox.problems,
    }


def people(workspace: Workspace) -> list[Json]:
    """Return the people one can be; the first one is who the page starts as."""
    return [_user(user) for user in workspace.users.values() if user.bot is None]


def _app(sandbox: Sandbox, workspace: Workspace) -> Json:
    manifest = sandbox.world.manifest
    return {
        "user_id": workspace.bot.user_id,
        "name": workspace.bot.name,
        "description": manifest.description,
        "home_tab": manifest.home_tab,
        "messages_tab": manifest.messages_tab,
        "is_agent": manifest.is_agent,
        "is_connected": bool(sandbox.socket_mode.connections) or not manifest.socket_mode,
        "can_stop": "agent_session_stopped" in manifest.events,
        "commands": [
            {
                "command": command,
                "description": described.get("description", ""),
                "usage_hint": described.get("usage_hint", ""),
            }
            for command, described in manifest.commands.items()
        ],
        "shortcuts": [
            {"callback_id": callback_id, "name": manifest.shortcut_names[callback_id]}
            for callback_id, kind in manifest.shortcuts.items()
            if kind == "message"
        ],
    }


def _user(user: User) -> Json:
    return {
        "id": user.user_id,
        "name": user.name,
        "real_name": user.real_name,
        "role": user.role.value,
        "is_guest": user.role in GUESTS,
        "is_bot": user.bot is not None,
        "locale": user.locale,
        "tz": user.tz,
    }


def _channel(workspace: Workspace, person: User, channel: Channel) -> Json:
    kept = list(channel.messages.values())[-MESSAGES_SHOWN:]
    shown = [m for m in workspace.ephemerals if _is_for(m, person, channel)]
    messages = sorted((*kept, *shown), key=lambda message: message.ts)
    return {
        "id": channel.channel_id,
        "name": channel.name,
        "kind": channel.kind.value,
        "members": channel.members,
        "has_app": workspace.bot.user_id in channel.members,
        "messages": [as_shown(workspace, message) for message in messages],
    }


def _is_for(message: Message, person: User, channel: Channel) -> bool:
    return message.visible_to == person.user_id and message.channel_id == channel.channel_id


def as_shown(workspace: Workspace, message: Message) -> Json:
    """Return a message with what the page needs to know beside Slack's own JSON of it."""
    return message_json(workspace, message) | {
        "channel": message.channel_id,
        "is_ephemeral": message.visible_to is not None,
        "streaming_state": message.streaming_state,
    }


def _view(workspace: Workspace, view: View | None) -> Json | None:
    return None if view is None else view_json(workspace, view) | {"errors": view.errors}


def _prompts(sandbox: Sandbox, workspace: Workspace, direct: Channel) -> Json:
    chosen = workspace.prompts.get(direct.channel_id)
    if chosen is not None:
        return {"title": chosen.title, "prompts": chosen.prompts}
    return {"title": None, "prompts": list(sandbox.world.manifest.prompts)}
