"""Web API methods of the stand-in: one module per family, one table of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bot.sandbox.methods import (
    agents,
    apps,
    chat,
    conversations,
    files,
    oauth,
    reactions,
    streams,
    users,
    views,
)
from bot.sandbox.methods.call import Call
from bot.sandbox.workspace import Json

TIER_1, TIER_2, TIER_3, TIER_4 = 1, 20, 50, 100
"""Calls per minute, method and workspace. Source: the rate limits page."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method and the rules around it.

    Attributes:
        answer: Does the work; its answer gets `ok: true`.
        scopes: One of them is needed; empty: none.
        per_minute: Calls Slack allows in a minute in one workspace.
        json_body: False where Slack reads forms and the query only.
        caller: Whose token it wants, `bot` or `app`; `client`: none, it wants the client's secret.
    """

    answer: Callable[[Call], Json]
    per_minute: int
    scopes: tuple[str, ...] = ()
    json_body: bool = True
    caller: str = "bot"


_READ_SCOPES = tuple(conversations.READ_SCOPES.values())
_HISTORY_SCOPES = tuple(conversations.HISTORY_SCOPES.values())

METHODS: Mapping[str, Method] = {
    "agents.sessions.rename": Method(agents.rename, TIER_3, ("chat:write",)),
    "agents.sessions.setStatus": Method(agents.set_status, TIER_3, ("chat:write",)),
    "apps.connections.open": Method(apps.open_connection, TIER_1, caller="app"),
    "assistant.threads.setStatus": Method(
        agents.set_thread_status, 600, ("assistant:write", "chat:write")
    ),
    "assistant.threads.setSuggestedPrompts": Method(
        agents.set_suggested_prompts, TIER_4, ("assistant:write",)
    ),
    "assistant.threads.setTitle": Method(agents.set_thread_title, TIER_4, ("assistant:write",)),
    "auth.revoke": Method(apps.revoke, TIER_3),
    "auth.test": Method(apps.test, 600),
    "chat.appendStream": Method(streams.append, TIER_4, ("chat:write",)),
    "chat.delete": Method(chat.delete, TIER_3, ("chat:write",)),
    "chat.getPermalink": Method(chat.permalink, 600, json_body=False),
    "chat.postEphemeral": Method(chat.post_ephemeral, TIER_4, ("chat:write",)),
    "chat.postMessage": Method(chat.post_message, 300, ("chat:write",)),
    "chat.startStream": Method(streams.start, TIER_2, ("chat:write",)),
    "chat.stopStream": Method(streams.stop, TIER_2, ("chat:write",)),
    "chat.update": Method(chat.update, TIER_3, ("chat:write",)),
    "conversations.info": Method(conversations.info, TIER_3, _READ_SCOPES, json_body=False),
    "conversations.members": Method(conversations.members, TIER_4, _READ_SCOPES, json_body=False),
    "conversations.open": Method(conversations.open_direct, TIER_3, ("im:write", "mpim:write")),
    "conversations.replies": Method(
        conversations.replies, TIER_3, _HISTORY_SCOPES, json_body=False
    ),
    "files.completeUploadExternal": Method(files.complete_upload, TIER_4, ("files:write",)),
    "files.getUploadURLExternal": Method(
        files.upload_url, TIER_4, ("files:write",), json_body=False
    ),
    "files.info": Method(files.info, TIER_4, ("files:read",), json_body=False),
    "oauth.v2.access": Method(oauth.access, 600, json_body=False, caller="client"),
    "reactions.add": Method(reactions.add, TIER_3, ("reactions:write",)),
    "reactions.remove": Method(reactions.remove, TIER_2, ("reactions:write",)),
    "usergroups.users.list": Method(
        users.group_members, TIER_2, ("usergroups:read",), json_body=False
    ),
    "users.info": Method(users.info, TIER_4, ("users:read",), json_body=False),
    "views.open": Method(views.open_modal, TIER_4),
    "views.publish": Method(views.publish, TIER_4),
    "views.push": Method(views.push, TIER_4),
    "views.update": Method(views.update, TIER_4),
}
"""Every method the stand-in knows, with its scope and rate. Source of both: the method pages."""
