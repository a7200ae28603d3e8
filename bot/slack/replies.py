"""Replies to a command or a press through its response address, which needs no scope at all."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.slack.connection.library_log import library_log
from bot.slack.connection.reaching import UNREACHABLE
from bot.slack.feedback_row import variants
from bot.slack.rendering import Message

log = logging.getLogger(__name__)

_TIMEOUT_S = 10
_TAKEN = 200
_REFUSED = 400


@dataclass(frozen=True, slots=True)
class ReplyAddress:
    """A `response_url`: takes at most five posts within half an hour.

    Attributes:
        thread_ts: Thread of the message that was pressed, if it stood in one.
    """

    url: str
    thread_ts: str | None = None

    @classmethod
    def of(cls, body: dict[str, Any]) -> ReplyAddress:
        """Return the address in the payload of a command or a press."""
        container = body.get("container") or {}
        return cls(body["response_url"], container.get("thread_ts"))

    async def show(self, message: Message) -> bool:
        """Show a message to the person alone; the message that was pressed stays.

        Returns:
            Whether it is shown; why not is logged.
        """
        return await self._first_taken(message, {"replace_original": False})

    async def post(self, message: Message) -> bool:
        """Post a message for everybody in the conversation; returns whether it was taken."""
        everybody = {"response_type": "in_channel", "replace_original": False}
        return await self._first_taken(message, everybody)

    async def replace(self, message: Message) -> bool:
        """Show a message instead of the one that was pressed; returns whether it was taken."""
        return await self._first_taken(message, {"replace_original": True})

    async def remove_original(self) -> bool:
        """Remove the message that was pressed."""
        return await self._send({"delete_original": True}) == _TAKEN

    async def _first_taken(self, message: Message, manner: dict[str, Any]) -> bool:
        for variant in variants(message):
            status = await self._send(_content(variant) | manner)
            if status != _REFUSED:
                break
        return status == _TAKEN

    async def _send(self, content: dict[str, Any]) -> int | None:
        """Return the HTTP status, None when nobody knows whether it was taken."""
        if self.thread_ts and "delete_original" not in content:
            content["thread_ts"] = self.thread_ts
        # Nothing is repeated by itself: a post whose confirmation was lost would stand twice.
        client = AsyncWebhookClient(
            self.url, timeout=_TIMEOUT_S, retry_handlers=[], logger=library_log()
        )
        try:
            response = await client.send_dict(content)
        except UNREACHABLE as error:
            log.error("a reply was lost: %s", type(error).__name__)
            return None
        if response.status_code != _TAKEN:
            log.error("a reply was refused", extra={"status": response.status_code})
        return response.status_code


def _content(message: Message) -> dict[str, Any]:
    content: dict[str, Any] = {"text": message.text}
    if message.blocks:
        content["blocks"] = [dict(block) for block in message.blocks]
    return content
