"""Answers shown to one person alone, kept for as long as they may be shared."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine, delete, insert, select, update

from bot.store.tables import private_answers
from bot.store.transactions import transaction

SHAREABLE_S = 86_400.0
"""An answer can be shared for a day; what Slack shows to one person alone rarely lasts longer."""


@dataclass(frozen=True, slots=True)
class PrivateAnswer:
    """An answer that its owner may share.

    Attributes:
        answer_id: Stands in the Share button; says nothing about the answer.
        chunk_ids: Passages it cites: shared only while everybody may read all of them.
        message: What would be posted (JSON).
    """

    answer_id: str
    team_id: str
    user_id: str
    chunk_ids: tuple[str, ...]
    message: str


class PrivateAnswers:
    """Keeps private answers; safe to share between threads.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        now: Clock in seconds since the epoch.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now

    def keep(self, answer: PrivateAnswer) -> None:
        """Keep an answer, and forget those that can no longer be shared."""
        now = self._now()
        values = {
            "answer_id": answer.answer_id,
            "team_id": answer.team_id,
            "user_id": answer.user_id,
            "chunk_ids": json.dumps(answer.chunk_ids),
            "message": answer.message,
            "created_at": now,
            "shared": False,
        }
        old = private_answers.c.created_at < now - SHAREABLE_S
        with transaction(self._engine) as connection:
            connection.execute(delete(private_answers).where(old))
            connection.execute(insert(private_answers).values(values))

    def get(self, answer_id: str) -> PrivateAnswer | None:
        """Return an answer that may still be shared, None when it is too old or was shared."""
        statement = select(private_answers).where(
            private_answers.c.answer_id == answer_id,
            private_answers.c.created_at >= self._now() - SHAREABLE_S,
            private_answers.c.shared.is_(False),
        )
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            return None
        chunk_ids = tuple(json.loads(row.chunk_ids))
        return PrivateAnswer(row.answer_id, row.team_id, row.user_id, chunk_ids, row.message)

    def take(self, answer_id: str) -> bool:
        """Mark an answer as shared; False when somebody was faster, so that it is shared once."""
        return self._mark(answer_id, shared=True)

    def put_back(self, answer_id: str) -> None:
        """Undo `take` for an answer that could not be posted."""
        self._mark(answer_id, shared=False)

    def _mark(self, answer_id: str, *, shared: bool) -> bool:
        statement = (
            update(private_answers)
            .where(
                private_answers.c.answer_id == answer_id, private_answers.c.shared.is_(not shared)
            )
            .values(shared=shared)
        )
        with transaction(self._engine) as connection:
            return connection.execute(statement).rowcount > 0
