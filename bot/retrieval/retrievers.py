"""The `Retriever` port and its two single-leg adapters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.records import Passage, Question
from bot.retrieval.query import Query, QueryBuilder
from ingest import (
    PUBLIC,
    Audiences,
    Embedder,
    EmbeddingMismatchError,
    IndexReader,
    MatchMode,
    ScoredChunk,
)

TITLE_WEIGHTS = (10.0, 1.0, 1.0, 1.0)
"""FTS5 column weights (title, headings, body, stems) when every word must match."""

ANY_WORD_WEIGHTS = (3.0, 2.0, 1.0, 1.0)
"""Column weights when any word may match. Both measured in docs/quality.md."""


class Retriever(Protocol):
    """Finds passages for a question."""

    def retrieve(
        self, question: Question, *, top_k: int, audiences: Audiences = PUBLIC
    ) -> Sequence[Passage]:
        """Rank passages for a question.

        Args:
            question: With the earlier questions of its thread, if any.
            top_k: Passages wanted, at most.
            audiences: Only what these may read.

        Returns:
            Best first, ranks from 1, ties by chunk_id. Empty when nothing matches.
        """
        ...


class KeywordRetriever:
    """Ranks by BM25; mode `all` wants every word of the question, `any` at least one."""

    def __init__(
        self, reader: IndexReader, queries: QueryBuilder, *, mode: MatchMode = "any"
    ) -> None:
        self._reader = reader
        self._queries = queries
        self._mode = mode

    def retrieve(
        self, question: Question, *, top_k: int, audiences: Audiences = PUBLIC
    ) -> Sequence[Passage]:
        """Rank passages by negated FTS5 bm25 (see `Retriever.retrieve`)."""
        query = self._queries.build(question)
        ranking = self.rank(query, limit=top_k, audiences=audiences)
        return passages_of(self._reader, ranking, leg="keyword", audiences=audiences)

    def rank(self, query: Query, *, limit: int, audiences: Audiences = PUBLIC) -> list[ScoredChunk]:
        """Rank chunk ids, without fetching the chunks."""
        return self._reader.keyword_ranking(
            query.keywords,
            mode=self._mode,
            limit=limit,
            audiences=audiences,
            sources=query.question.sources,
            column_weights=TITLE_WEIGHTS if self._mode == "all" else ANY_WORD_WEIGHTS,
        )


class EmbeddingRetriever:
    """Ranks by the cosine of the question's vector with each chunk's."""

    def __init__(self, reader: IndexReader, embedder: Embedder, queries: QueryBuilder) -> None:
        self._reader = reader
        self._embedder = embedder
        self._queries = queries

    def retrieve(
        self, question: Question, *, top_k: int, audiences: Audiences = PUBLIC
    ) -> Sequence[Passage]:
        """Rank passages by cosine (see `Retriever.retrieve`).

        Raises:
            EncodingFailed: If the encoder is down or refuses.
            EmbeddingMismatchError: If the index holds vectors of another model.
        """
        query = self.embed(self._queries.build(question))
        ranking = self.rank(query, limit=top_k, audiences=audiences)
        return passages_of(self._reader, ranking, leg="vector", audiences=audiences)

    def embed(self, query: Query) -> Query:
        """Return the query with its vector; an empty one gets none.

        Raises:
            EncodingFailed: If the encoder is down or refuses.
            EmbeddingMismatchError: If the index holds vectors of another model.
        """
        active = self._reader.active_fingerprint()
        if active != self._embedder.fingerprint:
            raise EmbeddingMismatchError(
                f"the index holds vectors of {active or 'no model'}, not of"
                f" {self._embedder.fingerprint}; run `manuel ingest`"
            )
        return query if query.is_empty else query.with_vector(self._embedder)

    def rank(self, query: Query, *, limit: int, audiences: Audiences = PUBLIC) -> list[ScoredChunk]:
        """Rank chunk ids by a query that has a vector; none without."""
        if query.vector is None:
            return []
        return self._reader.vector_ranking(
            query.vector, limit=limit, audiences=audiences, sources=query.question.sources
        )

    def cosines(
        self, query: Query, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, float]:
        """Return the cosine of each of these chunks with the query."""
        if query.vector is None:
            return {}
        return self._reader.cosines(query.vector, chunk_ids, audiences=audiences)


def passages_of(
    reader: IndexReader, ranking: Sequence[ScoredChunk], *, leg: str, audiences: Audiences
) -> list[Passage]:
    """Fetch the chunks of a single-leg ranking; what vanished in between is left out."""
    chunks = reader.chunks([scored.chunk_id for scored in ranking], audiences=audiences)
    found = [scored for scored in ranking if scored.chunk_id in chunks]
    return [
        Passage(chunks[scored.chunk_id], rank=rank, score=scored.score, legs={leg: rank})
        for rank, scored in enumerate(found, start=1)
    ]
