"""Composition root: from settings to the objects that answer."""

from __future__ import annotations

from contextlib import ExitStack

from bot.answering.answerer import Answerer
from bot.answering.extractive import ExtractiveGenerator, Generator
from bot.answering.support import SupportCheck
from bot.answering.support_model import DEFAULT_MODEL
from bot.retrieval.hybrid import Fusion, HybridRetriever
from bot.retrieval.query import QueryBuilder
from bot.retrieval.reranker import UnitReranker
from bot.retrieval.retrievers import EmbeddingRetriever, KeywordRetriever
from bot.retrieval.search import Searcher
from bot.settings import BotSettings
from ingest import Embedder, IndexReader, Respeller, load_config, open_embedder, open_reader


def build_answerer(settings: BotSettings) -> Answerer:
    """Wire what answers questions on the index of these settings.

    Raises:
        IndexNotBuiltError: If nothing has been ingested yet.
        EmbeddingError: If the encoder cannot be set up.
        ConfigurationError: If a setting or handbook.toml is wrong.
    """
    quotes = ExtractiveGenerator(max_words=settings.answer_max_words)
    model = _model(settings)
    with ExitStack() as resources:
        reader, embedder, queries = _open(settings, resources)
        return Answerer(
            _hybrid(settings, reader, embedder, queries),
            model or quotes,
            SupportCheck(DEFAULT_MODEL),
            fallback=quotes if model else None,
            resources=resources.pop_all(),
        )


def build_searcher(settings: BotSettings) -> Searcher:
    """Wire what ranks passages on the index of these settings (raises as `build_answerer`)."""
    with ExitStack() as resources:
        reader, embedder, queries = _open(settings, resources)
        return Searcher(
            reader,
            queries,
            hybrid=_hybrid(settings, reader, embedder, queries),
            keyword=KeywordRetriever(reader, queries),
            vector=EmbeddingRetriever(reader, embedder, queries) if embedder else None,
            resources=resources.pop_all(),
        )


def _model(settings: BotSettings) -> Generator | None:
    if not settings.answer_model:
        return None
    # Imported on demand: without a model nothing needs the openai package.
    from bot.answering.llm import open_model_generator

    return open_model_generator(settings)


def _open(
    settings: BotSettings, resources: ExitStack
) -> tuple[IndexReader, Embedder | None, QueryBuilder]:
    reader = resources.enter_context(open_reader(settings))
    reader.status()  # says at once, and clearly, when there is no index yet
    queries = QueryBuilder(
        reader,
        synonyms=load_config(settings).synonym_table(),
        respell=Respeller(reader.vocabulary),
    )
    return reader, open_embedder(settings), queries


def _hybrid(
    settings: BotSettings, reader: IndexReader, embedder: Embedder | None, queries: QueryBuilder
) -> HybridRetriever:
    fusion: Fusion = "rrf" if settings.fusion == "rrf" else "score"
    return HybridRetriever(
        reader,
        queries,
        KeywordRetriever(reader, queries),
        EmbeddingRetriever(reader, embedder, queries) if embedder else None,
        reranker=UnitReranker(embedder) if embedder else None,
        fusion=fusion,
    )
