"""Which events Slack sends for what happens in a workspace, and what they look like."""

from __future__ import annotations

import secrets
from typing import Any

from bot.sandbox.delivery import Delivery, PayloadKind, Sender
from bot.sandbox.payloads import message_json, view_json
from bot.sandbox.workspace import Channel, ChannelKind, Json, Message, Workspace, World

MESSAGE_SUBSCRIPTIONS = {
    ChannelKind.PUBLIC: "message.channels",
    ChannelKind.PRIVATE: "message.groups",
    ChannelKind.IM: "message.im",
    ChannelKind.MPIM: "message.mpim",
}
_ONLY_IN_ANSWERS = ("reactions", "streaming_state")
"""Keys of a stored message that the event of its posting does not carry."""


class EventFeed:
    """Sends the events an installed app is subscribed to, by its manifest and granted scopes."""

    def __init__(self, world: World, transport: Sender) -> None:
        self._world = world
        self._transport = transport

    # Messages

    def message_posted(self, workspace: Workspace, message: Message) -> list[Delivery]:
        """Send what a new message causes: `app_mention`, `message`, both or neither."""
        if message.visible_to is not None:
            return []
        channel = workspace.channels[message.channel_id]
        sent = []
        if self._mentions_app(workspace, channel, message):
            sent += self._emit(workspace, "app_mention", app_mention(workspace, message), channel)
        event = message_event(workspace, message)
        return sent + self._emit(workspace, MESSAGE_SUBSCRIPTIONS[channel.kind], event, channel)

    def message_changed(
        self, workspace: Workspace, message: Message, previous: Json
    ) -> list[Delivery]:
        """Send what an edit causes; `previous` is the message's JSON before it."""
        channel = workspace.channels[message.channel_id]
        sent = []
        mention = f"<@{workspace.bot.user_id}>"
        newly_mentioned = mention not in previous.get("text", "")
        if newly_mentioned and self._mentions_app(workspace, channel, message):
            sent += self._emit(workspace, "app_mention", app_mention(workspace, message), channel)
        event = _hidden_event(workspace, channel, "message_changed") | {
            "message": message_json(workspace, message),
            "previous_message": previous,
        }
        return sent + self._emit(workspace, MESSAGE_SUBSCRIPTIONS[channel.kind], event, channel)

    def message_deleted(
        self, workspace: Workspace, message: Message, previous: Json
    ) -> list[Delivery]:
        """Send what a deletion causes; `previous` is the message's JSON before it."""
        channel = workspace.channels[message.channel_id]
        event = _hidden_event(workspace, channel, "message_deleted") | {
            "deleted_ts": message.ts,
            "previous_message": previous,
        }
        return self._emit(workspace, MESSAGE_SUBSCRIPTIONS[channel.kind], event, channel)

    def _mentions_app(self, workspace: Workspace, channel: Channel, message: Message) -> bool:
        """Say whether a message mentions the app where `app_mention` exists: never in a DM."""
        own = message.bot is not None and message.bot.app_id == self._world.app_id
        mention = f"<@{workspace.bot.user_id}>"
        return not own and not channel.is_im and mention in message.text

    # People and places

    def reaction_added(
        self, workspace: Workspace, message: Message, user_id: str, reaction: str
    ) -> list[Delivery]:
        """Send `reaction_added`."""
        channel = workspace.channels[message.channel_id]
        event = {
            "type": "reaction_added",
            "user": user_id,
            "item": {"type": "message", "channel": message.channel_id, "ts": message.ts},
            "reaction": reaction,
            "item_user": message.user_id,
            "event_ts": workspace.new_ts(),
        }
        return self._emit(workspace, "reaction_added", event, channel)

    def member_joined(self, workspace: Workspace, channel: Channel, user_id: str) -> list[Delivery]:
        """Send `member_joined_channel`."""
        event = {
            "type": "member_joined_channel",
            "user": user_id,
            "channel": channel.channel_id,
            "channel_type": "G" if channel.kind is ChannelKind.PRIVATE else "C",
            "team": workspace.team_id,
            "inviter": channel.creator,
            "event_ts": workspace.new_ts(),
        }
        return self._emit(workspace, "member_joined_channel", event, channel)

    # The app's own place

    def home_opened(
        self, workspace: Workspace, user_id: str, tab: str, entities: list[Json] | None = None
    ) -> list[Delivery]:
        """Send `app_home_opened` for the `home` or the `messages` tab."""
        event: Json = {
            "type": "app_home_opened",
            "user": user_id,
            "channel": workspace.direct(user_id).channel_id,
            "tab": tab,
            "event_ts": workspace.new_ts(),
        }
        if tab == "home" and user_id in workspace.homes:
            event["view"] = view_json(workspace, workspace.homes[user_id])
        if entities is not None:
            event["context"] = {"entities": entities}
        return self._emit(workspace, "app_home_opened", event)

    def context_changed(
        self, workspace: Workspace, user_id: str, entities: list[Json]
    ) -> list[Delivery]:
        """Send `app_context_changed`: what somebody looks at beside the agent pane."""
        event = {
            "type": "app_context_changed",
            "user": user_id,
            "channel": workspace.direct(user_id).channel_id,
            "context": {"entities": entities},
            "event_ts": workspace.new_ts(),
        }
        return self._emit(workspace, "app_context_changed", event)

    def session_stopped(
        self, workspace: Workspace, where: tuple[str, str], user_id: str, streams: list[str]
    ) -> list[Delivery]:
        """Send `agent_session_stopped`; `where` is (channel id, thread ts)."""
        event = {
            "type": "agent_session_stopped",
            "channel": where[0],
            "thread_ts": where[1],
            "user": user_id,
            "streaming_message_ts": streams,
            "event_ts": workspace.new_ts(),
        }
        return self._emit(workspace, "agent_session_stopped", event)

    def session_renamed(
        self,
        workspace: Workspace,
        where: tuple[str, str],
        user_id: str,
        *,
        title: str,
        previous: str = "",
    ) -> list[Delivery]:
        """Send `agent_session_title_changed`; `where` is (channel id, thread ts)."""
        event: Json = {
            "type": "agent_session_title_changed",
            "channel": where[0],
            "thread_ts": where[1],
            "user": user_id,
            "title": title,
            "team_id": workspace.team_id,
            "event_ts": workspace.new_ts(),
        }
        if previous:
            event["previous_title"] = previous
        return self._emit(workspace, "agent_session_title_changed", event)

    # Installation

    def uninstalled(self, workspace: Workspace) -> list[Delivery]:
        """Send `tokens_revoked` and `app_uninstalled`, as an uninstall does."""
        tokens = {"oauth": [], "bot": [workspace.bot.user_id]}
        revoked: Json = {"type": "tokens_revoked", "tokens": tokens}
        removed: Json = {"type": "app_uninstalled"}
        return [
            *self._emit(workspace, "tokens_revoked", revoked),
            *self._emit(workspace, "app_uninstalled", removed),
        ]

    def _emit(
        self, workspace: Workspace, subscription: str, event: Json, channel: Channel | None = None
    ) -> list[Delivery]:
        if not self._world.manifest.receives(subscription, workspace.granted):
            return []
        if channel is not None and workspace.bot.user_id not in channel.members:
            return []
        payload = event_callback(workspace, event)
        return [self._transport.deliver(PayloadKind.EVENT, payload, accepts_response=False)]


def event_callback(workspace: Workspace, event: Json) -> Json:
    """Wrap an event as the Events API does."""
    world = workspace.world
    channel_id = event.get("channel")
    channel = workspace.channels.get(channel_id) if isinstance(channel_id, str) else None
    return {
        "token": "sandbox-verification-token",
        "team_id": workspace.team_id,
        "context_team_id": workspace.team_id,
        "context_enterprise_id": None,
        "api_app_id": world.app_id,
        "event": event,
        "type": "event_callback",
        # Random, so that an app which keeps its database takes a later run's events for new ones.
        "event_id": f"Ev{secrets.token_hex(6).upper()}",
        "event_time": int(world.clock.now()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": workspace.team_id,
                "user_id": workspace.bot.user_id,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": channel is not None and channel.is_ext_shared,
        "event_context": f"4-{world.new_id('')}",
    }


def message_event(workspace: Workspace, message: Message) -> Json:
    """Return the `message` event of a newly posted message."""
    channel = workspace.channels[message.channel_id]
    event = _posted(workspace, message) | {"channel_type": channel.kind.value}
    return event | ({"app_context": message.app_context} if message.app_context else {})


def app_mention(workspace: Workspace, message: Message) -> Json:
    """Return the `app_mention` event of a message that mentions the app."""
    return _posted(workspace, message) | {"type": "app_mention"}


def _posted(workspace: Workspace, message: Message) -> Json:
    payload: dict[str, Any] = message_json(workspace, message, thread_counts=False)
    for name in _ONLY_IN_ANSWERS:
        payload.pop(name, None)
    if payload.get("thread_ts") == message.ts:
        payload.pop("thread_ts")
    return payload | {"channel": message.channel_id, "event_ts": message.ts}


def _hidden_event(workspace: Workspace, channel: Channel, subtype: str) -> Json:
    ts = workspace.new_ts()
    return {
        "type": "message",
        "subtype": subtype,
        "channel": channel.channel_id,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
        "channel_type": channel.kind.value,
    }
