"""The vectors of the active model in memory: one matrix, searched exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from ingest.embedding.base import Vector
from ingest.errors import EmbeddingMismatchError
from ingest.index.tables import (
    chunks,
    decode_vectors,
    embedding_models,
    embeddings,
    index_state,
    page_audiences,
    pages,
)
from ingest.records import Audiences, ScoredChunk

_LISTED_PAGES = 500
"""Beyond so many pages, reading all of them is quicker than naming each."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What decides who sees a page: many pages share one."""

    source: str
    audiences: Audiences

    def admits(self, audiences: Audiences, sources: Sequence[str] | None) -> bool:
        """Tell whether its pages are visible to these audiences and in these sources."""
        return not self.audiences.isdisjoint(audiences) and (
            sources is None or self.source in sources
        )


@dataclass(frozen=True, slots=True, eq=False)
class VectorMatrix:
    """The vectors of one model as of one generation. Never changed once made.

    Attributes:
        generation: Of the index it was read at.
        model_id: Row of the model, None when no model is active: then there are no rows.
        dimension: Length of a vector.
        newest_embedding: Highest row id of the cached vectors seen, 0 when none.
        chunk_ids: Object array of str, shape (n,).
        page_ids: int64, shape (n,).
        scope_numbers: int64, shape (n,): index into `scopes`.
        vectors: float32, shape (n, dimension), contiguous, rows of length 1.
    """

    generation: int
    model_id: int | None
    dimension: int
    newest_embedding: int
    chunk_ids: NDArray[np.object_]
    page_ids: NDArray[np.int64]
    scope_numbers: NDArray[np.int64]
    scopes: tuple[Scope, ...]
    vectors: Vector
    rows: dict[str, int]
    """Row of each chunk id."""

    def ranking(
        self,
        vector: Vector,
        *,
        limit: int,
        audiences: Audiences,
        sources: Sequence[str] | None,
    ) -> list[ScoredChunk]:
        """Rank the visible chunks by cosine; ties by chunk_id."""
        if limit <= 0 or not len(self.chunk_ids):
            return []
        visible = np.flatnonzero(self._admitted(audiences, sources)[self.scope_numbers])
        scores = self._scores(self.vectors, vector)[visible]
        if len(scores) > limit:
            # Everything that ties with the last one stays until the ids decide.
            threshold = np.partition(scores, len(scores) - limit)[len(scores) - limit]
            kept = scores >= threshold
            visible, scores = visible[kept], scores[kept]
        ranked = sorted(zip((-scores).tolist(), self.chunk_ids[visible], strict=True))
        return [ScoredChunk(chunk_id, -score) for score, chunk_id in ranked[:limit]]

    def cosines(
        self, vector: Vector, chunk_ids: Iterable[str], *, audiences: Audiences
    ) -> dict[str, float]:
        """Return the cosine of each visible chunk that has a vector."""
        admitted = self._admitted(audiences, None)
        found = {
            chunk_id: row
            for chunk_id in chunk_ids
            if (row := self.rows.get(chunk_id)) is not None and admitted[self.scope_numbers[row]]
        }
        if not found:
            return {}
        scores = self._scores(self.vectors[list(found.values())], vector)
        return dict(zip(found, scores.tolist(), strict=True))

    def _admitted(self, audiences: Audiences, sources: Sequence[str] | None) -> NDArray[np.bool_]:
        return np.array([scope.admits(audiences, sources) for scope in self.scopes], dtype=np.bool_)

    def _scores(self, vectors: Vector, vector: Vector) -> Vector:
        if vector.shape != (self.dimension,):
            raise EmbeddingMismatchError(
                f"the index holds vectors of {self.dimension} dimensions and the question has"
                f" {vector.shape}: EMBEDDING_MODEL is not the model that was ingested with;"
                " run `manuel ingest`"
            )
        # Not `@`: it sums the last rows in another order, and then equal vectors are no tie.
        scores: Vector = np.vecdot(vectors, np.ascontiguousarray(vector, dtype=np.float32))
        return scores


def refreshed(connection: Connection, known: VectorMatrix | None) -> VectorMatrix:
    """Return the matrix of the index as the connection sees it, reading only what is new.

    Args:
        connection: In a transaction, so that everything is read as of one moment.
        known: The matrix read before, if any.
    """
    state = connection.execute(
        select(
            index_state.c.generation, index_state.c.active_model_id, embedding_models.c.dimension
        ).select_from(index_state.outerjoin(embedding_models))
    ).one()
    if known is not None and known.generation == state.generation:
        return known
    newest = connection.scalar(select(func.max(embeddings.c.id))) or 0
    base = known
    if base is None or base.model_id != state.active_model_id or base.generation > state.generation:
        base = _empty(state.active_model_id, state.dimension or 0)
    if state.active_model_id is None:
        kept = np.zeros(0, dtype=np.int64)
        added: list[_Row] = []
    else:
        added = _read(connection, base)
        kept = _unchanged_rows(connection, base)
    return _assemble(connection, base, kept, added, state.generation, newest)


_Row = tuple[str, int, bytes]


def _empty(model_id: int | None, dimension: int) -> VectorMatrix:
    return VectorMatrix(
        generation=-1,
        model_id=model_id,
        dimension=dimension,
        newest_embedding=0,
        chunk_ids=np.zeros(0, dtype=np.object_),
        page_ids=np.zeros(0, dtype=np.int64),
        scope_numbers=np.zeros(0, dtype=np.int64),
        scopes=(),
        vectors=np.zeros((0, dimension), dtype=np.float32),
        rows={},
    )


def _read(connection: Connection, base: VectorMatrix) -> list[_Row]:
    """Read the chunks of pages changed since, and those whose vector came later."""
    everything = (
        select(chunks.c.chunk_id, chunks.c.page_id, embeddings.c.vector)
        .join(embeddings, embeddings.c.text_hash == chunks.c.text_hash)
        .where(embeddings.c.model_id == base.model_id)
    )
    statements = [everything]
    if base.generation >= 0:
        # One statement each, and lists of keys instead of joins: either walks its own index.
        changed = select(pages.c.id).where(pages.c.generation > base.generation)
        late = select(embeddings.c.text_hash).where(
            embeddings.c.id > base.newest_embedding, embeddings.c.model_id == base.model_id
        )
        statements = [
            everything.where(chunks.c.page_id.in_(changed)),
            everything.where(chunks.c.text_hash.in_(late)),
        ]
    found: dict[str, _Row] = {}
    for statement in statements:
        found.update((row[0], (row[0], row[1], row[2])) for row in connection.execute(statement))
    return list(found.values())


def _unchanged_rows(connection: Connection, base: VectorMatrix) -> NDArray[np.int64]:
    """Return the rows of the pages that still exist and did not change since."""
    if not len(base.page_ids):
        return np.zeros(0, dtype=np.int64)
    unchanged = connection.scalars(select(pages.c.id).where(pages.c.generation <= base.generation))
    return np.flatnonzero(np.isin(base.page_ids, np.array(list(unchanged), dtype=np.int64)))


def _assemble(
    connection: Connection,
    base: VectorMatrix,
    kept: NDArray[np.int64],
    added: Sequence[_Row],
    generation: int,
    newest_embedding: int,
) -> VectorMatrix:
    scopes = list(base.scopes)
    numbers = {scope: number for number, scope in enumerate(scopes)}
    by_page: dict[int, int] = {}
    for page_id, scope in _scopes(connection, {row[1] for row in added}).items():
        if scope not in numbers:
            numbers[scope] = len(scopes)
            scopes.append(scope)
        by_page[page_id] = numbers[scope]
    known = set(base.chunk_ids[kept])
    fresh = [row for row in added if row[0] not in known]
    chunk_ids = np.concatenate(
        [base.chunk_ids[kept], np.array([row[0] for row in fresh], dtype=np.object_)]
    )
    page_ids = np.array([row[1] for row in fresh], dtype=np.int64)
    scope_numbers = np.array([by_page[row[1]] for row in fresh], dtype=np.int64)
    # One allocation: two copies of the matrix at a time would double the memory of a refresh.
    vectors = np.empty((len(chunk_ids), base.dimension), dtype=np.float32)
    np.take(base.vectors, kept, axis=0, out=vectors[: len(kept)], mode="clip")
    vectors[len(kept) :] = decode_vectors([row[2] for row in fresh], base.dimension)
    return VectorMatrix(
        generation=generation,
        model_id=base.model_id,
        dimension=base.dimension,
        newest_embedding=newest_embedding,
        chunk_ids=chunk_ids,
        page_ids=np.concatenate([base.page_ids[kept], page_ids]),
        scope_numbers=np.concatenate([base.scope_numbers[kept], scope_numbers]),
        scopes=tuple(scopes),
        vectors=vectors,
        rows={chunk_id: row for row, chunk_id in enumerate(chunk_ids)},
    )


def _scopes(connection: Connection, page_ids: set[int]) -> dict[int, Scope]:
    """Return the scope of each of these pages."""
    statement = select(pages.c.id, pages.c.source, page_audiences.c.audience).outerjoin_from(
        pages, page_audiences
    )
    if len(page_ids) <= _LISTED_PAGES:
        statement = statement.where(pages.c.id.in_(page_ids))
    sources: dict[int, str] = {}
    audiences: dict[int, set[str]] = {}
    for page_id, source, audience in connection.execute(statement):
        sources[page_id] = source
        audiences.setdefault(page_id, set()).update([audience] if audience is not None else [])
    return {page_id: Scope(sources[page_id], frozenset(audiences[page_id])) for page_id in sources}
