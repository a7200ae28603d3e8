"""Tells the owners' channel that the model went down, is back, or has spent its budget."""

from __future__ import annotations

import asyncio
import logging

from slack_sdk.web.async_client import AsyncWebClient

from bot.answering.breaker import LoggedIncidents
from bot.slack.background import BackgroundTasks
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.mrkdwn import escape
from bot.slack.wording import Words

log = logging.getLogger(__name__)


class ModelAlerts(LoggedIncidents):
    """Incidents that are posted besides; called from the threads that answer, in their workspace.

    A post that fails is only logged: the answer under way must not wait for it.

    Args:
        client: Posts, in the workspace of the question that met the incident.
        channel_id: Of the owners; "": incidents are only logged.
        words: The bot's own, in the language of the company.
    """

    def __init__(self, client: AsyncWebClient, channel_id: str, words: Words) -> None:
        self._client = client
        self._channel_id = channel_id
        self._words = words
        self._loop: asyncio.AbstractEventLoop | None = None
        self._posts = BackgroundTasks()

    def start(self) -> None:
        """Post from this event loop on."""
        self._loop = asyncio.get_running_loop()

    def model_down(self, reason: str) -> None:
        """Log and post that the model is down."""
        super().model_down(reason)
        self._tell(self._words.model_down.format(reason=reason))

    def model_back(self, down_s: float) -> None:
        """Log and post that it is back."""
        super().model_back(down_s)
        self._tell(self._words.model_back.format(minutes=max(1, round(down_s / 60))))

    def budget_spent(self, tokens: int) -> None:
        """Log and post that the budget of the day is spent."""
        super().budget_spent(tokens)
        self._tell(self._words.budget_spent.format(tokens=tokens))

    def _tell(self, sentence: str) -> None:
        if self._loop is None or not self._channel_id:
            return
        # The context of the caller goes along: it knows the workspace.
        self._loop.call_soon_threadsafe(lambda: self._posts.start(self._post(sentence)))

    async def _post(self, sentence: str) -> None:
        try:
            await self._client.chat_postMessage(channel=self._channel_id, text=escape(sentence))
        except CALL_FAILED as error:
            log.warning("an alert was not posted", extra={"reason": type(error).__name__})
