"""The question log: what was asked and what the outcome rested on, for as long as it may be kept.

The words of a question go after `QUESTION_LOG_DAYS`; ids and what was looked at stay a year, and
longer where somebody gave feedback.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Engine, Row, delete, insert, select, union, update

from bot.records import GroundedAnswer, Outcome
from bot.store.citations import forget_quotes
from bot.store.private_answers import SHAREABLE_S
from bot.store.tables import citations, feedback, jobs, private_answers, questions
from bot.store.transactions import transaction

DAY_S = 86_400.0
QUOTE_DAYS = 30
"""As `FRESHNESS_DAYS` unless it says otherwise."""
IDS_KEPT_S = 365 * DAY_S


@dataclass(frozen=True, slots=True)
class LoggedPassage:
    """A passage that an outcome looked at.

    Attributes:
        page_version: Content hash of its page at the time.
        cited: False when it was only looked at.
        title: Of the page.
        quotes: What the outcome quotes of it.
    """

    chunk_id: str
    source: str
    page: str
    page_version: str
    cited: bool
    title: str = ""
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoggedQuestion:
    """A question and its outcome.

    Attributes:
        question_id: Stands in the feedback buttons below the outcome.
        thread_ts: Root of the thread it was asked in; None for a private question.
        message_ts: Of the message that asked; None for a private question.
        outcome: "answer" or "abstention".
        generator: "extractive" or the model's name.
        confidence: Of the outcome, in [0, 1].
    """

    question_id: str
    team_id: str
    channel_id: str
    thread_ts: str | None
    message_ts: str | None
    user_id: str
    question: str
    outcome: str
    generator: str
    language: str
    confidence: float
    passages: tuple[LoggedPassage, ...]


class QuestionLog:
    """Reads and writes the question log; safe to share between threads.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        keep_days: Days the words of questions are kept; 0 never writes them down.
        quote_days: Days what answers quote is kept; 0 never writes it down.
        now: Clock in seconds since the epoch.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        keep_days: int,
        quote_days: int = QUOTE_DAYS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._keep_s = keep_days * DAY_S
        self._quote_s = quote_days * DAY_S
        self._now = now

    def record(self, asked: LoggedQuestion) -> None:
        """Write down a question and its outcome; a second time replaces the first."""
        values = {
            "question_id": asked.question_id,
            "team_id": asked.team_id,
            "channel_id": asked.channel_id,
            "thread_ts": asked.thread_ts,
            "message_ts": asked.message_ts,
            "user_id": asked.user_id,
            "question": asked.question if self._keep_s else None,
            "outcome": asked.outcome,
            "generator": asked.generator,
            "language": asked.language,
            "confidence": asked.confidence,
            "passages": json.dumps([_stored(passage) for passage in asked.passages]),
            "asked_at": self._now(),
        }
        with transaction(self._engine) as connection:
            same = questions.c.question_id == asked.question_id
            connection.execute(delete(questions).where(same))
            connection.execute(insert(questions).values(values))
            same = citations.c.question_id == asked.question_id
            connection.execute(delete(citations).where(same))
            for cited in _cited(asked, at=values["asked_at"]) if self._quote_s else ():
                connection.execute(insert(citations).values(cited))

    def earlier(
        self, *, team_id: str, channel_id: str, thread_ts: str, before_ts: str, limit: int = 5
    ) -> tuple[str, ...]:
        """Return what was asked before in a thread, oldest first, at most the last `limit`.

        Questions of which the words were not kept are absent, unless they are being answered now.

        Args:
            team_id: Workspace.
            channel_id: Conversation.
            thread_ts: Root of the thread.
            before_ts: Time stamp of the message that asks now.
            limit: Questions wanted, at most.
        """
        asked = [
            select(table.c.message_ts, table.c.question).where(
                table.c.team_id == team_id,
                table.c.channel_id == channel_id,
                table.c.thread_ts == thread_ts,
                # Slack's time stamps have one length, so their order is that of their texts.
                table.c.message_ts < before_ts,
                table.c.question != "",
            )
            for table in (questions, jobs)
        ]
        both = union(*asked).subquery()
        last = select(both.c.question).order_by(both.c.message_ts.desc()).limit(limit)
        with transaction(self._engine, reads=True) as connection:
            return tuple(reversed(connection.execute(last).scalars().all()))

    def get(self, question_id: str, *, team_id: str) -> LoggedQuestion | None:
        """Return what is kept of a question, with "" for words that are not kept any more."""
        statement = select(questions).where(
            questions.c.question_id == question_id, questions.c.team_id == team_id
        )
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else _logged(row)

    def forget_old(self) -> None:
        """Forget words that were kept long enough, and ids after a year without feedback.

        What answers quote goes after its own days, whether or not a sync looks at it meanwhile.
        Private answers repeat the question: those that can no longer be shared go as well, however
        long nobody asks in private.
        """
        now = self._now()
        old_words = questions.c.asked_at < now - self._keep_s
        old_ids = questions.c.asked_at < now - max(self._keep_s, IDS_KEPT_S)
        judged = select(feedback.c.question_id)
        with transaction(self._engine) as connection:
            connection.execute(
                update(questions)
                .where(old_words, questions.c.question.is_not(None))
                .values(question=None)
            )
            connection.execute(
                delete(private_answers).where(private_answers.c.created_at < now - SHAREABLE_S)
            )
            connection.execute(
                delete(questions).where(old_ids, questions.c.question_id.not_in(judged))
            )
            forget_quotes(connection, before=now - self._quote_s)


def _stored(passage: LoggedPassage) -> dict[str, Any]:
    """Return a passage as it is kept with the question: without words of the page."""
    return {k: v for k, v in asdict(passage).items() if k not in {"title", "quotes"}}


def _cited(asked: LoggedQuestion, *, at: object) -> Iterator[dict[str, Any]]:
    quoted = [(passage, quote) for passage in asked.passages for quote in passage.quotes]
    for number, (passage, quote) in enumerate(quoted):
        yield {
            "question_id": asked.question_id,
            "number": number,
            "team_id": asked.team_id,
            "source": passage.source,
            "page": passage.page,
            "page_version": passage.page_version,
            "title": passage.title,
            "quote": quote,
            "cited_at": at,
        }


def _logged(row: Row[Any]) -> LoggedQuestion:
    return LoggedQuestion(
        question_id=row.question_id,
        team_id=row.team_id,
        channel_id=row.channel_id,
        thread_ts=row.thread_ts,
        message_ts=row.message_ts,
        user_id=row.user_id,
        question=row.question or "",
        outcome=row.outcome,
        generator=row.generator,
        language=row.language,
        confidence=row.confidence,
        passages=tuple(LoggedPassage(**passage) for passage in json.loads(row.passages)),
    )


def logged_passages(outcome: Outcome) -> tuple[LoggedPassage, ...]:
    """Return what an outcome rests on: passages cited first, then those looked at, each once."""
    claims = outcome.claims if isinstance(outcome, GroundedAnswer) else ()
    cited = [claim.citation.passage.chunk for claim in claims]
    cited_ids = {chunk.chunk_id for chunk in cited}
    quotes: dict[str, tuple[str, ...]] = {}
    for claim in claims:
        chunk_id = claim.citation.passage.chunk.chunk_id
        quotes[chunk_id] = (*quotes.get(chunk_id, ()), claim.citation.quote)
    chunks = {c.chunk_id: c for c in (*cited, *(p.chunk for p in outcome.passages))}
    return tuple(
        LoggedPassage(
            c.chunk_id,
            c.source,
            c.page,
            c.page_version,
            c.chunk_id in cited_ids,
            c.title,
            quotes.get(c.chunk_id, ()),
        )
        for c in chunks.values()
    )
