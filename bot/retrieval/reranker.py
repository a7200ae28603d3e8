"""The second stage: reorders a few candidates by how well their best sentence fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from bot.records import Passage
from bot.retrieval.coverage import IndexedForms, idf_coverage
from bot.retrieval.interaction import QuestionTokens, best_matches
from bot.retrieval.query import Query
from ingest import Embedder, StoredChunk, TokenEmbedder, UnitKind, Vector


@dataclass(frozen=True, slots=True)
class RerankWeights:
    """Weights of the second stage, in units of cosine. Measured in docs/quality.md."""

    unit: float = 1.0
    lexical: float = 0.2
    coverage: float = 0.08
    interaction: float = 0.5


@dataclass(frozen=True, slots=True)
class UnitFigures:
    """What the encoder says of the units of one passage, in their order.

    Attributes:
        cosines: With the question.
        interactions: Late interaction of each unit, empty without token states.
        interaction: Of the passage as a whole, None without token states.
    """

    cosines: tuple[float, ...]
    interactions: tuple[float, ...] = ()
    interaction: float | None = None


class Reranker(Protocol):
    """Reorders the candidates of the first stage."""

    def rerank(self, query: Query, passages: Sequence[Passage]) -> list[Passage]:
        """Return the same passages, best first, ranks renewed, ties by chunk_id.

        Raises:
            EncodingFailed: If an encoder takes part and is down.
        """
        ...


class UnitReranker:
    """Scores each candidate by its chunk, its best unit and its keywords.

    score = cos(q, chunk) + w.unit * max cos(q, unit) + w.lexical * keyword share
    + w.coverage * idf coverage + w.interaction * late interaction, coverage only between texts of
    the same language, late interaction only with an encoder that shows its token states.
    """

    def __init__(self, embedder: Embedder, *, weights: RerankWeights | None = None) -> None:
        self._embedder = embedder
        self._weights = weights or RerankWeights()

    def rerank(self, query: Query, passages: Sequence[Passage]) -> list[Passage]:
        """Reorder by the fixed sum of the class (see `Reranker.rerank`)."""
        if query.vector is None or not passages:
            return list(passages)
        figures = self.unit_figures(query, query.vector, [passage.chunk for passage in passages])
        scored = [
            self._score(query, passage, units)
            for passage, units in zip(passages, figures, strict=True)
        ]
        scored.sort(key=lambda passage: (-passage.score, passage.chunk.chunk_id))
        return [replace(passage, rank=rank) for rank, passage in enumerate(scored, start=1)]

    def unit_figures(
        self, query: Query, vector: Vector, chunks: Sequence[StoredChunk]
    ) -> list[UnitFigures]:
        """Encode the units of all chunks at once, each distinct text only once."""
        texts = [unit_texts(chunk) for chunk in chunks]
        distinct = list(dict.fromkeys(text for own in texts for text in own))
        if not distinct:
            return [UnitFigures(()) for _ in chunks]
        rows = {text: row for row, text in enumerate(distinct)}
        by_chunk = [[rows[text] for text in own] for own in texts]
        vectors, matches, weights = self._encode(query, distinct)
        cosines = vectors @ vector
        if matches is None:
            return [UnitFigures(tuple(cosines[own].tolist())) for own in by_chunk]
        return [
            UnitFigures(
                tuple(cosines[own].tolist()),
                tuple((matches[own] @ weights).tolist()),
                float(matches[own].max(axis=0, initial=0.0) @ weights),
            )
            for own in by_chunk
        ]

    def _encode(self, query: Query, texts: Sequence[str]) -> tuple[Vector, Vector | None, Vector]:
        """Return vectors and, with token states, each question word's best match in each text."""
        none = np.zeros(0, dtype=np.float32)
        if not isinstance(self._embedder, TokenEmbedder) or not self._weights.interaction:
            return self._embedder.embed_passages(texts), None, none
        (tokens,) = self._embedder.token_states([query.text], kind="query")
        question = QuestionTokens.of(query, tokens)
        if not len(question.weights):
            return self._embedder.embed_passages(texts), None, none
        vectors, states = self._embedder.embed_with_tokens(texts)
        return vectors, best_matches(question, states), question.weights

    def _score(self, query: Query, passage: Passage, units: UnitFigures) -> Passage:
        chunk, weights = passage.chunk, self._weights
        cosine = passage.signals.get("cosine", 0.0)
        best_unit = max(units.cosines, default=cosine)
        same_language = query.language in (chunk.language, "und")
        coverage = idf_coverage(query, IndexedForms.of(full_text(chunk), chunk.language))
        score = (
            cosine
            + weights.unit * best_unit
            + weights.lexical * passage.signals.get("lexical_share", 0.0)
            + weights.coverage * coverage * same_language
        )
        signals = {
            **passage.signals,
            "first_stage": passage.score,
            "best_unit": best_unit,
            "coverage": coverage,
        }
        if units.interaction is not None:
            score += weights.interaction * units.interaction
            signals["interaction"] = units.interaction
        return replace(
            passage,
            score=score,
            signals=signals,
            unit_cosines=units.cosines,
            unit_interactions=units.interactions,
        )


def unit_texts(chunk: StoredChunk) -> list[str]:
    """Return what is encoded for each unit of a chunk: `nearest heading - lead-in: text`."""
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
    texts = []
    for unit in chunk.units:
        body = chunk.text[unit.start : unit.end]
        if unit.kind is UnitKind.HEADING:
            heading = body
            texts.append(body)
            continue
        lead_in = f"{unit.context.rstrip(' :')}: " if unit.context else ""
        texts.append(f"{heading} - {lead_in}{body}")
    return texts


def full_text(chunk: StoredChunk) -> str:
    """Return everything a chunk is found by: title, headings, context and text."""
    return "\n".join((chunk.title, *chunk.heading_path, chunk.context, chunk.text))
