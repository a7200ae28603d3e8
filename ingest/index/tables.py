"""The tables of the index, shared by every backend, and how values are kept in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.types import DateTime, TypeDecorator

from ingest.embedding.base import Vector
from ingest.records import Unit, UnitKind

SCHEMA_VERSION_TABLE = "index_schema_version"

SCHEMA_REVISIONS = ("0001", "0002")
"""Every revision in `migrations/versions`, oldest first: lets a reader check without alembic."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Replace, one for one, what no database keeps in a text: NUL and lone surrogates."""
    return _UNSTORABLE.sub("\ufffd", text)


class PortableText(TypeDecorator[str]):
    """Text of which the characters that some backend refuses are replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace what cannot be stored."""
        return None if value is None else storable(value)


class UtcDateTime(TypeDecorator[datetime]):
    """Aware datetimes, kept in UTC and handed out in UTC."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to naive UTC; a naive value is taken as UTC."""
        if value is None or value.tzinfo is None:
            return value
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Restore the time zone."""
        return None if value is None else value.replace(tzinfo=UTC)


metadata = MetaData()

index_state = Table(
    "index_state",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True),
    Column("generation", Integer, nullable=False),
    Column("active_model_id", ForeignKey("embedding_models.id")),
    Column("analysis", PortableText, nullable=False),
)
"""One row. `analysis` tells which analysis fed the keyword index."""

pages = Table(
    "pages",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", PortableText, nullable=False),
    Column("path", PortableText, nullable=False),
    Column("title", PortableText, nullable=False),
    Column("language", PortableText, nullable=False),
    Column("content_hash", PortableText, nullable=False),
    Column("version", PortableText, nullable=False),
    Column("source_version", PortableText),
    Column("url", PortableText),
    Column("modified_at", UtcDateTime),
    Column("outdated", Boolean, nullable=False),
    Column("generation", Integer, nullable=False),
    UniqueConstraint("source", "path", name="uq_pages_source_path"),
    Index("ix_pages_generation", "generation"),
    sqlite_autoincrement=True,
)
"""`generation` is that of the page's last visible change."""

page_audiences = Table(
    "page_audiences",
    metadata,
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True),
    Column("audience", PortableText, primary_key=True),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("chunk_id", PortableText, nullable=False),
    Column("page_id", ForeignKey("pages.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("heading_path", JSON, nullable=False),
    Column("anchor", PortableText),
    Column("start_offset", Integer, nullable=False),
    Column("end_offset", Integer, nullable=False),
    Column("text", PortableText, nullable=False),
    Column("context", PortableText, nullable=False),
    Column("units", JSON, nullable=False),
    Column("text_hash", PortableText, nullable=False),
    UniqueConstraint("chunk_id", name="uq_chunks_chunk_id"),
    Index("ix_chunks_page_id", "page_id"),
    Index("ix_chunks_text_hash", "text_hash"),
    sqlite_autoincrement=True,
)
"""`text_hash` is that of the embedding text: chunks that read the same share one vector."""

embedding_models = Table(
    "embedding_models",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fingerprint", PortableText, nullable=False, unique=True),
    Column("dimension", Integer, nullable=False),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("model_id", ForeignKey("embedding_models.id", ondelete="CASCADE"), nullable=False),
    Column("text_hash", PortableText, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Column("last_used_at", UtcDateTime, nullable=False),
    UniqueConstraint("text_hash", "model_id", name="uq_embeddings_text_model"),
    sqlite_autoincrement=True,
)
"""Cache and vector store in one: vectors belong to a text and a model, not to a chunk."""

token_codes = Table(
    "token_codes",
    metadata,
    Column("embedding_id", ForeignKey("embeddings.id", ondelete="CASCADE"), primary_key=True),
    Column("code", LargeBinary, nullable=False),
)
"""Token states of the same texts, where the encoder shows them. Apart, so that reading all vectors
does not read these too."""

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source", PortableText, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("report", PortableText, nullable=False),
    Index("ix_runs_source", "source"),
)

leases = Table(
    "leases",
    metadata,
    Column("name", PortableText, primary_key=True),
    Column("holder", PortableText, nullable=False),
    Column("process", PortableText, nullable=False),
    Column("acquired_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False),
)


def encode_units(units: Sequence[Unit]) -> dict[str, Any]:
    """Return units as compact JSON values; a context shared by many (a header row) is kept once."""
    contexts: dict[str, int] = {}
    rows = [
        [u.kind.value, u.start, u.end]
        + ([contexts.setdefault(storable(u.context), len(contexts))] if u.context else [])
        for u in units
    ]
    return {"units": rows, "contexts": list(contexts)}


def decode_units(encoded: dict[str, Any]) -> tuple[Unit, ...]:
    """Undo `encode_units`."""
    contexts = encoded["contexts"]
    return tuple(
        Unit(UnitKind(kind), start, end, contexts[context[0]] if context else "")
        for kind, start, end, *context in encoded["units"]
    )


def encode_vector(vector: Vector) -> bytes:
    """Return a vector as little-endian half floats: cosines move by less than 0.001."""
    return np.asarray(vector, dtype="<f2").tobytes()


def decode_vectors(blobs: Sequence[bytes], dimension: int) -> Vector:
    """Return stored vectors as one float32 matrix, shape (len(blobs), dimension)."""
    halves = np.frombuffer(b"".join(blobs), dtype="<f2")
    return halves.reshape(len(blobs), dimension).astype(np.float32)
