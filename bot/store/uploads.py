"""Files that admins send: one row per message, until its files are indexed and that is told."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, Engine, and_, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from bot.errors import JobStoreError
from bot.store.tables import uploads
from bot.store.transactions import transaction

KEEP_S = 7 * 86_400.0
"""How long a message is remembered after its end: Slack sends an event again for an hour."""


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file as the message names it."""

    file_id: str
    name: str


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of a file.

    Attributes:
        name: Of the page, where it is one now; else of the file.
        refusal: Why it is not kept; "" when it is.
    """

    name: str
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class NewUpload:
    """A message with files."""

    team_id: str
    channel_id: str
    message_ts: str
    thread_ts: str
    user_id: str
    files: tuple[SentFile, ...]


@dataclass(frozen=True, slots=True)
class UploadJob(NewUpload):
    """A message with files that this process works on.

    Attributes:
        attempts: How often it was begun, this time included.
        notice_ts: Of our message about it; "" before there is one.
        outcomes: Of its files, once they are kept; None before.
    """

    attempts: int = 0
    notice_ts: str = ""
    outcomes: tuple[FileOutcome, ...] | None = None


class UploadStore:
    """Keeps the messages; safe to share between threads of the process.

    A message is worked on under a lease: when that ends without being renewed, the process is taken
    for dead, and any other goes on where it stopped. Every method raises `JobStoreError` when the
    database cannot be used now.

    Args:
        lease_s: How long a message of a process that died waits for another one.
        now: Clock in seconds since the epoch.
    """

    def __init__(
        self, engine: Engine, *, lease_s: float, now: Callable[[], float] = time.time
    ) -> None:
        self._engine = engine
        self._now = now
        self._owner = uuid.uuid4().hex
        self.lease_s = lease_s

    def accept(self, upload: NewUpload) -> bool:
        """Keep a message; False when it is known already."""
        now = self._now()
        values = {
            **asdict(upload),
            "files": json.dumps([asdict(file) for file in upload.files]),
            "attempts": 0,
            "due_at": now,
            "created_at": now,
        }
        try:
            with transaction(self._engine) as connection:
                old = uploads.c.finished_at < now - KEEP_S
                connection.execute(delete(uploads).where(old))
                connection.execute(insert(uploads).values(values))
        except JobStoreError as error:
            if isinstance(error.__cause__, IntegrityError):
                return False
            raise
        return True

    def claim(self) -> UploadJob | None:
        """Return a message to work on, None when none waits."""
        now = self._now()
        waits = and_(
            uploads.c.finished_at.is_(None),
            uploads.c.due_at <= now,
            or_(uploads.c.lease_until.is_(None), uploads.c.lease_until <= now),
        )
        oldest = select(uploads).where(waits).order_by(uploads.c.due_at).limit(1)
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(oldest).one_or_none()
        if row is None:
            return None
        taken = {
            "owner": self._owner,
            "lease_until": now + self.lease_s,
            "attempts": row.attempts + 1,
        }
        key = _is(row.team_id, row.channel_id, row.message_ts)
        with transaction(self._engine) as connection:
            if connection.execute(update(uploads).where(key, waits).values(taken)).rowcount != 1:
                return None
        outcomes = None if row.outcomes is None else json.loads(row.outcomes)
        return UploadJob(
            row.team_id,
            row.channel_id,
            row.message_ts,
            row.thread_ts,
            row.user_id,
            tuple(SentFile(**file) for file in json.loads(row.files or "[]")),
            attempts=row.attempts + 1,
            notice_ts=row.notice_ts or "",
            outcomes=None if outcomes is None else tuple(FileOutcome(**one) for one in outcomes),
        )

    def renew(self, job: NewUpload) -> bool:
        """Go on working on a message; False when another process does."""
        return self._set(job, lease_until=self._now() + self.lease_s)

    def noticed(self, job: NewUpload, notice_ts: str) -> None:
        """Remember our message about it."""
        self._set(job, notice_ts=notice_ts)

    def kept(self, job: NewUpload, outcomes: Sequence[FileOutcome]) -> None:
        """Remember that its files are kept, or why not: they need not be fetched again."""
        self._set(job, outcomes=json.dumps([asdict(outcome) for outcome in outcomes]))

    def put_off(self, job: UploadJob, seconds: float, *, counted: bool = True) -> None:
        """Work on it later; what was not its own fault is not counted as an attempt."""
        self._set(
            job,
            lease_until=None,
            owner=None,
            due_at=self._now() + seconds,
            attempts=job.attempts - (not counted),
        )

    def release(self) -> None:
        """Leave all that this process works on to others, at once."""
        left = and_(uploads.c.owner == self._owner, uploads.c.finished_at.is_(None))
        with transaction(self._engine) as connection:
            connection.execute(update(uploads).where(left).values(owner=None, lease_until=None))

    def finish(self, job: NewUpload) -> None:
        """End it; that it was there is remembered for a while."""
        ended = {"files": None, "outcomes": None, "lease_until": None, "owner": None}
        self._set(job, **ended, finished_at=self._now())

    def _set(self, job: NewUpload, **values: object) -> bool:
        ours = and_(
            _is(job.team_id, job.channel_id, job.message_ts), uploads.c.owner == self._owner
        )
        with transaction(self._engine) as connection:
            return connection.execute(update(uploads).where(ours).values(values)).rowcount == 1


def _is(team_id: str, channel_id: str, message_ts: str) -> ColumnElement[bool]:
    return and_(
        uploads.c.team_id == team_id,
        uploads.c.channel_id == channel_id,
        uploads.c.message_ts == message_ts,
    )
