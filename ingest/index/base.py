"""The two ports of the index: `IndexReader` for the bot, `IndexWriter` for ingest alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Literal, Protocol, Self

from ingest.analysis import KeywordQuery
from ingest.embedding.base import Vector
from ingest.records import PUBLIC, Audiences, Chunk, IngestReport, Page, ScoredChunk, StoredChunk

MatchMode = Literal["all", "any"]


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """State of one source in the index."""

    name: str
    pages: int
    chunks: int
    languages: Mapping[str, int]
    """Pages per language code."""
    last_run_at: datetime | None
    last_success_at: datetime | None
    last_report: IngestReport | None


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """State of the whole index."""

    generation: int
    """Grows with every visible change."""
    pages: int
    chunks: int
    embedded_chunks: int
    """Chunks that have a vector of the active model."""
    fingerprint: str | None
    """Active embedding model, None before the first ingest."""
    sources: tuple[SourceStatus, ...]


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page as it is in the index.

    Attributes:
        version: Content hash.
        audiences: Who may read it.
        text: Its chunks, in order.
        with_context: The same, each chunk after what it needs from further up.
    """

    version: str
    audiences: Audiences
    text: str
    with_context: str


class IndexReader(Protocol):
    """Query-only view of the index. Safe to share between threads.

    Every method that returns chunks filters by `audiences` inside the query: a chunk is visible
    when its page has at least one audience in common with the reader.
    Rankings are best first, ties by chunk_id.
    Every method but `close` raises IndexNotBuiltError before the first ingest and
    SchemaVersionError when another version wrote the database.
    """

    def close(self) -> None:
        """Give back connections and memory; also done at the end of a `with`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def status(self) -> IndexStatus:
        """Describe the index.

        Raises:
            IndexNotBuiltError: If nothing has ever been ingested.
        """
        ...

    def active_fingerprint(self) -> str | None:
        """Return the model whose vectors are searched, None when there is none; cheap."""
        ...

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
        """Rank chunks by BM25 over title, headings, body and stems.

        Scores are negated FTS5 bm25, so higher is better and always > 0 for a match.
        A query without words matches nothing. `sources=None` means all.
        """
        ...

    def explain_keywords(
        self,
        query: KeywordQuery,
        chunk_ids: Sequence[str],
        *,
        audiences: Audiences = PUBLIC,
        column_weights: tuple[float, float, float, float] | None = None,
    ) -> dict[str, dict[str, float]]:
        """Return, per chunk, the BM25 contribution of each query word, by its surface.

        Only words that match are listed; with the same weights they add up to the score of
        `keyword_ranking`, within float error.
        """
        ...

    def vector_ranking(
        self,
        vector: Vector,
        *,
        limit: int = 100,
        audiences: Audiences = PUBLIC,
        sources: Sequence[str] | None = None,
    ) -> list[ScoredChunk]:
        """Rank all visible chunks by cosine with a unit vector; exact, not approximate.

        Chunks without a vector of the active model are left out; without a model, all are.

        Raises:
            EmbeddingMismatchError: If the vector has another dimension than the active model.
        """
        ...

    def cosines(
        self, vector: Vector, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, float]:
        """Return the cosine of each visible chunk that has a vector of the active model.

        Raises:
            EmbeddingMismatchError: If the vector has another dimension than the active model.
        """
        ...

    def chunks(
        self, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, StoredChunk]:
        """Fetch chunks by id; unknown and invisible ids are absent from the result."""
        ...

    def page_texts(self, pages: Collection[tuple[str, str]]) -> dict[tuple[str, str], IndexedPage]:
        """Return what pages (source, path) say now; those that are gone are absent.

        Whatever their audience: to compare with, never to show.
        """
        ...

    def known_versions(self, versions: Collection[str]) -> frozenset[str]:
        """Return those of these content hashes that some page has."""
        ...

    def token_codes(
        self, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, bytes]:
        """Return the coded token states (see `TokenCodec`) of each visible chunk that has some.

        They are those of the active model.
        """
        ...

    def vocabulary(self) -> Mapping[str, int]:
        """Map every indexed term (folded words and stems) to the chunks that contain it.

        Read once per generation and shared; treat it as read-only. While a sync runs, a large
        one may lag some seconds behind.
        """
        ...

    def public_vocabulary(self) -> Mapping[str, int]:
        """Return the part of `vocabulary` that stands on pages everybody may read.

        Words are suggested from it: a suggestion must not tell what a restricted page says.
        """
        ...

    def public_acronyms(self) -> Mapping[str, str]:
        """Map acronyms, as people type them, to what pages that everybody may read say they mean.

        Learned anew when the vocabulary changes; those of a large one may lag half a minute behind.
        """
        ...

    def pages_by_audience(self) -> Mapping[str, int]:
        """Number of pages per audience; under "", of pages that nobody may read."""
        ...

    def languages(self) -> Mapping[str, int]:
        """Number of chunks per page language."""
        ...


@dataclass(frozen=True, slots=True)
class PageState:
    """What the index knows of a page, enough to decide whether it changed."""

    content_hash: str
    version: str
    source_version: str | None
    url: str | None
    modified_at: datetime | None
    audiences: Audiences
    chunks: int = 0
    """How many chunks it has."""


class Lease(Protocol):
    """A lease that is being held."""

    def check(self) -> None:
        """Make sure it is still held: long work asks between its steps.

        Raises:
            LeaseHeldError: If it ran out, whether or not somebody else has taken it.
        """
        ...


class IndexWriter(Protocol):
    """The index's only way in. Every method is one short transaction."""

    def close(self) -> None:
        """Give back connections; also done at the end of a `with`."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    def migrate(self) -> None:
        """Bring the schema up to date, and the keyword index to the present analysis.

        Raises:
            SchemaVersionError: If the database was written by a newer version.
        """
        ...

    def page_states(self, source: str) -> dict[str, PageState]:
        """Return the known pages of a source, by path."""
        ...

    def replace_page(
        self, page: Page, chunks: Sequence[Chunk], *, source_version: str | None = None
    ) -> None:
        """Insert a page or replace it with all its chunks: readers see the old or the new one."""
        ...

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
        """Update what can change without a new text."""
        ...

    def remove_pages(self, source: str, paths: Sequence[str]) -> int:
        """Remove pages with their chunks; returns how many existed."""
        ...

    def chunk_count(self, source: str) -> int:
        """Count the chunks of a source."""
        ...

    def known_embeddings(
        self, fingerprint: str, text_hashes: Sequence[str], *, coded: bool = False
    ) -> set[str]:
        """Return which of these texts already have a vector of this model.

        With `coded` those without token codes do not count.
        """
        ...

    def store_embeddings(
        self,
        fingerprint: str,
        vectors: Mapping[str, Vector],
        *,
        codes: Mapping[str, bytes] | None = None,
    ) -> None:
        """Cache vectors (unit length) by text hash; storing one twice is harmless.

        Args:
            fingerprint: Of the model.
            vectors: By text hash.
            codes: Token states of the same texts (see `TokenCodec`), where the model shows them.
        """
        ...

    def missing_embeddings(
        self, fingerprint: str, *, limit: int, coded: bool = False
    ) -> list[tuple[str, str]]:
        """Return up to `limit` (text_hash, embedding text) that lack a vector of this model.

        With `coded` those without token codes lack something too.
        """
        ...

    def active_fingerprint(self) -> str | None:
        """Return the model whose vectors readers use."""
        ...

    def activate_model(self, fingerprint: str, dimension: int) -> None:
        """Make readers use the vectors of this model, at once."""
        ...

    def prune_embeddings(self, *, unused_for_days: int) -> int:
        """Drop cached vectors that no chunk has used for so long; returns how many."""
        ...

    def record_run(self, report: IngestReport, *, started_at: datetime) -> None:
        """Remember the outcome of a sync."""
        ...

    def lease(self, name: str, *, ttl_s: float) -> AbstractContextManager[Lease]:
        """Hold a named lease, renewed in the background while the body runs.

        Raises:
            LeaseHeldError: If somebody else holds it, with whom and since when; also at the end
                of a body during which it was lost. A lease whose holder died is taken over once
                `ttl_s` has passed, or at once where the holder can be seen to be gone.
        """
        ...
