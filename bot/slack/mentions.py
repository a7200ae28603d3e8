"""Somebody mentions us in a channel. Never sent for direct messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.connection.workspaces import our_user_id
from bot.slack.incoming import question_in
from bot.store import NewJob


def register(app: AsyncApp, *, accept: Callable[[NewJob], Awaitable[None]]) -> None:
    """Listen for mentions; what is asked is stored before Slack gets its acknowledgement."""

    @app.event("app_mention")
    async def mention(body: dict[str, Any]) -> None:
        question = question_in(body, our_user_id())
        if question is not None:
            await accept(question)
