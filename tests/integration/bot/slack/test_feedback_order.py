"""Feedback is written in the order in which it was given, however slow the database is."""

from __future__ import annotations

import threading
from pathlib import Path

from bot.slack.feedback_writer import FeedbackWriter
from bot.store import Feedback, FeedbackStore, Reason, Verdict, migrate, open_engine

THUMB = Feedback("q1", "T1", "U1", Verdict.DOWN)
DETAILS = Feedback("q1", "T1", "U1", Verdict.DOWN, (Reason.WRONG,), "Trois jours.")


async def test_what_is_said_in_the_modal_is_written_after_the_thumb_that_opened_it(
    tmp_path: Path,
) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    migrate(engine)
    go_on = threading.Event()

    class Slow(FeedbackStore):
        def give(self, given: Feedback) -> None:
            if given is THUMB:
                go_on.wait(20)
            super().give(given)

    writer = FeedbackWriter(Slow(engine))
    thumb, details = writer.write(THUMB), writer.write(DETAILS)
    other = writer.write(Feedback("q1", "T1", "U2", Verdict.UP))
    assert await other
    assert not details.done()
    go_on.set()
    assert await thumb
    assert await details
    [first, second] = sorted(FeedbackStore(engine).export(), key=lambda given: given["user_id"])
    engine.dispose()

    assert (first["reasons"], first["comment"]) == (["wrong"], "Trois jours.")
    assert second["verdict"] == "up"


async def test_what_cannot_be_written_is_said_and_holds_nothing_up(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    writer = FeedbackWriter(FeedbackStore(engine))
    lost = await writer.write(THUMB)
    migrate(engine)
    kept = await writer.write(DETAILS)
    engine.dispose()

    assert (lost, kept) == (False, True)
