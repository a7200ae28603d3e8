"""The question log on a real SQLite file: what is kept, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from bot.store import (
    ANSWER,
    CitationStore,
    Feedback,
    FeedbackStore,
    Forgotten,
    JobState,
    JobStore,
    LoggedQuestion,
    NewJob,
    PrivateAnswer,
    PrivateAnswers,
    QuestionLog,
    Verdict,
    forget_user,
    logged_passages,
    migrate,
    open_engine,
)
from bot.store.questions import DAY_S, IDS_KEPT_S
from bot.store.tables import private_answers, questions
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


def test_a_private_answer_goes_after_its_day_even_when_nobody_asks_in_private_again(
    engine: Engine,
) -> None:
    clock = Clock()
    PrivateAnswers(engine, now=clock).keep(PrivateAnswer("a", "T1", "U1", (), "combien ?"))
    log = QuestionLog(engine, keep_days=90, now=clock)

    def kept() -> list[str]:
        with engine.connect() as connection:
            return list(connection.scalars(select(private_answers.c.message)))

    clock.now += DAY_S - 1
    log.forget_old()
    assert kept() == ["combien ?"]
    clock.now += 2
    log.forget_old()
    assert kept() == []


def test_zero_days_never_write_the_words_down(engine: Engine) -> None:
    QuestionLog(engine, keep_days=0).record(ASKED)

    assert words(engine) == {"q1": None}


def test_what_answers_quote_goes_after_its_own_days_and_zero_never_write_it_down(
    engine: Engine,
) -> None:
    clock = Clock()
    log = QuestionLog(engine, keep_days=90, quote_days=7, now=clock)
    store = CitationStore(engine, now=clock)
    log.record(ASKED)
    [cited] = store.cited_pages()
    store.mark(["q1"], cited)
    clock.now += 7 * DAY_S - 1
    log.forget_old()
    assert len(store.waiting("T1", limit=9)) == 1
    clock.now += 2
    log.forget_old()  # no sync has looked at them meanwhile
    assert store.cited_pages() == ()
    assert store.waiting("T1", limit=9) == ()

    QuestionLog(engine, keep_days=90, quote_days=0, now=clock).record(ASKED)
    assert store.cited_pages() == ()
    assert words(engine) == {"q1": "combien ?"}


def test_cited_passages_come_first_and_each_passage_once() -> None:
    cited = passage("Un. Deux.", chunk_id="b")
    outcome = replace(
        answer(claim("Un.", of=cited), claim("Deux.", of=cited)),
        passages=(passage(chunk_id="a"), cited),
    )

    logged = logged_passages(outcome)

    assert [(p.chunk_id, p.cited) for p in logged] == [("b", True), ("a", False)]


def thread(engine: Engine, *, keep_days: int = 90) -> tuple[str, ...]:
    log = QuestionLog(engine, keep_days=keep_days)
    return log.earlier(team_id="T1", channel_id="C1", thread_ts="1.0", before_ts="5.0")


def test_earlier_questions_of_a_thread_come_oldest_first_and_no_others(engine: Engine) -> None:
    log = QuestionLog(engine, keep_days=90)
    for ts, question in (("2.0", "deux"), ("1.0", "un"), ("5.0", "cinq"), ("6.0", "six")):
        log.record(replace(ASKED, question_id=ts, message_ts=ts, question=question))
    log.record(replace(ASKED, question_id="a", channel_id="C2", question="autre canal"))
    log.record(replace(ASKED, question_id="b", team_id="T2", question="autre espace"))
    log.record(replace(ASKED, question_id="c", thread_ts="0.5", question="autre fil"))
    log.record(replace(ASKED, question_id="d", thread_ts=None, message_ts=None, question="privée"))

    assert thread(engine) == ("un", "deux")


def test_only_the_last_questions_of_a_long_thread_count(engine: Engine) -> None:
    log = QuestionLog(engine, keep_days=90)
    for n in range(8):
        log.record(replace(ASKED, question_id=str(n), message_ts=f"1.{n}", question=f"q{n}"))

    assert thread(engine) == ("q3", "q4", "q5", "q6", "q7")


def test_a_question_that_is_being_answered_counts_even_when_no_words_are_kept(
    engine: Engine,
) -> None:
    jobs = JobStore(engine)
    job_id = jobs.accept(NewJob("Ev1", "T1", "C1", "2.0", "1.0", "U1", "en cours ?"))
    assert job_id is not None
    assert thread(engine, keep_days=0) == ("en cours ?",)
    jobs.claim(ANSWER)
    jobs.failed(job_id, reason="x")

    assert thread(engine, keep_days=0) == ()


def test_forgetting_somebody_leaves_nothing_of_them_and_everything_of_others(
    engine: Engine,
) -> None:
    jobs, log, judged = JobStore(engine), QuestionLog(engine, keep_days=90), FeedbackStore(engine)
    ended = jobs.accept(NewJob("Ev1", "T1", "C1", "1.0", "1.0", "U1", "finie"))
    jobs.claim(ANSWER)
    jobs.failed(ended or "", reason="x")
    waiting = jobs.accept(NewJob("Ev2", "T1", "C1", "2.0", "2.0", "U1", "en attente"))
    other = jobs.accept(NewJob("Ev3", "T1", "C1", "3.0", "3.0", "U2", "une autre"))
    for user_id in ("U1", "U2"):
        log.record(replace(ASKED, question_id=user_id, user_id=user_id))
        judged.give(Feedback(user_id, "T1", user_id, Verdict.DOWN, comment="non"))
        PrivateAnswers(engine).keep(PrivateAnswer(user_id, "T1", user_id, (), "{}"))

    assert forget_user(engine, "U1") == Forgotten(1, 1, 1, 2)
    assert forget_user(engine, "U1") == Forgotten(0, 0, 0, 0)

    assert words(engine) == {"U2": "combien ?"}
    assert [given["user_id"] for given in judged.export()] == ["U2"]
    assert PrivateAnswers(engine).get("U2") is not None
    claimed = jobs.claim(ANSWER)
    assert claimed is not None
    assert claimed.job_id == other
    dropped = jobs.get(waiting or "")
    assert dropped is not None
    assert (dropped.state, dropped.question, dropped.user_id) == (JobState.FAILED, None, "")
    # The event is still known: Slack may send it again.
    assert jobs.accept(NewJob("Ev1", "T1", "C1", "1.0", "1.0", "U1", "finie")) is None
