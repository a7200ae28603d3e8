"""The schedule in a real database: restarts, several processes, missed runs, pauses."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger
from sqlalchemy.exc import OperationalError

from ingest.errors import ConfigurationError, LeaseHeldError
from ingest.index.sqlite_engine import open_for_writing
from ingest.records import IngestReport
from ingest.schedule import (
    CLAIM_S,
    JOB_ID,
    IngestScheduler,
    _SharedJobStore,
    due_sources,
    read_schedule,
)
from ingest.settings import IngestSettings
from ingest.source_checks import check_sources

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 20.0

Stopped = Callable[[], bool]


class Runs:
    """Stands where the sync is: counts its runs and does what it is told in each."""

    def __init__(self, body: Callable[[Stopped], None] = lambda stopped: None) -> None:
        self.count = 0
        self.started = threading.Semaphore(0)
        self._body = body

    def __call__(self, settings: IngestSettings, stopped: Stopped) -> list[IngestReport]:
        self.count += 1
        self.started.release()
        self._body(stopped)
        return [IngestReport("handbook")]

    async def wait(self) -> None:
        assert await asyncio.to_thread(self.started.acquire, timeout=PATIENCE_S)


@pytest.fixture
def settings(tmp_path: Path) -> IngestSettings:
    return IngestSettings(
        _env_file=None,
        database_url=f"sqlite:///{tmp_path / 'data' / 'manuel.db'}",
        handbook_config=tmp_path / "handbook.toml",
    )


def soon() -> DateTrigger:
    return DateTrigger(datetime.now(UTC) + timedelta(seconds=0.2))


def database(settings: IngestSettings) -> Path:
    return Path(settings.database_url.removeprefix("sqlite:///"))


def postpone(settings: IngestSettings, next_run_at: datetime) -> None:
    """Write another next run into the stored job, as if time had passed."""
    store = SQLAlchemyJobStore(url=settings.database_url)
    store._scheduler, store._alias = BackgroundScheduler(), "default"
    job = store.lookup_job(JOB_ID)
    job._modify(next_run_time=next_run_at)
    store.update_job(job)
    store.shutdown()


async def test_the_sync_runs_when_its_time_comes(settings):
    runs = Runs()
    scheduler = IngestScheduler(settings, trigger=soon(), run=runs)

    scheduler.start()
    await runs.wait()
    await scheduler.shutdown()

    assert runs.count == 1


async def test_runs_missed_while_nothing_served_are_made_up_by_one(settings):
    scheduler = IngestScheduler(settings)
    scheduler.start()
    await scheduler.shutdown()
    postpone(settings, datetime.now(UTC) - timedelta(days=10))
    runs = Runs()

    scheduler = IngestScheduler(settings, run=runs)
    scheduler.start()
    await runs.wait()
    await asyncio.sleep(0.3)
    next_run_at = scheduler.next_run_at()
    await scheduler.shutdown()

    assert runs.count == 1
    assert next_run_at is not None
    assert next_run_at > datetime.now(UTC)


SERVE = """
import asyncio, os, sys, time
from apscheduler.triggers.cron import CronTrigger
from ingest.schedule import IngestScheduler
from ingest.settings import IngestSettings
from ingest.source_checks import check_sources

def run(settings, stopped):
    with open(sys.argv[2], "a") as log:
        log.write(f"{int(time.time())}\\n")
    return []

async def serve():
    settings = IngestSettings(_env_file=None, database_url=sys.argv[1])
    scheduler = IngestScheduler(settings, trigger=CronTrigger(second="*"), run=run)
    scheduler.start()
    print("started", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await scheduler.shutdown()

asyncio.run(serve())
"""


def test_two_processes_on_one_database_share_the_runs_and_never_double_one(settings, tmp_path):
    log = tmp_path / "runs.log"
    command = [sys.executable, "-c", SERVE, settings.database_url, str(log)]
    serving = [
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    try:
        for process in serving:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
        deadline = datetime.now(UTC) + timedelta(seconds=PATIENCE_S)
        while datetime.now(UTC) < deadline:
            if log.exists() and log.read_text().count("\n") >= 3:
                break
            time.sleep(0.1)
    finally:
        outputs = [process.communicate("stop\n", timeout=PATIENCE_S) for process in serving]

    assert [process.returncode for process in serving] == [0, 0], outputs
    seconds = log.read_text().split()
    assert len(seconds) >= 3
    assert len(seconds) == len(set(seconds))


async def test_a_run_taken_by_a_process_that_died_comes_back(settings):
    scheduler = IngestScheduler(settings)
    scheduler.start()
    await scheduler.shutdown()
    due = datetime.now(UTC)
    postpone(settings, due)
    stores = [_SharedJobStore(open_for_writing(database(settings))) for _ in range(2)]
    for store in stores:
        store.start(BackgroundScheduler(), "default")

    taken = [[job.id for job in store.get_due_jobs(due)] for store in stores]
    later = due + timedelta(seconds=CLAIM_S + 1)
    again = [job.id for job in stores[1].get_due_jobs(later)]
    for store in stores:
        store.shutdown()

    assert taken == [[JOB_ID], []]
    assert again == [JOB_ID]


async def test_a_restart_keeps_the_schedule_and_its_pause(settings):
    first = IngestScheduler(settings)
    first.start()
    planned = first.next_run_at()
    first.pause()
    assert (first.next_run_at(), first.paused) == (None, True)
    await first.shutdown()

    second = IngestScheduler(settings)
    second.start()
    assert second.paused
    assert read_schedule(settings).paused
    second.resume()
    assert (second.next_run_at(), second.paused) == (planned, False)
    await second.shutdown()

    assert read_schedule(settings).next_run_at == planned


async def test_another_cron_replaces_the_job_and_an_empty_one_removes_it(settings):
    first = IngestScheduler(settings)
    first.start()
    await first.shutdown()

    changed = settings.model_copy(update={"reindex_cron": "30 6 * * *"})
    second = IngestScheduler(changed)
    second.start()
    moved = second.next_run_at()
    await second.shutdown()
    assert moved is not None
    assert (moved.hour, moved.minute) == (6, 30)

    never = settings.model_copy(update={"reindex_cron": ""})
    third = IngestScheduler(never)
    third.start()
    assert third.next_run_at() is None
    await third.shutdown()
    assert read_schedule(never).next_run_at is None


async def test_another_time_zone_replaces_the_job(settings):
    first = IngestScheduler(settings)
    first.start()
    paris = first.next_run_at()
    await first.shutdown()

    second = IngestScheduler(settings.model_copy(update={"timezone": "America/Montreal"}))
    second.start()
    montreal = second.next_run_at()
    await second.shutdown()

    assert paris != montreal


async def test_a_failed_run_is_logged_and_the_schedule_goes_on(settings, caplog):
    def fail(stopped: Stopped) -> None:
        raise RuntimeError("a defect")

    runs = Runs(fail)
    scheduler = IngestScheduler(settings, trigger=CronTrigger(second="*"), run=runs)
    with caplog.at_level(logging.INFO, logger="ingest.schedule"):
        scheduler.start()
        await runs.wait()
        await runs.wait()
        await scheduler.shutdown()

    assert "scheduled sync failed unexpectedly" in caplog.messages


async def test_a_run_is_skipped_while_another_process_syncs(settings, caplog):
    def refuse(stopped: Stopped) -> None:
        raise LeaseHeldError("done by process 7")

    scheduler = IngestScheduler(settings, run=Runs(refuse))
    with caplog.at_level(logging.INFO, logger="ingest.schedule"):
        await scheduler.run_scheduled()
        await scheduler.shutdown()

    assert [(r.levelname, r.message) for r in caplog.records] == [
        ("INFO", "scheduled sync skipped")
    ]


async def test_a_sync_can_be_run_at_once_but_not_twice_at_a_time(settings):
    release = threading.Event()
    runs = Runs(lambda stopped: assert_set(release))
    scheduler = IngestScheduler(settings, run=runs)
    scheduler.start()

    first = asyncio.create_task(scheduler.run_now())
    await runs.wait()
    with pytest.raises(LeaseHeldError):
        await scheduler.run_now()
    release.set()

    assert await first == [IngestReport("handbook")]
    assert await scheduler.run_now() == [IngestReport("handbook")]
    await scheduler.shutdown()


def assert_set(event: threading.Event) -> None:
    assert event.wait(PATIENCE_S)


async def test_a_shutdown_asks_a_running_sync_to_stop_and_waits_for_it(settings):
    ended = threading.Event()

    def sync(stopped: Stopped) -> None:
        while not stopped():
            threading.Event().wait(0.01)
        ended.set()

    runs = Runs(sync)
    scheduler = IngestScheduler(settings, trigger=soon(), run=runs)
    scheduler.start()
    await runs.wait()

    await scheduler.shutdown()

    assert ended.is_set()


async def test_a_scheduler_that_never_started_can_be_shut_down(settings):
    await IngestScheduler(settings).shutdown()

    assert not database(settings).exists()


async def test_a_database_error_delays_the_schedule_but_does_not_end_it(settings, monkeypatch):
    runs = Runs()
    scheduler = IngestScheduler(settings, trigger=CronTrigger(second="*"), run=runs)
    monkeypatch.setattr(scheduler._scheduler, "jobstore_retry_interval", 0.1)
    real = _SharedJobStore.get_next_run_time
    failures = iter([OperationalError("SELECT", {}, Exception("database is locked"))])

    def locked_once(store: _SharedJobStore) -> datetime | None:
        for failure in failures:
            raise failure
        return real(store)

    monkeypatch.setattr(_SharedJobStore, "get_next_run_time", locked_once)

    scheduler.start()
    await runs.wait()
    await scheduler.shutdown()

    assert list(failures) == []


async def test_a_chosen_schedule_is_followed_by_a_scheduler_that_starts_later(settings):
    scheduler = IngestScheduler(settings)
    scheduler.start()
    scheduler.reschedule("15 6 * * *")
    await scheduler.shutdown()

    later = IngestScheduler(settings)
    later.start()
    next_run_at = later.next_run_at()
    await later.shutdown()

    assert next_run_at is not None
    assert (next_run_at.hour, next_run_at.minute) == (6, 15)
    assert read_schedule(settings).cron == "15 6 * * *"


async def test_a_wrong_schedule_changes_nothing(settings):
    scheduler = IngestScheduler(settings)
    scheduler.start()
    with pytest.raises(ValueError, match="never comes"):
        scheduler.reschedule("0 5 30 2 *")
    with pytest.raises(ValueError, match="not a day of the week"):
        scheduler.reschedule("0 5 * * lundi")
    await scheduler.shutdown()

    assert (read_schedule(settings).cron, read_schedule(settings).chosen) == ("0 5 * * *", False)


async def test_a_source_with_its_own_schedule_is_left_out_until_that_comes(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "p.md").write_text("# Page\n\nLa page.\n", encoding="utf-8")
    table = '[[sources]]\nname = "{}"\npath = "a"\n'
    (tmp_path / "handbook.toml").write_text(
        table.format("always") + table.format("sundays") + 'schedule = "0 4 * * 0"\n',
        encoding="utf-8",
    )
    settings = IngestSettings(
        _env_file=None,
        database_url=f"sqlite:///{tmp_path / 'manuel.db'}",
        handbook_config=tmp_path / "handbook.toml",
        embedding_model="none",
    )
    now = datetime.now(UTC)
    assert due_sources(settings, now=now) == ["always", "sundays"]

    scheduler = IngestScheduler(settings)
    first = await scheduler.run_now()
    second = await scheduler.run_now()
    await scheduler.shutdown()

    assert [report.source for report in first] == ["always", "sundays"]
    assert [report.source for report in second] == ["always"]
    assert due_sources(settings, now=now + timedelta(days=8)) == ["always", "sundays"]


def test_a_wrong_schedule_of_a_source_is_named(settings):
    settings.handbook_config.write_text(
        '[[sources]]\nname = "a"\npath = "a"\nschedule = "sometimes"\n', encoding="utf-8"
    )

    with pytest.raises(ConfigurationError, match=r"schedule of source 'a' is 'sometimes'"):
        due_sources(settings, now=datetime.now(UTC))
    [check] = check_sources(settings)
    assert not check.ok
    assert "sometimes" in check.detail
