"""Work that only one process may do at a time."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from sqlalchemy import Engine, delete, insert, or_, update
from sqlalchemy.exc import IntegrityError

from bot.errors import JobStoreError
from bot.store.tables import leases
from bot.store.transactions import transaction


class Leases:
    """Gives work to one process at a time; safe to share between threads.

    Every method raises `JobStoreError` when the database cannot be used now.

    Args:
        now: Clock in seconds since the epoch, about the same in every process.
    """

    def __init__(self, engine: Engine, *, now: Callable[[], float] = time.time) -> None:
        self._engine = engine
        self._now = now
        self._owner = uuid.uuid4().hex

    def take(self, name: str, *, ttl_s: float) -> bool:
        """Take a lease unless somebody holds it; it ends by itself after `ttl_s` seconds."""
        now = self._now()
        free = or_(leases.c.owner == self._owner, leases.c.until < now)
        held = {"owner": self._owner, "until": now + ttl_s}
        taking = update(leases).where(leases.c.name == name, free).values(held)
        try:
            with transaction(self._engine) as connection:
                if connection.execute(taking).rowcount:
                    return True
                connection.execute(insert(leases).values(name=name, **held))
        except JobStoreError as error:
            if isinstance(error.__cause__, IntegrityError):
                return False
            raise
        return True

    def give_back(self, name: str) -> None:
        """End a lease that this process holds."""
        ours = (leases.c.name == name, leases.c.owner == self._owner)
        with transaction(self._engine) as connection:
            connection.execute(delete(leases).where(*ours))
