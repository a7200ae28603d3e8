"""`/handbook ask …`: an answer that only the person sees, until they choose to share it."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.errors import JobStoreError
from bot.records import GroundedAnswer, Outcome, Question
from bot.slack.feedback_row import with_feedback
from bot.slack.mrkdwn import clean, escape, shortened
from bot.slack.people import People
from bot.slack.readiness import Handbook
from bot.slack.rendering import Block, Message, button, render, render_notice, with_block
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from bot.store import (
    LoggedQuestion,
    PrivateAnswer,
    PrivateAnswers,
    QuestionLog,
    logged_passages,
)
from ingest import PUBLIC, HandbookError

log = logging.getLogger(__name__)

SHARE = "share_answer"
ANSWERS_AT_ONCE = 2
SHARED_QUESTION_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks in private, and where they typed."""

    team_id: str
    channel_id: str
    user_id: str


class PrivateAsking:
    """Answers one person alone, and shares such an answer when its owner wants that.

    Private answers are made from what everybody may read, so that any of them may be shared.
    """

    def __init__(
        self, handbook: Handbook, kept: PrivateAnswers, questions: QuestionLog, people: People
    ) -> None:
        self._handbook = handbook
        self._kept = kept
        self._questions = questions
        self._people = people
        self._slots = asyncio.Semaphore(ANSWERS_AT_ONCE)

    async def answer(self, asker: Asker, question: str) -> Message:
        """Return the answer, an abstention, or word of an outage."""
        user_id = asker.user_id
        async with self._slots:
            try:
                outcome = await asyncio.to_thread(self._handbook.answer, Question(question), PUBLIC)
            except HandbookError as error:
                # Never an abstention: the handbook may well know.
                log.error("outage: %s", type(error).__name__)
                return render_notice((await self._people.words(user_id, question)).outage)
        words = await self._people.words(user_id, question, otherwise=outcome.language)
        question_id = uuid.uuid4().hex
        try:
            await asyncio.to_thread(
                self._questions.record, _logged(question_id, asker, question, outcome)
            )
        except JobStoreError as error:
            log.warning("%s; a question is not written down", error)
        message = with_feedback(render(outcome, words), words, question_id)
        if not isinstance(outcome, GroundedAnswer):
            return message
        answer = PrivateAnswer(
            answer_id=question_id,
            team_id=asker.team_id,
            user_id=user_id,
            chunk_ids=_cited(outcome),
            message=_shared(message, question, user_id, words).to_json(),
        )
        try:
            await asyncio.to_thread(self._kept.keep, answer)
        except JobStoreError as error:
            log.warning("%s; an answer cannot be shared", error)
            return message
        share = button(words.share, SHARE, answer.answer_id)
        return with_block(message, {"type": "actions", "elements": [share]})

    def register(self, app: AsyncApp) -> None:
        """Listen for the Share button."""

        async def acknowledge(ack: Callable[[], Any]) -> None:
            await ack()

        async def share(body: dict[str, Any]) -> None:
            address = ReplyAddress.of(body)
            words = await self._people.words(body["user"]["id"])
            try:
                refusal = await self._share(body, address, words)
            except HandbookError as error:
                log.error("an answer was not shared: %s", type(error).__name__)
                refusal = words.share_failed
            if refusal:
                await address.show(render_notice(refusal))

        app.action(SHARE)(ack=acknowledge, lazy=[share])

    async def _share(self, body: dict[str, Any], address: ReplyAddress, words: Words) -> str:
        """Post the answer for everybody; returns why not, "" when it is posted."""
        answer_id = body["actions"][0]["value"]
        answer = await asyncio.to_thread(self._kept.get, answer_id)
        if answer is None:
            return words.share_gone
        if (answer.team_id, answer.user_id) != (body["team"]["id"], body["user"]["id"]):
            return words.share_not_yours
        if not await asyncio.to_thread(self._handbook.may_read, answer.chunk_ids, PUBLIC):
            return words.share_changed
        if not await asyncio.to_thread(self._kept.take, answer_id):
            return words.share_gone
        if not await address.post(Message.from_json(answer.message)):
            await asyncio.to_thread(self._kept.put_back, answer_id)
            return words.share_failed
        await address.remove_original()
        return ""


def _logged(question_id: str, asker: Asker, question: str, outcome: Outcome) -> LoggedQuestion:
    return LoggedQuestion(
        question_id=question_id,
        team_id=asker.team_id,
        channel_id=asker.channel_id,
        thread_ts=None,
        message_ts=None,
        user_id=asker.user_id,
        question=question,
        outcome="answer" if isinstance(outcome, GroundedAnswer) else "abstention",
        generator=outcome.generator,
        language=outcome.language,
        confidence=outcome.confidence,
        passages=logged_passages(outcome),
    )


def _cited(answer: GroundedAnswer) -> tuple[str, ...]:
    cited = (claim.citation.passage.chunk.chunk_id for claim in answer.claims)
    return tuple(dict.fromkeys(cited))


def _shared(message: Message, question: str, user_id: str, words: Words) -> Message:
    """Return the answer as everybody is to see it: with who asked what above it."""
    asked = words.shared.format(question=shortened(clean(question), SHARED_QUESTION_LIMIT))
    elements: list[Block] = [
        {"type": "user", "user_id": user_id},
        {"type": "text", "text": f" {asked}"},
    ]
    heading: Block = {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": elements}],
    }
    return Message(f"{escape(asked)}\n\n{message.text}", (heading, *message.blocks))
