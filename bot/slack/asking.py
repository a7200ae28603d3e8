"""Answers for one person alone, until they choose to share them: `/handbook ask …` and others."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.errors import JobStoreError
from bot.records import GroundedAnswer, Outcome, Question
from bot.slack.admission import Admission
from bot.slack.audiences import Readers
from bot.slack.channel_settings import ChannelPolicy, spoken_in
from bot.slack.listening import acknowledge
from bot.slack.mrkdwn import clean, escape, shortened
from bot.slack.next_steps import HumanRequest
from bot.slack.people import People
from bot.slack.presentation import Presentation
from bot.slack.readiness import Handbook
from bot.slack.rendering import Block, Message, button, render_notice, with_block
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from bot.store import (
    LoggedQuestion,
    PrivateAnswer,
    PrivateAnswers,
    QuestionLog,
    logged_passages,
)
from ingest import HandbookError

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


@dataclass(frozen=True, slots=True)
class Asked:
    """A private question and its outcome.

    Attributes:
        words: Of whoever asked.
    """

    request: HumanRequest
    outcome: Outcome
    words: Words


class PrivateAsking:
    """Answers one person alone, and shares such an answer when its owner wants that.

    Private answers are made from what the person may read. Those made from what everybody in the
    conversation may read can be shared there.
    """

    def __init__(
        self,
        handbook: Handbook,
        kept: PrivateAnswers,
        questions: QuestionLog,
        people: People,
        admission: Admission,
        presentation: Presentation,
        channels: ChannelPolicy,
        readers: Readers,
    ) -> None:
        self._handbook = handbook
        self._kept = kept
        self._questions = questions
        self._people = people
        self._admission = admission
        self._presentation = presentation
        self._channels = channels
        self._readers = readers
        self._slots = asyncio.Semaphore(ANSWERS_AT_ONCE)

    async def answer(self, asker: Asker, question: str, earlier: tuple[str, ...] = ()) -> Message:
        """Return the answer, an abstention, or word of an outage or a refusal.

        Args:
            asker: Who asks.
            question: As asked.
            earlier: Questions before it in the same thread.
        """
        asked = await self.ask(asker, question, earlier)
        if isinstance(asked, Message):
            return asked
        message = self._presentation.message(asked.outcome, asked.words, asked.request)
        answer_id = await self.keep(
            asker, asked, asked.words.shared.format(question=_cut(question))
        )
        if answer_id is None:
            return message
        share = button(asked.words.share, SHARE, answer_id)
        return with_block(message, {"type": "actions", "elements": [share]})

    async def ask(
        self, asker: Asker, question: str, earlier: tuple[str, ...] = ()
    ) -> Asked | Message:
        """Return the outcome, written down, or a notice that there is none (see `answer`).

        Raises:
            JobStoreError: If the settings of the channel cannot be read now.
        """
        user_id = asker.user_id
        settings = await self._channels.of(asker.team_id, asker.channel_id)
        words = spoken_in(settings, await self._people.words(user_id, question))
        refusal = await self._admission.refusal(
            user_id, asker.team_id, words, channel_id=asker.channel_id
        )
        if refusal:
            return render_notice(refusal)
        scoped = Question(question, earlier, settings.sources)
        audiences = await self._readers.alone(user_id, asker.channel_id)
        async with self._slots:
            try:
                outcome = await asyncio.to_thread(self._handbook.answer, scoped, audiences)
            except HandbookError as error:
                # Never an abstention: the handbook may well know.
                log.error("outage: %s", type(error).__name__)
                return render_notice(words.outage)
        question_id = uuid.uuid4().hex
        try:
            await asyncio.to_thread(
                self._questions.record, _logged(question_id, asker, question, outcome)
            )
        except JobStoreError as error:
            log.warning("%s; a question is not written down", error)
        words = await self._people.words(user_id, question, otherwise=outcome.language)
        words = spoken_in(settings, words)
        return Asked(HumanRequest(question_id, user_id, question), outcome, words)

    async def keep(self, asker: Asker, asked: Asked, heading: str) -> str | None:
        """Keep an answer until it is shared.

        Args:
            asker: Its owner.
            asked: What was answered.
            heading: What stands above it once it is shared, after the owner's name.

        Returns:
            What names it, None when there is nothing that may be shared.
        """
        if not isinstance(asked.outcome, GroundedAnswer):
            return None
        message = self._presentation.message(asked.outcome, asked.words, asked.request)
        cited = cited_chunks(asked.outcome)
        return await self.keep_message(asker, message, cited, heading, asked.request.question_id)

    async def keep_message(
        self,
        asker: Asker,
        message: Message,
        chunk_ids: tuple[str, ...],
        heading: str,
        answer_id: str,
    ) -> str | None:
        """Keep something that one person was shown until it is shared.

        Args:
            asker: Its owner.
            message: As everybody would see it.
            chunk_ids: Passages it shows, each once.
            heading: What stands above it once it is shared, after the owner's name.
            answer_id: To name it.

        Returns:
            What names it, None when it may not be shared where the owner is.
        """
        if (await self._channels.of(asker.team_id, asker.channel_id)).private:
            return None
        answer = PrivateAnswer(
            answer_id=answer_id,
            team_id=asker.team_id,
            user_id=asker.user_id,
            chunk_ids=chunk_ids,
            message=_shared(message, heading, asker.user_id).to_json(),
        )
        try:
            if not await self._may_be_shared(chunk_ids, asker.channel_id):
                return None
            await asyncio.to_thread(self._kept.keep, answer)
        except HandbookError as error:
            log.warning("%s; nothing can be shared", error)
            return None
        return answer_id

    async def share(
        self, answer_id: str, presser: Asker, address: ReplyAddress, words: Words
    ) -> str:
        """Post an answer for everybody, once.

        Args:
            answer_id: See `keep`.
            presser: Who wants it, and where it goes.
            address: Where it is posted.
            words: Of whoever pressed.

        Returns:
            Why it is not posted, "" when it is.
        """
        try:
            return await self._share(answer_id, presser, address, words)
        except HandbookError as error:
            log.error("an answer was not shared: %s", type(error).__name__)
            return words.share_failed

    def register(self, app: AsyncApp) -> None:
        """Listen for the Share button."""

        async def share(body: dict[str, Any]) -> None:
            presser = Asker(body["team"]["id"], body["channel"]["id"], body["user"]["id"])
            address, words = ReplyAddress.of(body), await self._people.words(presser.user_id)
            refusal = await self.share(body["actions"][0]["value"], presser, address, words)
            if refusal:
                await address.show(render_notice(refusal))
            else:
                await address.remove_original()

        app.action(SHARE)(ack=acknowledge, lazy=[share])

    async def _share(
        self, answer_id: str, presser: Asker, address: ReplyAddress, words: Words
    ) -> str:
        answer = await asyncio.to_thread(self._kept.get, answer_id)
        if answer is None:
            return words.share_gone
        if (answer.team_id, answer.user_id) != (presser.team_id, presser.user_id):
            return words.share_not_yours
        if not await self._may_be_shared(answer.chunk_ids, presser.channel_id):
            return words.share_changed
        if refusal := await self._admission.refusal_to_share(presser.channel_id, words):
            return refusal
        if not await asyncio.to_thread(self._kept.take, answer_id):
            return words.share_gone
        if not await address.post(Message.from_json(answer.message)):
            await asyncio.to_thread(self._kept.put_back, answer_id)
            return words.share_failed
        return ""

    async def _may_be_shared(self, chunk_ids: Collection[str], channel_id: str) -> bool:
        """Say whether everybody who would see an answer there may read what it cites."""
        audiences = self._readers.everybody(channel_id)
        return await asyncio.to_thread(self._handbook.may_read, chunk_ids, audiences)


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


def cited_chunks(answer: GroundedAnswer) -> tuple[str, ...]:
    """Return the ids of the passages that an answer cites, each once."""
    cited = (claim.citation.passage.chunk.chunk_id for claim in answer.claims)
    return tuple(dict.fromkeys(cited))


def _cut(question: str) -> str:
    return shortened(clean(question), SHARED_QUESTION_LIMIT)


def _shared(message: Message, heading: str, user_id: str) -> Message:
    """Return the answer as everybody is to see it: with who asked what above it."""
    elements: list[Block] = [
        {"type": "user", "user_id": user_id},
        {"type": "text", "text": f" {heading}"},
    ]
    block: Block = {
        "type": "rich_text",
        "elements": [{"type": "rich_text_section", "elements": elements}],
    }
    return Message(f"{escape(heading)}\n\n{message.text}", (block, *message.blocks))
