"""Opens the embedder that the settings ask for."""

from __future__ import annotations

from ingest.embedding.base import Embedder
from ingest.errors import ConfigurationError
from ingest.settings import IngestSettings

NO_MODEL = "none"
BUNDLED = "bundled"
OPENAI_SCHEME = "openai:"


def open_embedder(settings: IngestSettings) -> Embedder | None:
    """Return the embedder of EMBEDDING_MODEL, not loaded yet; None for `none`.

    Raises:
        ConfigurationError: If EMBEDDING_MODEL names no model.
        EmbeddingError: If the package it needs is not installed.
    """
    model = settings.embedding_model.strip()
    if model == NO_MODEL:
        return None
    if model == BUNDLED:
        return _open_bundled(settings)
    if model.startswith(OPENAI_SCHEME):
        return _open_openai(model.removeprefix(OPENAI_SCHEME).strip(), settings)
    if not model:
        raise ConfigurationError(
            "EMBEDDING_MODEL is empty: set it to `bundled`, `openai:MODEL`, the name or path of a"
            " sentence-transformers model, or `none` for keyword search alone"
        )
    return _open_sentence_transformer(model, settings)


# Each adapter is imported only when it is asked for: they bring onnxruntime, torch or openai.


def _open_bundled(settings: IngestSettings) -> Embedder:
    from ingest.embedding.bundled import PASSAGE_PREFIX, QUERY_PREFIX, BundledEmbedder

    query, passage = settings.embedding_query_prefix, settings.embedding_passage_prefix
    return BundledEmbedder(
        query_prefix=QUERY_PREFIX if query is None else query,
        passage_prefix=PASSAGE_PREFIX if passage is None else passage,
        batch_tokens=settings.embedding_batch_tokens,
        threads=settings.embedding_threads or None,
    )


def _open_sentence_transformer(name: str, settings: IngestSettings) -> Embedder:
    from ingest.embedding.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(
        name,
        backend=settings.embedding_backend,
        query_prefix=settings.embedding_query_prefix,
        passage_prefix=settings.embedding_passage_prefix,
        batch_tokens=settings.embedding_batch_tokens,
    )


def _open_openai(model: str, settings: IngestSettings) -> Embedder:
    from ingest.embedding.openai_compatible import OpenAICompatibleEmbedder

    if not model:
        raise ConfigurationError("EMBEDDING_MODEL=openai: names no model: write openai:MODEL")
    key = settings.openai_api_key
    return OpenAICompatibleEmbedder(
        model,
        api_key=key.get_secret_value() if key else None,
        base_url=settings.openai_base_url,
        query_prefix=settings.embedding_query_prefix or "",
        passage_prefix=settings.embedding_passage_prefix or "",
        batch_tokens=settings.embedding_batch_tokens,
    )
