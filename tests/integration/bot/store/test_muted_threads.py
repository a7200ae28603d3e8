"""Threads that asked for silence, on a real SQLite file."""

from __future__ import annotations

from pathlib import Path

from bot.store import MutedThreads, migrate, open_engine
from bot.store.muted_threads import KEEP_S


def test_a_thread_is_muted_until_it_is_unmuted_and_no_other_is(tmp_path: Path) -> None:
    now = [1_000.0]
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    muted = MutedThreads(engine, now=lambda: now[0])

    muted.mute("T1", "D1", "1.0")
    muted.mute("T1", "D1", "1.0")
    assert muted.is_muted("T1", "D1", "1.0")
    assert not muted.is_muted("T1", "D1", "2.0")
    assert not muted.is_muted("T2", "D1", "1.0")

    muted.unmute("T1", "D1", "1.0")
    assert not muted.is_muted("T1", "D1", "1.0")

    muted.mute("T1", "D1", "1.0")
    now[0] += KEEP_S + 1
    muted.mute("T1", "D1", "3.0")
    assert not muted.is_muted("T1", "D1", "1.0")
    engine.dispose()
