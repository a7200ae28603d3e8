"""Pauses that Slack asked for outlive the process, and no longer than they last."""

from __future__ import annotations

from pathlib import Path

from bot.store import Pause, PauseStore, migrate, open_engine


def test_pauses_are_kept_for_each_call_of_each_workspace_until_they_are_over(
    tmp_path: Path,
) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    now = [1_000.0]
    store = PauseStore(engine, now=lambda: now[0])
    short = Pause("T1", "chat.startStream", 1_010.0)
    store.put(Pause("T1", "chat.startStream", 1_005.0))
    store.put(short)
    store.put(Pause("T2", "chat.startStream", 1_030.0))
    store.put(Pause("T1", "chat.postMessage C1", 1_040.0))

    again = PauseStore(engine, now=lambda: now[0])
    lasting = {(p.team_id, p.call): p.until for p in again.lasting()}
    now[0] = 1_010.0
    left = again.lasting()
    engine.dispose()

    assert lasting == {
        ("T1", "chat.startStream"): 1_010.0,
        ("T2", "chat.startStream"): 1_030.0,
        ("T1", "chat.postMessage C1"): 1_040.0,
    }
    assert short not in left
    assert len(left) == 2
