"""Both legs, their fusion and the second stage, as one retriever."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bot.records import Passage, Question
from bot.retrieval.fusion import reciprocal_rank_fusion, score_fusion
from bot.retrieval.query import Query, QueryBuilder
from bot.retrieval.reranker import Reranker
from bot.retrieval.retrievers import EmbeddingRetriever, KeywordRetriever
from bot.retrieval.spreading import MAX_PER_PAGE, spread
from ingest import (
    PUBLIC,
    Audiences,
    EmbeddingMismatchError,
    EncodingFailed,
    IndexReader,
    ScoredChunk,
)

logger = logging.getLogger(__name__)

Fusion = Literal["score", "rrf"]

CROWD_RANK = 46
"""Rank of the chunk whose cosine stands for those that are merely on the subject: the more chunks,
the nearer the nearest is by chance. Ranks of 11 and 46 told right answers about as well."""

SMALL_INDEX_LIFT = 0.06
"""How far the nearest chunk is taken to stand out where there are too few to tell: the mean lift in
the smallest handbook of the figures, of 162 chunks."""

KEYWORDS_ONLY = "encoder unavailable: keyword search only"
OTHER_MODEL = "the index holds vectors of another model: keyword search only"


@dataclass(frozen=True, slots=True)
class RetrievalLimits:
    """How far each stage looks.

    Attributes:
        leg_depth: Chunks taken from each leg.
        candidates: Chunks that reach the second stage.
        candidates_per_page: Of one page: which of its chunks answers is for the second stage to
            tell.
        max_per_page: Of one page in the result, before what other pages have.
    """

    leg_depth: int = 200
    candidates: int = 16
    candidates_per_page: int = 6
    max_per_page: int = MAX_PER_PAGE


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was found for one question, and how.

    Attributes:
        degraded: Why one leg did not take part, None when all is well.
        timings_ms: "embed" and "search", in milliseconds.
    """

    query: Query
    passages: tuple[Passage, ...]
    degraded: str | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)


class HybridRetriever:
    """Keyword and vector legs, fused, then reordered by a second stage.

    Without an encoder, or when it fails, the keyword leg goes on alone and the result says so. A
    failing index raises: an outage is never an empty result.
    """

    def __init__(
        self,
        reader: IndexReader,
        queries: QueryBuilder,
        keyword: KeywordRetriever,
        vector: EmbeddingRetriever | None,
        *,
        reranker: Reranker | None = None,
        fusion: Fusion = "score",
        limits: RetrievalLimits | None = None,
    ) -> None:
        self._reader = reader
        self._queries = queries
        self._keyword = keyword
        self._vector = vector
        self._reranker = reranker
        self._fusion = fusion
        self._limits = limits or RetrievalLimits()

    def retrieve(
        self, question: Question, *, top_k: int, audiences: Audiences = PUBLIC
    ) -> Sequence[Passage]:
        """Rank passages for a question (see `Retriever.retrieve`)."""
        return self.search(question, top_k=top_k, audiences=audiences).passages

    def search(self, question: Question, *, top_k: int, audiences: Audiences = PUBLIC) -> Retrieval:
        """Rank passages and tell how: query, what failed, time spent.

        Raises:
            IndexStoreError: If the index cannot be read.
        """
        started = time.perf_counter()
        query = self._queries.build(question)
        analysed = time.perf_counter()
        query, degraded = self._embed(query)
        embedded = time.perf_counter()
        candidates = self._first_stage(
            query, limit=max(top_k, self._limits.candidates), audiences=audiences
        )
        passages, reason = self._second_stage(query, candidates, audiences)
        done = time.perf_counter()
        return Retrieval(
            query,
            tuple(passages[:top_k]),
            degraded or reason,
            {
                "embed": 1_000 * (embedded - analysed),
                "search": 1_000 * (done - embedded + analysed - started),
            },
        )

    def _embed(self, query: Query) -> tuple[Query, str | None]:
        if self._vector is None:
            return query, None
        try:
            return self._vector.embed(query), None
        except EncodingFailed as error:
            logger.warning("encoder failed, keywords alone", extra={"reason": str(error)})
            return query, KEYWORDS_ONLY
        except EmbeddingMismatchError as error:
            logger.warning("other model indexed, keywords alone", extra={"reason": str(error)})
            return query, OTHER_MODEL

    def _first_stage(self, query: Query, *, limit: int, audiences: Audiences) -> list[Passage]:
        depth = max(self._limits.leg_depth, limit)
        keyword = self._keyword.rank(query, limit=depth, audiences=audiences)
        vector: list[ScoredChunk] = []
        cosines: dict[str, float] = {}
        if self._vector is not None and query.vector is not None:
            vector = self._vector.rank(query, limit=depth, audiences=audiences)
            cosines = {scored.chunk_id: scored.score for scored in vector}
            unseen = [scored.chunk_id for scored in keyword if scored.chunk_id not in cosines]
            cosines |= self._vector.cosines(query, unseen, audiences=audiences)
        crowd = _crowd(vector)
        shares = _lexical_shares(query, keyword)
        if self._fusion == "rrf":
            fused = reciprocal_rank_fusion([[s.chunk_id for s in leg] for leg in (keyword, vector)])
        else:
            fused = score_fusion(cosines, shares)
        ranks = {"keyword": _ranks(keyword), "vector": _ranks(vector)}
        chunks = self._reader.chunks(
            [chunk_id for chunk_id, _ in fused[: 3 * limit]], audiences=audiences
        )
        passages: list[Passage] = []
        per_page: dict[tuple[str, str], int] = {}
        for chunk_id, score in fused:
            chunk = chunks.get(chunk_id)
            if chunk is None:
                continue
            page = (chunk.source, chunk.page)
            per_page[page] = per_page.get(page, 0) + 1
            if per_page[page] > self._limits.candidates_per_page:
                continue
            signals = {"lexical_share": shares.get(chunk_id, 0.0)}
            if chunk_id in cosines:
                signals["cosine"] = cosines[chunk_id]
                signals["lift"] = cosines[chunk_id] - crowd
            legs = {leg: by_id.get(chunk_id) for leg, by_id in ranks.items()}
            passages.append(
                Passage(chunk, rank=len(passages) + 1, score=score, legs=legs, signals=signals)
            )
            if len(passages) == limit:
                break
        return passages

    def _second_stage(
        self, query: Query, candidates: Sequence[Passage], audiences: Audiences
    ) -> tuple[list[Passage], str | None]:
        """Reorder the best candidates, those past them behind, and spread them over pages."""
        head, tail = candidates[: self._limits.candidates], candidates[self._limits.candidates :]
        reason = None
        if self._reranker is not None:
            try:
                head = self._reranker.rerank(query, head, audiences=audiences)
            except EncodingFailed as error:
                logger.warning("encoder failed in the second stage", extra={"reason": str(error)})
                reason = KEYWORDS_ONLY
        return spread([*head, *tail], per_page=self._limits.max_per_page), reason


def _crowd(ranking: Sequence[ScoredChunk]) -> float:
    """Return the cosine of a chunk that is merely on the subject."""
    if len(ranking) >= CROWD_RANK:
        return ranking[CROWD_RANK - 1].score
    return ranking[0].score - SMALL_INDEX_LIFT if ranking else 0.0


def _lexical_shares(query: Query, ranking: Sequence[ScoredChunk]) -> dict[str, float]:
    ideal = query.ideal_bm25
    if not ideal:
        return {}
    return {scored.chunk_id: min(1.0, scored.score / ideal) for scored in ranking}


def _ranks(ranking: Sequence[ScoredChunk]) -> dict[str, int]:
    return {scored.chunk_id: rank for rank, scored in enumerate(ranking, start=1)}
