"""The durable queue: one row per accepted question, moved on by short transactions.

    pending -> running -> answered -> delivering -> done
                  |           |            |
                  +-----------+------------+-> failed

`running` and `delivering` are held under a lease by one process; when its lease ends without
being renewed the process is taken for dead, and any other may claim the job.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Engine,
    Row,
    and_,
    case,
    delete,
    false,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from bot.errors import JobStoreError
from bot.store.streams import STOPPED
from bot.store.tables import jobs, streams
from bot.store.transactions import transaction

LEASE_S = 30.0
"""How long a job of a process that died waits for another one."""


STATUS_S = 3_600.0
"""How long Slack shows that a session is processing. Source: its page on agent sessions."""


class JobState(StrEnum):
    """Where a question stands."""

    PENDING = "pending"
    RUNNING = "running"
    ANSWERED = "answered"
    DELIVERING = "delivering"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Stage:
    """One of the two kinds of work: what waits for it, and what it is called while under way."""

    waiting: JobState
    working: JobState
    counter: str
    """Column that counts how often it was begun."""


ANSWER = Stage(JobState.PENDING, JobState.RUNNING, "attempts")
DELIVER = Stage(JobState.ANSWERED, JobState.DELIVERING, "deliveries")


class OwnPost(StrEnum):
    """Outcomes that answer nobody: what we post by ourselves."""

    REQUEST = "request"
    """A question passed on to humans."""
    RELAY = "relay"
    """A human's answer, for whoever asked."""
    NOTE = "note"
    """Word to the humans that the answer is on its way."""
    STOPPED = "stopped"
    """Word that an answer was stopped."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A question as accepted from Slack, or something of our own to post.

    Attributes:
        channel_id: Where to post; a person's id means the direct message with them.
        message_ts: Of the message that asks; with team and channel it names the job.
        thread_ts: Root of the thread to answer in; "" to start one.
        question: Readable text; "" when somebody called the bot and asked nothing.
        in_shared_channel: The conversation is shared with another company.
        view_id: Modal that waits for the outcome; None: it is posted.
    """

    event_id: str
    team_id: str
    channel_id: str
    message_ts: str
    thread_ts: str
    user_id: str
    question: str
    in_shared_channel: bool = False
    view_id: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A row of the queue.

    Attributes:
        message: The rendered outcome (JSON) from `answered` until the job ends, else None.
        question: None once the job has ended.
        attempts: How often answering was begun, this time included.
        deliveries: How often delivery was begun, this time included.
        uncertain: A post was tried, and nobody knows whether Slack took it.
        created_at: Seconds since the epoch.
        posted_ts: Of the outcome, in `posted_channel`; before the job is done, of what has been
            shown of it.
        view_id: Modal that waits for the outcome; None: it is posted.
    """

    job_id: str
    team_id: str
    channel_id: str
    message_ts: str
    thread_ts: str
    user_id: str
    question: str | None
    in_shared_channel: bool
    message: str | None
    outcome: str | None
    state: JobState
    attempts: int
    deliveries: int
    uncertain: bool
    created_at: float
    posted_channel: str | None
    posted_ts: str | None
    failure: str | None
    view_id: str | None = None


class JobStore:
    """Reads and moves jobs; safe to share between threads.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        owner: Names this process; new for every start.
        lease_s: See `LEASE_S`; `renew` must be called well within it.
        now: Clock in seconds since the epoch.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        owner: str | None = None,
        lease_s: float = LEASE_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._owner = owner or uuid.uuid4().hex
        self.now = now
        self.lease_s = lease_s

    def accept(self, new: NewJob, *, delay_s: float = 0.0) -> str | None:
        """Store a question, to be answered after so many seconds at the earliest.

        Returns:
            Its job_id, or None when this event or this message is known already.
        """
        return self._insert(new, state=JobState.PENDING, due_at=self.now() + delay_s)

    def accept_held(self, new: NewJob) -> str | None:
        """Store a question that this process is about to answer by itself (see `accept`).

        It is held as one that was claimed: `done` and `hand_back` let go of it, and when the
        process dies another one answers it.
        """
        lease_until = self.now() + self.lease_s
        return self._insert(
            new, state=JobState.RUNNING, owner=self._owner, lease_until=lease_until, attempts=1
        )

    def shown_in(self, job_id: str, view_id: str | None) -> None:
        """Record which modal waits for the outcome, None where none could be opened.

        A question that was accepted with a delay is answered now.
        """
        values: dict[str, Any] = {"view_id": view_id}
        pending = jobs.c.state == JobState.PENDING
        values["due_at"] = case((pending, self.now()), else_=jobs.c.due_at)
        unfinished = and_(jobs.c.job_id == job_id, jobs.c.finished_at.is_(None))
        with transaction(self._engine) as connection:
            connection.execute(update(jobs).where(unfinished).values(values))

    def accept_message(self, new: NewJob, *, outcome: OwnPost, message: str) -> str | None:
        """Store something of our own to post, with the promises that an answer has.

        Args:
            new: Where to post it, and for whom; its ids keep it from being posted twice.
            outcome: What it is.
            message: The rendered message (JSON).

        Returns:
            Its job_id, or None when it is known already.
        """
        return self._insert(new, state=JobState.ANSWERED, outcome=outcome, message=message)

    def _insert(self, new: NewJob, **values: Any) -> str | None:
        job_id = uuid.uuid4().hex
        now = self.now()
        values = {"due_at": now, **values, "job_id": job_id, "created_at": now, **asdict(new)}
        try:
            with transaction(self._engine) as connection:
                connection.execute(insert(jobs).values(values))
        except JobStoreError as error:
            if isinstance(error.__cause__, IntegrityError) and self._knows(new):
                return None
            raise
        return job_id

    def claim(self, stage: Stage) -> Job | None:
        """Take the job that has waited longest for this stage, or one whose holder died."""
        now = self.now()
        chosen = (
            select(jobs.c.job_id)
            .where(_due(stage, now))
            .order_by(jobs.c.due_at, jobs.c.created_at)
            .limit(1)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        # The right-hand sides see the row as it was: a job found in mid-delivery may be posted.
        uncertain = case((jobs.c.state == JobState.DELIVERING, True), else_=jobs.c.uncertain)
        values = {
            "state": stage.working,
            "owner": self._owner,
            "lease_until": now + self.lease_s,
            "uncertain": uncertain,
            stage.counter: jobs.c[stage.counter] + 1,
        }
        statement = update(jobs).where(jobs.c.job_id == chosen).values(values).returning(jobs)
        with transaction(self._engine) as connection:
            row = connection.execute(statement).one_or_none()
        return None if row is None else _job(row)

    def is_due(self, stage: Stage) -> bool:
        """Say whether `claim` would find something; takes no lock."""
        due = select(jobs.c.job_id).where(_due(stage, self.now())).limit(1)
        with transaction(self._engine, reads=True) as connection:
            return connection.execute(due).first() is not None

    def renew(self, job_ids: Sequence[str]) -> None:
        """Extend the leases of these jobs, as far as this process still holds them."""
        self._change(jobs.c.job_id.in_(job_ids), lease_until=self.now() + self.lease_s)

    def still_ours(self, job_ids: Sequence[str]) -> frozenset[str]:
        """Return those of these jobs that this process still holds; takes no lock."""
        ours = and_(jobs.c.job_id.in_(job_ids), jobs.c.owner == self._owner)
        with transaction(self._engine, reads=True) as connection:
            return frozenset(connection.execute(select(jobs.c.job_id).where(ours)).scalars())

    def answered(self, job_id: str, *, outcome: str, message: str) -> bool:
        """Keep the outcome, before anything is posted.

        Returns:
            False when another process has taken the job over; its outcome counts.
        """
        return self._change(
            and_(jobs.c.job_id == job_id, jobs.c.state == JobState.RUNNING),
            state=JobState.ANSWERED,
            outcome=outcome,
            message=message,
            due_at=self.now(),
            owner=None,
            lease_until=None,
        )

    def begun(self, job_id: str, *, channel_id: str, ts: str) -> bool:
        """Record the message that an answer grows in while it is computed.

        Returns:
            False when the job is no longer ours: nothing is to be shown.
        """
        ours = and_(
            jobs.c.job_id == job_id,
            jobs.c.state == JobState.RUNNING,
            jobs.c.owner == self._owner,
        )
        shown = {"posted_channel": channel_id, "posted_ts": ts}
        with transaction(self._engine) as connection:
            job = update(jobs).where(ours).values(shown).returning(jobs.c.team_id)
            team_id = connection.execute(job).scalar_one_or_none()
            if team_id is None:
                return False
            stream = {"team_id": team_id, "channel_id": channel_id, "ts": ts, "job_id": job_id}
            connection.execute(insert(streams).values({**stream, "due_at": self.now()}))
        return True

    def shows_status(self, job_id: str) -> bool:
        """Record that people are shown that a question is being answered.

        Returns:
            False when it has ended: nobody would take that away again.
        """
        unfinished = and_(jobs.c.job_id == job_id, jobs.c.finished_at.is_(None))
        with transaction(self._engine) as connection:
            shown = update(jobs).where(unfinished).values(has_status=True)
            return connection.execute(shown).rowcount > 0

    def has_status(self, job_id: str) -> bool:
        """Say whether people were shown that a question is being answered."""
        statement = select(jobs.c.has_status).where(jobs.c.job_id == job_id)
        with transaction(self._engine, reads=True) as connection:
            return bool(connection.execute(statement).scalar())

    def status_ended(self, job_id: str) -> None:
        """Record that nothing shows any more that a question is being answered."""
        with transaction(self._engine) as connection:
            ended = update(jobs).where(jobs.c.job_id == job_id).values(has_status=False)
            connection.execute(ended)

    def left_statuses(self, *, older_than_s: float, limit: int) -> list[Job]:
        """Return questions that ended so long ago and still show that they are being answered.

        Those of the last hour: Slack itself ends a status after that.
        """
        now = self.now()
        ended_at = jobs.c.finished_at
        left = and_(jobs.c.has_status, ended_at > now - STATUS_S, ended_at <= now - older_than_s)
        statement = select(jobs).where(left).order_by(ended_at).limit(limit)
        with transaction(self._engine, reads=True) as connection:
            return [_job(row) for row in connection.execute(statement)]

    def hold(self, job_id: str) -> bool:
        """Renew the lease right before a post; False when the job is no longer ours."""
        return self._change(
            and_(jobs.c.job_id == job_id, jobs.c.state == JobState.DELIVERING),
            lease_until=self.now() + self.lease_s,
        )

    def hand_back(
        self,
        job_id: str,
        *,
        delay_s: float = 0.0,
        uncertain: bool | None = None,
        counted: bool = True,
    ) -> bool:
        """Let go of a job so that its stage is begun again after `delay_s`.

        Args:
            job_id: Which.
            delay_s: Seconds to wait at least.
            uncertain: New value of `Job.uncertain`; None leaves it.
            counted: False when the attempt was cut short by us, and does not count.
        """
        running = jobs.c.state == JobState.RUNNING
        waiting = case((running, JobState.PENDING.value), else_=JobState.ANSWERED.value)
        changed: dict[str, Any] = {} if uncertain is None else {"uncertain": uncertain}
        if not counted:
            changed["attempts"] = jobs.c.attempts - case((running, 1), else_=0)
            changed["deliveries"] = jobs.c.deliveries - case((running, 0), else_=1)
        return self._change(
            jobs.c.job_id == job_id,
            state=waiting,
            due_at=self.now() + delay_s,
            owner=None,
            lease_until=None,
            **changed,
        )

    def done(self, job_id: str, *, channel_id: str, ts: str) -> None:
        """Record where the outcome stands; what was asked and answered is forgotten."""
        ours = and_(jobs.c.job_id == job_id, jobs.c.owner == self._owner)
        ended = _ended(self.now(), state=JobState.DONE, posted_channel=channel_id, posted_ts=ts)
        became_it = and_(
            streams.c.job_id == job_id, streams.c.channel_id == channel_id, streams.c.ts == ts
        )
        with transaction(self._engine) as connection:
            if connection.execute(update(jobs).where(ours).values(ended)).rowcount:
                connection.execute(delete(streams).where(became_it))

    def failed(self, job_id: str, *, reason: str) -> None:
        """Record that nobody can be told, and why."""
        ended = _ended(self.now(), state=JobState.FAILED, failure=reason[:120])
        self._change(jobs.c.job_id == job_id, **ended)

    def stop(self, *, team_id: str, channel_id: str, thread_ts: str) -> int:
        """End what is under way in a thread, whoever holds it, so that nothing more is posted.

        Returns:
            How many jobs were ended; a post that is on its way already arrives.
        """
        in_thread = and_(
            jobs.c.team_id == team_id,
            jobs.c.channel_id == channel_id,
            jobs.c.thread_ts == thread_ts,
        )
        ended = _ended(self.now(), state=JobState.FAILED, failure=STOPPED)
        statement = update(jobs).where(in_thread, jobs.c.finished_at.is_(None)).values(ended)
        with transaction(self._engine) as connection:
            return connection.execute(statement).rowcount

    def get(self, job_id: str) -> Job | None:
        """Return one job."""
        return self._first(jobs.c.job_id == job_id)

    def named(self, *, team_id: str, channel_id: str, message_ts: str) -> Job | None:
        """Return the job of a message (see `NewJob`), None when it is not known or forgotten."""
        return self._first(
            and_(
                jobs.c.team_id == team_id,
                jobs.c.channel_id == channel_id,
                jobs.c.message_ts == message_ts,
            )
        )

    def posted_as(self, *, team_id: str, channel_id: str, ts: str) -> Job | None:
        """Return the job whose outcome stands there, None when it is not ours or forgotten."""
        return self._first(
            and_(
                jobs.c.posted_channel == channel_id,
                jobs.c.posted_ts == ts,
                jobs.c.team_id == team_id,
            )
        )

    def last_asker(self, team_id: str, channel_id: str, thread_ts: str) -> str:
        """Return who asked last in a thread; "" when nobody did, or that is forgotten."""
        statement = (
            select(jobs.c.user_id)
            .where(
                jobs.c.team_id == team_id,
                jobs.c.channel_id == channel_id,
                jobs.c.thread_ts == thread_ts,
                or_(jobs.c.outcome.is_(None), jobs.c.outcome.not_in(list(OwnPost))),
            )
            .order_by(jobs.c.message_ts.desc())
            .limit(1)
        )
        with transaction(self._engine, reads=True) as connection:
            return connection.execute(statement).scalar() or ""

    def earlier_outcome(self, job: Job, outcome: str) -> bool:
        """Say whether a thread had such an outcome before this job."""
        same = and_(
            jobs.c.team_id == job.team_id,
            jobs.c.channel_id == job.channel_id,
            jobs.c.thread_ts == job.thread_ts,
            jobs.c.outcome == outcome,
            jobs.c.job_id != job.job_id,
        )
        return self._first(same) is not None

    def _first(self, condition: ColumnElement[bool]) -> Job | None:
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(select(jobs).where(condition).limit(1)).one_or_none()
        return None if row is None else _job(row)

    def counts(self) -> dict[JobState, int]:
        """Count the jobs in each state; states without jobs are absent."""
        statement = select(jobs.c.state, func.count()).group_by(jobs.c.state)
        with transaction(self._engine, reads=True) as connection:
            return {JobState(state): count for state, count in connection.execute(statement)}

    def forget_finished(self, *, older_than_s: float) -> int:
        """Delete jobs that ended so long ago; returns how many."""
        limit = self.now() - older_than_s
        with transaction(self._engine) as connection:
            return connection.execute(delete(jobs).where(jobs.c.finished_at < limit)).rowcount

    def _knows(self, new: NewJob) -> bool:
        same_message = and_(
            jobs.c.team_id == new.team_id,
            jobs.c.channel_id == new.channel_id,
            jobs.c.message_ts == new.message_ts,
        )
        known = select(jobs.c.job_id).where(or_(jobs.c.event_id == new.event_id, same_message))
        with transaction(self._engine, reads=True) as connection:
            return connection.execute(known.limit(1)).first() is not None

    def _change(self, condition: ColumnElement[bool], **values: Any) -> bool:
        statement = update(jobs).where(condition, jobs.c.owner == self._owner).values(values)
        with transaction(self._engine) as connection:
            return connection.execute(statement).rowcount > 0


def _ended(now: float, **values: Any) -> dict[str, Any]:
    """Return the values of a job that ends: its words are forgotten."""
    return {
        "question": None,
        "message": None,
        "owner": None,
        "lease_until": None,
        "uncertain": false(),
        "finished_at": now,
        **values,
    }


def _due(stage: Stage, now: float) -> ColumnElement[bool]:
    waiting = and_(jobs.c.state == stage.waiting, jobs.c.due_at <= now)
    orphaned = and_(jobs.c.state == stage.working, jobs.c.lease_until < now)
    return or_(waiting, orphaned)


def _job(row: Row[Any]) -> Job:
    return Job(
        job_id=row.job_id,
        team_id=row.team_id,
        channel_id=row.channel_id,
        message_ts=row.message_ts,
        thread_ts=row.thread_ts,
        user_id=row.user_id,
        question=row.question,
        in_shared_channel=row.in_shared_channel,
        message=row.message,
        outcome=row.outcome,
        state=JobState(row.state),
        attempts=row.attempts,
        deliveries=row.deliveries,
        uncertain=row.uncertain,
        created_at=row.created_at,
        posted_channel=row.posted_channel,
        posted_ts=row.posted_ts,
        failure=row.failure,
        view_id=row.view_id,
    )
