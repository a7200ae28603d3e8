"""Searching for people and scripts: ranked passages, with reasons on request."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

from bot.records import Passage, Question
from bot.retrieval.hybrid import HybridRetriever
from bot.retrieval.query import QueryBuilder
from bot.retrieval.retrievers import EmbeddingRetriever, KeywordRetriever
from ingest import PUBLIC, Audiences, ConfigurationError, IndexReader

SearchMode = Literal["hybrid", "keyword", "vector"]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One passage, with the BM25 contribution of each word when explained."""

    passage: Passage
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A ranking as it was asked for."""

    query: str
    mode: SearchMode
    results: tuple[SearchResult, ...]
    degraded: str | None = None


class Searcher:
    """Ranks passages by one leg or by both. Close it, or use it as a context manager."""

    def __init__(
        self,
        reader: IndexReader,
        queries: QueryBuilder,
        *,
        hybrid: HybridRetriever,
        keyword: KeywordRetriever,
        vector: EmbeddingRetriever | None,
        resources: AbstractContextManager[object] | None = None,
    ) -> None:
        self._reader = reader
        self._queries = queries
        self._hybrid = hybrid
        self._keyword = keyword
        self._vector = vector
        self._resources = ExitStack()
        self._resources.enter_context(resources or nullcontext())

    def search(
        self,
        question: Question,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        explain: bool = False,
        audiences: Audiences = PUBLIC,
    ) -> SearchResults:
        """Rank passages.

        Args:
            question: Terms or a question; any text is legal.
            mode: Which legs to use.
            limit: Passages wanted, at most.
            explain: Whether to compute what each word contributed.
            audiences: Only what these may read.

        Raises:
            ConfigurationError: If mode `vector` is asked for where no encoder is configured.
            EncodingFailed: If the encoder is down and mode is `vector`.
        """
        degraded = None
        if mode == "hybrid":
            retrieval = self._hybrid.search(question, top_k=limit, audiences=audiences)
            passages, degraded = retrieval.passages, retrieval.degraded
        elif mode == "keyword":
            passages = tuple(self._keyword.retrieve(question, top_k=limit, audiences=audiences))
        elif self._vector is None:
            raise ConfigurationError("EMBEDDING_MODEL is `none`: there is no vector search")
        else:
            passages = tuple(self._vector.retrieve(question, top_k=limit, audiences=audiences))
        terms: Mapping[str, Mapping[str, float]] = {}
        if explain and passages:
            keywords = self._queries.build(question).keywords
            terms = self._reader.explain_keywords(
                keywords, [p.chunk.chunk_id for p in passages], audiences=audiences
            )
        results = tuple(SearchResult(p, terms.get(p.chunk.chunk_id, {})) for p in passages)
        return SearchResults(question.text, mode, results, degraded)

    def close(self) -> None:
        """Let go of the index."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
