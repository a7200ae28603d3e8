"""Composition root: settings and handbook.toml -> sources, embedder, writer -> syncs."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from ingest.config import load_config, select_sources
from ingest.embedding.factory import open_embedder
from ingest.errors import ConfigurationError, IndexNotBuiltError
from ingest.index.base import IndexWriter, Lease
from ingest.index.factory import open_reader, open_writer
from ingest.pipeline import sync
from ingest.progress import Progress, ignore_progress
from ingest.records import IngestReport
from ingest.settings import IngestSettings
from ingest.sources.factory import open_source

logger = logging.getLogger(__name__)

LEASE = "ingest"
LEASE_TTL_S = 60.0
"""A sync whose process died keeps others out for at most so long."""

Settings = TypeVar("Settings", bound=IngestSettings)


def read_settings(kind: type[Settings]) -> Settings:
    """Read settings from the environment and `.env`.

    Raises:
        ConfigurationError: Naming each variable that is wrong.
    """
    try:
        return kind()
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, detail['loc'])).upper()}: {detail['msg']}"
            for detail in error.errors()
        )
        raise ConfigurationError(f"wrong settings: {problems}") from error


def run_ingest(
    settings: IngestSettings,
    *,
    specs: Sequence[str] = (),
    dry_run: bool = False,
    full: bool = False,
    allow_removals: bool = False,
    progress: Progress = ignore_progress,
    stopped: Callable[[], bool] = lambda: False,
) -> list[IngestReport]:
    """Sync sources into the index, one after the other.

    Args:
        settings: Which database, configuration file and embedding model.
        specs: `folder:PATH` or names from handbook.toml; empty means every configured source.
        dry_run: Change nothing, not even an empty database.
        full: Read and parse every page again.
        allow_removals: Go on with a sync that removes a large part of its source.
        progress: Told how far the work is.
        stopped: Asked between steps; True ends the work early, and cleanly.

    Returns:
        One report per source, in order. A source that fails is reported and the others go on.

    Raises:
        ConfigurationError: If a setting, handbook.toml or a spec is wrong.
        EmbeddingError: If the embedding model cannot be opened.
        IndexStoreError: If the index cannot be written.
        LeaseHeldError: If another process is syncing into the same index.
    """
    chosen = select_sources(specs, load_config(settings), settings)
    sources = [(open_source(config, settings), config.fingerprint) for config in chosen]
    embedder = open_embedder(settings)
    reports: list[IngestReport] = []
    with _writer(settings, dry_run=dry_run) as (writer, lease):

        def ended() -> bool:
            if lease is not None:
                lease.check()
            return stopped()

        for source, configuration in sources:
            if reports and ended():
                break
            with closing(source):
                reports.append(
                    sync(
                        source,
                        writer,
                        embedder,
                        configuration=configuration,
                        dry_run=dry_run,
                        full=full,
                        allow_removals=allow_removals,
                        progress=progress,
                        stopped=ended,
                    )
                )
    return reports


@contextmanager
def _writer(
    settings: IngestSettings, *, dry_run: bool
) -> Iterator[tuple[IndexWriter, Lease | None]]:
    """Open the index, up to date and leased; for a dry run, without changing anything."""
    if not dry_run:
        with open_writer(settings) as writer:
            writer.migrate()
            with writer.lease(LEASE, ttl_s=LEASE_TTL_S) as lease:
                yield writer, lease
    elif _is_built(settings):
        with open_writer(settings) as writer:
            yield writer, None
    else:
        with tempfile.TemporaryDirectory() as folder:
            empty = f"sqlite:///{Path(folder) / 'empty.db'}"
            with open_writer(settings.model_copy(update={"database_url": empty})) as writer:
                writer.migrate()
                yield writer, None


def _is_built(settings: IngestSettings) -> bool:
    with open_reader(settings) as reader:
        try:
            reader.status()
        except IndexNotBuiltError:
            return False
    return True
