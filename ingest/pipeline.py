"""The main path: list -> fetch changed pages -> parse -> chunk -> embed -> write -> remove."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ingest.chunking import chunk_page, pipeline_version
from ingest.embedding.base import Embedder
from ingest.errors import IndexStoreError, PageParseError, SourceUnavailableError
from ingest.index.base import IndexWriter, PageState
from ingest.pages import build_page
from ingest.parsing import parse
from ingest.progress import Progress, ProgressEvent, Stage, ignore_progress
from ingest.records import (
    Audiences,
    Chunk,
    IngestReport,
    Page,
    RawPage,
    SkippedPage,
    held_back,
    text_hash,
)
from ingest.sources.base import Entry, Listing, Source, Watch
from ingest.vector_cache import VectorCache

logger = logging.getLogger(__name__)

MAX_PENDING_CHUNKS = 256
"""Chunks gathered before they are embedded and written; bounds the memory of a sync."""

GUARD_PAGES = 10
GUARD_SHARE = 0.10
"""A sync that would remove more pages than both of these stops before removing any."""

REMOVAL_BATCH = 100
"""Pages removed in one transaction, so that none of them is long."""

UNUSED_VECTOR_DAYS = 30
"""Vectors no chunk has used for so long are dropped; until then a page that returns is free."""


def sync(
    source: Source,
    writer: IndexWriter,
    embedder: Embedder | None,
    *,
    configuration: str = "",
    dry_run: bool = False,
    full: bool = False,
    allow_removals: bool = False,
    progress: Progress = ignore_progress,
    stopped: Callable[[], bool] = lambda: False,
    max_pending_chunks: int = MAX_PENDING_CHUNKS,
) -> IngestReport:
    """Make the index equal to a source.

    Readers see each page in its old or its new version, never in between, and a kill at any
    moment leaves an index that answers; the next sync completes it.

    Args:
        source: Where the pages are.
        writer: Migrated already, and leased by the caller.
        embedder: None for keyword search alone.
        configuration: Changes with what is configured for the source: then every page is looked
            at again, as its link or audience may be another one.
        dry_run: Write nothing, report what would happen.
        full: Read and parse every page again; vectors are still reused.
        allow_removals: Go on with a sync that removes a large part of the source.
        progress: Told after each page and each batch of embeddings.
        stopped: Asked between pages and batches; True ends the sync early, and cleanly.
        max_pending_chunks: Chunks gathered before they are embedded and written.

    Returns:
        What happened. A source that cannot be reached and an encoder that fails are problems in
        the report, not exceptions.

    Raises:
        IndexStoreError: If the index cannot be written.
    """
    run = _Sync(
        source=source,
        writer=writer,
        configuration=configuration,
        dry_run=dry_run,
        full=full,
        allow_removals=allow_removals,
        progress=progress,
        stopped=stopped,
        vectors=VectorCache(
            writer,
            embedder,
            dry_run=dry_run,
            watch=lambda done, total: progress(
                ProgressEvent(source.name, Stage.EMBEDDINGS, done, total)
            ),
            stopped=stopped,
        ),
    )
    try:
        run.execute(max_pending_chunks)
    except BaseException as error:
        run.record_failure(error)
        raise
    return run.record()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A page that is new or changed, ready to be embedded and written."""

    page: Page
    chunks: tuple[Chunk, ...]
    source_version: str | None
    unreadable: str | None
    """Why nobody can read it, None where somebody can."""

    def texts(self) -> Iterator[tuple[str, str]]:
        for chunk in self.chunks:
            text = chunk.embedding_text(self.page.title)
            yield text_hash(text), text


def _unreadable(raw: RawPage, page: Page) -> str | None:
    """Say why nobody can read a page, None where somebody can."""
    if page.audiences:
        return None
    if raw.audiences:
        why = "its front matter and its source allow no audience in common"
    else:
        why = "its source lets in none of the audiences of handbook.toml"
    return f"{page.path}: {why}, so nobody can read it"


@dataclass(slots=True)
class _Sync:
    """One sync of one source, and what it has done so far."""

    source: Source
    writer: IndexWriter
    configuration: str
    dry_run: bool
    full: bool
    allow_removals: bool
    progress: Progress
    stopped: Callable[[], bool]
    vectors: VectorCache
    started_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: float = field(default_factory=time.monotonic)
    version: str = field(default_factory=lambda: pipeline_version())
    known: dict[str, PageState] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    skipped: list[SkippedPage] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    complete: bool = True
    added_hashes: Counter[str] = field(default_factory=Counter)
    chunk_change: int = 0  # dry run only

    def execute(self, max_pending_chunks: int) -> None:
        listing = self._list()
        if listing is None:
            return
        for window in _windows(self._changed(listing), max_pending_chunks):
            self._embed(window)
            if self._interrupted():
                return
            self._write(window)
        if self._interrupted():
            return
        self._remove(listing)
        self._complete_vectors()

    def _list(self) -> Listing | None:
        self.known = self.writer.page_states(self.source.name)
        try:
            listing = self.source.listing(Watch(self._listed, self.stopped))
        except SourceUnavailableError as error:
            self._end_early(f"the source is unavailable: {error}")
            return None
        for page in listing.skipped:
            self._skip(page.path, page.reason)
        if not listing.complete:
            self._end_early(
                f"the listing is incomplete, so nothing was removed: {listing.problem or 'unknown'}"
            )
        elif listing.problem:
            self.problems.append(listing.problem)
        return listing

    def _listed(self, done: int, total: int) -> None:
        self.progress(ProgressEvent(self.source.name, Stage.LISTING, done, total))

    def _changed(self, listing: Listing) -> Iterator[_Prepared]:
        """Fetch, parse and chunk what is new or changed; settle everything else."""
        for done, entry in enumerate(listing.entries, start=1):
            if self.stopped():
                return
            try:
                prepared = self._examine(entry)
            except PageParseError as error:
                self._skip(entry.path, str(error))
            except SourceUnavailableError as error:
                self._end_early(f"the source went away: {error}")
                return
            else:
                if prepared is not None:
                    yield prepared
            self.progress(ProgressEvent(self.source.name, Stage.PAGES, done, len(listing.entries)))

    def _examine(self, entry: Entry) -> _Prepared | None:
        state = self.known.get(entry.path)
        if state is not None and (state.version != self.version or self.full):
            state = None
        version = self._version_of(entry)
        if state is not None and version is not None and version == state.source_version:
            self.unchanged += 1
            return None
        allowed = entry.audiences
        try:
            raw = self.source.fetch(entry)
            allowed = raw.audiences
            if state is not None and raw.content_hash == state.content_hash:
                self._refresh(raw, entry, state)
                return None
            return self._prepare(raw, entry)
        except (PageParseError, SourceUnavailableError):
            self._hold_back(entry.path, allowed)
            raise

    def _prepare(self, raw: RawPage, entry: Entry) -> _Prepared:
        page = build_page(self.source.name, raw, parse(raw), version=self.version)
        if not page.text.strip():
            raise PageParseError("no text in it")
        chunks = tuple(chunk_page(page))
        if not chunks:
            raise PageParseError("no text in it")
        if len({chunk.chunk_id for chunk in chunks}) != len(chunks):
            raise PageParseError("two of its chunks have the same id")
        return _Prepared(page, chunks, self._version_of(entry), _unreadable(raw, page))

    def _refresh(self, raw: RawPage, entry: Entry, state: PageState) -> None:
        """Bring up to date what a page shows without its text: link, date, audiences."""
        page = build_page(self.source.name, raw, parse(raw), version=self.version)
        shown = (page.url, page.audiences) != (state.url, state.audiences)
        if shown:
            self.updated.append(page.path)
            if (unreadable := _unreadable(raw, page)) is not None:
                self.problems.append(unreadable)
        else:
            self.unchanged += 1
        version = self._version_of(entry)
        stale = (version, page.modified_at) != (state.source_version, state.modified_at)
        if (shown or stale) and not self.dry_run:
            self.writer.touch_page(
                page.source,
                page.path,
                source_version=version,
                modified_at=page.modified_at,
                url=page.url,
                audiences=page.audiences,
            )

    def _hold_back(self, path: str, allowed: Audiences | None) -> None:
        """Let nobody read the last good version who may not read the page any more.

        It may stay for long: the new one may be too large, protected by a password, damaged.
        """
        state = self.known.get(path)
        if state is None or allowed is None or self.dry_run:
            return
        left = held_back(state.audiences, allowed)
        if left != state.audiences:
            self.writer.touch_page(
                self.source.name,
                path,
                source_version=state.source_version,  # it is looked at again
                modified_at=state.modified_at,
                url=state.url,
                audiences=left,
            )

    def _version_of(self, entry: Entry) -> str | None:
        return None if entry.version is None else f"{self.configuration} {entry.version}"

    def _embed(self, window: Sequence[_Prepared]) -> None:
        texts = [pair for prepared in window for pair in prepared.texts()]
        self.vectors.ensure(dict(texts), uses=len(texts))

    def _write(self, window: Sequence[_Prepared]) -> None:
        for prepared in window:
            page = prepared.page
            self._count(prepared)
            if prepared.unreadable is not None:
                self.problems.append(prepared.unreadable)
            if not self.dry_run:
                self.writer.replace_page(
                    page, prepared.chunks, source_version=prepared.source_version
                )

    def _count(self, prepared: _Prepared) -> None:
        page = prepared.page
        state = self.known.get(page.path)
        self.chunk_change += len(prepared.chunks) - (state.chunks if state else 0)
        if state is None:
            self.added.append(page.path)
            self.added_hashes[page.content_hash] += 1
        elif (page.content_hash, page.version, page.url, page.audiences) == (
            state.content_hash,
            state.version,
            state.url,
            state.audiences,
        ):
            self.unchanged += 1
        else:
            self.updated.append(page.path)

    def _remove(self, listing: Listing) -> None:
        """Remove the pages the source no longer has, unless that looks like an accident."""
        if not self.complete:
            return
        present = {entry.path for entry in listing.entries} | {p.path for p in listing.skipped}
        gone = sorted(self.known.keys() - present)
        lost = len(gone) - self._moved(gone)
        limit = max(GUARD_PAGES, GUARD_SHARE * len(self.known))
        if lost > limit and not self.allow_removals:
            self.blocked = gone
            self._end_early(
                f"would remove {lost} of {len(self.known)} pages, so nothing was removed;"
                " if that is right, run again with --allow-removals"
            )
            return
        self.chunk_change -= sum(self.known[path].chunks for path in gone)
        for start in range(0, len(gone), REMOVAL_BATCH):
            batch = gone[start : start + REMOVAL_BATCH]
            if not self.dry_run:
                self.writer.remove_pages(self.source.name, batch)
            self.removed.extend(batch)

    def _moved(self, gone: Sequence[str]) -> int:
        """Count the pages that only changed their path: nothing of them is lost."""
        return (Counter(self.known[path].content_hash for path in gone) & self.added_hashes).total()

    def _complete_vectors(self) -> None:
        self.vectors.complete()
        if self._interrupted():
            return
        if self.vectors.failure is not None:
            self._end_early(
                "the encoder failed, so some pages are found by keywords alone until the next"
                f" run: {self.vectors.failure}"
            )
        if self.complete and not self.dry_run:
            self.writer.prune_embeddings(unused_for_days=UNUSED_VECTOR_DAYS)

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(SkippedPage(path, reason, kept_previous=path in self.known))

    def _interrupted(self) -> bool:
        if self.stopped():
            self._end_early("stopped before the end; the next run completes it")
            return True
        return False

    def _end_early(self, problem: str) -> None:
        self.complete = False
        self.problems.append(problem)

    def record(self) -> IngestReport:
        """Remember the outcome in the index, unless this is a dry run."""
        report = self._report()
        if self.dry_run:
            return report
        self.writer.record_run(report, started_at=self.started_at)
        logger.info(
            "sync finished",
            extra={
                "source": report.source,
                "added": len(report.added),
                "updated": len(report.updated),
                "removed": len(report.removed),
                "skipped": len(report.skipped),
                "embeddings": report.embeddings_computed,
                "complete": report.complete,
            },
        )
        return report

    def record_failure(self, error: BaseException) -> None:
        """Remember what stopped the sync, if the index still takes it."""
        self._end_early(f"failed: {str(error) or type(error).__name__}")
        # The index may be what failed; the first error is the one that is raised.
        with suppress(IndexStoreError):
            self.record()

    def _report(self) -> IngestReport:
        """Sum up what was done so far."""
        return IngestReport(
            source=self.source.name,
            added=tuple(self.added),
            updated=tuple(self.updated),
            unchanged=self.unchanged,
            removed=tuple(self.removed),
            skipped=tuple(self.skipped),
            chunks=self.writer.chunk_count(self.source.name)
            + (self.chunk_change if self.dry_run else 0),
            embeddings_computed=self.vectors.computed,
            embeddings_reused=self.vectors.reused,
            seconds=time.monotonic() - self.started,
            complete=self.complete,
            blocked_removals=tuple(self.blocked),
            problems=tuple(self.problems),
            dry_run=self.dry_run,
        )


def _windows(pages: Iterator[_Prepared], max_chunks: int) -> Iterator[list[_Prepared]]:
    """Group pages so that a group has at least `max_chunks` chunks, the last one excepted."""
    window: list[_Prepared] = []
    pending = 0
    for prepared in pages:
        window.append(prepared)
        pending += len(prepared.chunks)
        if pending >= max_chunks:
            yield window
            window, pending = [], 0
    if window:
        yield window
