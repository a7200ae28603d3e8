"""`conversations.*` methods."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from bot.sandbox.arguments import MethodError
from bot.sandbox.methods.call import Call
from bot.sandbox.payloads import channel_json, message_json
from bot.sandbox.workspace import ChannelKind, Json

T = TypeVar("T")

HISTORY_SCOPES = {
    ChannelKind.PUBLIC: "channels:history",
    ChannelKind.PRIVATE: "groups:history",
    ChannelKind.IM: "im:history",
    ChannelKind.MPIM: "mpim:history",
}
READ_SCOPES = {
    ChannelKind.PUBLIC: "channels:read",
    ChannelKind.PRIVATE: "groups:read",
    ChannelKind.IM: "im:read",
    ChannelKind.MPIM: "mpim:read",
}
LIMITED_REPLIES = 15
"""Most messages per call for apps distributed outside the Marketplace. Source: the method page."""


def info(call: Call) -> Json:
    """Describe a conversation."""
    channel = call.channel()
    _need(call, READ_SCOPES[channel.kind])
    payload = channel_json(call.workspace, channel)
    if call.arguments.flag("include_locale"):
        payload["locale"] = "fr-FR"
    if call.arguments.flag("include_num_members") and not channel.is_im:
        payload["num_members"] = len(channel.members)
    return {"channel": payload}


def members(call: Call) -> Json:
    """List the people of a conversation, a page at a time."""
    channel = call.channel()
    _need(call, READ_SCOPES[channel.kind])
    page, cursor = _page(call, channel.members, default=100, most=1000)
    return {"members": list(page), "response_metadata": {"next_cursor": cursor}}


def open_direct(call: Call) -> Json:
    """Open the direct message with one person."""
    if "channel" in call.arguments:
        channel = call.channel()
    else:
        names = [u for u in call.arguments.text("users").split(",") if u]
        if len(names) != 1:
            raise MethodError("not_enough_users" if not names else "too_many_users")
        user = call.workspace.users.get(names[0])
        if user is None:
            raise MethodError("user_not_found")
        if user.deleted:
            raise MethodError("user_disabled")
        channel = call.workspace.direct(user.user_id)
    if call.arguments.flag("return_im"):
        return {"channel": channel_json(call.workspace, channel)}
    return {"channel": {"id": channel.channel_id}}


def replies(call: Call) -> Json:
    """Return a thread, root first, a page at a time."""
    channel = call.channel()
    _need(call, HISTORY_SCOPES[channel.kind])
    if call.workspace.bot.user_id not in channel.members:
        raise MethodError("not_in_channel")
    thread = call.workspace.thread(channel, call.arguments.text("ts"))
    if not thread:
        raise MethodError("thread_not_found")
    thread = [thread[0], *(m for m in thread[1:] if _within(call, m.ts))]
    limited = call.slack.world.limited_history
    most = LIMITED_REPLIES if limited else 1000
    page, cursor = _page(call, thread, default=most, most=most)
    return {
        "messages": [message_json(call.workspace, message) for message in page],
        "has_more": bool(cursor),
        "response_metadata": {"next_cursor": cursor},
    }


def _within(call: Call, ts: str) -> bool:
    """Say whether a time stamp lies between the call's `oldest` and `latest`."""
    oldest, latest = call.arguments.text("oldest"), call.arguments.text("latest")
    if call.arguments.flag("inclusive"):
        return (not oldest or ts >= oldest) and (not latest or ts <= latest)
    return (not oldest or ts > oldest) and (not latest or ts < latest)


def _need(call: Call, scope: str) -> None:
    granted = call.workspace.granted
    if scope not in granted:
        raise MethodError("missing_scope", needed=scope, provided=",".join(sorted(granted)))


def _page(call: Call, items: Sequence[T], *, default: int, most: int) -> tuple[Sequence[T], str]:
    """Return one page and the cursor of the next; the cursor is empty at the end."""
    start = 0
    if cursor := call.arguments.text("cursor"):
        try:
            start = int(base64.b64decode(cursor, validate=True))
        except (ValueError, binascii.Error):
            raise MethodError("invalid_cursor") from None
    limit = call.arguments.integer("limit", default)
    if limit < 1:
        raise MethodError("invalid_limit")
    end = start + min(limit, most)
    following = base64.b64encode(str(end).encode()).decode() if end < len(items) else ""
    return items[start:end], following
