"""Brings the schema of the index up to date; the only importer of alembic for the index."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from ingest.errors import SchemaVersionError
from ingest.index.tables import SCHEMA_REVISIONS, SCHEMA_VERSION_TABLE


def upgrade(connection: Connection) -> None:
    """Run the steps that this database lacks, inside the connection's transaction.

    Raises:
        SchemaVersionError: If the database was written by a newer version.
    """
    current = MigrationContext.configure(
        connection, opts={"version_table": SCHEMA_VERSION_TABLE}
    ).get_current_revision()
    if current is not None and current not in SCHEMA_REVISIONS:
        raise SchemaVersionError(
            f"the index has schema {current}, newer than the {SCHEMA_REVISIONS[-1]} that this"
            " version knows: upgrade Manuel, or point DATABASE_URL to another database"
        )
    if current != SCHEMA_REVISIONS[-1]:
        command.upgrade(config(connection), "head")


def config(connection: Connection | None = None) -> Config:
    """Return alembic's configuration for the steps that lie beside this file."""
    alembic = Config()
    alembic.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    alembic.attributes["connection"] = connection
    return alembic
