"""The second stage: reorders a few candidates by how well their best sentence answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from bot.question_types import AnswerType, asked_types, type_share
from bot.records import Passage
from bot.retrieval.coverage import IndexedForms, idf_coverage
from bot.retrieval.interaction import QuestionTokens, best_match, word_matches
from bot.retrieval.query import Query
from bot.retrieval.spreading import spread
from bot.retrieval.unit_words import unit_words, within
from ingest import (
    PUBLIC,
    Audiences,
    CodedTokens,
    Embedder,
    IndexReader,
    StoredChunk,
    TokenCodec,
    TokenEmbedder,
    UnitKind,
    Vector,
)

REFINED_UNITS = 8
REFINED_PASSAGES = 6
"""Units encoded by themselves for each question, of the best passages. Six to sixteen units choose
as good answers as all sixty did (docs/quality.md)."""
REFINED_CHARS = 1_000
"""Of these units together, past the first: some 300 tokens, most of what a question costs."""


@dataclass(frozen=True, slots=True)
class RerankWeights:
    """Weights of the second stage, in units of cosine. Measured in docs/quality.md."""

    unit_interaction: float = 0.5
    answer_type: float = 0.07
    lexical: float = 0.2
    coverage: float = 0.08
    interaction: float = 0.8


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

    def rerank(
        self, query: Query, passages: Sequence[Passage], *, audiences: Audiences = PUBLIC
    ) -> list[Passage]:
        """Return the same passages, best first, ranks renewed, ties by chunk_id.

        Raises:
            EncodingFailed: If an encoder takes part and is down.
        """
        ...


class UnitReranker:
    """Scores each candidate by its chunk, its best unit and its keywords.

    score = cos(q, chunk) + w.interaction * late interaction + w.lexical * keyword share
    + w.coverage * idf coverage + the best unit's cos(q, unit) + w.unit_interaction * late
    interaction + w.answer_type * share of the asked kinds of answer that it holds. Coverage counts
    only between texts of the same language, late interaction only with an encoder that shows its
    token states. A heading answers nothing, and is no unit here.
    """

    def __init__(
        self, reader: IndexReader, embedder: Embedder, *, weights: RerankWeights | None = None
    ) -> None:
        self._reader = reader
        self._embedder = embedder
        self._codec = TokenCodec(embedder) if isinstance(embedder, TokenEmbedder) else None
        self._weights = weights or RerankWeights()

    def rerank(
        self, query: Query, passages: Sequence[Passage], *, audiences: Audiences = PUBLIC
    ) -> list[Passage]:
        """Reorder by the fixed sum of the class (see `Reranker.rerank`)."""
        if query.vector is None or not passages:
            return list(passages)
        units = self._units(query, query.vector)
        figures = units.figures([passage.chunk for passage in passages], audiences)
        asked = asked_types(query.text)
        scored = [
            self._score(query, passage, own, asked)
            for passage, own in zip(passages, figures, strict=True)
        ]
        scored.sort(key=lambda passage: (-passage.score, passage.chunk.chunk_id))
        # Spread already here: the units that are encoded are those of what will stand in front.
        return units.refined(spread(scored))

    def _units(self, query: Query, vector: Vector) -> _Units:
        embedder = self._embedder
        if self._codec is None or query.tokens is None or not isinstance(embedder, TokenEmbedder):
            return _EncodedUnits(embedder, vector)
        question = QuestionTokens.of(query, query.tokens)
        return _TokenUnits(self._reader, embedder, self._codec, question, vector)

    def _score(
        self,
        query: Query,
        passage: Passage,
        units: UnitFigures,
        asked: frozenset[AnswerType],
    ) -> Passage:
        chunk, weights = passage.chunk, self._weights
        cosine = passage.signals.get("cosine", 0.0)
        same_language = query.language in (chunk.language, "und")
        coverage = idf_coverage(query, IndexedForms.of(full_text(chunk), chunk.language))
        score = (
            cosine
            + self._answering(chunk, units, asked, default=cosine)
            + weights.lexical * passage.signals.get("lexical_share", 0.0)
            + weights.coverage * coverage * same_language
        )
        signals = {
            **passage.signals,
            "first_stage": passage.score,
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

    def _answering(
        self,
        chunk: StoredChunk,
        units: UnitFigures,
        asked: frozenset[AnswerType],
        *,
        default: float,
    ) -> float:
        """Return how well the best unit answers; `default`, far less, where all are headings."""
        weights = self._weights
        interactions = units.interactions or (0.0,) * len(units.cosines)
        return max(
            (
                cosine
                + weights.unit_interaction * interaction
                + weights.answer_type * (type_share(asked, chunk.text[unit.start : unit.end]) or 0)
                for unit, cosine, interaction in zip(
                    chunk.units, units.cosines, interactions, strict=True
                )
                if unit.kind is not UnitKind.HEADING
            ),
            default=default,
        )


class _Units(Protocol):
    """Compares the units of chunks with one question."""

    def figures(self, chunks: Sequence[StoredChunk], audiences: Audiences) -> list[UnitFigures]:
        """Return the figures of each chunk, in order."""
        ...

    def refined(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages, in the same order, with better figures for their best units."""
        ...


class _EncodedUnits:
    """Encodes every unit for each question: what it takes with one vector per text."""

    def __init__(self, embedder: Embedder, vector: Vector) -> None:
        self._embedder = embedder
        self._vector = vector

    def figures(self, chunks: Sequence[StoredChunk], audiences: Audiences) -> list[UnitFigures]:
        """Encode the units of all chunks at once, each distinct text only once."""
        texts = [unit_texts(chunk) for chunk in chunks]
        distinct = list(dict.fromkeys(text for own in texts for text in own))
        if not distinct:
            return [UnitFigures(()) for _ in chunks]
        rows = {text: row for row, text in enumerate(distinct)}
        cosines = self._embedder.embed_passages(distinct) @ self._vector
        return [UnitFigures(tuple(cosines[[rows[text] for text in own]].tolist())) for own in texts]

    def refined(self, passages: Sequence[Passage]) -> list[Passage]:
        """Return them as they are: every unit has been encoded."""
        return list(passages)


class _TokenUnits:
    """Reads the token states that the index keeps: a unit's vector is the mean of its tokens.

    A chunk without them, indexed before they were kept, is encoded for the question. The few best
    units are then encoded by themselves: their figures are what an answer is chosen and judged by.
    """

    def __init__(
        self,
        reader: IndexReader,
        embedder: TokenEmbedder,
        codec: TokenCodec,
        question: QuestionTokens,
        vector: Vector,
    ) -> None:
        self._reader = reader
        self._embedder = embedder
        self._codec = codec
        self._question = question
        self._vector = vector

    def figures(self, chunks: Sequence[StoredChunk], audiences: Audiences) -> list[UnitFigures]:
        """Compare the question with the tokens of each chunk, and of each of its units."""
        coded = self._tokens(chunks, audiences)
        return [self._compare(chunk, coded[chunk.chunk_id]) for chunk in chunks]

    def refined(self, passages: Sequence[Passage]) -> list[Passage]:
        """Encode the best units; the figures of the others are moved by as much on average."""
        best = _best_units(passages)
        if not best:
            return list(passages)
        vectors, tokens = self._embedder.embed_with_tokens([text for _, _, text in best])
        codes = [self._codec.decode(code) for code in self._codec.encode(tokens)]
        cosines: _Refined = {}
        interactions: _Refined = {}
        for (passage, index, _), vector, coded in zip(best, vectors, codes, strict=True):
            key = (passage.chunk.chunk_id, index)
            matches = word_matches(self._question, coded, self._codec.center)
            cosines[key] = (float(vector @ self._vector), passage.unit_cosines[index])
            interactions[key] = (
                best_match(matches, self._question.weights),
                passage.unit_interactions[index],
            )
        return [
            replace(
                passage,
                unit_cosines=_moved(passage.chunk.chunk_id, passage.unit_cosines, cosines),
                unit_interactions=_moved(
                    passage.chunk.chunk_id, passage.unit_interactions, interactions
                ),
            )
            for passage in passages
        ]

    def _tokens(
        self, chunks: Sequence[StoredChunk], audiences: Audiences
    ) -> dict[str, CodedTokens]:
        kept = self._reader.token_codes([c.chunk_id for c in chunks], audiences=audiences)
        codes = {chunk_id: code for chunk_id, code in kept.items() if self._codec.reads(code)}
        missing = [chunk for chunk in chunks if chunk.chunk_id not in codes]
        if missing:
            states = self._embedder.token_states([chunk.embedding_text for chunk in missing])
            made = self._codec.encode(states)
            codes |= {c.chunk_id: code for c, code in zip(missing, made, strict=True)}
        return {chunk_id: self._codec.decode(code) for chunk_id, code in codes.items()}

    def _compare(self, chunk: StoredChunk, tokens: CodedTokens) -> UnitFigures:
        center, weights = self._codec.center, self._question.weights
        states = center + tokens.lengths[:, np.newaxis] * tokens.directions
        matches = word_matches(self._question, tokens, center)
        cosines, interactions = [], []
        for own, *around in unit_words(chunk):
            alone = within(tokens.words, [own])
            if not alone.any():  # past what the encoder reads of a text
                cosines.append(_cosine(states, self._vector))
                interactions.append(0.0)
                continue
            read = alone | within(tokens.words, around)
            cosines.append(_cosine(states[read], self._vector))
            interactions.append(best_match(matches[read], weights))
        return UnitFigures(tuple(cosines), tuple(interactions), best_match(matches, weights))


_Refined = dict[tuple[str, int], tuple[float, float]]
"""(chunk_id, unit) -> its figure encoded by itself, and as read from its chunk."""


def _best_units(passages: Sequence[Passage]) -> list[tuple[Passage, int, str]]:
    """Return the units that promise most, as the choice of an answer weighs their figures.

    Each with its place in its passage, and as it is encoded.
    """
    scored = [
        (cosine + 0.5 * interaction + 0.5 * passage.score, passage, index)
        for passage in passages[:REFINED_PASSAGES]
        for index, (cosine, interaction) in enumerate(
            zip(passage.unit_cosines, passage.unit_interactions, strict=True)
        )
        if passage.chunk.units[index].kind is not UnitKind.HEADING
    ]
    scored.sort(key=lambda entry: (-entry[0], entry[1].rank, entry[2]))
    best: list[tuple[Passage, int, str]] = []
    left = REFINED_CHARS
    for _, passage, index in scored:
        text = unit_texts(passage.chunk)[index]
        left -= len(text)
        if best and (left < 0 or len(best) == REFINED_UNITS):
            break
        best.append((passage, index, text))
    return best


def _moved(chunk_id: str, figures: Sequence[float], refined: _Refined) -> tuple[float, ...]:
    shift = sum(alone - read for alone, read in refined.values()) / len(refined)
    return tuple(
        refined[chunk_id, index][0] if (chunk_id, index) in refined else figure + shift
        for index, figure in enumerate(figures)
    )


def _cosine(states: Vector, vector: Vector) -> float:
    """Return the cosine of the mean of some states with a vector of length 1."""
    mean = states.mean(axis=0) if len(states) else np.zeros_like(vector)
    return float(mean @ vector / max(float(np.linalg.norm(mean)), 1e-9))


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
