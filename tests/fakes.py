"""Fakes of our own ports, for tests that are about something else."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

import numpy as np

from bot.errors import ReadingFailed
from ingest.acronyms import learn_acronyms
from ingest.analysis import KeywordQuery, QueryWord, analyze_passage
from ingest.embedding.base import Embedder, TextKind, TokenStates, Vector
from ingest.errors import EncodingFailed, IndexStoreError, LeaseHeldError, PageParseError
from ingest.index.base import IndexStatus, MatchMode, PageState
from ingest.records import (
    PUBLIC,
    Audiences,
    Chunk,
    IngestReport,
    Page,
    RawPage,
    ScoredChunk,
    StoredChunk,
    Unit,
    UnitKind,
    text_hash,
)
from ingest.sources.base import UNWATCHED, Entry, Listing, Watch


@dataclass
class FakeEmbedder:
    """Hashes words into a small space: texts that share words are close. Deterministic."""

    fingerprint: str = "fake-1"
    dimension: int = 64
    failing: bool = False
    embedded: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

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
        self.queries.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> Vector:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for word in text.lower().split():
            digest = hashlib.blake2s(word.encode("utf-8", "replace"), digest_size=4).digest()
            vector[int.from_bytes(digest, "big") % self.dimension] += 1
        return (vector / np.linalg.norm(vector)).astype(np.float32)


class FakeTokenEmbedder(FakeEmbedder):
    """Also shows its tokens: one for each word."""

    def token_states(
        self, texts: Sequence[str], *, kind: TextKind = "passage"
    ) -> list[TokenStates]:
        return [self._tokens(text) for text in texts]

    def embed_with_tokens(
        self, texts: Sequence[str], *, kind: TextKind = "passage"
    ) -> tuple[Vector, list[TokenStates]]:
        return self.embed_passages(texts), self.token_states(texts, kind=kind)

    def _tokens(self, text: str) -> TokenStates:
        words = text.split()
        states = [self._vector(word) for word in words] or [np.zeros(self.dimension, np.float32)]
        rows = np.stack(states)[: len(words)]
        return TokenStates(text, rows, ((0, 0),) * len(words), tuple(range(len(words))))


@dataclass
class FakeSource:
    """Pages in memory."""

    name: str = "fake"
    pages: dict[str, RawPage] = field(default_factory=dict)
    complete: bool = True
    broken: set[str] = field(default_factory=set)

    def put(self, path: str, markdown: str) -> None:
        self.pages[path] = RawPage(path=path, content=markdown.encode(), media_type="text/markdown")

    def probe(self) -> str:
        return f"{len(self.pages)} pages"

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        entries = tuple(
            Entry(path, size=len(page.content)) for path, page in sorted(self.pages.items())
        )
        problem = None if self.complete else "the listing ended early"
        return Listing(entries, complete=self.complete, problem=problem)

    def fetch(self, entry: Entry) -> RawPage:
        if entry.path in self.broken:
            raise PageParseError("unreadable today")
        return self.pages[entry.path]

    def close(self) -> None:
        pass


@dataclass
class FakeIndexWriter:
    """An index in memory that counts its writes; `audit` sees each write as it happens."""

    pages: dict[tuple[str, str], tuple[Page, tuple[Chunk, ...], str | None]] = field(
        default_factory=dict
    )
    embeddings: dict[str, dict[str, Vector]] = field(default_factory=dict)
    codes: dict[str, bytes] = field(default_factory=dict)
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

    def known_embeddings(
        self, fingerprint: str, text_hashes: Sequence[str], *, coded: bool = False
    ) -> set[str]:
        known = self.codes if coded else self.embeddings.get(fingerprint, {})
        return known.keys() & set(text_hashes)

    def store_embeddings(
        self,
        fingerprint: str,
        vectors: Mapping[str, Vector],
        *,
        codes: Mapping[str, bytes] | None = None,
    ) -> None:
        self._wrote("store_embeddings")
        self.codes.update(codes or {})
        self.embeddings.setdefault(fingerprint, {}).update(vectors)

    def missing_embeddings(
        self, fingerprint: str, *, limit: int, coded: bool = False
    ) -> list[tuple[str, str]]:
        known = self.codes if coded else self.embeddings.get(fingerprint, {})
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


def stored_chunk(
    chunk_id: str,
    *units: str | tuple[UnitKind, str] | tuple[UnitKind, str, str],
    page: str = "page.md",
    title: str = "Page",
    heading: tuple[str, ...] = (),
    language: str = "fr",
    **fields: object,
) -> StoredChunk:
    """A chunk of these units, one per line: text alone is a sentence; (kind, text, context)."""
    text, spans = "", []
    for unit in units:
        kind, body, *context = (UnitKind.SENTENCE, unit) if isinstance(unit, str) else unit
        start = len(text) + bool(text)
        text = f"{text}\n{body}" if text else body
        spans.append(Unit(kind, start, start + len(body), context[0] if context else ""))
    values: dict[str, object] = {
        "source": "fake",
        "url": None,
        "modified_at": None,
        "outdated": False,
        "position": 0,
        "context": "",
        "page_version": "1",
        **fields,
    }
    return StoredChunk(
        chunk_id=chunk_id,
        page=page,
        title=title,
        language=language,
        heading_path=heading,
        text=text,
        units=tuple(spans),
        **values,  # type: ignore[arg-type]
    )


@dataclass
class FakeIndexReader:
    """Chunks in memory: BM25-like counts of shared forms, and vectors of an embedder."""

    stored: Sequence[StoredChunk] = ()
    embedder: Embedder | None = None
    audiences: Mapping[str, Audiences] = field(default_factory=dict)
    failing: bool = False

    def close(self) -> None:
        self.failing = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def status(self) -> IndexStatus:
        self._check()
        fingerprint = self.embedder.fingerprint if self.embedder else None
        count = len(self.stored)
        return IndexStatus(1, count, count, count, fingerprint, ())

    def active_fingerprint(self) -> str | None:
        return self.status().fingerprint

    def keyword_ranking(
        self,
        query: KeywordQuery,
        *,
        mode: MatchMode = "any",
        limit: int = 100,
        audiences: Audiences = PUBLIC,
        sources: Sequence[str] | None = None,
        column_weights: tuple[float, float, float, float] | None = None,
    ) -> list[ScoredChunk]:
        self._check()
        ranking = []
        for chunk in self._visible(audiences, sources):
            parts = self._contributions(query, chunk)
            if parts and (mode == "any" or len(parts) == len(query.words)):
                ranking.append(ScoredChunk(chunk.chunk_id, sum(parts.values())))
        return sorted(ranking, key=lambda s: (-s.score, s.chunk_id))[:limit]

    def explain_keywords(
        self,
        query: KeywordQuery,
        chunk_ids: Sequence[str],
        *,
        audiences: Audiences = PUBLIC,
        column_weights: tuple[float, float, float, float] | None = None,
    ) -> dict[str, dict[str, float]]:
        by_id = {chunk.chunk_id: chunk for chunk in self.stored}
        return {i: self._contributions(query, by_id[i]) for i in chunk_ids if i in by_id}

    def token_codes(
        self, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, bytes]:
        return {}

    def vector_ranking(
        self,
        vector: Vector,
        *,
        limit: int = 100,
        audiences: Audiences = PUBLIC,
        sources: Sequence[str] | None = None,
    ) -> list[ScoredChunk]:
        self._check()
        scores = self.cosines(vector, [c.chunk_id for c in self._visible(audiences, sources)])
        ranking = [ScoredChunk(chunk_id, score) for chunk_id, score in scores.items()]
        return sorted(ranking, key=lambda s: (-s.score, s.chunk_id))[:limit]

    def cosines(
        self, vector: Vector, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, float]:
        if self.embedder is None:
            return {}
        chunks = [chunk for chunk in self.stored if chunk.chunk_id in set(chunk_ids)]
        vectors = self.embedder.embed_passages([chunk.text for chunk in chunks])
        values = (vectors @ vector).tolist()
        return {chunk.chunk_id: value for chunk, value in zip(chunks, values, strict=True)}

    def chunks(
        self, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, StoredChunk]:
        self._check()
        wanted = set(chunk_ids)
        return {c.chunk_id: c for c in self._visible(audiences, None) if c.chunk_id in wanted}

    def vocabulary(self) -> Mapping[str, int]:
        self._check()
        return Counter(term for chunk in self.stored for term in self._terms(chunk))

    def public_vocabulary(self) -> Mapping[str, int]:
        self._check()
        return Counter(term for c in self._visible(PUBLIC, None) for term in self._terms(c))

    def public_acronyms(self) -> Mapping[str, str]:
        self._check()
        return learn_acronyms([chunk.text for chunk in self._visible(PUBLIC, None)])

    def pages_by_audience(self) -> Mapping[str, int]:
        pages = {chunk.page: self.audiences.get(chunk.chunk_id, PUBLIC) for chunk in self.stored}
        return Counter(name for audiences in pages.values() for name in audiences or ("",))

    def languages(self) -> Mapping[str, int]:
        return Counter(chunk.language for chunk in self.stored)

    def _check(self) -> None:
        if self.failing:
            raise IndexStoreError("the fake index is down")

    def _visible(self, audiences: Audiences, sources: Sequence[str] | None) -> list[StoredChunk]:
        return [
            chunk
            for chunk in self.stored
            if self.audiences.get(chunk.chunk_id, PUBLIC) & audiences
            and (sources is None or chunk.source in sources)
        ]

    def _terms(self, chunk: StoredChunk) -> set[str]:
        whole = "\n".join((chunk.title, *chunk.heading_path, chunk.context, chunk.text))
        analyzed = analyze_passage(whole, chunk.language)
        return set(f"{analyzed.folded} {analyzed.stems}".split())

    def _contributions(self, query: KeywordQuery, chunk: StoredChunk) -> dict[str, float]:
        terms, vocabulary, count = self._terms(chunk), self.vocabulary(), len(self.stored)
        parts = {}
        for word in query.words:
            held = [t for t in _forms(word) if t in terms]
            if held:
                frequency = max(vocabulary.get(t, 0) for t in held)
                parts[word.surface] = math.log(1 + (count - frequency + 0.5) / (frequency + 0.5))
        return parts


def _forms(word: QueryWord) -> list[str]:
    return [t for form in (word, *word.alternatives) for t in (form.folded, *form.stems)]


class FakeReader:
    """A reader that knows which texts answer, and counts what it reads."""

    name = "fake"

    def __init__(self, *, answers: str = "", failure: str = "") -> None:
        self._answers = answers
        self._failure = failure
        self.read_texts: list[str] = []

    def read(self, question: str, texts: Sequence[str]) -> list[float]:
        if self._failure:
            raise ReadingFailed(self._failure)
        self.read_texts += texts
        return [0.95 if self._answers in text else 0.05 for text in texts]
