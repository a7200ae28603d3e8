"""The word that somebody gave last is kept, in whichever order and process words are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bot.slack.feedback_writer import FeedbackWriter
from bot.store import Feedback, FeedbackStore, Reason, Verdict, migrate, open_engine

THUMB = Feedback("q1", "T1", "U1", Verdict.DOWN, given_at=1.0)
DETAILS = replace(THUMB, reasons=(Reason.WRONG,), comment="Trois jours.", given_at=2.0)
BETTER = replace(THUMB, verdict=Verdict.UP, given_at=3.0)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    yield engine
    engine.dispose()


@pytest.mark.parametrize("order", list(permutations((THUMB, DETAILS, BETTER))))
async def test_the_last_word_stays_whichever_process_writes_first(
    engine: Engine, tmp_path: Path, order: tuple[Feedback, ...]
) -> None:
    migrate(engine)
    for given in order:  # each by a process of its own
        other = open_engine(f"sqlite:///{tmp_path / 'bot.db'}")
        assert await FeedbackWriter(FeedbackStore(other)).write(given)
        other.dispose()
    [kept] = FeedbackStore(engine).export()

    assert (kept["verdict"], kept["reasons"], kept["comment"]) == ("up", [], "")


@pytest.mark.parametrize("order", list(permutations((THUMB, DETAILS))))
async def test_what_is_said_in_the_modal_is_not_lost_to_the_thumb_that_opened_it(
    engine: Engine, order: tuple[Feedback, ...]
) -> None:
    migrate(engine)
    for given in order:
        FeedbackStore(engine).give(given)
    FeedbackStore(engine).give(replace(BETTER, user_id="U2"))
    [first, second] = sorted(FeedbackStore(engine).export(), key=lambda given: given["user_id"])

    assert (first["reasons"], first["comment"]) == (["wrong"], "Trois jours.")
    assert second["verdict"] == "up"


async def test_what_cannot_be_written_is_said_and_holds_nothing_up(engine: Engine) -> None:
    writer = FeedbackWriter(FeedbackStore(engine))
    lost = await writer.write(THUMB)
    migrate(engine)
    kept = await writer.write(DETAILS)

    assert (lost, kept) == (False, True)
