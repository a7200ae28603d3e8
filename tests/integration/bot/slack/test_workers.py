"""The workers on a real queue, with a delivery that does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bot.errors import DeliveryDelayed, DeliveryRefused, DeliveryUncertain
from bot.slack.connection.pauses import Pauses, posting_in
from bot.slack.delivery import Posted
from bot.slack.jobs import GIVE_UP_AFTER_S, Workers
from bot.slack.rendering import Message
from bot.slack.wording import FRENCH, Words
from bot.store import (
    DELIVER,
    Job,
    JobState,
    JobStore,
    NewJob,
    PauseStore,
    QuestionLog,
    migrate,
    open_engine,
)
from tests.slack_running import knows_remote_work

QUESTION = NewJob("Ev1", "T1", "C1", "1.0", "1.0", "U1", "le télétravail ?")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class FakeDelivery:
    """Raises what it was given, in order, then posts."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.posts: list[Message] = []
        self.searches = 0
        self.standing: Posted | None = None
        self.before_post: Callable[[], None] = lambda: None
        self.delay_s = 0.0

    async def post(self, job: Job, message: Message) -> Posted:
        self.posts.append(message)
        self.before_post()
        await asyncio.sleep(self.delay_s)
        if self.errors:
            raise self.errors.pop(0)
        return Posted(job.channel_id, "2.0")

    async def find(self, job: Job) -> Posted | None:
        self.searches += 1
        return self.standing


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
def store(engine: Engine, clock: Clock) -> JobStore:
    return JobStore(engine, lease_s=30, now=clock)


async def in_french(_user_id: str, _said: str = "", *, otherwise: str = "") -> Words:
    return FRENCH


@asynccontextmanager
async def working(
    store: JobStore, delivery: FakeDelivery, pauses: Pauses | None = None
) -> AsyncIterator[Workers]:
    workers = Workers(
        store,
        delivery,
        knows_remote_work,
        questions=QuestionLog(store._engine, keep_days=90),
        words_for=in_french,
        answer_workers=1,
        pauses=pauses,
    )
    workers.start()
    try:
        yield workers
    finally:
        await workers.stop(limit_s=1)
        workers.close()


async def until(found: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not found():
            await asyncio.sleep(0.02)


async def tried_once(store: JobStore, delivery: FakeDelivery) -> None:
    """Wait until the outcome was tried to be posted once, and handed back."""
    await until(lambda: len(delivery.posts) == 1 and store.counts() == {JobState.ANSWERED: 1})


async def test_a_delayed_post_waits_as_long_as_slack_asks(store: JobStore, clock: Clock) -> None:
    delivery = FakeDelivery(DeliveryDelayed("slower", retry_after_s=40))
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await tried_once(store, delivery)
        clock.now += 39
        await asyncio.sleep(1.2)  # longer than the queue goes unwatched
        assert len(delivery.posts) == 1
        clock.now += 1
        await until(lambda: store.counts() == {JobState.DONE: 1})

    assert len(delivery.posts) == 2
    assert delivery.searches == 0


async def test_what_slack_asks_one_process_to_wait_with_the_others_wait_with_too(
    engine: Engine, store: JobStore, clock: Clock
) -> None:
    kept = PauseStore(engine, now=clock)
    pauses, delivery = Pauses(kept, now=clock), FakeDelivery()
    async with working(store, delivery, pauses) as workers:
        await Pauses(kept, now=clock).begin("T1", posting_in("C1"), 40)
        await until(lambda: pauses.left_s("T1", posting_in("C1")) == 40)
        await workers.accept(QUESTION)
        await until(lambda: store.counts() == {JobState.ANSWERED: 1} and not store.is_due(DELIVER))
        assert delivery.posts == []
        clock.now += 40
        await until(lambda: store.counts() == {JobState.DONE: 1})
    assert len(delivery.posts) == 1


async def test_an_uncertain_post_that_stands_is_not_repeated(store: JobStore, clock: Clock) -> None:
    delivery = FakeDelivery(DeliveryUncertain("broken"))
    delivery.standing = Posted("C1", "5.0")
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await tried_once(store, delivery)
        clock.now += 10
        await until(lambda: store.counts() == {JobState.DONE: 1})

    assert len(delivery.posts) == 1


async def test_an_outcome_that_cannot_be_posted_for_a_day_is_given_up(
    store: JobStore, clock: Clock
) -> None:
    delivery = FakeDelivery(*[DeliveryDelayed("down")] * 5)
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await tried_once(store, delivery)
        clock.now += GIVE_UP_AFTER_S + 1
        await until(lambda: store.counts() == {JobState.FAILED: 1})

    assert len(delivery.posts) == 2


async def test_a_refused_post_ends_the_job(store: JobStore) -> None:
    delivery = FakeDelivery(DeliveryRefused("account_inactive"))
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await until(lambda: store.counts() == {JobState.FAILED: 1})

    assert len(delivery.posts) == 1


async def test_an_error_of_ours_while_posting_leaves_the_job_to_be_looked_for(
    store: JobStore, clock: Clock
) -> None:
    delivery = FakeDelivery(KeyError("bug"))
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await tried_once(store, delivery)
        clock.now += 10
        await until(lambda: store.counts() == {JobState.DONE: 1})

    assert delivery.searches == 1


async def test_a_post_cut_off_by_the_stop_is_handed_back_as_uncertain(store: JobStore) -> None:
    delivery = FakeDelivery()
    delivery.delay_s = 60
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await until(lambda: len(delivery.posts) == 1)

    job = store.claim(DELIVER)
    assert job is not None
    assert job.uncertain


async def test_a_question_asked_while_stopping_is_kept_for_the_next_start(
    store: JobStore,
) -> None:
    delivery = FakeDelivery()
    delivery.delay_s = 0.3
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await until(lambda: len(delivery.posts) == 1)
        stopping = asyncio.create_task(workers.stop(limit_s=5))
        await asyncio.sleep(0)
        await workers.accept(NewJob("Ev2", "T1", "C1", "3.0", "3.0", "U1", "et moi ?"))
        await stopping

    assert store.counts() == {JobState.DONE: 1, JobState.PENDING: 1}


async def test_a_channel_that_is_slowed_down_does_not_delay_the_others(
    store: JobStore, clock: Clock
) -> None:
    delivery = FakeDelivery(DeliveryDelayed("slower", retry_after_s=600))
    async with working(store, delivery) as workers:
        await workers.accept(QUESTION)
        await until(lambda: len(delivery.posts) == 1)
        await workers.accept(NewJob("Ev2", "T1", "C1", "2.0", "2.0", "U1", "télétravail ?"))
        await workers.accept(NewJob("Ev3", "T1", "C2", "3.0", "3.0", "U1", "télétravail ?"))
        await until(lambda: store.counts().get(JobState.DONE) == 1)
        await asyncio.sleep(0.3)

        assert len(delivery.posts) == 2
        assert store.counts() == {JobState.DONE: 1, JobState.ANSWERED: 2}
        clock.now += 30
        await asyncio.sleep(1.5)
        assert len(delivery.posts) == 2
