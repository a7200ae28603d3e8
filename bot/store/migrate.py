"""Brings the bot's tables up to date. They outlive upgrades, unlike the index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from bot.errors import JobStoreError
from bot.store.engine import open_engine
from ingest import SchemaVersionError

VERSION_TABLE = "bot_schema_version"
"""Apart from the index's own, so that either side can be upgraded alone."""


def migrate(engine: Engine) -> None:
    """Apply the missing migrations in one transaction; two processes may do it at once.

    Raises:
        SchemaVersionError: If the database was written by a newer version.
        JobStoreError: If it cannot be opened.
    """
    config = Config()
    config.set_main_option("script_location", "bot.store:migrations")
    config.set_main_option("path_separator", "os")
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except CommandError as error:
        raise SchemaVersionError(
            "the database was written by a newer version of Manuel; update Manuel, or point"
            " DATABASE_URL to another database"
        ) from error
    except SQLAlchemyError as error:
        raise JobStoreError(
            f"the database of DATABASE_URL cannot be opened ({type(error).__name__}); check that"
            " it is a database and that its folder may be written"
        ) from error


@contextmanager
def opened(database_url: str) -> Iterator[Engine]:
    """Open the database for as long as a command lasts, with its tables up to date.

    Raises:
        ConfigurationError: If the URL is not one.
        SchemaVersionError: If the database was written by a newer version.
        JobStoreError: If it cannot be opened.
    """
    engine = open_engine(database_url)
    try:
        migrate(engine)
        yield engine
    finally:
        engine.dispose()
