"""Tells one person something in their direct message, for what has no response address."""

from __future__ import annotations

import logging
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.rendering import Message

log = logging.getLogger(__name__)


class Address(Protocol):
    """Where one person is told how something goes; see `ReplyAddress` and `DirectReport`."""

    async def show(self, message: Message) -> bool:
        """Show a message; says whether it is shown."""
        ...


class DirectReport:
    """The direct message with one person.

    Args:
        client: With the token of their workspace.
        user_id: Who reads; needs no scope but that of posting.
    """

    def __init__(self, client: AsyncWebClient, user_id: str) -> None:
        self._client = client
        self._user_id = user_id

    async def show(self, message: Message) -> bool:
        """Post a message; says whether it is posted, and why not goes to the log."""
        try:
            await self._client.chat_postMessage(
                channel=self._user_id,
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
                unfurl_links=False,
                unfurl_media=False,
            )
        except CALL_FAILED as error:
            log.error("something could not be told: %s", type(error).__name__)
            return False
        return True
