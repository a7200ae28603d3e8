"""The model's tokens by day, in a real database."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.answering.usage import TokenUsage
from bot.store import ModelUsage, migrate, open_engine


class Heard:
    def __init__(self) -> None:
        self.budgets: list[int] = []

    def model_down(self, reason: str) -> None:
        raise AssertionError(reason)

    def model_back(self, down_s: float) -> None:
        raise AssertionError(down_s)

    def budget_spent(self, tokens: int) -> None:
        self.budgets.append(tokens)


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def engine(tmp_path):
    engine = open_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def usage(engine, heard, clock, *, daily_tokens=0, model="m") -> ModelUsage:
    return ModelUsage(
        engine,
        model,
        daily_tokens=daily_tokens,
        zone=ZoneInfo("Europe/Paris"),
        incidents=heard,
        now=clock,
    )


def test_tokens_add_up_by_day_and_model_and_outlive_a_restart(engine, heard, clock):
    usage(engine, heard, clock).count(TokenUsage(1, 100, 20))
    usage(engine, heard, clock).count(TokenUsage(1, 50, 5))
    usage(engine, heard, clock, model="other").count(TokenUsage(1, 7, 7))
    assert usage(engine, heard, clock).of_day(date(2026, 3, 1)) == TokenUsage(2, 150, 25)
    assert usage(engine, heard, clock).of_day(date(2026, 3, 2)) == TokenUsage()


def test_a_day_begins_at_midnight_of_the_company(engine, heard, clock):
    clock.moment = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)  # 00:30 in Paris
    usage(engine, heard, clock).count(TokenUsage(1, 1, 1))
    assert usage(engine, heard, clock).of_day(date(2026, 3, 2)).total == 2


def test_a_spent_budget_refuses_until_the_next_day_and_is_told_once(engine, heard, clock):
    meter = usage(engine, heard, clock, daily_tokens=100)
    meter.count(TokenUsage(1, 90, 9))
    assert meter.refusal() is None
    meter.count(TokenUsage(1, 1, 0))
    assert "100" in meter.refusal()
    assert meter.refusal() is not None
    assert heard.budgets == [100]
    clock.moment = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    assert meter.refusal() is None


def test_without_a_budget_nothing_is_refused(engine, heard, clock):
    meter = usage(engine, heard, clock)
    meter.count(TokenUsage(1, 10**9, 10**9))
    assert meter.refusal() is None


def test_tokens_that_could_not_be_written_are_written_later(engine, heard, clock):
    meter = usage(engine, heard, clock, daily_tokens=100)
    with engine.connect() as connection:
        connection.exec_driver_sql("ALTER TABLE bot_model_usage RENAME TO away")
        connection.commit()
    meter.count(TokenUsage(1, 200, 0))
    assert meter.refusal() is None  # an unreadable budget stops no answer
    with engine.connect() as connection:
        connection.exec_driver_sql("ALTER TABLE away RENAME TO bot_model_usage")
        connection.commit()
    meter.count(TokenUsage(1, 1, 1))
    assert usage(engine, heard, clock).of_day(date(2026, 3, 1)) == TokenUsage(2, 201, 1)
