"""The queue of questions on a real SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, UniqueConstraint, inspect, text

from bot.errors import JobStoreError
from bot.store import ANSWER, DELIVER, JobState, JobStore, NewJob, OwnPost, migrate, open_engine
from bot.store.tables import metadata
from ingest import ConfigurationError, SchemaVersionError

QUESTION = NewJob(
    event_id="Ev1",
    team_id="T1",
    channel_id="C1",
    message_ts="1796000000.000100",
    thread_ts="1796000000.000100",
    user_id="U1",
    question="combien de jours ?",
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'deep' / 'manuel.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def store(engine: Engine, clock: Clock) -> JobStore:
    return JobStore(engine, owner="one", lease_s=30, now=clock)


@pytest.fixture
def other(engine: Engine, clock: Clock) -> JobStore:
    return JobStore(engine, owner="two", lease_s=30, now=clock)


def numbered(n: int) -> NewJob:
    return replace(QUESTION, event_id=f"Ev{n}", message_ts=f"{n}.0", thread_ts=f"{n}.0")


def accepted(store: JobStore, question: NewJob = QUESTION) -> str:
    job_id = store.accept(question)
    assert job_id is not None
    return job_id


def test_the_message_that_an_answer_grows_in_is_known_to_whoever_takes_the_job_over(
    store: JobStore, other: JobStore, clock: Clock
) -> None:
    job_id = accepted(store)
    store.claim(ANSWER)
    assert not other.begun(job_id, channel_id="C1", ts="9.0")
    assert store.begun(job_id, channel_id="C1", ts="2.0")
    clock.now += 31
    taken_over = other.claim(ANSWER)
    assert taken_over is not None
    assert (taken_over.posted_channel, taken_over.posted_ts) == ("C1", "2.0")
    assert not store.begun(job_id, channel_id="C1", ts="3.0")
    assert other.answered(job_id, outcome="answer", message="{}")
    assert not other.begun(job_id, channel_id="C1", ts="3.0")


def test_nothing_is_begun_for_a_question_that_was_stopped(store: JobStore) -> None:
    job_id = accepted(store)
    store.claim(ANSWER)
    thread = {"team_id": "T1", "channel_id": "C1", "thread_ts": QUESTION.thread_ts}
    assert store.stop(**thread) == 1
    assert not store.begun(job_id, channel_id="C1", ts="2.0")


def test_a_question_passes_through_every_state_and_its_words_are_forgotten(
    store: JobStore,
) -> None:
    job_id = accepted(store)
    running = store.claim(ANSWER)
    assert running is not None
    assert (running.question, running.state) == ("combien de jours ?", JobState.RUNNING)
    assert store.answered(job_id, outcome="answer", message='{"text": "deux"}')
    delivering = store.claim(DELIVER)
    assert delivering is not None
    assert (delivering.message, delivering.uncertain) == ('{"text": "deux"}', False)
    assert store.hold(job_id)
    store.done(job_id, channel_id="C1", ts="2.0")

    done = store.get(job_id)
    assert done is not None
    assert (done.state, done.posted_channel, done.posted_ts) == (JobState.DONE, "C1", "2.0")
    assert (done.question, done.message) == (None, None)
    assert store.claim(ANSWER) is None
    assert store.claim(DELIVER) is None


@pytest.mark.parametrize(
    "again",
    [
        QUESTION,
        replace(QUESTION, message_ts="9.9"),
        replace(QUESTION, event_id="Ev2"),
    ],
)
def test_a_known_event_or_message_is_not_accepted_again(store: JobStore, again: NewJob) -> None:
    accepted(store)

    assert store.accept(again) is None
    assert store.counts() == {JobState.PENDING: 1}


def test_the_same_ts_in_another_channel_or_workspace_is_another_question(store: JobStore) -> None:
    accepted(store)
    accepted(store, replace(QUESTION, event_id="Ev2", channel_id="C2"))
    accepted(store, replace(QUESTION, event_id="Ev3", team_id="T2"))

    assert store.counts() == {JobState.PENDING: 3}


def test_a_finished_question_is_still_known(store: JobStore) -> None:
    job_id = accepted(store)
    store.claim(ANSWER)
    store.failed(job_id, reason="account_inactive")

    assert store.accept(QUESTION) is None
    failed = store.get(job_id)
    assert failed is not None
    assert (failed.state, failed.failure, failed.question) == (
        JobState.FAILED,
        "account_inactive",
        None,
    )


def test_a_job_is_claimed_by_one_process_only_and_in_order(
    store: JobStore, other: JobStore, clock: Clock
) -> None:
    first = accepted(store, numbered(1))
    clock.now += 1
    second = accepted(store, numbered(2))

    claims = [store.claim(ANSWER), other.claim(ANSWER), store.claim(ANSWER)]

    assert [job and job.job_id for job in claims] == [first, second, None]


def test_concurrent_claims_never_share_a_job(engine: Engine) -> None:
    stores = [JobStore(engine, lease_s=30) for _ in range(4)]
    for n in range(40):
        accepted(stores[0], numbered(n))

    def drain(store: JobStore) -> list[str]:
        mine = []
        while (job := store.claim(ANSWER)) is not None:
            mine.append(job.job_id)
        return mine

    with ThreadPoolExecutor(4) as pool:
        taken = [job_id for mine in pool.map(drain, stores) for job_id in mine]

    assert len(taken) == len(set(taken)) == 40


def test_the_jobs_of_a_dead_process_are_taken_over_once_its_lease_ends(
    store: JobStore, other: JobStore, clock: Clock
) -> None:
    job_id = accepted(store)
    store.claim(ANSWER)
    clock.now += 29
    assert other.claim(ANSWER) is None
    store.renew([job_id])
    clock.now += 29
    assert other.claim(ANSWER) is None
    clock.now += 2

    taken = other.claim(ANSWER)

    assert taken is not None
    assert taken.attempts == 2
    # The first one was only asleep: what it brings now is dropped.
    assert not store.answered(job_id, outcome="answer", message="{}")
    assert other.answered(job_id, outcome="answer", message="{}")


def test_a_delivery_taken_over_may_have_been_posted(
    store: JobStore, other: JobStore, clock: Clock
) -> None:
    job_id = accepted(store)
    store.claim(ANSWER)
    store.answered(job_id, outcome="answer", message="{}")
    store.claim(DELIVER)
    clock.now += 31

    taken = other.claim(DELIVER)

    assert taken is not None
    assert taken.uncertain
    assert not store.hold(job_id)
    assert other.hold(job_id)


def test_a_job_handed_back_waits_for_its_time(store: JobStore, clock: Clock) -> None:
    job_id = accepted(store)
    store.claim(ANSWER)
    store.answered(job_id, outcome="answer", message="{}")
    store.claim(DELIVER)
    store.hand_back(job_id, delay_s=5, uncertain=True)

    assert store.claim(DELIVER) is None
    clock.now += 5
    again = store.claim(DELIVER)
    assert again is not None
    assert (again.deliveries, again.uncertain) == (2, True)


def test_an_attempt_cut_short_by_a_stop_does_not_count(store: JobStore) -> None:
    job_id = accepted(store)
    for _ in range(5):
        job = store.claim(ANSWER)
        assert job is not None
        assert job.attempts == 1
        store.hand_back(job_id, counted=False)


def test_old_ends_are_forgotten_and_nothing_else(store: JobStore, clock: Clock) -> None:
    ended = accepted(store, numbered(1))
    store.claim(ANSWER)
    store.failed(ended, reason="x")
    waiting = accepted(store, numbered(2))
    clock.now += 1_000

    assert store.forget_finished(older_than_s=2_000) == 0
    assert store.forget_finished(older_than_s=500) == 1
    assert store.get(ended) is None
    assert store.get(waiting) is not None


def test_any_question_text_can_be_stored(store: JobStore) -> None:
    nasty = "'; DROP TABLE bot_jobs; --\n🦆 " + "x" * 20_000
    job_id = accepted(store, replace(QUESTION, question=nasty))

    job = store.get(job_id)
    assert job is not None
    assert job.question == nasty


def test_a_database_that_is_down_is_reported_as_such(engine: Engine, store: JobStore) -> None:
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE bot_jobs"))

    with pytest.raises(JobStoreError):
        store.accept(QUESTION)
    with pytest.raises(JobStoreError):
        store.claim(ANSWER)


def test_the_migrations_make_the_tables_of_the_code(engine: Engine) -> None:
    inspector = inspect(engine)
    for name, table in metadata.tables.items():
        columns = {c["name"]: c["nullable"] for c in inspector.get_columns(name)}
        assert columns == {c.name: c.nullable for c in table.columns}
        assert {i["name"] for i in inspector.get_indexes(name)} == {i.name for i in table.indexes}
        unique = {frozenset(c["column_names"]) for c in inspector.get_unique_constraints(name)}
        assert unique == {
            frozenset(column.name for column in constraint.columns)
            for constraint in table.constraints
            if isinstance(constraint, UniqueConstraint)
        }


def test_migrating_again_keeps_what_is_there(engine: Engine, store: JobStore) -> None:
    job_id = accepted(store)
    migrate(engine)

    assert store.get(job_id) is not None


def test_two_processes_may_migrate_at_once(tmp_path: Path) -> None:
    ready = threading.Barrier(4)
    path = f"sqlite:///{tmp_path / 'manuel.db'}"
    open_engine(path).dispose()

    def start(_: int) -> None:
        engine = open_engine(path)
        ready.wait()
        migrate(engine)
        engine.dispose()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(start, range(4)))


def test_a_database_of_a_newer_version_is_refused(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE bot_schema_version SET version_num = '9999'"))

    with pytest.raises(SchemaVersionError, match="newer"):
        migrate(engine)


def test_the_queue_shares_its_file_with_other_tables(engine: Engine, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "deep" / "manuel.db")
    journal = connection.execute("PRAGMA journal_mode").fetchone()[0]
    connection.close()

    assert journal == "wal"


def test_a_wrong_database_url_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL"):
        open_engine("not a url")


def test_a_file_that_is_no_database_is_named_as_the_problem(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("these are notes " * 100)
    engine = open_engine(f"sqlite:///{tmp_path / 'notes.db'}")

    with pytest.raises(JobStoreError, match="DATABASE_URL"):
        migrate(engine)
    engine.dispose()


def test_a_message_of_our_own_is_kept_once_and_is_ready_to_be_delivered(store: JobStore) -> None:
    job_id = store.accept_message(QUESTION, outcome=OwnPost.RELAY, message="{}")

    assert job_id is not None
    assert store.accept_message(QUESTION, outcome=OwnPost.RELAY, message="{}") is None
    assert store.claim(ANSWER) is None
    job = store.claim(DELIVER)
    assert job is not None
    assert (job.job_id, job.outcome, job.message) == (job_id, OwnPost.RELAY, "{}")


def test_a_job_is_found_by_its_message_and_by_where_its_outcome_stands(store: JobStore) -> None:
    job_id = store.accept_message(QUESTION, outcome=OwnPost.RELAY, message="{}")
    assert job_id is not None
    store.claim(DELIVER)
    store.done(job_id, channel_id="C9", ts="9.0")

    named = store.named(team_id="T1", channel_id="C1", message_ts=QUESTION.message_ts)
    posted = store.posted_as(team_id="T1", channel_id="C9", ts="9.0")
    assert named is not None
    assert named == posted
    assert store.named(team_id="T2", channel_id="C1", message_ts=QUESTION.message_ts) is None
    assert store.posted_as(team_id="T2", channel_id="C9", ts="9.0") is None


def test_a_stopped_thread_posts_nothing_more(store: JobStore, other: JobStore) -> None:
    later = replace(QUESTION, event_id="Ev2", message_ts="1796000001.000100")
    elsewhere = replace(QUESTION, event_id="Ev3", message_ts="3.0", thread_ts="3.0")
    answered = store.accept(QUESTION)
    assert answered is not None
    store.claim(ANSWER)
    store.answered(answered, outcome="answer", message="{}")
    store.claim(DELIVER)
    running = store.accept(later)
    assert running is not None
    other.claim(ANSWER)
    store.accept(elsewhere)

    stopped = store.stop(team_id="T1", channel_id="C1", thread_ts=QUESTION.thread_ts)

    assert stopped == 2
    assert store.hold(answered) is False
    assert other.answered(running, outcome="answer", message="{}") is False
    assert store.counts() == {JobState.FAILED: 2, JobState.PENDING: 1}
    job = store.get(answered)
    assert job is not None
    assert (job.question, job.message, job.failure) == (None, None, "stopped")


def test_an_ended_job_is_not_stopped(store: JobStore) -> None:
    job_id = store.accept(QUESTION)
    assert job_id is not None
    store.claim(ANSWER)
    store.failed(job_id, reason="other")

    assert store.stop(team_id="T1", channel_id="C1", thread_ts=QUESTION.thread_ts) == 0


def test_an_outcome_earlier_in_the_thread_is_known(store: JobStore) -> None:
    first = store.accept(QUESTION)
    assert first is not None
    store.claim(ANSWER)
    store.answered(first, outcome="refusal", message="{}")
    store.accept(replace(QUESTION, event_id="Ev2", message_ts="1796000001.000100"))
    second = store.claim(ANSWER)
    assert second is not None

    assert store.earlier_outcome(second, "refusal")
    assert not store.earlier_outcome(second, "answer")
    itself = store.get(first)
    assert itself is not None
    assert not store.earlier_outcome(itself, "refusal")


def test_a_question_from_the_home_tab_waits_for_its_modal_but_not_for_ever(
    store: JobStore, clock: Clock
) -> None:
    job_id = store.accept(QUESTION, delay_s=5)
    assert job_id is not None
    assert store.claim(ANSWER) is None
    store.shown_in(job_id, "V1")
    with_modal = store.claim(ANSWER)
    left_alone = store.accept(numbered(2), delay_s=5)
    assert store.claim(ANSWER) is None
    clock.now += 5
    without = store.claim(ANSWER)

    assert with_modal is not None
    assert (with_modal.job_id, with_modal.view_id) == (job_id, "V1")
    assert without is not None
    assert (without.job_id, without.view_id) == (left_alone, None)
