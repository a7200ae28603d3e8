"""A channel sees what everybody there may read; whoever asked may see more, alone.

What is said in the channel does not tell whether there is more: the offer is seen by the person
alone, and made only when pages they may read, and not everybody there, really answer.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.records import GroundedAnswer, Question
from bot.slack.asking import Asker, PrivateAsking, cited_chunks
from bot.slack.audiences import Readers
from bot.slack.background import BackgroundTasks
from bot.slack.channel_settings import ChannelPolicy
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.listening import acknowledge
from bot.slack.next_steps import VALUE_LIMIT
from bot.slack.people import People
from bot.slack.readiness import Handbook
from bot.slack.rendering import button, render_notice, with_block
from bot.slack.replies import ReplyAddress
from bot.store import Job, QuestionLog
from ingest import HandbookError

log = logging.getLogger(__name__)

WIDER_ANSWER = "wider_answer"


class WiderAnswers:
    """Offers people what more they may read.

    An offer is a favour: it is made once, and not made up for when Slack refuses it.

    Args:
        client: With the bot token and without retry handlers.
    """

    def __init__(
        self,
        handbook: Handbook,
        asking: PrivateAsking,
        questions: QuestionLog,
        people: People,
        channels: ChannelPolicy,
        readers: Readers,
        client: AsyncWebClient,
    ) -> None:
        self._handbook = handbook
        self._asking = asking
        self._questions = questions
        self._people = people
        self._channels = channels
        self._readers = readers
        self._client = client
        self._slots = asyncio.Semaphore(1)
        self._tasks = BackgroundTasks()

    def register(self, app: AsyncApp) -> None:
        """Listen for the button."""
        app.action(WIDER_ANSWER)(ack=acknowledge, lazy=[self._pressed])

    def offer(self, job: Job) -> None:
        """Look, beside other work, whether there is more for whoever asked."""
        self._tasks.start(self._offer(job))

    async def close(self) -> None:
        """Drop what has not been offered yet."""
        await self._tasks.close()

    async def _offer(self, job: Job) -> None:
        try:
            if job.question and await self._has_more(job):
                await self._show_offer(job)
        except HandbookError as error:
            log.warning("no wider answer is offered: %s", type(error).__name__)
        except CALL_FAILED as error:
            log.info("a wider answer was not offered: %s", type(error).__name__)

    async def _has_more(self, job: Job) -> bool:
        among = await self._readers.among(job.channel_id, job.user_id)
        alone = await self._readers.alone(job.user_id, job.channel_id)
        if alone <= among:
            return False
        settings = await self._channels.of(job.team_id, job.channel_id)
        earlier = await self._earlier(
            job.team_id, job.channel_id, job.thread_ts, before_ts=job.message_ts
        )
        question = Question(job.question or "", earlier, settings.sources)
        async with self._slots:
            outcome = await asyncio.to_thread(self._handbook.answer, question, alone)
            if not isinstance(outcome, GroundedAnswer):
                return False
            return not await asyncio.to_thread(
                self._handbook.may_read, cited_chunks(outcome), among
            )

    async def _show_offer(self, job: Job) -> None:
        words = await self._people.words(job.user_id, job.question or "")
        value = f"{job.message_ts}:{job.question}"[:VALUE_LIMIT]
        show = button(words.wider_show, WIDER_ANSWER, value)
        message = with_block(
            render_notice(words.wider_offer), {"type": "actions", "elements": [show]}
        )
        await self._client.chat_postEphemeral(
            channel=job.channel_id,
            user=job.user_id,
            thread_ts=job.thread_ts,
            text=message.text,
            blocks=list(message.blocks),
        )

    async def _pressed(self, body: dict[str, Any]) -> None:
        asked_ts, _, question = body["actions"][0]["value"].partition(":")
        asker = Asker(body["team"]["id"], body["channel"]["id"], body["user"]["id"])
        address = ReplyAddress.of(body)
        try:
            earlier = await self._earlier(
                asker.team_id, asker.channel_id, address.thread_ts, before_ts=asked_ts
            )
            message = await self._asking.answer(asker, question, earlier)
        except HandbookError as error:
            log.error("a wider answer was not shown: %s", type(error).__name__)
            message = render_notice((await self._people.words(asker.user_id, question)).outage)
        await address.replace(message)

    async def _earlier(
        self, team_id: str, channel_id: str, thread_ts: str | None, *, before_ts: str
    ) -> tuple[str, ...]:
        """Return what was asked before in the thread."""
        if not thread_ts or thread_ts == before_ts:
            return ()
        return await asyncio.to_thread(
            self._questions.earlier,
            team_id=team_id,
            channel_id=channel_id,
            thread_ts=thread_ts,
            before_ts=before_ts,
        )
