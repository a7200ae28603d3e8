"""Tells questions to us from everything else that Slack sends. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.slack.mrkdwn import question_text
from bot.store import NewJob

_SAID_BY_A_PERSON = frozenset({None, "file_share", "thread_broadcast"})
"""Subtypes of messages that people write; every other one is an edit, a deletion or a notice."""


def question_in(body: Mapping[str, Any], bot_user_id: str) -> NewJob | None:
    """Return the question in an `app_mention` or `message` event, or None if it is not for us.

    Messages of other bots (two bots must not talk to each other for ever), edits, deletions,
    hidden messages and notices are not questions. Calling us without a word is one, with an empty
    text: it gets an explanation.
    """
    event = body["event"]
    if event.get("bot_id") or event.get("edited") or event.get("hidden"):
        return None
    if event.get("subtype") not in _SAID_BY_A_PERSON:
        return None
    if not event.get("user") or event["user"] == bot_user_id:
        return None
    return NewJob(
        event_id=body["event_id"],
        team_id=body["team_id"],
        channel_id=event["channel"],
        message_ts=event["ts"],
        # Never a reply's own ts: Slack threads hang on their root.
        thread_ts=event.get("thread_ts") or event["ts"],
        user_id=event["user"],
        question=question_text(event.get("text") or "", bot_user_id),
        in_shared_channel=bool(body.get("is_ext_shared_channel")),
    )
