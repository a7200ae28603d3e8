"""Leases between real processes, and what a holder that lost its own is told."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from ingest.errors import LeaseHeldError
from ingest.index import leases
from ingest.index.sqlite_writer import SqliteIndexWriter

ROOT = Path(__file__).resolve().parents[4]

_HOLDER = """
import sys
from ingest.index.sqlite_writer import SqliteIndexWriter

with SqliteIndexWriter(sys.argv[1]) as writer, writer.lease("sync", ttl_s=float(sys.argv[2])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "index.db"


@pytest.fixture
def url(path):
    url = f"sqlite:///{path}"
    with SqliteIndexWriter(url) as writer:
        writer.migrate()
    return url


@pytest.fixture
def writer(url):
    with SqliteIndexWriter(url) as writer:
        yield writer


@pytest.fixture
def start_holder(url):
    processes = []

    def start(ttl_s):
        process = subprocess.Popen(
            [sys.executable, "-c", _HOLDER, url, str(ttl_s)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def execute(path, statement):
    with closing(sqlite3.connect(path, timeout=10)) as connection:
        connection.execute(statement)
        connection.commit()


def steal(path):
    execute(path, "UPDATE leases SET holder = 'elsewhere/1/x'")


def test_another_process_is_refused_and_told_who_holds_the_lease(writer, start_holder):
    holder = start_holder(60)
    refusal = pytest.raises(LeaseHeldError, match=rf"process {holder.pid} on ")
    with refusal, writer.lease("sync", ttl_s=60):
        pytest.fail("two holders")
    holder.communicate("done")
    with writer.lease("sync", ttl_s=60):
        pass


def test_a_living_holder_keeps_its_lease_far_beyond_the_time_to_live(writer, start_holder):
    start_holder(0.6)
    time.sleep(1.5)
    with pytest.raises(LeaseHeldError), writer.lease("sync", ttl_s=60):
        pytest.fail("two holders")


@pytest.mark.skipif(not Path("/proc/self/ns/pid").exists(), reason="needs Linux")
def test_the_lease_of_a_killed_process_is_taken_over_at_once(writer, start_holder):
    holder = start_holder(3600)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with writer.lease("sync", ttl_s=60):
        pass


def test_a_lease_of_another_host_is_taken_over_once_it_ran_out(path, writer):
    execute(
        path,
        "INSERT INTO leases VALUES ('sync', 'elsewhere/1/x', '', '2020-01-01 00:00:00.000000',"
        " '2999-01-01 00:00:00.000000')",
    )
    refusal = pytest.raises(LeaseHeldError, match="process 1 on elsewhere, since 2020-01-01")
    with refusal, writer.lease("sync", ttl_s=60):
        pytest.fail("two holders")
    execute(path, "UPDATE leases SET expires_at = '2020-01-02 00:00:00.000000'")
    with writer.lease("sync", ttl_s=60) as lease:
        lease.check()


def eventually(attempt):
    """Repeat until it stops raising LeaseHeldError."""
    deadline = time.monotonic() + 20
    while True:
        try:
            return attempt()
        except LeaseHeldError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def is_lost(lease):
    try:
        lease.check()
    except LeaseHeldError:
        return
    raise LeaseHeldError("not lost yet")


def test_a_holder_that_lost_its_lease_is_told_when_it_asks_and_at_the_end(path, writer):
    def work():
        with writer.lease("sync", ttl_s=0.3) as lease:
            lease.check()
            steal(path)
            eventually(lambda: is_lost(lease))

    with pytest.raises(LeaseHeldError, match="`sync` was lost"):
        work()


def test_losing_the_lease_does_not_hide_what_the_body_raised(path, writer):
    def work():
        with writer.lease("sync", ttl_s=0.3) as lease:
            steal(path)
            eventually(lambda: is_lost(lease))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()


def test_giving_back_a_lost_lease_leaves_it_to_its_new_holder(path, writer):
    with writer.lease("sync", ttl_s=60):
        steal(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT holder FROM leases").fetchone() == ("elsewhere/1/x",)


def test_a_lease_counts_as_lost_while_it_cannot_be_renewed_in_time(path, writer):
    with writer.lease("sync", ttl_s=0.3) as lease:
        with closing(sqlite3.connect(path, isolation_level=None)) as blocker:
            blocker.execute("BEGIN IMMEDIATE")
            eventually(lambda: is_lost(lease))
            blocker.execute("ROLLBACK")
        eventually(lease.check)


@pytest.mark.skipif(not leases.this_process(), reason="processes can only be told apart on Linux")
def test_this_process_is_not_gone_and_one_with_another_start_time_is():
    here = leases.this_process()
    scope, _, start = here.rpartition("/")
    assert not leases.is_gone(here)
    assert leases.is_gone(f"{scope}/{int(start) + 1}")


@pytest.mark.parametrize("process", ["", "boot/pid:[1]/1/2", "nonsense", "a/b", "///"])
def test_a_process_of_elsewhere_is_never_declared_gone(process):
    assert not leases.is_gone(process)
