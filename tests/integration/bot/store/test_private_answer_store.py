"""Private answers on a real SQLite file: shared once, and not for ever."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from bot.store import PrivateAnswer, PrivateAnswers, migrate, open_engine
from bot.store.private_answers import SHAREABLE_S
from bot.store.tables import private_answers
from tests.clock import Clock

ANSWER = PrivateAnswer("a1", "T1", "U1", ("c1", "c2"), '{"text": "deux"}')


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


def test_an_answer_is_taken_once_by_whoever_is_first(engine: Engine) -> None:
    kept = PrivateAnswers(engine)
    kept.keep(ANSWER)

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: kept.take("a1"), range(4)))

    assert sorted(taken) == [False, False, False, True]
    assert kept.get("a1") is None
    kept.put_back("a1")
    assert kept.get("a1") == ANSWER


def test_old_answers_can_no_longer_be_shared_and_are_forgotten(engine: Engine) -> None:
    clock = Clock()
    kept = PrivateAnswers(engine, now=clock)
    kept.keep(ANSWER)
    clock.now += SHAREABLE_S + 1

    assert kept.get("a1") is None
    kept.keep(PrivateAnswer("a2", "T1", "U1", (), "{}"))
    with engine.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(private_answers)) == 1
