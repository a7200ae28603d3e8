"""What answers quoted, for as long as readers may rely on them, and which quotes are gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, and_, delete, exists, insert, select, update

from bot.store.tables import citations, jobs, questions, stale_answers
from bot.store.transactions import transaction

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class CitedPage:
    """A page as an answer used it.

    Attributes:
        page_version: Content hash of the page at the time.
    """

    source: str
    page: str
    page_version: str


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """An answer that quotes what its page no longer says.

    Attributes:
        channel_id: Where it was asked.
        thread_ts: Its thread; None when it was given in private, or went to a direct message.
        message_ts: Of the message that asked; None likewise.
        user_id: Who asked.
        language: Of the answer.
        question: Its words; None where they are not kept.
        title: Of the page, as the answer named it.
        found_at: When the quote was found to be gone.
    """

    question_id: str
    team_id: str
    channel_id: str
    thread_ts: str | None
    message_ts: str | None
    user_id: str
    language: str
    question: str | None
    source: str
    page: str
    title: str
    found_at: datetime


class CitationStore:
    """Finds answers that rest on passages that changed; `QuestionLog` writes down what they quote.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        now: Clock in seconds since the epoch.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now

    def forget_older(self, days: int) -> None:
        """Forget what was quoted longer ago, and what was said of it."""
        with transaction(self._engine) as connection:
            forget_quotes(connection, before=self._now() - days * DAY_S)

    def cited_pages(self) -> tuple[CitedPage, ...]:
        """Return the pages that answers use of which nothing is known to be gone."""
        columns = (citations.c.source, citations.c.page, citations.c.page_version)
        statement = select(*columns).where(~_is_stale()).distinct().order_by(*columns)
        with transaction(self._engine, reads=True) as connection:
            return tuple(CitedPage(*row) for row in connection.execute(statement))

    def quotes(self, cited: CitedPage) -> Mapping[str, tuple[str, ...]]:
        """Return what each answer quotes from a page, by the id of its question."""
        statement = select(citations.c.question_id, citations.c.quote).where(
            citations.c.source == cited.source,
            citations.c.page == cited.page,
            citations.c.page_version == cited.page_version,
            ~_is_stale(),
        )
        found: dict[str, tuple[str, ...]] = {}
        with transaction(self._engine, reads=True) as connection:
            for question_id, quote in connection.execute(statement):
                found[question_id] = (*found.get(question_id, ()), quote)
        return found

    def mark(self, question_ids: Collection[str], cited: CitedPage) -> tuple[str, ...]:
        """Write down that answers rest on what is gone; returns the workspaces they are of."""
        known = select(questions.c.question_id, questions.c.team_id).where(
            questions.c.question_id.in_(question_ids),
            questions.c.question_id.not_in(select(stale_answers.c.question_id)),
        )
        with transaction(self._engine) as connection:
            rows = connection.execute(known).all()
            for row in rows:
                connection.execute(
                    insert(stale_answers).values(
                        question_id=row.question_id,
                        team_id=row.team_id,
                        source=cited.source,
                        page=cited.page,
                        found_at=self._now(),
                    )
                )
        return tuple(sorted({row.team_id for row in rows}))

    def waiting(self, team_id: str, *, limit: int) -> tuple[StaleAnswer, ...]:
        """Return the answers of a workspace nobody decided about, the latest first."""
        statement = (
            _described()
            .where(stale_answers.c.team_id == team_id, stale_answers.c.decided_at.is_(None))
            .order_by(stale_answers.c.found_at.desc(), stale_answers.c.question_id)
            .limit(limit)
        )
        with transaction(self._engine, reads=True) as connection:
            return tuple(_answer(row) for row in connection.execute(statement))

    def decide(self, question_id: str, *, team_id: str) -> StaleAnswer | None:
        """Take an answer off the list, once; None when somebody did so already."""
        waits = and_(
            stale_answers.c.question_id == question_id,
            stale_answers.c.team_id == team_id,
            stale_answers.c.decided_at.is_(None),
        )
        with transaction(self._engine) as connection:
            row = connection.execute(_described().where(waits)).first()
            decided = update(stale_answers).where(waits).values(decided_at=self._now())
            if row is None or connection.execute(decided).rowcount != 1:
                return None
        return _answer(row)

    def undecide(self, question_id: str) -> None:
        """Put an answer back on the list: its note was not posted."""
        of_it = stale_answers.c.question_id == question_id
        with transaction(self._engine) as connection:
            connection.execute(update(stale_answers).where(of_it).values(decided_at=None))


def forget_quotes(connection: Connection, *, before: float) -> None:
    """Forget what was quoted before a moment (seconds since the epoch), and what is said of it."""
    connection.execute(delete(citations).where(citations.c.cited_at < before))
    left = select(citations.c.question_id)
    connection.execute(delete(stale_answers).where(stale_answers.c.question_id.not_in(left)))


def _is_stale() -> Any:
    return exists().where(stale_answers.c.question_id == citations.c.question_id)


def _described() -> Any:
    title = (
        select(citations.c.title)
        .where(
            citations.c.question_id == stale_answers.c.question_id,
            citations.c.source == stale_answers.c.source,
            citations.c.page == stale_answers.c.page,
        )
        .limit(1)
        .scalar_subquery()
        .label("title")
    )
    asked = [column for column in questions.c if column.name not in {"question_id", "team_id"}]
    return (
        select(stale_answers, *asked, title, jobs.c.posted_channel)
        .join(questions, questions.c.question_id == stale_answers.c.question_id)
        .outerjoin(jobs, jobs.c.job_id == stale_answers.c.question_id)
    )


def _answer(row: Row[Any]) -> StaleAnswer:
    # A channel may want its answers in direct messages, or have been closed to us.
    went_elsewhere = row.posted_channel and row.posted_channel != row.channel_id
    return StaleAnswer(
        question_id=row.question_id,
        team_id=row.team_id,
        channel_id=row.channel_id,
        thread_ts=None if went_elsewhere else row.thread_ts,
        message_ts=None if went_elsewhere else row.message_ts,
        user_id=row.user_id,
        language=row.language,
        question=row.question,
        source=row.source,
        page=row.page,
        title=row.title or row.page,
        found_at=datetime.fromtimestamp(row.found_at, UTC),
    )
