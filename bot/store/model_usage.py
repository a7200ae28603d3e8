"""What the model cost on each day, and the daily budget."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Engine, insert, select, update

from bot.answering.breaker import Incidents
from bot.answering.usage import TokenUsage
from bot.errors import JobStoreError
from bot.store.tables import model_usage
from bot.store.transactions import transaction

logger = logging.getLogger(__name__)


class ModelUsage:
    """A `TokenMeter` kept in the database, so that a restart does not renew the budget.

    A database that is busy never stops an answer: what could not be written is written later.

    Args:
        model: Whose tokens these are.
        daily_tokens: Budget of a day; 0 is none.
        zone: Where a day begins.
        incidents: Told once a day, when the budget is spent.
        now: Clock, with a time zone.
    """

    def __init__(
        self,
        engine: Engine,
        model: str,
        *,
        daily_tokens: int,
        zone: ZoneInfo,
        incidents: Incidents,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._model = model
        self._daily_tokens = daily_tokens
        self._zone = zone
        self._incidents = incidents
        self._now = now
        self._lock = threading.Lock()
        self._unwritten: dict[date, TokenUsage] = {}
        self._told: date | None = None

    def refusal(self) -> str | None:
        """Return that the budget of the day is spent, or None."""
        if not self._daily_tokens:
            return None
        today = self._today()
        try:
            spent = self.of_day(today).total
        except JobStoreError:
            return None  # rather some tokens too many than no answer
        if spent < self._daily_tokens:
            return None
        with self._lock:
            first, self._told = self._told != today, today
        if first:
            self._incidents.budget_spent(self._daily_tokens)
        return f"the {self._daily_tokens} tokens of today's budget are spent"

    def count(self, usage: TokenUsage) -> None:
        """Add the tokens of one request to today's."""
        today = self._today()
        with self._lock:
            self._unwritten[today] = self._unwritten.get(today, TokenUsage()) + usage
            pending, self._unwritten = self._unwritten, {}
        for day, tokens in pending.items():
            try:
                self._write(day, tokens)
            except JobStoreError as error:
                logger.warning("tokens not counted yet", extra={"reason": str(error)})
                with self._lock:
                    self._unwritten[day] = self._unwritten.get(day, TokenUsage()) + tokens

    def today(self) -> TokenUsage:
        """Return what was counted today (raises as `of_day`)."""
        return self.of_day(self._today())

    def of_day(self, day: date) -> TokenUsage:
        """Return what was counted on a day.

        Raises:
            JobStoreError: If the database cannot be read now.
        """
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(select(model_usage).where(*self._of(day))).one_or_none()
        written = (
            TokenUsage(row.requests, row.prompt_tokens, row.completion_tokens)
            if row
            else TokenUsage()
        )
        with self._lock:
            return written + self._unwritten.get(day, TokenUsage())

    def _write(self, day: date, tokens: TokenUsage) -> None:
        values = {
            "requests": tokens.requests,
            "prompt_tokens": tokens.prompt,
            "completion_tokens": tokens.completion,
        }
        added = {name: model_usage.c[name] + value for name, value in values.items()}
        with transaction(self._engine) as connection:
            changed = connection.execute(update(model_usage).where(*self._of(day)).values(added))
            if not changed.rowcount:
                key = {"day": day.isoformat(), "model": self._model}
                connection.execute(insert(model_usage).values({**key, **values}))

    def _of(self, day: date) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return model_usage.c.day == day.isoformat(), model_usage.c.model == self._model

    def _today(self) -> date:
        return self._now().astimezone(self._zone).date()
