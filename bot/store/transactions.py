"""Short transactions on the bot's tables, with the library's errors translated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from bot.errors import JobStoreError
from bot.store.engine import READ_ONLY


@contextmanager
def transaction(engine: Engine, *, reads: bool = False) -> Iterator[Connection]:
    """Run the body in one transaction; with `reads` it takes no lock.

    Raises:
        JobStoreError: If the database cannot be used now.
    """
    options = READ_ONLY if reads else {}
    try:
        connected = engine.connect().execution_options(**options)
        with connected as connection, connection.begin():
            yield connection
    except SQLAlchemyError as error:
        raise JobStoreError(f"cannot use the bot's tables: {type(error).__name__}") from error
