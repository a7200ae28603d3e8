"""Thresholds of the support check that were fitted to a company's own questions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Delete, Engine, delete, insert, inspect, select
from sqlalchemy.exc import SQLAlchemyError

from bot.errors import JobStoreError
from bot.store.tables import calibrations
from bot.store.transactions import transaction


@dataclass(frozen=True, slots=True)
class Calibration:
    """One fitted threshold.

    Attributes:
        embedding_model: With the reranker, where there is one: `BotSettings.ranking_models`.
        support_model: Version of the support check's weights.
        threshold: Probability from which an answer is shown.
        questions: How many it was fitted to.
    """

    embedding_model: str
    support_model: str
    threshold: float
    questions: int


class CalibrationStore:
    """Keeps one calibration for each encoder.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        now: Clock in seconds since the epoch.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now

    def save(self, calibration: Calibration) -> None:
        """Keep a calibration in place of the last one of the same encoder."""
        with transaction(self._engine) as connection:
            connection.execute(_of(calibration.embedding_model))
            connection.execute(
                insert(calibrations).values(
                    embedding_model=calibration.embedding_model,
                    support_model=calibration.support_model,
                    threshold=calibration.threshold,
                    questions=calibration.questions,
                    fitted_at=self._now(),
                )
            )

    def forget(self, embedding_model: str) -> bool:
        """Go back to the shipped threshold; return whether there was another."""
        with transaction(self._engine) as connection:
            return bool(connection.execute(_of(embedding_model)).rowcount)

    def find(self, embedding_model: str, support_model: str) -> Calibration | None:
        """Return the calibration of an encoder, None when it was made with other weights.

        A database that the bot never wrote to has none.
        """
        try:
            if not inspect(self._engine).has_table(calibrations.name):
                return None
        except SQLAlchemyError as error:
            raise JobStoreError(f"the database cannot be read ({type(error).__name__})") from error
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(
                select(calibrations).where(
                    calibrations.c.embedding_model == embedding_model,
                    calibrations.c.support_model == support_model,
                )
            ).one_or_none()
        if row is None:
            return None
        return Calibration(row.embedding_model, row.support_model, row.threshold, row.questions)


def _of(embedding_model: str) -> Delete:
    return delete(calibrations).where(calibrations.c.embedding_model == embedding_model)
