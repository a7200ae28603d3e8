"""The scheduled sync: the only place that imports apscheduler (the stable 3.x interface)."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apscheduler.job import Job  # type: ignore[import-untyped]
from apscheduler.jobstores.base import JobLookupError  # type: ignore[import-untyped]
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore  # type: ignore[import-untyped]
from apscheduler.schedulers.asyncio import AsyncIOScheduler  # type: ignore[import-untyped]
from apscheduler.triggers.base import BaseTrigger  # type: ignore[import-untyped]
from apscheduler.triggers.combining import OrTrigger  # type: ignore[import-untyped]
from apscheduler.triggers.cron import CronTrigger  # type: ignore[import-untyped]
from apscheduler.util import datetime_to_utc_timestamp  # type: ignore[import-untyped]
from sqlalchemy import (
    Column,
    Engine,
    MetaData,
    String,
    Table,
    delete,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from ingest.app import run_ingest
from ingest.config import load_config
from ingest.errors import ConfigurationError, HandbookError, IndexNotBuiltError, LeaseHeldError
from ingest.index.factory import open_reader
from ingest.index.sqlite_engine import (
    database_path,
    open_for_reading,
    open_for_writing,
    translated_errors,
)
from ingest.records import IngestReport
from ingest.settings import IngestSettings
from ingest.sources.configuration import SourceTable
from ingest.watching import FolderWatch

logger = logging.getLogger(__name__)

JOB_ID = "ingest"

CLAIM_S = 60
"""How long a process that took a due run may take to write down the next one."""

LONGEST_CRON = 200
"""Characters of a crontab expression."""

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")

# Beside APScheduler's own table, not among those of the index: there is a schedule before the first
# index, and rebuilding the index must not lose it.
_choices = Table(
    "ingest_schedule",
    MetaData(),
    Column("job_id", String(64), primary_key=True),
    Column("cron", String(LONGEST_CRON), nullable=False),
)

Run = Callable[[IngestSettings, Callable[[], bool]], list[IngestReport]]
"""Syncs every source; the function it is given says when to stop early."""


@dataclass(frozen=True, slots=True)
class ScheduleStatus:
    """The schedule as it is written down in the database.

    Attributes:
        cron: The one that a person chose, else REINDEX_CRON.
        timezone: TIMEZONE.
        next_run_at: None when paused, when the cron is empty, or before any process served.
        paused: By a person, until resumed.
        chosen: Whether a person chose the cron.
    """

    cron: str
    timezone: str
    next_run_at: datetime | None
    paused: bool
    chosen: bool = False


def cron_trigger(
    expression: str, timezone: str, *, named: str = "REINDEX_CRON"
) -> BaseTrigger | None:
    """Read a crontab expression of five fields, with crontab's own meaning of week days.

    Args:
        expression: REINDEX_CRON; empty means never. Days of the week are 0-7 (0 and 7 are Sunday)
            or names; when both kinds of days are limited, either one is enough.
        timezone: Name from the IANA database.
        named: What the error says is wrong.

    Raises:
        ConfigurationError: Naming the variable that is wrong.
    """
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigurationError(
            f"TIMEZONE is {timezone!r}, which is no known time zone; one is Europe/Paris"
        ) from error
    if not expression.strip():
        return None
    try:
        return _parsed(expression, zone)
    except ValueError as error:
        raise ConfigurationError(
            f"{named} is {expression!r}, which is not a crontab expression such as"
            f" `0 5 * * 1-5`: {error}"
        ) from error


def _parsed(expression: str, zone: ZoneInfo) -> BaseTrigger:
    """Read a crontab expression; a ValueError says what is wrong with it."""
    minute, hour, day, month, week_days = expression.split()
    common = {"minute": minute, "hour": hour, "month": month, "timezone": zone}
    days = _week_days(week_days)
    if day != "*" and days != "*":
        return OrTrigger([CronTrigger(day=day, **common), CronTrigger(day_of_week=days, **common)])
    return CronTrigger(day=day, day_of_week=days, **common)


def _week_days(field: str) -> str:
    """Spell out days by name: APScheduler 3 counts them from Monday, crontab from Sunday."""
    if field == "*":
        return field
    days: set[int] = set()
    for part in field.lower().split(","):
        span, _, step = part.partition("/")
        first, _, last = ("0-6" if span == "*" else span).partition("-")
        start = _week_day(first)
        end = _week_day(last) if last else (6 if step else start)
        # "fri-sun" and "5-7" end on the Sunday after.
        days.update(range(start, end + 7 * (end < start) + 1, int(step or 1)))
    return ",".join(_DAYS[day] for day in sorted({day % 7 for day in days}))


def _week_day(text: str) -> int:
    if text in _DAYS:
        return _DAYS.index(text)
    if text.isdigit() and int(text) <= 7:
        return int(text)
    raise ValueError(f"{text!r} is not a day of the week")


class IngestScheduler:
    """Runs the sync of every source when the schedule says, in the event loop it is started in.

    That is the one a person chose (`reschedule`), else REINDEX_CRON. The schedule lives in the
    index's database: it survives restarts, and of several processes on one database only one takes
    each run. Missed runs are made up by a single one.
    """

    def __init__(
        self,
        settings: IngestSettings,
        *,
        trigger: BaseTrigger | None = None,
        run: Run | None = None,
    ) -> None:
        """Prepare; nothing runs before `start`.

        Args:
            settings: Passed to each sync.
            trigger: Instead of the one REINDEX_CRON describes.
            run: Instead of syncing the configured sources that are due.

        Raises:
            ConfigurationError: If REINDEX_CRON or TIMEZONE is wrong.
        """
        self._settings = settings
        self._fixed = trigger
        self._trigger = trigger or cron_trigger(settings.reindex_cron, settings.timezone)
        self._run = run or _run_due_sources
        self._path = database_path(settings.database_url)
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ingest")
        self._current: Future[list[IngestReport]] | None = None
        self._scheduler = _SteadyScheduler()
        self._watching: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, in the running event loop."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = open_for_writing(self._path)
        with self._engine.begin() as connection:
            connection.execute(CreateTable(_choices, if_not_exists=True))
        self._trigger = self._fixed or _wanted_trigger(_chosen_cron(self._engine), self._settings)
        self._scheduler.add_jobstore(_SharedJobStore(self._engine))
        _schedulers[str(self._path)] = self
        # Paused until the stored job is known to be the wanted one: an old one must not fire.
        self._scheduler.start(paused=True)
        self._reconcile()
        self._scheduler.resume()
        watch = FolderWatch(self._settings, self.run_source, paused=lambda: self.paused)
        self._watching = asyncio.create_task(watch.run())
        logger.info("schedule started", extra={"next_run_at": str(self.next_run_at())})

    async def shutdown(self) -> None:
        """Stop; a running sync ends after its current batch and is completed by the next one."""
        self._stopping.set()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        if self._scheduler.running:
            self._scheduler.pause()
        await asyncio.to_thread(self._pool.shutdown, wait=True)
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
            await asyncio.sleep(0)  # apscheduler stops in a callback of the loop
        if _schedulers.get(str(self._path)) is self:
            del _schedulers[str(self._path)]

    def next_run_at(self) -> datetime | None:
        """Return when the next sync is due; None when never or paused."""
        job = self._scheduler.get_job(JOB_ID)
        return job.next_run_time if job else None

    @property
    def paused(self) -> bool:
        """Whether a person paused the schedule."""
        job = self._scheduler.get_job(JOB_ID)
        return job is not None and job.next_run_time is None

    def pause(self) -> None:
        """Skip every run, in every process, until `resume`."""
        with translated_errors(self._path):
            if self._scheduler.get_job(JOB_ID):
                self._scheduler.pause_job(JOB_ID)

    def resume(self) -> None:
        """Undo `pause`."""
        with translated_errors(self._path):
            if self._scheduler.get_job(JOB_ID):
                self._scheduler.resume_job(JOB_ID)

    def reschedule(self, expression: str | None) -> None:
        """Follow another schedule from now on, after restarts too; a pause goes on.

        Args:
            expression: In crontab form; None goes back to REINDEX_CRON.

        Raises:
            ValueError: If it is not one, or never comes; then nothing changes.
            IndexStoreError: If the database cannot be used now.
        """
        if expression is not None:
            _check_due(expression, ZoneInfo(self._settings.timezone))
        with translated_errors(self._path):
            with self._engine.begin() as connection:
                connection.execute(delete(_choices).where(_choices.c.job_id == JOB_ID))
                if expression is not None:
                    chosen = {"job_id": JOB_ID, "cron": " ".join(expression.split())}
                    connection.execute(insert(_choices).values(chosen))
            self._trigger = _wanted_trigger(expression, self._settings)
            self._reconcile()

    async def run_now(self) -> list[IngestReport]:
        """Sync the sources that are due at once, whatever the schedule.

        Raises:
            LeaseHeldError: If a sync is running, here or in another process.
            HandbookError: If the sync failed.
        """
        return await self._begin(self._run)

    async def run_source(self, name: str) -> list[IngestReport]:
        """Sync one source at once (raises as `run_now`)."""
        return await self._begin(
            lambda settings, stopped: run_ingest(settings, specs=[name], stopped=stopped)
        )

    async def _begin(self, run: Run) -> list[IngestReport]:
        if self._current is not None and not self._current.done():
            raise LeaseHeldError("a sync is already running in this process")
        self._current = self._pool.submit(run, self._settings, self._stopping.is_set)
        return await asyncio.wrap_future(self._current)

    async def run_scheduled(self) -> None:
        """Run as the scheduled job does: whatever happens goes to the log."""
        try:
            await self.run_now()
        except LeaseHeldError as error:
            logger.info("scheduled sync skipped", extra={"reason": str(error)})
        except HandbookError as error:
            logger.error("scheduled sync failed", extra={"reason": str(error)})
        except Exception:
            # The rim of the scheduled job: one failed run must not end the schedule.
            logger.exception("scheduled sync failed unexpectedly")

    def _reconcile(self) -> None:
        """Make the stored job the wanted one; keep it, and its missed runs, when it is."""
        stored = self._scheduler.get_job(JOB_ID)
        if self._trigger is None:
            if stored:
                self._scheduler.remove_job(JOB_ID)
            return
        wanted = f"{self._trigger} {getattr(self._trigger, 'timezone', '')}"
        if stored and (stored.name, stored.args) == (wanted, (str(self._path),)):
            return
        paused: dict[str, Any] = (
            {"next_run_time": None} if stored and stored.next_run_time is None else {}
        )
        self._scheduler.add_job(
            scheduled_sync,
            self._trigger,
            args=(str(self._path),),
            id=JOB_ID,
            name=wanted,
            replace_existing=True,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,  # however late: an index out of date is what it mends
            **paused,
        )


async def scheduled_sync(database: str) -> None:
    """Run the job as stored: it names its database, and this process's scheduler does the rest.

    A stored job can hold neither an open object nor settings, which have secrets.
    """
    scheduler = _schedulers.get(database)
    if scheduler is not None:
        await scheduler.run_scheduled()


_schedulers: dict[str, IngestScheduler] = {}
"""Schedulers started in this process, by database."""


def read_schedule(settings: IngestSettings) -> ScheduleStatus:
    """Read the schedule that serving processes follow, without starting anything.

    Raises:
        ConfigurationError: If REINDEX_CRON or TIMEZONE is wrong.
    """
    cron_trigger(settings.reindex_cron, settings.timezone)
    path = database_path(settings.database_url)
    job, chosen = _stored(path) if path.exists() else (None, None)
    return ScheduleStatus(
        cron=settings.reindex_cron if chosen is None else chosen,
        timezone=settings.timezone,
        next_run_at=job.next_run_time if job else None,
        paused=job is not None and job.next_run_time is None,
        chosen=chosen is not None,
    )


def _stored(path: Path) -> tuple[Job | None, str | None]:
    """Return the job as it is stored, and the cron that a person chose."""
    engine = open_for_reading(path)
    store = SQLAlchemyJobStore(engine=engine)
    try:
        chosen = _chosen_cron(engine)
        if not inspect(engine).has_table(store.jobs_t.name):
            return None, chosen
        # Jobs are tied to a scheduler when read; this one never starts.
        store._scheduler, store._alias = AsyncIOScheduler(), "default"
        return store.lookup_job(JOB_ID), chosen
    finally:
        engine.dispose()


def _chosen_cron(engine: Engine) -> str | None:
    if not inspect(engine).has_table(_choices.name):
        return None
    with engine.begin() as connection:
        statement = select(_choices.c.cron).where(_choices.c.job_id == JOB_ID)
        chosen: str | None = connection.scalar(statement)
    return chosen


def _wanted_trigger(chosen: str | None, settings: IngestSettings) -> BaseTrigger | None:
    expression = settings.reindex_cron if chosen is None else chosen
    return cron_trigger(expression, settings.timezone)


def _check_due(expression: str, zone: ZoneInfo) -> None:
    if len(expression) > LONGEST_CRON:
        raise ValueError(f"longer than {LONGEST_CRON} characters")
    if _parsed(expression, zone).get_next_fire_time(None, datetime.now(zone)) is None:
        raise ValueError("it never comes")


def _run_due_sources(settings: IngestSettings, stopped: Callable[[], bool]) -> list[IngestReport]:
    if not load_config(settings).sources:
        return run_ingest(settings, stopped=stopped)  # which says what to do
    due = due_sources(settings, now=datetime.now(UTC))
    return run_ingest(settings, specs=due, stopped=stopped) if due else []


def due_sources(settings: IngestSettings, *, now: datetime) -> list[str]:
    """Return the sources that a scheduled sync takes.

    A source with a schedule of its own is left out until that came since its last complete sync.

    Raises:
        ConfigurationError: If handbook.toml or the schedule of a source is wrong.
    """
    sources = load_config(settings).sources
    done = _last_successes(settings) if any(source.schedule for source in sources) else {}
    return [
        source.name for source in sources if _is_due(source, done.get(source.name), settings, now)
    ]


def source_trigger(source: SourceTable, settings: IngestSettings) -> BaseTrigger | None:
    """Return the schedule of its own that a source has.

    Raises:
        ConfigurationError: If it is wrong.
    """
    named = f"schedule of source {source.name!r}"
    return cron_trigger(source.schedule or "", settings.timezone, named=named)


def _is_due(
    source: SourceTable, done: datetime | None, settings: IngestSettings, now: datetime
) -> bool:
    trigger = source_trigger(source, settings)
    if trigger is None or done is None:
        return True
    following = trigger.get_next_fire_time(done, done)
    return following is not None and following <= now


def _last_successes(settings: IngestSettings) -> dict[str, datetime | None]:
    with open_reader(settings) as reader:
        try:
            return {source.name: source.last_success_at for source in reader.status().sources}
        except IndexNotBuiltError:
            return {}


class _SharedJobStore(SQLAlchemyJobStore):  # type: ignore[misc] # apscheduler has no types
    """A job store that several processes may share: each due run is claimed by one of them.

    APScheduler 3 leaves out such a claim: every process would run every job.
    """

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine=engine)

    def start(self, scheduler: Any, alias: str) -> None:
        """Create the table; unlike the original, safely when two processes start at once."""
        super(SQLAlchemyJobStore, self).start(scheduler, alias)
        with self.engine.begin() as connection:
            connection.execute(CreateTable(self.jobs_t, if_not_exists=True))
            for index in self.jobs_t.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))

    def get_due_jobs(self, now: datetime) -> list[Job]:
        """Return the due jobs that this process claimed.

        The claim moves the job a little into the future, so that it comes back should this
        process die before it writes down the next run.
        """
        return [job for job in super().get_due_jobs(now) if self._claim(job.id, now)]

    def _claim(self, job_id: str, now: datetime) -> bool:
        timestamp = datetime_to_utc_timestamp(now)
        claim = (
            update(self.jobs_t)
            .where(self.jobs_t.c.id == job_id, self.jobs_t.c.next_run_time <= timestamp)
            .values(next_run_time=timestamp + CLAIM_S)
        )
        with self.engine.begin() as connection:
            claimed: bool = connection.execute(claim).rowcount == 1
        return claimed


class _SteadyScheduler(AsyncIOScheduler):  # type: ignore[misc] # apscheduler has no types
    """A scheduler that outlives a database error, or a job that another process removed."""

    def _process_jobs(self) -> float | None:
        try:
            seconds: float | None = super()._process_jobs()
        except (SQLAlchemyError, JobLookupError) as error:
            logger.warning("the schedule could not be read", extra={"reason": str(error)})
            seconds = self.jobstore_retry_interval
        return seconds
