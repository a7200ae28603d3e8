"""What people thought of answers."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Engine, Row, insert, select, update

from bot.store.tables import feedback, questions
from bot.store.transactions import transaction


class Verdict(StrEnum):
    """Which thumb."""

    UP = "up"
    DOWN = "down"


class Reason(StrEnum):
    """What is wrong with an answer."""

    WRONG = "wrong"
    OUTDATED = "outdated"
    INCOMPLETE = "incomplete"
    OFF_TOPIC = "off_topic"


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one person thinks of one answer; a later word of theirs replaces it.

    Attributes:
        question_id: Of the question log.
        given_at: When it reached us, in seconds since the epoch; orders what one person says.
    """

    question_id: str
    team_id: str
    user_id: str
    verdict: Verdict
    reasons: tuple[Reason, ...] = ()
    comment: str = ""
    given_at: float = field(default_factory=time.time)


class FeedbackStore:
    """Keeps feedback; safe to share between threads.

    Every method raises `JobStoreError` when the database cannot be used now.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def give(self, given: Feedback) -> None:
        """Keep what somebody thinks, unless they have said something later already.

        Whichever process, and in whichever order the words come: the latest one stays.
        """
        values = {
            "team_id": given.team_id,
            "verdict": given.verdict,
            "reasons": json.dumps(given.reasons),
            "comment": given.comment,
            "given_at": given.given_at,
        }
        same = (
            feedback.c.question_id == given.question_id,
            feedback.c.user_id == given.user_id,
        )
        key = {"question_id": given.question_id, "user_id": given.user_id}
        earlier = feedback.c.given_at <= given.given_at
        newest = update(feedback).where(*same, earlier).values(values)
        first = insert(feedback).values({**key, **values})
        with transaction(self._engine) as connection:
            if connection.execute(newest).rowcount:
                return
            if connection.execute(select(feedback.c.given_at).where(*same)).first() is None:
                connection.execute(first)

    def export(self) -> list[dict[str, Any]]:
        """Return everything, oldest first, as JSON objects: with the question and its passages.

        What is no longer known of a question (its words after `QUESTION_LOG_DAYS`) is null.
        """
        statement = (
            select(feedback, questions)
            .outerjoin(questions, questions.c.question_id == feedback.c.question_id)
            .order_by(feedback.c.given_at, feedback.c.question_id, feedback.c.user_id)
        )
        with transaction(self._engine, reads=True) as connection:
            rows: Sequence[Row[Any]] = connection.execute(statement).all()
        return [_exported(row) for row in rows]


def _exported(row: Row[Any]) -> dict[str, Any]:
    known = row._mapping
    asked_at, passages = known[questions.c.asked_at], known[questions.c.passages]
    return {
        "question_id": known[feedback.c.question_id],
        "given_at": _iso(known[feedback.c.given_at]),
        "user_id": known[feedback.c.user_id],
        "verdict": known[feedback.c.verdict],
        "reasons": json.loads(known[feedback.c.reasons]),
        "comment": known[feedback.c.comment],
        "question": known[questions.c.question],
        "asked_at": None if asked_at is None else _iso(asked_at),
        "outcome": known[questions.c.outcome],
        "generator": known[questions.c.generator],
        "language": known[questions.c.language],
        "confidence": known[questions.c.confidence],
        "passages": json.loads(passages) if passages else [],
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
