"""Named leases in the database: one holder at a time, renewed while its work goes on."""

from __future__ import annotations

import logging
import os
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, Row, delete, insert, select, update

from ingest.errors import IndexStoreError, LeaseHeldError
from ingest.index.tables import leases

logger = logging.getLogger(__name__)

Transaction = Callable[[], AbstractContextManager[Connection]]
"""Opens a transaction that excludes other writers from its start."""

_RENEWALS_PER_TTL = 3


class HeldLease:
    """A lease of this process; made by `hold`. Safe to check from any thread."""

    def __init__(self, transaction: Transaction, name: str, ttl_s: float) -> None:
        self._transaction = transaction
        self._name = name
        self._ttl = timedelta(seconds=ttl_s)
        self._holder = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:12]}"
        self._expires_at = datetime.min.replace(tzinfo=UTC)
        self._released = threading.Event()

    def check(self) -> None:
        """Make sure the lease is still held.

        Raises:
            LeaseHeldError: If it was not renewed in time or somebody else has taken it.
        """
        if datetime.now(UTC) >= self._expires_at:
            raise LeaseHeldError(
                f"the lease on `{self._name}` was lost: it could not be renewed in time, and"
                " another process may be doing the same work"
            )

    def acquire(self) -> None:
        """Take the lease.

        Raises:
            LeaseHeldError: If somebody else holds it.
        """
        with self._transaction() as connection:
            now = datetime.now(UTC)
            held = connection.execute(select(leases).where(leases.c.name == self._name)).first()
            if held is not None:
                if held.expires_at > now and not is_gone(held.process):
                    raise LeaseHeldError(self._refusal(held))
                connection.execute(delete(leases).where(leases.c.name == self._name))
            connection.execute(
                insert(leases).values(
                    name=self._name,
                    holder=self._holder,
                    process=this_process(),
                    acquired_at=now,
                    expires_at=now + self._ttl,
                )
            )
        self._expires_at = now + self._ttl

    def renew_until_released(self) -> None:
        """Keep the lease from running out; body of the background thread."""
        while not self._released.wait(self._ttl.total_seconds() / _RENEWALS_PER_TTL):
            try:
                if not self._renew():
                    return
            except IndexStoreError as error:
                logger.warning(
                    "lease not renewed", extra={"lease": self._name, "reason": str(error)}
                )

    def release(self) -> None:
        """Stop renewing and give the lease back, unless somebody else has it by now."""
        self._released.set()
        with self._transaction() as connection:
            connection.execute(
                delete(leases).where(leases.c.name == self._name, leases.c.holder == self._holder)
            )

    def _renew(self) -> bool:
        with self._transaction() as connection:
            until = datetime.now(UTC) + self._ttl
            renewed = connection.execute(
                update(leases)
                .where(leases.c.name == self._name, leases.c.holder == self._holder)
                .values(expires_at=until)
            ).rowcount
        self._expires_at = until if renewed else datetime.min.replace(tzinfo=UTC)
        return bool(renewed)

    def _refusal(self, held: Row[tuple[object, ...]]) -> str:
        host, pid, _ = held.holder.split("/")
        return (
            f"`{self._name}` is already being done by process {pid} on {host}, since"
            f" {held.acquired_at:%Y-%m-%d %H:%M:%S} UTC; try again when it has ended"
        )


@contextmanager
def hold(transaction: Transaction, name: str, ttl_s: float) -> Iterator[HeldLease]:
    """Hold a lease while the body runs.

    Raises:
        LeaseHeldError: If somebody else holds it, or at the end of a body that lost it.
    """
    lease = HeldLease(transaction, name, ttl_s)
    lease.acquire()
    thread = threading.Thread(target=lease.renew_until_released, name=f"lease-{name}", daemon=True)
    thread.start()
    try:
        yield lease
        lease.check()
    finally:
        lease.release()
        thread.join()


def this_process() -> str:
    """Identify this process so that others can see whether it still runs; "" where they cannot.

    Linux only: boot, process namespace, process id and start time, which together are never
    used twice.
    """
    start = _start_time(os.getpid())
    scope = _process_scope()
    return f"{scope}/{os.getpid()}/{start}" if scope and start else ""


def is_gone(process: str) -> bool:
    """Tell whether `this_process` of somebody else is certainly no longer running.

    False when in doubt: another host, another container, another system.
    """
    scope, _, rest = process.rpartition("/")
    scope, _, pid = scope.rpartition("/")
    if not scope or scope != _process_scope() or not pid.isdigit():
        return False
    return _start_time(int(pid)) != rest


def _process_scope() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _start_time(pid: int) -> str:
    """Return when a process started, in clock ticks since boot; "" when it does not run."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else fields[18]
