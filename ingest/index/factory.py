"""Chooses the adapter of the index by the scheme of DATABASE_URL."""

from __future__ import annotations

from ingest.errors import ConfigurationError
from ingest.index.base import IndexReader, IndexWriter
from ingest.settings import IngestSettings

_SUPPORTED = "sqlite:///PATH"


def open_reader(settings: IngestSettings) -> IndexReader:
    """Return a query-only view of the index; close it, or use it in a `with`.

    The index need not exist yet: the first call that needs it says so.

    Raises:
        ConfigurationError: If DATABASE_URL names no supported database.
    """
    _check_scheme(settings.database_url)
    # Imported here: whoever only reads does not load alembic.
    from ingest.index.sqlite_reader import SqliteIndexReader

    return SqliteIndexReader(settings.database_url)


def open_writer(settings: IngestSettings) -> IndexWriter:
    """Return the way into the index; `migrate` comes first. Close it, or use it in a `with`.

    Raises:
        ConfigurationError: If DATABASE_URL names no supported database.
    """
    _check_scheme(settings.database_url)
    from ingest.index.sqlite_writer import SqliteIndexWriter

    return SqliteIndexWriter(settings.database_url)


def _check_scheme(database_url: str) -> None:
    scheme = database_url.partition(":")[0].partition("+")[0]
    if scheme != "sqlite":
        raise ConfigurationError(
            f"DATABASE_URL starts with `{scheme}:`, which the index cannot use; supported:"
            f" {_SUPPORTED}"
        )
