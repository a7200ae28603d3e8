"""Somebody writes to us in a direct message or in the agent pane, which is one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.connection.workspaces import our_user_id
from bot.slack.incoming import question_in
from bot.store import NewJob


def register(
    app: AsyncApp,
    *,
    accept: Callable[[NewJob], Awaitable[None]],
    elsewhere: Callable[[dict[str, Any], str], Awaitable[None]],
    attached: Callable[[dict[str, Any]], Awaitable[bool]],
) -> None:
    """Listen for direct messages; what is asked is stored before the acknowledgement.

    Args:
        app: Where to listen.
        accept: Stores a question.
        elsewhere: Gets the messages of channels, as far as the app receives any: questions there
            are mentions, which come as events of their own.
        attached: Takes the pages that come with a message, and says whether that is all.
    """

    @app.event("message")
    async def message(body: dict[str, Any]) -> None:
        if body["event"].get("channel_type") != "im":
            await elsewhere(body, our_user_id())
            return
        if await attached(body):
            return
        question = question_in(body, our_user_id())
        if question is not None:
            await accept(question)
