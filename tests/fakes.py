"""Fakes of our own ports, for tests that are about something else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from ingest.embedding.base import Vector
from ingest.errors import EncodingFailed, LeaseHeldError, PageParseError
from ingest.index.base import PageState
from ingest.records import (
    Audiences,
    Chunk,
    IngestReport,
    Page,
    RawPage,
    text_hash,
)
from ingest.sources.base import Entry, Listing


@dataclass
class FakeEmbedder:
    """Hashes words into a small space: texts that share words are close. Deterministic."""

    fingerprint: str = "fake-1"
    dimension: int = 64
    failing: bool = False
    embedded: list[str] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        if self.failing:
            raise EncodingFailed("the fake encoder is down")
        self.embedded.extend(texts)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        if self.failing:
            raise EncodingFailed("the fake encoder is down")
        return self._vector(text)

    def _vector(self, text: str) -> Vector:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for word in text.lower().split():
            digest = hashlib.blake2s(word.encode("utf-8", "replace"), digest_size=4).digest()
            vector[int.from_bytes(digest, "big") % self.dimension] += 1
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@dataclass
class FakeSource:
    """Pages in memory."""

    name: str = "fake"
    pages: dict[str, RawPage] = field(default_factory=dict)
    complete: bool = True
    broken: set[str] = field(default_factory=set)

    def put(self, path: str, markdown: str) -> None:
        self.pages[path] = RawPage(path=path, content=markdown.encode(), media_type="text/markdown")

    def listing(self) -> Listing:
        entries = tuple(
            Entry(path, size=len(page.content)) for path, page in sorted(self.pages.items())
        )
        problem = None if self.complete else "the listing ended early"
        return Listing(entries, complete=self.complete, problem=problem)

    def fetch(self, entry: Entry) -> RawPage:
        if entry.path in self.broken:
            raise PageParseError("unreadable today")
        return self.pages[entry.path]


@dataclass
class FakeIndexWriter:
    """An index in memory that counts its writes; `audit` sees each write as it happens."""

    pages: dict[tuple[str, str], tuple[Page, tuple[Chunk, ...], str | None]] = field(
        default_factory=dict
    )
    embeddings: dict[str, dict[str, Vector]] = field(default_factory=dict)
    active: str | None = None
    runs: list[IngestReport] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    audit: Callable[[str], None] = lambda operation: None
    leased: set[str] = field(default_factory=set)

    def migrate(self) -> None:
        self._wrote("migrate")

    def page_states(self, source: str) -> dict[str, PageState]:
        return {
            path: PageState(
                page.content_hash,
                page.version,
                source_version,
                page.url,
                page.modified_at,
                page.audiences,
                len(chunks),
            )
            for (name, path), (page, chunks, source_version) in self.pages.items()
            if name == source
        }

    def replace_page(
        self, page: Page, chunks: Sequence[Chunk], *, source_version: str | None = None
    ) -> None:
        self._wrote("replace_page")
        self.pages[page.source, page.path] = (page, tuple(chunks), source_version)

    def touch_page(
        self,
        source: str,
        path: str,
        *,
        source_version: str | None,
        modified_at: datetime | None,
        url: str | None,
        audiences: Audiences,
    ) -> None:
        self._wrote("touch_page")
        page, chunks, _ = self.pages[source, path]
        page = replace(page, modified_at=modified_at, url=url, audiences=audiences)
        self.pages[source, path] = (page, chunks, source_version)

    def remove_pages(self, source: str, paths: Sequence[str]) -> int:
        self._wrote("remove_pages")
        return sum(self.pages.pop((source, path), None) is not None for path in paths)

    def chunk_count(self, source: str) -> int:
        return sum(len(c) for (name, _), (_, c, _) in self.pages.items() if name == source)

    def known_embeddings(self, fingerprint: str, text_hashes: Sequence[str]) -> set[str]:
        return self.embeddings.get(fingerprint, {}).keys() & set(text_hashes)

    def store_embeddings(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None:
        self._wrote("store_embeddings")
        self.embeddings.setdefault(fingerprint, {}).update(vectors)

    def missing_embeddings(self, fingerprint: str, *, limit: int) -> list[tuple[str, str]]:
        known = self.embeddings.get(fingerprint, {})
        return [pair for pair in sorted(self.texts().items()) if pair[0] not in known][:limit]

    def active_fingerprint(self) -> str | None:
        return self.active

    def activate_model(self, fingerprint: str, dimension: int) -> None:
        self._wrote("activate_model")
        self.active = fingerprint

    def prune_embeddings(self, *, unused_for_days: int) -> int:
        return 0

    def record_run(self, report: IngestReport, *, started_at: datetime) -> None:
        self.runs.append(report)

    @contextmanager
    def lease(self, name: str, *, ttl_s: float) -> Iterator[None]:
        if name in self.leased:
            raise LeaseHeldError(f"the lease {name!r} is held")
        self.leased.add(name)
        try:
            yield
        finally:
            self.leased.discard(name)

    def texts(self) -> dict[str, str]:
        """Every embedding text by its hash."""
        texts = [
            chunk.embedding_text(page.title)
            for page, chunks, _ in self.pages.values()
            for chunk in chunks
        ]
        return {text_hash(text): text for text in texts}

    def _wrote(self, operation: str) -> None:
        self.audit(operation)
        self.writes.append(operation)
