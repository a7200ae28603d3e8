"""Streams whose answer ended otherwise are found, by one process at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bot.store import (
    ANSWER,
    DELIVER,
    JobStore,
    LeftStream,
    LeftStreams,
    NewJob,
    forget_user,
    migrate,
    open_engine,
)
from bot.store.streams import TRY_AGAIN_S

QUESTION = NewJob("Ev1", "T1", "C1", "1.0", "1.0", "U1", "combien de jours ?")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def jobs(engine: Engine, clock: Clock) -> JobStore:
    return JobStore(engine, now=clock)


@pytest.fixture
def left(engine: Engine, clock: Clock) -> LeftStreams:
    return LeftStreams(engine, now=clock)


@pytest.fixture
def job_id(jobs: JobStore) -> str:
    """A question whose answer grows."""
    job_id = jobs.accept(QUESTION)
    assert job_id is not None
    jobs.claim(ANSWER)
    assert jobs.begun(job_id, channel_id="C1", ts="2.0")
    return job_id


def deliver(jobs: JobStore, job_id: str, *, ts: str) -> None:
    jobs.answered(job_id, outcome="answer", message="{}")
    jobs.claim(DELIVER)
    jobs.done(job_id, channel_id="C1", ts=ts)


@pytest.mark.usefixtures("job_id")
def test_an_answer_that_still_grows_is_left_alone(left: LeftStreams) -> None:
    assert left.claim() is None


def test_a_stream_that_became_the_outcome_is_left_alone(
    jobs: JobStore, left: LeftStreams, job_id: str
) -> None:
    deliver(jobs, job_id, ts="2.0")

    assert left.claim() is None


def test_what_stands_beside_the_outcome_is_to_go(
    jobs: JobStore, left: LeftStreams, job_id: str
) -> None:
    deliver(jobs, job_id, ts="3.0")

    assert left.claim() == LeftStream("T1", "C1", "2.0", keeps=False)


def test_what_a_stopped_answer_has_shown_stays(
    jobs: JobStore, left: LeftStreams, job_id: str
) -> None:
    assert jobs.stop(team_id="T1", channel_id="C1", thread_ts="1.0") == 1

    assert left.claim() == LeftStream("T1", "C1", "2.0", keeps=True)


def test_what_could_not_be_delivered_is_to_go(
    jobs: JobStore, left: LeftStreams, job_id: str
) -> None:
    jobs.answered(job_id, outcome="answer", message="{}")
    jobs.claim(DELIVER)
    jobs.failed(job_id, reason="undeliverable")

    assert left.claim() == LeftStream("T1", "C1", "2.0", keeps=False)


@pytest.mark.usefixtures("job_id")
def test_what_was_shown_to_somebody_forgotten_is_to_go(engine: Engine, left: LeftStreams) -> None:
    forget_user(engine, "U1")

    assert left.claim() == LeftStream("T1", "C1", "2.0", keeps=False)


def test_the_stream_of_a_job_nobody_remembers_is_to_go(
    jobs: JobStore, left: LeftStreams, clock: Clock, job_id: str
) -> None:
    jobs.failed(job_id, reason="undeliverable")
    clock.now += 100
    jobs.forget_finished(older_than_s=10)

    assert left.claim() == LeftStream("T1", "C1", "2.0", keeps=False)


def test_one_that_was_not_ended_is_offered_again_later_and_one_that_was_never(
    jobs: JobStore, left: LeftStreams, clock: Clock, job_id: str
) -> None:
    jobs.failed(job_id, reason="undeliverable")
    first = left.claim()
    assert first is not None
    assert left.claim() is None
    clock.now += TRY_AGAIN_S
    assert left.claim() == first
    left.forget(first)
    clock.now += TRY_AGAIN_S

    assert left.claim() is None
