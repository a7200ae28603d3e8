"""What the question log tells: somebody's own questions, pages that helped, what has no answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Engine, and_, func, or_, select

from bot.store.feedback import Verdict
from bot.store.tables import feedback, jobs, questions
from bot.store.transactions import transaction

DAY_S = 86_400.0
MOST_READ = 5_000
"""Questions looked at for one figure: the latest, so that a busy month costs no more than this."""
CHUNKS_OF_A_PAGE = 5
"""Passages kept to find a page by: some may be gone from the index since."""


@dataclass(frozen=True, slots=True)
class RecentQuestion:
    """A question that somebody asked, in their own words."""

    question_id: str
    question: str
    answered: bool
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class PageUse:
    """How useful a page was.

    Attributes:
        chunk_ids: Its passages that were cited, the latest first, at most `CHUNKS_OF_A_PAGE`.
        useful: Thumbs up for answers that cite it.
        cited: Answers that cite it.
    """

    source: str
    page: str
    chunk_ids: tuple[str, ...]
    useful: int
    cited: int


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One entry of the question log, as far as it is still known.

    Attributes:
        question: Its words; None once they are no longer kept.
    """

    question_id: str
    channel_id: str
    thread_ts: str | None
    message_ts: str | None
    user_id: str
    question: str | None
    outcome: str
    generator: str
    confidence: float
    asked_at: datetime


class Statistics:
    """Reads the question log; safe to share between threads. Writes nothing.

    Every method raises `JobStoreError` when the database cannot be used now, and keeps to one
    workspace.

    Args:
        now: Clock in seconds since the epoch.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now

    def recent(self, *, team_id: str, user_id: str, limit: int) -> tuple[RecentQuestion, ...]:
        """Return the last questions of one person, latest first, one of each wording.

        Questions of which the words are not kept are absent.
        """
        columns = questions.c
        statement = (
            select(columns.question_id, columns.question, columns.outcome, columns.asked_at)
            .where(
                columns.team_id == team_id,
                columns.user_id == user_id,
                columns.question.is_not(None),
            )
            .order_by(columns.asked_at.desc(), columns.question_id)
            .limit(10 * limit)
        )
        with transaction(self._engine, reads=True) as connection:
            rows = connection.execute(statement).all()
        latest: dict[str, RecentQuestion] = {}
        for row in rows:
            asked = RecentQuestion(
                row.question_id, row.question, row.outcome == "answer", _moment(row.asked_at)
            )
            latest.setdefault(" ".join(row.question.casefold().split()), asked)
        return tuple(latest.values())[:limit]

    def useful_pages(self, *, team_id: str, days: int) -> tuple[PageUse, ...]:
        """Return every page cited in the last `days` days, the most useful first.

        By thumbs up, then by how often it was cited, then by name.
        """
        columns = questions.c
        thumbs = (
            select(func.count())
            .where(
                feedback.c.question_id == columns.question_id,
                feedback.c.verdict == Verdict.UP.value,
            )
            .scalar_subquery()
        )
        statement = (
            select(columns.passages, thumbs.label("useful"))
            .where(
                columns.team_id == team_id,
                columns.outcome == "answer",
                columns.asked_at >= self._now() - days * DAY_S,
            )
            .order_by(columns.asked_at.desc(), columns.question_id)
            .limit(MOST_READ)
        )
        with transaction(self._engine, reads=True) as connection:
            rows = connection.execute(statement).all()
        return _most_useful((row.passages, row.useful) for row in rows)

    def unanswered(self, *, team_id: str, days: int, limit: int) -> tuple[str, ...]:
        """Return the words of the last questions without an answer, latest first; nobody's name."""
        columns = questions.c
        statement = (
            select(columns.question)
            .where(
                columns.team_id == team_id,
                columns.outcome == "abstention",
                columns.asked_at >= self._now() - days * DAY_S,
                columns.question.is_not(None),
                columns.question != "",
            )
            .order_by(columns.asked_at.desc(), columns.question_id)
            .limit(limit)
        )
        with transaction(self._engine, reads=True) as connection:
            return tuple(connection.execute(statement).scalars().all())

    def behind(
        self, *, team_id: str, channel_id: str, ts: str, thread_ts: str | None
    ) -> AskedQuestion | None:
        """Return the question behind a message: the one that asked, or one of ours that answers.

        Args:
            team_id: Workspace.
            channel_id: Where the message stands.
            ts: Of the message.
            thread_ts: Root of the thread it stands in, if it does. What was posted where is kept
                for a month; after that an answer counts as that to the last question before it.
        """
        columns = questions.c
        here = and_(columns.team_id == team_id, columns.channel_id == channel_id)
        posted = (
            select(jobs.c.job_id)
            .where(
                jobs.c.team_id == team_id,
                jobs.c.posted_channel == channel_id,
                jobs.c.posted_ts == ts,
            )
            .scalar_subquery()
        )
        exact = or_(
            and_(columns.team_id == team_id, columns.question_id == posted),
            and_(here, columns.message_ts == ts),
        )
        found = self._one(exact)
        if found is None and thread_ts is not None:
            found = self._one(and_(here, columns.thread_ts == thread_ts, columns.message_ts < ts))
        return found

    def _one(self, condition: ColumnElement[bool]) -> AskedQuestion | None:
        statement = (
            select(questions).where(condition).order_by(questions.c.message_ts.desc()).limit(1)
        )
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            return None
        return AskedQuestion(
            question_id=row.question_id,
            channel_id=row.channel_id,
            thread_ts=row.thread_ts,
            message_ts=row.message_ts,
            user_id=row.user_id,
            question=row.question,
            outcome=row.outcome,
            generator=row.generator,
            confidence=row.confidence,
            asked_at=_moment(row.asked_at),
        )


def _most_useful(answers: Iterable[tuple[str, int]]) -> tuple[PageUse, ...]:
    """Count per page; each answer counts once, however many of its passages it cites."""
    useful: dict[tuple[str, str], int] = {}
    cited: dict[tuple[str, str], int] = {}
    chunk_ids: dict[tuple[str, str], dict[str, None]] = {}
    for passages, thumbs in answers:
        here = [passage for passage in json.loads(passages) if passage["cited"]]
        for page in {(passage["source"], passage["page"]) for passage in here}:
            useful[page] = useful.get(page, 0) + thumbs
            cited[page] = cited.get(page, 0) + 1
        for passage in here:
            known = chunk_ids.setdefault((passage["source"], passage["page"]), {})
            if len(known) < CHUNKS_OF_A_PAGE:
                known[passage["chunk_id"]] = None
    uses = [
        PageUse(*page, tuple(chunk_ids[page]), useful[page], count) for page, count in cited.items()
    ]
    uses.sort(key=lambda use: (-use.useful, -use.cited, use.source, use.page))
    return tuple(uses)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
