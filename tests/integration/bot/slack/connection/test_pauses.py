"""What Slack asked to wait with is waited with, also by a process that starts meanwhile."""

from __future__ import annotations

from pathlib import Path

from bot.slack.connection.pauses import Pauses, posting_in
from bot.store import PauseStore, migrate, open_engine


async def test_pauses_outlive_the_process_and_end_when_they_are_over(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    now = [1_000.0]
    store = PauseStore(engine, now=lambda: now[0])
    await Pauses(store, now=lambda: now[0]).begin("T1", posting_in("C1"), 30)

    after_restart = Pauses(store, now=lambda: now[0])
    await after_restart.load()
    engine.dispose()

    assert after_restart.left_s("T1", posting_in("C1")) == 30
    assert after_restart.left_s("T1", posting_in("C2")) == 0
    assert after_restart.left_s("T2", posting_in("C1")) == 0
    now[0] += 30
    assert after_restart.left_s("T1", posting_in("C1")) == 0


async def test_a_database_that_is_down_ends_nothing_but_the_memory_of_pauses(
    tmp_path: Path,
) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")  # without its tables
    pauses = Pauses(PauseStore(engine), now=lambda: 1_000.0)
    await pauses.load()
    await pauses.begin("T1", "users.info", 5)
    engine.dispose()

    assert pauses.left_s("T1", "users.info") == 5
