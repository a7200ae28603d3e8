"""Leases on a real database: one holder at a time, and none for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bot.store import migrate, open_engine
from bot.store.leases import Leases


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


def test_a_lease_is_held_by_one_until_given_back(engine):
    first, second = Leases(engine), Leases(engine)
    assert first.take("work", ttl_s=60)
    assert not second.take("work", ttl_s=60)
    assert second.take("other work", ttl_s=60)
    second.give_back("work")  # not its own
    assert not second.take("work", ttl_s=60)
    first.give_back("work")
    assert second.take("work", ttl_s=60)


def test_a_lease_whose_holder_died_is_free_in_the_end(engine):
    clock = [1_000.0]
    died, other = Leases(engine, now=lambda: clock[0]), Leases(engine, now=lambda: clock[0])
    assert died.take("work", ttl_s=60)
    clock[0] += 61
    assert other.take("work", ttl_s=60)


def test_of_many_that_want_it_at_once_one_gets_it(engine):
    got: list[bool] = []
    barrier = threading.Barrier(8)

    def want() -> None:
        leases = Leases(engine)
        barrier.wait()
        got.append(leases.take("work", ttl_s=60))

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 7 + [True]
