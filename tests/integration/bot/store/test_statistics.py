"""What the question log tells of people's questions, of pages, and of what has no answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert

from bot.store import (
    Feedback,
    FeedbackStore,
    LoggedPassage,
    LoggedQuestion,
    QuestionLog,
    Statistics,
    Verdict,
    migrate,
    open_engine,
)
from bot.store.statistics import DAY_S
from bot.store.tables import jobs
from tests.clock import Clock

ASKED = LoggedQuestion(
    question_id="q1",
    team_id="T1",
    channel_id="C1",
    thread_ts="100.000000",
    message_ts="100.000000",
    user_id="U1",
    question="Combien de RTT ?",
    outcome="answer",
    generator="extractive",
    language="fr",
    confidence=0.9,
    passages=(),
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'bot.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def clock() -> Clock:
    clock = Clock()
    clock.now = 100 * DAY_S
    return clock


@pytest.fixture
def log(engine: Engine, clock: Clock) -> QuestionLog:
    return QuestionLog(engine, keep_days=90, now=clock)


@pytest.fixture
def statistics(engine: Engine, clock: Clock) -> Statistics:
    return Statistics(engine, now=clock)


def cites(*pages: str, looked_at: tuple[str, ...] = ()) -> tuple[LoggedPassage, ...]:
    return tuple(
        LoggedPassage(f"chunk of {page}", "guide", page, "v1", page in pages)
        for page in (*pages, *looked_at)
    )


def test_only_ones_own_questions_are_recent_latest_first(
    log: QuestionLog, statistics: Statistics, clock: Clock
) -> None:
    for number, (user, team) in enumerate([("U1", "T1"), ("U2", "T1"), ("U1", "T2"), ("U1", "T1")]):
        clock.now += 1
        log.record(
            replace(
                ASKED, question_id=f"q{number}", user_id=user, team_id=team, question=f"Q{number} ?"
            )
        )
    recent = statistics.recent(team_id="T1", user_id="U1", limit=5)

    assert [asked.question for asked in recent] == ["Q3 ?", "Q0 ?"]
    assert recent[0].asked_at.timestamp() == clock.now


def test_a_question_asked_twice_is_recent_once(
    log: QuestionLog, statistics: Statistics, clock: Clock
) -> None:
    for number, question in enumerate(["RTT ?", "Congés ?", "rtt  ?"]):
        clock.now += 1
        log.record(replace(ASKED, question_id=f"q{number}", question=question))
    recent = statistics.recent(team_id="T1", user_id="U1", limit=2)

    assert [asked.question for asked in recent] == ["rtt  ?", "Congés ?"]


def test_words_that_are_not_kept_are_nowhere(engine: Engine, clock: Clock) -> None:
    QuestionLog(engine, keep_days=0, now=clock).record(replace(ASKED, outcome="abstention"))
    statistics = Statistics(engine, now=clock)

    assert statistics.recent(team_id="T1", user_id="U1", limit=5) == ()
    assert statistics.unanswered(team_id="T1", days=30, limit=5) == ()
    found = statistics.behind(team_id="T1", channel_id="C1", ts="100.000000", thread_ts=None)
    assert found is not None
    assert (found.question_id, found.question) == ("q1", None)


def test_pages_are_ranked_by_thumbs_then_by_citations(
    engine: Engine, log: QuestionLog, statistics: Statistics
) -> None:
    log.record(replace(ASKED, question_id="a", passages=cites("rtt.md", looked_at=("vu.md",))))
    log.record(replace(ASKED, question_id="b", passages=cites("conges.md", "conges.md")))
    log.record(replace(ASKED, question_id="c", passages=cites("conges.md")))
    log.record(replace(ASKED, question_id="d", passages=cites("autre.md"), team_id="T2"))
    log.record(replace(ASKED, question_id="e", passages=cites("vu.md"), outcome="abstention"))
    feedback = FeedbackStore(engine)
    feedback.give(Feedback("a", "T1", "U1", Verdict.UP))
    feedback.give(Feedback("b", "T1", "U1", Verdict.DOWN))

    uses = statistics.useful_pages(team_id="T1", days=30)

    assert [(use.page, use.useful, use.cited) for use in uses] == [
        ("rtt.md", 1, 1),
        ("conges.md", 0, 2),
    ]
    assert uses[0].chunk_ids == ("chunk of rtt.md",)


def test_only_the_last_days_count(log: QuestionLog, statistics: Statistics, clock: Clock) -> None:
    log.record(replace(ASKED, question_id="a", passages=cites("rtt.md")))
    log.record(replace(ASKED, question_id="b", outcome="abstention"))
    clock.now += 30 * DAY_S

    assert len(statistics.useful_pages(team_id="T1", days=30)) == 1
    assert len(statistics.unanswered(team_id="T1", days=30, limit=5)) == 1
    clock.now += 1
    assert statistics.useful_pages(team_id="T1", days=30) == ()
    assert statistics.unanswered(team_id="T1", days=30, limit=5) == ()


def test_unanswered_questions_are_words_alone(
    log: QuestionLog, statistics: Statistics, clock: Clock
) -> None:
    for number, outcome in enumerate(["abstention", "answer", "abstention"]):
        clock.now += 1
        log.record(
            replace(ASKED, question_id=f"q{number}", question=f"Q{number} ?", outcome=outcome)
        )
    log.record(replace(ASKED, question_id="q9", team_id="T2", outcome="abstention"))

    assert statistics.unanswered(team_id="T1", days=30, limit=5) == ("Q2 ?", "Q0 ?")
    assert statistics.unanswered(team_id="T1", days=30, limit=1) == ("Q2 ?",)


def posted(engine: Engine, job_id: str, channel_id: str, ts: str) -> None:
    """Write down that the outcome of a question was posted."""
    values = {
        "job_id": job_id,
        "event_id": f"Ev{job_id}",
        "team_id": "T1",
        "channel_id": "C1",
        "message_ts": "100.000000",
        "thread_ts": "100.000000",
        "user_id": "U1",
        "state": "done",
        "due_at": 0.0,
        "created_at": 0.0,
        "posted_channel": channel_id,
        "posted_ts": ts,
    }
    with engine.begin() as connection:
        connection.execute(insert(jobs).values(values))


def test_the_question_behind_an_answer_is_found_by_where_it_was_posted(
    engine: Engine, log: QuestionLog, statistics: Statistics
) -> None:
    log.record(ASKED)
    posted(engine, "q1", "D9", "200.000000")
    found = statistics.behind(team_id="T1", channel_id="D9", ts="200.000000", thread_ts=None)

    assert found is not None
    assert found.question_id == "q1"
    assert statistics.behind(team_id="T2", channel_id="D9", ts="200.000000", thread_ts=None) is None


def test_an_answer_whose_posting_is_forgotten_is_that_to_the_question_before_it(
    log: QuestionLog, statistics: Statistics
) -> None:
    for number, ts in enumerate(["100.000000", "150.000000", "300.000000"]):
        log.record(replace(ASKED, question_id=f"q{number}", message_ts=ts))
    found = statistics.behind(
        team_id="T1", channel_id="C1", ts="200.000000", thread_ts="100.000000"
    )
    elsewhere = statistics.behind(
        team_id="T1", channel_id="C2", ts="200.000000", thread_ts="100.000000"
    )

    assert found is not None
    assert found.question_id == "q1"
    assert elsewhere is None
