"""Writes the index in one SQLite file; each method is one short transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter
from sqlalchemy import (
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects.sqlite import insert as insert_or_update

from ingest.analysis import analysis_identity, analyze_passage
from ingest.embedding.base import Vector
from ingest.errors import EmbeddingMismatchError
from ingest.index import migrations
from ingest.index.base import Lease, PageState
from ingest.index.leases import hold
from ingest.index.sqlite_engine import (
    READ_ONLY,
    database_path,
    open_for_writing,
    translated_errors,
)
from ingest.index.tables import (
    chunks,
    embedding_models,
    embeddings,
    encode_units,
    encode_vector,
    index_state,
    page_audiences,
    pages,
    runs,
    storable,
    token_codes,
)
from ingest.records import Audiences, Chunk, IngestReport, Page, embedding_text, text_hash

RUNS_KEPT = 100
"""Runs remembered per source."""

_BATCH = 5_000
"""Values in one IN list: SQLite takes 32,766 parameters."""

_INSERT_TERMS = text(
    "INSERT INTO chunk_terms (rowid, title, headings, body, stems)"
    " VALUES (:id, :title, :headings, :body, :stems)"
)
_DELETE_TERMS = text(
    "DELETE FROM chunk_terms WHERE rowid IN (SELECT id FROM chunks WHERE page_id IN :page_ids)"
).bindparams(bindparam("page_ids", expanding=True))


class SqliteIndexWriter:
    """The only way into the index in an SQLite file; see `IndexWriter`.

    The folder and the file are made by `migrate`.
    """

    def __init__(self, database_url: str) -> None:
        self._path = database_path(database_url)
        self._engine = open_for_writing(self._path)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def migrate(self) -> None:
        """Bring the schema up to date, and the keyword index to the present analysis."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._writing() as connection:
            migrations.upgrade(connection)
            identity = analysis_identity()
            if connection.scalar(select(index_state.c.analysis)) != identity:
                _analyze_everything(connection)
                connection.execute(update(index_state).values(analysis=identity))

    def page_states(self, source: str) -> dict[str, PageState]:
        """Return the known pages of a source, by path."""
        of_source = pages.c.source == source
        with self._reading() as connection:
            audiences: dict[int, set[str]] = {}
            for page_id, audience in connection.execute(
                select(page_audiences).join_from(page_audiences, pages).where(of_source)
            ):
                audiences.setdefault(page_id, set()).add(audience)
            count = func.count(chunks.c.id).label("chunks")
            rows = connection.execute(
                select(pages, count).outerjoin(chunks).where(of_source).group_by(pages.c.id)
            )
            return {row.path: _page_state(row, audiences.get(row.id, set())) for row in rows}

    def replace_page(
        self, page: Page, chunks: Sequence[Chunk], *, source_version: str | None = None
    ) -> None:
        """Insert a page or replace it with all its chunks."""
        with self._writing() as connection:
            page_id = _page_id(connection, page.source, page.path)
            if page_id is not None:
                _remove_chunks(connection, [page_id])
            page_id = _write_page(connection, page_id, page, source_version)
            _write_audiences(connection, page_id, page.audiences)
            _insert_chunks(connection, page_id, page, chunks)

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
        with self._writing() as connection:
            page_id = _page_id(connection, source, path)
            if page_id is None:
                return
            connection.execute(
                update(pages)
                .where(pages.c.id == page_id)
                .values(
                    source_version=source_version,
                    modified_at=modified_at,
                    url=url,
                    generation=_next_generation(connection),
                )
            )
            _write_audiences(connection, page_id, audiences)

    def remove_pages(self, source: str, paths: Sequence[str]) -> int:
        """Remove pages with their chunks; returns how many existed."""
        removed = 0
        with self._writing() as connection:
            for batch in _batches(paths):
                page_ids = list(
                    connection.scalars(
                        select(pages.c.id).where(pages.c.source == source, pages.c.path.in_(batch))
                    )
                )
                if page_ids:
                    _remove_chunks(connection, page_ids)
                    connection.execute(delete(pages).where(pages.c.id.in_(page_ids)))
                    removed += len(page_ids)
            if removed:
                _next_generation(connection)
        return removed

    def chunk_count(self, source: str) -> int:
        """Count the chunks of a source."""
        with self._reading() as connection:
            return connection.scalars(
                select(func.count()).select_from(chunks).join(pages).where(pages.c.source == source)
            ).one()

    def known_embeddings(
        self, fingerprint: str, text_hashes: Sequence[str], *, coded: bool = False
    ) -> set[str]:
        """Return which of these texts already have a vector of this model."""
        known: set[str] = set()
        of_model = _of_model(fingerprint, coded=coded)
        with self._reading() as connection:
            for batch in _batches(text_hashes):
                known.update(
                    connection.scalars(
                        of_model.with_only_columns(embeddings.c.text_hash).where(
                            embeddings.c.text_hash.in_(batch)
                        )
                    )
                )
        return known

    def store_embeddings(
        self,
        fingerprint: str,
        vectors: Mapping[str, Vector],
        *,
        codes: Mapping[str, bytes] | None = None,
    ) -> None:
        """Cache vectors, and the token states of the same texts, by text hash.

        Raises:
            EmbeddingMismatchError: If a vector has another dimension than this model's.
        """
        if not vectors:
            return
        dimension = len(next(iter(vectors.values())))
        if any(vector.shape != (dimension,) for vector in vectors.values()):
            raise EmbeddingMismatchError(f"vectors of {fingerprint} differ in length")
        with self._writing() as connection:
            model_id = _model_id(connection, fingerprint, dimension)
            now = datetime.now(UTC)
            statement = insert_or_update(embeddings)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["text_hash", "model_id"], set_={"last_used_at": now}
                ),
                [
                    {
                        "model_id": model_id,
                        "text_hash": key,
                        "vector": encode_vector(vector),
                        "last_used_at": now,
                    }
                    for key, vector in vectors.items()
                ],
            )
            if codes:
                _store_codes(connection, model_id, codes)
            if _are_visible(connection, model_id, list(vectors)):
                _next_generation(connection)

    def missing_embeddings(
        self, fingerprint: str, *, limit: int, coded: bool = False
    ) -> list[tuple[str, str]]:
        """Return up to `limit` (text_hash, embedding text) that lack a vector of this model."""
        embedded = _of_model(fingerprint, coded=coded).where(
            embeddings.c.text_hash == chunks.c.text_hash
        )
        statement = (
            select(chunks, pages.c.title)
            .join_from(chunks, pages)
            .where(~exists(embedded))
            .group_by(chunks.c.text_hash)
            .order_by(func.min(chunks.c.id))
            .limit(limit)
        )
        with self._reading() as connection:
            return [(row.text_hash, _embedding_text(row)) for row in connection.execute(statement)]

    def active_fingerprint(self) -> str | None:
        """Return the model whose vectors readers use."""
        with self._reading() as connection:
            return connection.scalar(select(embedding_models.c.fingerprint).join(index_state))

    def activate_model(self, fingerprint: str, dimension: int) -> None:
        """Make readers use the vectors of this model, at once.

        Raises:
            EmbeddingMismatchError: If its stored vectors have another dimension.
        """
        with self._writing() as connection:
            model_id = _model_id(connection, fingerprint, dimension)
            previous = connection.scalar(select(index_state.c.active_model_id))
            if previous == model_id:
                return
            # The vectors left behind were in use until now.
            connection.execute(
                update(embeddings)
                .where(embeddings.c.model_id == previous)
                .values(last_used_at=datetime.now(UTC))
            )
            connection.execute(update(index_state).values(active_model_id=model_id))
            _next_generation(connection)

    def prune_embeddings(self, *, unused_for_days: int) -> int:
        """Drop cached vectors that no chunk has used for so long; returns how many.

        A vector is in use while its model is the active one and a chunk has its text.
        """
        before = datetime.now(UTC) - timedelta(days=unused_for_days)
        active = select(index_state.c.active_model_id).scalar_subquery()
        in_use = and_(
            embeddings.c.model_id == active,
            exists(select(chunks.c.id).where(chunks.c.text_hash == embeddings.c.text_hash)),
        )
        unused = func.coalesce(in_use, False).is_(False)
        with self._writing() as connection:
            pruned = connection.execute(
                delete(embeddings).where(embeddings.c.last_used_at <= before, unused)
            ).rowcount
            connection.execute(
                delete(embedding_models).where(
                    embedding_models.c.id.not_in(select(embeddings.c.model_id)),
                    func.coalesce(embedding_models.c.id != active, True),
                )
            )
        return pruned

    def record_run(self, report: IngestReport, *, started_at: datetime) -> None:
        """Remember the outcome of a sync."""
        with self._writing() as connection:
            connection.execute(
                insert(runs).values(
                    source=report.source,
                    started_at=started_at,
                    finished_at=datetime.now(UTC),
                    complete=report.complete,
                    report=_encode_report(report),
                )
            )
            of_source = runs.c.source == report.source
            kept = select(runs.c.id).where(of_source).order_by(runs.c.id.desc()).limit(RUNS_KEPT)
            connection.execute(delete(runs).where(of_source, runs.c.id.not_in(kept)))

    def lease(self, name: str, *, ttl_s: float) -> AbstractContextManager[Lease]:
        """Hold a named lease, renewed in the background while the body runs."""
        return hold(self._writing, name, ttl_s)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated_errors(self._path), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with (
            translated_errors(self._path),
            self._engine.execution_options(**READ_ONLY).begin() as connection,
        ):
            yield connection


def _of_model(fingerprint: str, *, coded: bool) -> Select[tuple[int]]:
    """Select the ids of the embeddings of a model, or only of those with token codes."""
    statement = (
        select(embeddings.c.id)
        .join(embedding_models)
        .where(embedding_models.c.fingerprint == fingerprint)
    )
    return statement.join(token_codes) if coded else statement


def _store_codes(connection: Connection, model_id: int, codes: Mapping[str, bytes]) -> None:
    ids = {
        row.text_hash: row.id
        for batch in _batches(list(codes))
        for row in connection.execute(
            select(embeddings.c.id, embeddings.c.text_hash).where(
                embeddings.c.model_id == model_id, embeddings.c.text_hash.in_(batch)
            )
        )
    }
    statement = insert_or_update(token_codes)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["embedding_id"], set_={"code": statement.excluded.code}
        ),
        [{"embedding_id": ids[key], "code": code} for key, code in codes.items()],
    )


def _batches(values: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _BATCH):
        yield [storable(value) for value in values[start : start + _BATCH]]


def _next_generation(connection: Connection) -> int:
    grown = index_state.c.generation + 1
    statement = update(index_state).values(generation=grown).returning(index_state.c.generation)
    return int(connection.scalars(statement).one())


def _page_id(connection: Connection, source: str, path: str) -> int | None:
    return connection.scalar(
        select(pages.c.id).where(pages.c.source == source, pages.c.path == path)
    )


def _page_state(row: Row[Any], audiences: set[str]) -> PageState:
    return PageState(
        content_hash=row.content_hash,
        version=row.version,
        source_version=row.source_version,
        url=row.url,
        modified_at=row.modified_at,
        audiences=frozenset(audiences),
        chunks=row.chunks,
    )


def _write_page(
    connection: Connection, page_id: int | None, page: Page, source_version: str | None
) -> int:
    values = {
        "source": page.source,
        "path": page.path,
        "title": page.title,
        "language": page.language,
        "content_hash": page.content_hash,
        "version": page.version,
        "source_version": source_version,
        "url": page.url,
        "modified_at": page.modified_at,
        "outdated": page.outdated,
        "generation": _next_generation(connection),
    }
    if page_id is not None:
        connection.execute(update(pages).where(pages.c.id == page_id).values(values))
        return page_id
    return int(connection.scalars(insert(pages).values(values).returning(pages.c.id)).one())


def _write_audiences(connection: Connection, page_id: int, audiences: Audiences) -> None:
    connection.execute(delete(page_audiences).where(page_audiences.c.page_id == page_id))
    rows = [{"page_id": page_id, "audience": audience} for audience in sorted(audiences)]
    if rows:
        connection.execute(insert(page_audiences), rows)


def _insert_chunks(connection: Connection, page_id: int, page: Page, new: Sequence[Chunk]) -> None:
    if not new:
        return
    connection.execute(
        insert(chunks),
        [
            {
                "chunk_id": chunk.chunk_id,
                "page_id": page_id,
                "position": chunk.position,
                "heading_path": [storable(heading) for heading in chunk.heading_path],
                "anchor": chunk.anchor,
                "start_offset": chunk.start,
                "end_offset": chunk.end,
                "text": chunk.text,
                "context": chunk.context,
                "units": encode_units(chunk.units),
                "text_hash": text_hash(chunk.embedding_text(page.title)),
            }
            for chunk in new
        ],
    )
    _insert_terms(connection, page_id, page.title, page.language)


def _insert_terms(connection: Connection, page_id: int, title: str, language: str) -> None:
    """Feed the keyword index with the stored chunks of a page."""
    rows = connection.execute(
        select(chunks.c.id, chunks.c.heading_path, chunks.c.context, chunks.c.text).where(
            chunks.c.page_id == page_id
        )
    ).all()
    if not rows:
        return
    analyzed_title = analyze_passage(title, language)
    terms = []
    for row in rows:
        headings = analyze_passage("\n".join(row.heading_path), language)
        body = analyze_passage(f"{row.context}\n{row.text}", language)
        terms.append(
            {
                "id": row.id,
                "title": analyzed_title.folded,
                "headings": headings.folded,
                "body": body.folded,
                "stems": " ".join((analyzed_title.stems, headings.stems, body.stems)),
            }
        )
    connection.execute(_INSERT_TERMS, terms)


def _analyze_everything(connection: Connection) -> None:
    """Feed the keyword index again, from the chunks as they are stored."""
    connection.execute(text("DELETE FROM chunk_terms"))
    known = connection.execute(select(pages.c.id, pages.c.title, pages.c.language)).all()
    for page_id, title, language in known:
        _insert_terms(connection, page_id, title, language)
    if known:
        _next_generation(connection)


def _remove_chunks(connection: Connection, page_ids: Sequence[int]) -> None:
    of_pages = chunks.c.page_id.in_(page_ids)
    connection.execute(
        update(embeddings)
        .where(
            embeddings.c.text_hash.in_(select(chunks.c.text_hash).where(of_pages)),
            embeddings.c.model_id == select(index_state.c.active_model_id).scalar_subquery(),
        )
        .values(last_used_at=datetime.now(UTC))
    )
    connection.execute(_DELETE_TERMS, {"page_ids": list(page_ids)})
    connection.execute(delete(chunks).where(of_pages))


def _model_id(connection: Connection, fingerprint: str, dimension: int) -> int:
    known = connection.execute(
        select(embedding_models).where(embedding_models.c.fingerprint == fingerprint)
    ).first()
    if known is None:
        statement = insert(embedding_models).values(fingerprint=fingerprint, dimension=dimension)
        return int(connection.scalars(statement.returning(embedding_models.c.id)).one())
    if known.dimension != dimension:
        raise EmbeddingMismatchError(
            f"the index holds vectors of {known.dimension} dimensions of the model {fingerprint},"
            f" which now makes {dimension}"
        )
    return int(known.id)


def _are_visible(connection: Connection, model_id: int, text_hashes: Sequence[str]) -> bool:
    """Tell whether readers use vectors of this model for some of these texts."""
    if connection.scalar(select(index_state.c.active_model_id)) != model_id:
        return False
    return any(
        connection.scalar(select(exists().where(chunks.c.text_hash.in_(batch))))
        for batch in _batches(text_hashes)
    )


def _embedding_text(row: Row[Any]) -> str:
    """Return what `Chunk.embedding_text` gave when the chunk was stored."""
    return embedding_text(row.title, row.heading_path, row.context, row.text)


def _encode_report(report: IngestReport) -> str:
    return TypeAdapter(IngestReport).dump_json(report).decode()
