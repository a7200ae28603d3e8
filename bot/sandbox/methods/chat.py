"""`chat.*` methods for whole messages."""

from __future__ import annotations

from bot.sandbox.arguments import MethodError
from bot.sandbox.methods.call import Call
from bot.sandbox.methods.content import read_content
from bot.sandbox.payloads import message_json
from bot.sandbox.workspace import Channel, Json

MAX_UPDATE_TEXT = 4_000
"""Source: the chat.update page, `msg_too_long`."""

MAX_EPHEMERAL_BYTES = 4_000
"""Source: the chat.postEphemeral page."""


_NOT_IN_UPDATES = ("ts", "thread_ts", "parent_user_id")
"""Keys of a message that the answer of chat.update was never seen with."""


def post_message(call: Call) -> Json:
    """Post a message in a channel, a thread, or a person's direct message."""
    workspace = call.workspace
    channel = _destination(call)
    content = read_content(call.arguments)
    thread_ts = _thread(call, channel)
    message = workspace.post(
        channel,
        workspace.bot.user_id,
        content.text,
        blocks=content.blocks,
        attachments=content.attachments,
        metadata=content.metadata,
        thread_ts=thread_ts,
        bot=workspace.bot,
    )
    if thread_ts and call.arguments.flag("reply_broadcast"):
        message.subtype = "thread_broadcast"
    _end_loading(call, channel, thread_ts)
    call.slack.feed.message_posted(workspace, message)
    return {
        "channel": channel.channel_id,
        "ts": message.ts,
        "message": message_json(workspace, message),
    }


def _destination(call: Call) -> Channel:
    """Return where to post: a person's id means the direct message with them."""
    target = call.arguments.text("channel")
    user = call.workspace.users.get(target)
    if user is not None:
        if user.user_id == call.workspace.bot.user_id or user.deleted:
            raise MethodError("channel_not_found")
        return call.workspace.direct(user.user_id)
    channel = call.channel()
    if channel.is_archived:
        raise MethodError("is_archived")
    is_member = call.workspace.bot.user_id in channel.members
    if not is_member and "chat:write.public" not in call.workspace.granted:
        raise MethodError("not_in_channel")
    return channel


def _thread(call: Call, channel: Channel) -> str | None:
    """Return the root to reply to.

    A root deleted meanwhile gives `thread_not_found` (a maintainer's word: bolt-js issue 2307).
    """
    thread_ts = call.arguments.text("thread_ts")
    if not thread_ts:
        return None
    root = channel.messages.get(thread_ts)
    if root is None:
        raise MethodError("thread_not_found")
    if root.thread_ts and root.thread_ts != root.ts:
        # A reply's ts is not a thread. Slack attaches the message somewhere unexpected.
        raise MethodError("cannot_reply_to_message")
    return root.ts


def _end_loading(call: Call, channel: Channel, thread_ts: str | None) -> None:
    """Clear the loading text of the thread, as an app's reply does."""
    if thread_ts and (session := call.workspace.sessions.get((channel.channel_id, thread_ts))):
        session.loading = ""
        session.loading_messages = []


def update(call: Call) -> Json:
    """Replace the content of an own message; text without blocks drops the blocks."""
    workspace = call.workspace
    channel = call.channel()
    message = call.message(channel, "ts")
    if not call.is_own(message):
        raise MethodError("cant_update_message")
    if message.streaming_state == "in_progress":
        raise MethodError("streaming_state_conflict")
    content = read_content(call.arguments)
    if len(call.arguments.text("text")) > MAX_UPDATE_TEXT:
        raise MethodError("msg_too_long")
    previous = message_json(workspace, message)
    message.text = content.text
    message.blocks = content.blocks
    message.attachments = content.attachments
    if content.metadata is not None:
        message.metadata = content.metadata
    workspace.edited(message, workspace.bot.user_id)
    call.slack.feed.message_changed(workspace, message, previous)
    answered = message_json(workspace, message)
    return {
        "channel": channel.channel_id,
        "ts": message.ts,
        "text": message.text,
        "message": {k: v for k, v in answered.items() if k not in _NOT_IN_UPDATES},
    }


def delete(call: Call) -> Json:
    """Delete an own message."""
    workspace = call.workspace
    channel = call.channel()
    message = call.message(channel, "ts")
    if not call.is_own(message):
        raise MethodError("cant_delete_message")
    previous = message_json(workspace, message)
    workspace.remove(message)
    call.slack.feed.message_deleted(workspace, message, previous)
    return {"channel": channel.channel_id, "ts": message.ts}


def post_ephemeral(call: Call) -> Json:
    """Show a message to one person of a channel."""
    workspace = call.workspace
    channel = call.channel(must_be_in=True)
    user_id = call.arguments.text("user")
    if user_id not in channel.members or workspace.users[user_id].deleted:
        raise MethodError("user_not_in_channel")
    if channel.is_archived:
        raise MethodError("is_archived")
    content = read_content(call.arguments)
    if len(call.arguments.text("text").encode()) > MAX_EPHEMERAL_BYTES:
        raise MethodError("msg_too_long")
    message = workspace.post(
        channel,
        workspace.bot.user_id,
        content.text,
        blocks=content.blocks,
        attachments=content.attachments,
        thread_ts=call.arguments.text("thread_ts") or None,
        bot=workspace.bot,
        visible_to=user_id,
    )
    return {"message_ts": message.ts}


def permalink(call: Call) -> Json:
    """Return the web address of a message."""
    channel = call.channel()
    message = call.message(channel, "message_ts")
    return {
        "channel": channel.channel_id,
        "permalink": call.workspace.permalink(message),
    }
