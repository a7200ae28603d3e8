"""Opens the embedder that the settings ask for."""

from __future__ import annotations

from ingest.embedding.base import Embedder
from ingest.settings import IngestSettings

NO_MODEL = "none"
BUNDLED = "bundled"
OPENAI_SCHEME = "openai:"


def open_embedder(settings: IngestSettings) -> Embedder | None:
    """Return the embedder of EMBEDDING_MODEL, not loaded yet; None for `none`.

    Raises:
        ConfigurationError: If EMBEDDING_MODEL is not a model.
        EmbeddingError: If the package it needs is not installed.
    """
    model = settings.embedding_model.strip()
    if model.lower() == NO_MODEL:
        return None
    return _open_bundled(settings)


def _open_bundled(settings: IngestSettings) -> Embedder:
    from ingest.embedding.bundled import PASSAGE_PREFIX, QUERY_PREFIX, BundledEmbedder

    return BundledEmbedder(
        query_prefix=_prefix(settings.embedding_query_prefix, QUERY_PREFIX),
        passage_prefix=_prefix(settings.embedding_passage_prefix, PASSAGE_PREFIX),
        batch_tokens=settings.embedding_batch_tokens,
    )


def _prefix(configured: str | None, default: str) -> str:
    return default if configured is None else configured
