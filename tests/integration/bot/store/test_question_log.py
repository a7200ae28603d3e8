"""The question log on a real SQLite file: what is kept, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from bot.store import (
    Feedback,
    FeedbackStore,
    LoggedQuestion,
    QuestionLog,
    Verdict,
    logged_passages,
    migrate,
    open_engine,
)
from bot.store.questions import DAY_S, IDS_KEPT_S
from bot.store.tables import questions
from tests.clock import Clock
from tests.outcomes import answer, claim, passage

ASKED = LoggedQuestion(
    question_id="q1",
    team_id="T1",
    channel_id="C1",
    thread_ts="1.0",
    message_ts="1.0",
    user_id="U1",
    question="combien ?",
    outcome="answer",
    generator="extractive",
    language="fr",
    confidence=0.9,
    passages=logged_passages(answer()),
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


def words(engine: Engine) -> dict[str, str | None]:
    with engine.connect() as connection:
        rows = connection.execute(select(questions.c.question_id, questions.c.question))
        return {question_id: question for question_id, question in rows}


def test_a_question_answered_twice_is_written_down_once(engine: Engine) -> None:
    log = QuestionLog(engine, keep_days=90)
    log.record(ASKED)
    log.record(replace(ASKED, outcome="abstention"))

    assert words(engine) == {"q1": "combien ?"}


def test_words_go_after_their_days_and_ids_after_a_year_unless_somebody_judged(
    engine: Engine,
) -> None:
    clock = Clock()
    log = QuestionLog(engine, keep_days=90, now=clock)
    for question_id in ("q1", "judged"):
        log.record(replace(ASKED, question_id=question_id))
    FeedbackStore(engine).give(Feedback("judged", "T1", "U1", Verdict.UP))

    clock.now += 89 * DAY_S
    log.forget_old()
    assert words(engine) == {"q1": "combien ?", "judged": "combien ?"}
    clock.now += 2 * DAY_S
    log.forget_old()
    assert words(engine) == {"q1": None, "judged": None}
    clock.now += IDS_KEPT_S
    log.forget_old()
    assert words(engine) == {"judged": None}


def test_zero_days_never_write_the_words_down(engine: Engine) -> None:
    QuestionLog(engine, keep_days=0).record(ASKED)

    assert words(engine) == {"q1": None}


def test_cited_passages_come_first_and_each_passage_once() -> None:
    cited = passage("Un. Deux.", chunk_id="b")
    outcome = replace(
        answer(claim("Un.", of=cited), claim("Deux.", of=cited)),
        passages=(passage(chunk_id="a"), cited),
    )

    logged = logged_passages(outcome)

    assert [(p.chunk_id, p.cited) for p in logged] == [("b", True), ("a", False)]
