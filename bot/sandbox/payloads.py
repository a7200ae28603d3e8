"""JSON of people, channels, messages and views, as Slack shows them to an app."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from bot.sandbox.workspace import (
    BotIdentity,
    Channel,
    ChannelKind,
    Json,
    Message,
    Role,
    User,
    View,
    Workspace,
)

_ICON = "https://a.slack-edge.com/sandbox/bot_{}.png"
ICONS = {f"image_{size}": _ICON.format(size) for size in (36, 48, 72)}


def user_json(workspace: Workspace, user: User, *, with_locale: bool = False) -> Json:
    """Return a `user` as `users.info` answers it."""
    now = datetime.fromtimestamp(workspace.world.clock.now(), ZoneInfo(user.tz))
    offset = now.utcoffset()
    payload: Json = {
        "id": user.user_id,
        "team_id": user.team_id,
        "name": user.name,
        "deleted": user.deleted,
        "profile": _profile(user),
        "is_bot": user.bot is not None,
        "is_app_user": False,
        "updated": user.updated,
    }
    if not user.deleted:
        payload |= {
            "color": "9f69e7",
            "real_name": user.real_name,
            "tz": user.tz,
            "tz_label": now.tzname() or user.tz,
            "tz_offset": int(offset.total_seconds()) if offset else 0,
            "is_email_confirmed": user.bot is None,
        } | _role_flags(user.role)
    if with_locale:
        payload["locale"] = user.locale
    return payload


def _role_flags(role: Role) -> Json:
    return {
        "is_admin": role in (Role.ADMIN, Role.OWNER, Role.PRIMARY_OWNER),
        "is_owner": role in (Role.OWNER, Role.PRIMARY_OWNER),
        "is_primary_owner": role is Role.PRIMARY_OWNER,
        "is_restricted": role in (Role.GUEST, Role.SINGLE_CHANNEL_GUEST),
        "is_ultra_restricted": role is Role.SINGLE_CHANNEL_GUEST,
    }


def _profile(user: User) -> Json:
    profile: Json = {
        "real_name": user.real_name,
        "real_name_normalized": user.real_name,
        "display_name": user.name,
        "display_name_normalized": user.name,
        "avatar_hash": "sandbox",
        "status_text": "",
        "status_emoji": "",
        "team": user.team_id,
    }
    profile |= {
        f"image_{size}": f"https://a.slack-edge.com/sandbox/avatar_{size}.png"
        for size in (24, 32, 48, 72, 192, 512)
    }
    if user.bot is not None:
        profile |= {"api_app_id": user.bot.app_id, "bot_id": user.bot.bot_id}
    return profile


def bot_profile_json(workspace: Workspace, bot: BotIdentity) -> Json:
    """Return the `bot_profile` that goes with a bot's message."""
    return {
        "id": bot.bot_id,
        "app_id": bot.app_id,
        "user_id": bot.user_id,
        "name": bot.name,
        "icons": ICONS,
        "deleted": False,
        "updated": workspace.users[bot.user_id].updated,
        "team_id": workspace.team_id,
    }


def channel_json(workspace: Workspace, channel: Channel) -> Json:
    """Return a `channel` as `conversations.info` answers it to the app."""
    if channel.is_im:
        person = next(m for m in channel.members if m != workspace.bot.user_id)
        return {
            "id": channel.channel_id,
            "created": channel.created,
            "is_archived": channel.is_archived,
            "is_im": True,
            "is_org_shared": False,
            "context_team_id": workspace.team_id,
            "updated": channel.created * 1000,
            "user": person,
            "last_read": "0000000000.000000",
            "is_open": True,
            "priority": 0,
        }
    note = {"value": "", "creator": "", "last_set": 0}
    return {
        "id": channel.channel_id,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": channel.kind is ChannelKind.PUBLIC,
        "is_group": channel.kind is ChannelKind.PRIVATE,
        "is_im": False,
        "is_mpim": channel.kind is ChannelKind.MPIM,
        "is_private": channel.kind is not ChannelKind.PUBLIC,
        "created": channel.created,
        "creator": channel.creator,
        "is_archived": channel.is_archived,
        "is_general": channel.name == "general",
        "is_member": workspace.bot.user_id in channel.members,
        "is_shared": channel.is_ext_shared,
        "is_ext_shared": channel.is_ext_shared,
        "is_org_shared": False,
        "is_pending_ext_shared": False,
        "pending_shared": [],
        "previous_names": [],
        "topic": note,
        "purpose": note,
        "unlinked": 0,
        "context_team_id": workspace.team_id,
        "updated": channel.created * 1000,
        "shared_team_ids": [workspace.team_id],
    }


def message_json(workspace: Workspace, message: Message, *, thread_counts: bool = True) -> Json:
    """Return a message as answers and events carry it.

    Args:
        workspace: Where it was posted.
        message: The message.
        thread_counts: With the counts of replies, where it is the root of a thread.
    """
    payload: Json = {
        "type": "message",
        "user": message.user_id,
        "text": message.text,
        "ts": message.ts,
        "team": workspace.team_id,
    }
    if message.client_msg_id:
        payload["client_msg_id"] = message.client_msg_id
    if message.subtype:
        payload["subtype"] = message.subtype
    if message.bot is not None:
        payload |= {
            "bot_id": message.bot.bot_id,
            "app_id": message.bot.app_id,
            "bot_profile": bot_profile_json(workspace, message.bot),
        }
    for name in ("blocks", "attachments", "files", "metadata", "streaming_state"):
        if value := getattr(message, name):
            payload[name] = value
    if message.edited:
        payload["edited"] = {"user": message.edited[0], "ts": message.edited[1]}
    if message.reactions:
        payload["reactions"] = [
            {"name": name, "users": users, "count": len(users)}
            for name, users in message.reactions.items()
        ]
    return payload | _thread_json(workspace, message, thread_counts)


def _thread_json(workspace: Workspace, message: Message, thread_counts: bool) -> Json:
    channel = workspace.channels[message.channel_id]
    if message.thread_ts and message.thread_ts != message.ts:
        payload: Json = {"thread_ts": message.thread_ts}
        if root := channel.messages.get(message.thread_ts):
            payload["parent_user_id"] = root.user_id
        return payload
    replies = workspace.thread(channel, message.ts)[1:]
    if not replies:
        return {"thread_ts": message.thread_ts} if message.thread_ts else {}
    payload = {"thread_ts": message.ts}
    if thread_counts:
        people = list(dict.fromkeys(reply.user_id for reply in replies))
        payload |= {
            "reply_count": len(replies),
            "reply_users_count": len(people),
            "latest_reply": replies[-1].ts,
            "reply_users": people,
            "is_locked": False,
            "subscribed": workspace.bot.user_id in people,
        }
    return payload


def view_json(workspace: Workspace, view: View) -> Json:
    """Return a view as `views.*` answers it and interactions carry it."""
    content = view.content
    payload: Json = {
        "id": view.view_id,
        "team_id": workspace.team_id,
        "type": content["type"],
        "blocks": content.get("blocks", []),
        "private_metadata": content.get("private_metadata", ""),
        "callback_id": content.get("callback_id", ""),
        "state": {"values": view.state},
        "hash": view.hash,
        "clear_on_close": bool(content.get("clear_on_close")),
        "notify_on_close": bool(content.get("notify_on_close")),
        "submit": content.get("submit"),
        "close": content.get("close"),
        "previous_view_id": view.previous_view_id,
        "root_view_id": view.root_view_id,
        "app_id": workspace.world.app_id,
        "external_id": content.get("external_id", ""),
        "app_installed_team_id": workspace.team_id,
        "bot_id": workspace.bot.bot_id,
    }
    if content["type"] == "modal":
        payload["title"] = content["title"]
    return payload
