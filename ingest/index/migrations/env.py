"""Alembic's environment: runs the steps on the connection it is given, in one transaction."""

from alembic import context

from ingest.index.tables import SCHEMA_VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=SCHEMA_VERSION_TABLE,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
