"""Reads the index in one SQLite file: FTS5 for keywords, a matrix in memory for vectors."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter
from sqlalchemy import (
    Connection,
    Row,
    TextClause,
    bindparam,
    column,
    func,
    inspect,
    select,
    table,
    text,
)

from ingest.acronyms import learn_acronyms
from ingest.analysis import KeywordQuery
from ingest.embedding.base import Vector
from ingest.errors import IndexNotBuiltError, IndexOutdatedError, SchemaVersionError
from ingest.index import tables
from ingest.index.base import IndexedPage, IndexStatus, MatchMode, SourceStatus
from ingest.index.fts import (
    DEFAULT_COLUMN_WEIGHTS,
    ColumnWeights,
    match_expression,
    word_expression,
)
from ingest.index.sqlite_engine import database_path, open_for_reading, translated_errors
from ingest.index.tables import (
    SCHEMA_REVISIONS,
    SCHEMA_VERSION_TABLE,
    chunks,
    decode_units,
    embedding_models,
    embeddings,
    index_state,
    page_audiences,
    pages,
    runs,
    storable,
    token_codes,
)
from ingest.index.vectors import VectorMatrix, refreshed
from ingest.records import EVERYONE, PUBLIC, Audiences, IngestReport, ScoredChunk, StoredChunk

_BATCH = 5_000
"""Values in one IN list: SQLite takes 32,766 parameters."""

_LARGE_VOCABULARY = 20_000
_VOCABULARY_LAG_S = 10.0
"""Reading 100,000 terms takes half a second: while a sync goes on, not for every question."""
_ACRONYMS_LAG_S = 30.0
"""Learning them from 60,000 chunks takes three seconds."""

# CROSS JOIN keeps SQLite from starting at `chunks` and probing FTS5 once per chunk.
_RANKING = """
    SELECT chunks.chunk_id, -bm25(chunk_terms, :w0, :w1, :w2, :w3) AS score
    FROM chunk_terms CROSS JOIN chunks ON chunks.id = chunk_terms.rowid
    WHERE chunk_terms MATCH :expression
      AND chunks.page_id IN (SELECT page_id FROM page_audiences WHERE audience IN :audiences)
"""
_OF_SOURCES = " AND chunks.page_id IN (SELECT id FROM pages WHERE source IN :sources)"
_BEST_FIRST = " ORDER BY score DESC, chunks.chunk_id LIMIT :limit"
_OF_CHUNKS = " AND chunk_terms.rowid IN (SELECT id FROM chunks WHERE chunk_id IN :chunk_ids)"


_RESTRICTED_TERMS = text("""
    SELECT title, headings, body, stems FROM chunk_terms WHERE rowid IN (
        SELECT id FROM chunks WHERE page_id NOT IN (
            SELECT page_id FROM page_audiences WHERE audience = :everyone))
""")
_PUBLIC_TEXTS = text("""
    SELECT text FROM chunks WHERE page_id IN (
        SELECT page_id FROM page_audiences WHERE audience = :everyone)
""")
# As FTS5's tokenizer, `ascii tokenchars '.+#'`, cuts what the analysis wrote in lower case.
_TOKEN = re.compile(r"[a-z0-9.+#\x80-\U0010ffff]+")


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """The vocabulary as of one generation."""

    generation: int
    read_at_s: float
    terms: dict[str, int]

    def is_outdated(self, generation: int) -> bool:
        changed = generation != self.generation
        return changed and not _may_lag(self.terms, self.read_at_s, _VOCABULARY_LAG_S)


@dataclass(frozen=True, slots=True)
class _Acronyms:
    """What acronyms mean, as of one vocabulary."""

    vocabulary: Mapping[str, int]
    learned_at_s: float
    meanings: Mapping[str, str]

    def is_outdated(self, vocabulary: Mapping[str, int]) -> bool:
        changed = vocabulary is not self.vocabulary
        return changed and not _may_lag(vocabulary, self.learned_at_s, _ACRONYMS_LAG_S)


def _may_lag(vocabulary: Mapping[str, int], since_s: float, lag_s: float) -> bool:
    """Tell whether what is known of a large vocabulary is young enough to go on with."""
    return len(vocabulary) >= _LARGE_VOCABULARY and time.monotonic() - since_s <= lag_s


class SqliteIndexReader:
    """Query-only view of the index in an SQLite file; see `IndexReader`.

    The file may appear after the reader: until then every call says that it is not built.
    """

    def __init__(self, database_url: str) -> None:
        self._path = database_path(database_url)
        self._engine = open_for_reading(self._path)
        self._lock = threading.Lock()
        self._learning = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        """Start over: nothing is known of the file."""
        self._file: tuple[int, int] | None = None
        self._known_schema = False
        self._vectors: VectorMatrix | None = None
        self._vocabulary: _Vocabulary | None = None
        self._public: tuple[Mapping[str, int], Mapping[str, int]] | None = None
        self._acronyms: _Acronyms | None = None
        self._languages: tuple[int, dict[str, int]] | None = None

    def close(self) -> None:
        """Close all connections and drop the vectors from memory."""
        self._engine.dispose()
        self._forget()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def status(self) -> IndexStatus:
        """Describe the index."""
        with self._reading() as connection:
            sources = _source_statuses(connection)
            if not sources:
                raise self._not_built()
            state = connection.execute(
                select(
                    index_state.c.generation,
                    index_state.c.active_model_id,
                    embedding_models.c.fingerprint,
                ).select_from(index_state.outerjoin(embedding_models))
            ).one()
            embedded = connection.scalar(
                select(func.count())
                .select_from(chunks)
                .join(embeddings, embeddings.c.text_hash == chunks.c.text_hash)
                .where(embeddings.c.model_id == state.active_model_id)
            )
        return IndexStatus(
            generation=state.generation,
            pages=sum(source.pages for source in sources),
            chunks=sum(source.chunks for source in sources),
            embedded_chunks=embedded or 0,
            fingerprint=state.fingerprint,
            sources=sources,
        )

    def active_fingerprint(self) -> str | None:
        """Return the model whose vectors are searched, None when there is none."""
        with self._reading() as connection:
            statement = select(embedding_models.c.fingerprint).join(
                index_state, index_state.c.active_model_id == embedding_models.c.id
            )
            return connection.scalar(statement)

    def keyword_ranking(
        self,
        query: KeywordQuery,
        *,
        mode: MatchMode = "any",
        limit: int = 100,
        audiences: Audiences = PUBLIC,
        sources: Sequence[str] | None = None,
        column_weights: ColumnWeights | None = None,
    ) -> list[ScoredChunk]:
        """Rank chunks by BM25 over title, headings, body and stems."""
        if not query.words or limit <= 0:
            return []
        expression = match_expression(query, mode)
        parameters = _ranking_parameters(expression, audiences, column_weights)
        parameters["limit"] = limit
        if sources is not None:
            parameters["sources"] = [storable(source) for source in sources]
        statement = _with_lists(
            _RANKING + (_OF_SOURCES if sources is not None else "") + _BEST_FIRST, parameters
        )
        with self._reading() as connection:
            rows = connection.execute(statement, parameters)
            return [ScoredChunk(chunk_id, score) for chunk_id, score in rows]

    def explain_keywords(
        self,
        query: KeywordQuery,
        chunk_ids: Sequence[str],
        *,
        audiences: Audiences = PUBLIC,
        column_weights: ColumnWeights | None = None,
    ) -> dict[str, dict[str, float]]:
        """Return, per chunk, the BM25 contribution of each query word that matches."""
        contributions: dict[str, dict[str, float]] = {}
        with self._reading() as connection:
            for word in query.words:
                parameters = _ranking_parameters(word_expression(word), audiences, column_weights)
                for batch in _batches(chunk_ids):
                    parameters["chunk_ids"] = batch
                    statement = _with_lists(_RANKING + _OF_CHUNKS, parameters)
                    for chunk_id, score in connection.execute(statement, parameters):
                        contributions.setdefault(chunk_id, {})[word.surface] = score
        return contributions

    def vector_ranking(
        self,
        vector: Vector,
        *,
        limit: int = 100,
        audiences: Audiences = PUBLIC,
        sources: Sequence[str] | None = None,
    ) -> list[ScoredChunk]:
        """Rank all visible chunks by cosine with a unit vector."""
        return self._matrix().ranking(vector, limit=limit, audiences=audiences, sources=sources)

    def cosines(
        self, vector: Vector, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, float]:
        """Return the cosine of each visible chunk that has a vector of the active model."""
        return self._matrix().cosines(vector, chunk_ids, audiences=audiences)

    def chunks(
        self, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, StoredChunk]:
        """Fetch chunks by id; unknown and invisible ids are absent from the result."""
        visible = select(page_audiences.c.page_id).where(page_audiences.c.audience.in_(audiences))
        statement = select(chunks, pages).join_from(chunks, pages).where(pages.c.id.in_(visible))
        found: dict[str, StoredChunk] = {}
        with self._reading() as connection:
            for batch in _batches(chunk_ids):
                for row in connection.execute(statement.where(chunks.c.chunk_id.in_(batch))):
                    found[row.chunk_id] = _stored_chunk(row)
        return found

    def page_texts(self, pages: Collection[tuple[str, str]]) -> dict[tuple[str, str], IndexedPage]:
        """Return what pages (source, path) say now; those that are gone are absent."""
        columns = (chunks.c.text, chunks.c.context)
        stored = tables.pages
        found: dict[tuple[str, str], IndexedPage] = {}
        with self._reading() as connection:
            for source, path in dict.fromkeys(pages):
                named = select(stored.c.id, stored.c.content_hash).where(
                    stored.c.source == storable(source), stored.c.path == storable(path)
                )
                page = connection.execute(named).one_or_none()
                if page is None:
                    continue
                readers = select(page_audiences.c.audience).where(
                    page_audiences.c.page_id == page.id
                )
                of_page = select(*columns).where(chunks.c.page_id == page.id)
                rows = connection.execute(of_page.order_by(chunks.c.position)).all()
                found[source, path] = IndexedPage(
                    page.content_hash,
                    frozenset(connection.scalars(readers)),
                    "\n".join(row.text for row in rows),
                    "\n".join(f"{row.context}\n{row.text}" for row in rows),
                )
        return found

    def known_versions(self, versions: Collection[str]) -> frozenset[str]:
        """Return those of these content hashes that some page has."""
        known: set[str] = set()
        with self._reading() as connection:
            for batch in _batches(list(versions)):
                named = select(pages.c.content_hash).where(pages.c.content_hash.in_(batch))
                known.update(connection.scalars(named))
        return frozenset(known)

    def token_codes(
        self, chunk_ids: Sequence[str], *, audiences: Audiences = PUBLIC
    ) -> dict[str, bytes]:
        """Return the coded token states of each visible chunk that has some."""
        visible = select(page_audiences.c.page_id).where(page_audiences.c.audience.in_(audiences))
        statement = (
            select(chunks.c.chunk_id, token_codes.c.code)
            .join_from(token_codes, embeddings)
            .join(chunks, chunks.c.text_hash == embeddings.c.text_hash)
            .join(index_state, index_state.c.active_model_id == embeddings.c.model_id)
            .where(chunks.c.page_id.in_(visible))
        )
        found: dict[str, bytes] = {}
        with self._reading() as connection:
            for batch in _batches(chunk_ids):
                rows = connection.execute(statement.where(chunks.c.chunk_id.in_(batch)))
                found.update((chunk_id, code) for chunk_id, code in rows)
        return found

    def vocabulary(self) -> Mapping[str, int]:
        """Map every indexed term to the number of chunks that contain it."""
        with self._lock, self._reading() as connection:
            generation = _generation(connection)
            known = self._vocabulary
            if known is None or known.is_outdated(generation):
                known = _Vocabulary(generation, time.monotonic(), _vocabulary(connection))
                self._vocabulary = known
            return known.terms

    def public_vocabulary(self) -> Mapping[str, int]:
        """Return the part of `vocabulary` that stands on pages everybody may read."""
        terms = self.vocabulary()
        with self._lock, self._reading() as connection:
            if self._public is None or self._public[0] is not terms:
                self._public = (terms, _public_terms(connection, terms))
            return self._public[1]

    def public_acronyms(self) -> Mapping[str, str]:
        """Map acronyms to what the pages that everybody may read say they mean."""
        vocabulary = self.vocabulary()
        known = self._acronyms
        if known is None:
            with self._learning:
                return self._learned(vocabulary)
        # Learning from a large handbook takes seconds: one thread does, and nobody waits for it
        # who has something to go on with.
        if known.is_outdated(vocabulary) and self._learning.acquire(blocking=False):
            try:
                return self._learned(vocabulary)
            finally:
                self._learning.release()
        return known.meanings

    def _learned(self, vocabulary: Mapping[str, int]) -> Mapping[str, str]:
        known = self._acronyms
        if known is not None and not known.is_outdated(vocabulary):
            return known.meanings
        with self._reading() as connection:
            file = self._file
            texts = connection.execute(_PUBLIC_TEXTS, {"everyone": EVERYONE}).scalars().all()
        learned = _Acronyms(vocabulary, time.monotonic(), learn_acronyms(texts))
        if file == self._file:  # another file may have been put in its place meanwhile
            self._acronyms = learned
        return learned.meanings

    def pages_by_audience(self) -> Mapping[str, int]:
        """Number of pages per audience; under "", of pages that nobody may read."""
        with self._reading() as connection:
            return _pages_by_audience(connection)

    def languages(self) -> Mapping[str, int]:
        """Number of chunks per page language."""
        with self._lock, self._reading() as connection:
            generation = _generation(connection)
            if self._languages is None or self._languages[0] != generation:
                self._languages = (generation, _languages(connection))
            return self._languages[1]

    def _matrix(self) -> VectorMatrix:
        # The lock comes before the transaction: a thread that waited for another one's refresh
        # must not come with an older view of the index.
        with self._lock, self._reading() as connection:
            self._vectors = refreshed(connection, self._vectors)
            return self._vectors

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Open a transaction: everything in it is read as of one moment."""
        self._follow_file()
        with translated_errors(self._path), self._engine.begin() as connection:
            if not self._known_schema:
                self._check_schema(connection)
                self._known_schema = True
            yield connection

    def _follow_file(self) -> None:
        """Notice that the file is missing, or that another one was put in its place."""
        try:
            found = self._path.stat()
        except OSError as error:
            raise self._not_built() from error
        file = (found.st_dev, found.st_ino)
        if self._file != file:
            self._engine.dispose()
            self._forget()
            self._file = file

    def _check_schema(self, connection: Connection) -> None:
        if not inspect(connection).has_table(SCHEMA_VERSION_TABLE):
            raise self._not_built()
        revision = connection.scalar(
            select(column("version_num")).select_from(table(SCHEMA_VERSION_TABLE))
        )
        if revision == SCHEMA_REVISIONS[-1]:
            return
        found = (
            f"the index {self._path} has schema {revision} and this version reads"
            f" {SCHEMA_REVISIONS[-1]}"
        )
        if revision in SCHEMA_REVISIONS:
            raise IndexOutdatedError(f"{found}; run `manuel ingest` to bring it up to date")
        raise SchemaVersionError(f"{found}; it was written by a newer version: upgrade Manuel")

    def _not_built(self) -> IndexNotBuiltError:
        return IndexNotBuiltError(f"there is no index in {self._path} yet: run `manuel ingest`")


def _ranking_parameters(
    expression: str, audiences: Audiences, column_weights: ColumnWeights | None
) -> dict[str, Any]:
    weights = column_weights or DEFAULT_COLUMN_WEIGHTS
    return {
        "expression": expression,
        "audiences": [storable(audience) for audience in sorted(audiences)],
        **{f"w{column}": weight for column, weight in enumerate(weights)},
    }


def _with_lists(sql: str, parameters: Mapping[str, Any]) -> TextClause:
    """Return the statement with every parameter that is a list as an IN list."""
    lists = [name for name, value in parameters.items() if isinstance(value, list)]
    return text(sql).bindparams(*(bindparam(name, expanding=True) for name in lists))


def _batches(values: Sequence[str]) -> Iterator[list[str]]:
    distinct = [storable(value) for value in dict.fromkeys(values)]
    for start in range(0, len(distinct), _BATCH):
        yield distinct[start : start + _BATCH]


def _generation(connection: Connection) -> int:
    return int(connection.scalars(select(index_state.c.generation)).one())


def _vocabulary(connection: Connection) -> dict[str, int]:
    rows = connection.execute(text("SELECT term, doc FROM chunk_vocabulary"))
    return {term: count for term, count in rows}


def _public_terms(connection: Connection, terms: Mapping[str, int]) -> Mapping[str, int]:
    hidden: Counter[str] = Counter()
    for row in connection.execute(_RESTRICTED_TERMS, {"everyone": EVERYONE}):
        hidden.update({token for column in row for token in _TOKEN.findall(column)})
    if not hidden:
        return terms
    return {term: count - hidden[term] for term, count in terms.items() if count > hidden[term]}


def _pages_by_audience(connection: Connection) -> dict[str, int]:
    audience = func.coalesce(page_audiences.c.audience, "")
    statement = (
        select(audience, func.count())
        .select_from(pages.outerjoin(page_audiences))
        .group_by(audience)
        .order_by(audience)
    )
    return {name: count for name, count in connection.execute(statement)}


def _languages(connection: Connection) -> dict[str, int]:
    statement = (
        select(pages.c.language, func.count()).join_from(chunks, pages).group_by(pages.c.language)
    )
    return {language: count for language, count in connection.execute(statement)}


def _stored_chunk(row: Row[Any]) -> StoredChunk:
    url = row.url
    if url and row.anchor and "#" not in url:
        url = f"{url}#{row.anchor}"
    return StoredChunk(
        chunk_id=row.chunk_id,
        source=row.source,
        page=row.path,
        title=row.title,
        language=row.language,
        heading_path=tuple(row.heading_path),
        url=url,
        modified_at=row.modified_at,
        outdated=row.outdated,
        position=row.position,
        text=row.text,
        context=row.context,
        units=decode_units(row.units),
        page_version=row.content_hash,
    )


def _source_statuses(connection: Connection) -> tuple[SourceStatus, ...]:
    languages: dict[str, dict[str, int]] = {}
    for source, language, count in connection.execute(
        select(pages.c.source, pages.c.language, func.count()).group_by(
            pages.c.source, pages.c.language
        )
    ):
        languages.setdefault(source, {})[language] = count
    chunk_counts = {
        source: count
        for source, count in connection.execute(
            select(pages.c.source, func.count()).join_from(chunks, pages).group_by(pages.c.source)
        )
    }
    last_runs = _last_runs(connection)
    return tuple(
        SourceStatus(
            name=name,
            pages=sum(languages.get(name, {}).values()),
            chunks=chunk_counts.get(name, 0),
            languages=languages.get(name, {}),
            last_run_at=last_runs[name].started_at if name in last_runs else None,
            last_success_at=last_runs[name].succeeded_at if name in last_runs else None,
            last_report=_decode_report(last_runs[name].report) if name in last_runs else None,
        )
        for name in sorted(languages.keys() | last_runs.keys())
    )


def _last_runs(connection: Connection) -> dict[str, Row[Any]]:
    """Return the last run of each source, with the start of its last complete one."""
    succeeded = (
        select(runs.c.source, func.max(runs.c.started_at).label("succeeded_at"))
        .where(runs.c.complete)
        .group_by(runs.c.source)
        .subquery()
    )
    last = select(func.max(runs.c.id)).group_by(runs.c.source)
    statement = (
        select(runs, succeeded.c.succeeded_at)
        .outerjoin(succeeded, succeeded.c.source == runs.c.source)
        .where(runs.c.id.in_(last))
    )
    return {row.source: row for row in connection.execute(statement)}


def _decode_report(report: str) -> IngestReport:
    return TypeAdapter(IngestReport).validate_json(report)
