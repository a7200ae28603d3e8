"""Backends of the index: the contract tests run on each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ingest.index import open_reader, open_writer
from ingest.index.base import IndexReader, IndexWriter
from ingest.settings import IngestSettings


class Backend:
    """One empty database and ways to open it."""

    def __init__(self, database_url: str, stack: ExitStack) -> None:
        self.database_url = database_url
        self._settings = IngestSettings(database_url=database_url, _env_file=None)
        self._stack = stack

    def writer(self, *, migrate: bool = True) -> IndexWriter:
        writer = self._stack.enter_context(open_writer(self._settings))
        if migrate:
            writer.migrate()
        return writer

    def reader(self) -> IndexReader:
        return self._stack.enter_context(open_reader(self._settings))


def _sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'new folder' / 'index.db'}"


BACKENDS: dict[str, Callable[[Path], str]] = {"sqlite": _sqlite_url}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    with ExitStack() as stack:
        yield Backend(BACKENDS[request.param](tmp_path), stack)
