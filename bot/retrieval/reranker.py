"""The second stage: reorders a few candidates by how well their best sentence fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from bot.records import Passage
from bot.retrieval.coverage import IndexedForms, idf_coverage
from bot.retrieval.query import Query
from ingest import Embedder, StoredChunk, Unit, UnitKind, Vector


@runtime_checkable
class TokenEmbedder(Protocol):
    """What an encoder that shows its token states adds to `Embedder`."""

    def token_states(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return one float32 array (tokens, dimension) per text."""
        ...


@dataclass(frozen=True, slots=True)
class RerankWeights:
    """Weights of the second stage, in units of cosine. Measured in docs/quality.md."""

    unit: float = 1.0
    lexical: float = 0.2
    coverage: float = 0.08


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
    + w.coverage * idf coverage, the last one only between texts of the same language.
    """

    def __init__(self, embedder: Embedder, *, weights: RerankWeights | None = None) -> None:
        self._embedder = embedder
        self._weights = weights or RerankWeights()

    def rerank(self, query: Query, passages: Sequence[Passage]) -> list[Passage]:
        """Reorder by the fixed sum of the class (see `Reranker.rerank`)."""
        if query.vector is None or not passages:
            return list(passages)
        cosines = self._unit_cosines(query.vector, [passage.chunk for passage in passages])
        scored = [
            self._score(query, passage, units)
            for passage, units in zip(passages, cosines, strict=True)
        ]
        scored.sort(key=lambda passage: (-passage.score, passage.chunk.chunk_id))
        return [replace(passage, rank=rank) for rank, passage in enumerate(scored, start=1)]

    def _unit_cosines(
        self, vector: Vector, chunks: Sequence[StoredChunk]
    ) -> list[tuple[float, ...]]:
        """Encode the units of all chunks in one batch, each distinct text once."""
        texts = [[unit_text(chunk, unit) for unit in chunk.units] for chunk in chunks]
        distinct = list(dict.fromkeys(text for unit_texts in texts for text in unit_texts))
        if not distinct:
            return [() for _ in chunks]
        values = self._embedder.embed_passages(distinct) @ vector
        by_text = dict(zip(distinct, np.asarray(values, dtype=float).tolist(), strict=True))
        return [tuple(by_text[text] for text in unit_texts) for unit_texts in texts]

    def _score(self, query: Query, passage: Passage, cosines: tuple[float, ...]) -> Passage:
        chunk, weights = passage.chunk, self._weights
        cosine = passage.signals.get("cosine", 0.0)
        best_unit = max(cosines, default=cosine)
        same_language = query.language in (chunk.language, "und")
        forms = IndexedForms.of(full_text(chunk), chunk.language)
        coverage = idf_coverage(query, forms)
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
        return replace(passage, score=score, signals=signals, unit_cosines=cosines)


def unit_text(chunk: StoredChunk, unit: Unit) -> str:
    """Return what is encoded for a unit: `last heading - lead-in: text`."""
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
    body = chunk.text[unit.start : unit.end]
    if unit.kind is UnitKind.HEADING:
        return body
    lead_in = f"{unit.context.rstrip(' :')}: " if unit.context else ""
    return f"{heading} - {lead_in}{body}"


def full_text(chunk: StoredChunk) -> str:
    """Return everything a chunk is found by: title, headings, context and text."""
    return "\n".join((chunk.title, *chunk.heading_path, chunk.context, chunk.text))
