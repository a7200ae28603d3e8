"""Questions from the Home tab: answered by the queue, in the modal that waits for the outcome."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable
from typing import Protocol

from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import DeliveryRefused
from bot.slack.delivery import slack_errors
from bot.slack.home.modals import message_modal
from bot.slack.people import WordsFor
from bot.slack.rendering import Message
from bot.store import Job, NewJob

log = logging.getLogger(__name__)

OPEN_LIMIT_S = 5.0
"""How long a question waits for its modal: Slack lets us open one within three seconds."""


class Queue(Protocol):
    """Takes questions; see `bot.slack.jobs.Workers`."""

    def accept(self, question: NewJob, *, delay_s: float = 0.0) -> Awaitable[None]:
        """Store one, for after so many seconds."""
        ...

    def waits_in(self, question: NewJob, view_id: str | None) -> Awaitable[bool]:
        """Say where its outcome goes; False when it is not known."""
        ...


def private_question(
    *, team_id: str, user_id: str, channel_id: str, question: str, trigger_id: str
) -> NewJob:
    """Return a question that one person alone is answered, as the queue takes it.

    Args:
        team_id: Workspace.
        user_id: Who asks.
        channel_id: Their direct message with the app; "" when unknown.
        question: As typed.
        trigger_id: Of the press, which it names.
    """
    name = f"home:{hashlib.sha256(trigger_id.encode()).hexdigest()[:24]}"
    return NewJob(
        event_id=name,
        team_id=team_id,
        channel_id=channel_id or user_id,
        message_ts=name,
        thread_ts="",
        user_id=user_id,
        question=question,
    )


class HomeModals:
    """Shows outcomes in the modals that wait for them.

    Args:
        client: With the bot token and without retry handlers.
        words_for: Chooses the words around an outcome.
    """

    def __init__(self, client: AsyncWebClient, words_for: WordsFor) -> None:
        self._client = client
        self._words_for = words_for

    async def show(self, job: Job, message: Message) -> bool:
        """Show an outcome; False when nobody has the modal open any more.

        Raises:
            DeliveryDelayed: Not now; later.
            DeliveryUncertain: Nobody knows; trying again does no harm.
        """
        question = job.question or ""
        words = await self._words_for(job.user_id, question)
        view = message_modal(words.home_answer_title, question, message, words)
        try:
            with slack_errors():
                await self._client.views_update(view_id=job.view_id, view=view)
        except DeliveryRefused as refusal:
            log.info("no modal to answer in: %s", refusal, extra={"job_id": job.job_id})
            return False
        return True
