"""Composition root: from settings to the objects that answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Self
from zoneinfo import ZoneInfo

from sqlalchemy import Engine

from bot.answering.answerer import Answerer, OnVerification
from bot.answering.breaker import Incidents, LoggedIncidents
from bot.answering.explanation import Explanation, explain
from bot.answering.extractive import ExtractiveGenerator, Generator
from bot.answering.rewriting import ModelRewriter, Rewriter
from bot.answering.streaming import OnClaim
from bot.answering.support import SupportCheck, SupportModel
from bot.answering.support_model import DEFAULT_MODEL, with_reader
from bot.answering.translating import ModelTranslator, Translator
from bot.answering.usage import RunMeter, TokenPrice
from bot.cross_encoder import CrossEncoderReader
from bot.grounding.closeness import encoder_closeness
from bot.reader import Reader
from bot.records import Outcome, Question
from bot.retrieval.hybrid import Fusion, HybridRetriever
from bot.retrieval.query import QueryBuilder, unknown_idf
from bot.retrieval.reading_reranker import ReadingReranker
from bot.retrieval.reranker import Reranker, UnitReranker
from bot.retrieval.retrievers import ANY_WORD_WEIGHTS, EmbeddingRetriever, KeywordRetriever
from bot.retrieval.search import Searcher, SearchResults
from bot.settings import BotSettings
from bot.store import CalibrationStore, ModelUsage, open_engine, opened
from ingest import (
    PUBLIC,
    Audiences,
    Embedder,
    EncodingFailed,
    HandbookError,
    IndexReader,
    Respeller,
    StoredChunk,
    Vector,
    load_config,
    open_embedder,
    open_reader,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What answering and searching share: the index, the encoder, and retrieval over both."""

    reader: IndexReader
    embedder: Embedder | None
    queries: QueryBuilder
    hybrid: HybridRetriever


@dataclass(frozen=True, slots=True)
class _Model:
    """What one chat model does."""

    generator: Generator
    rewriter: Rewriter
    translator: Translator | None


class EngineRoom:
    """Answers and searches on one open index with one encoder. Safe to share between threads."""

    def __init__(
        self, parts: _Parts, answerer: Answerer, searcher: Searcher, resources: ExitStack
    ) -> None:
        self._reader = parts.reader
        self._embedder = parts.embedder
        self._answerer = answerer
        self._searcher = searcher
        self._resources = resources

    def answer(
        self, question: Question, audiences: Audiences, on_claim: OnClaim | None = None
    ) -> Outcome:
        """Answer one question from what these audiences may read (see `Answerer.answer`)."""
        return self._answerer.answer(question, audiences=audiences, on_claim=on_claim)

    def explain(self, question: Question, audiences: Audiences) -> Explanation:
        """Answer one question and tell everything behind the outcome (see `answer`)."""
        examination = self._answerer.examine(question, audiences=audiences)
        terms = self._reader.explain_keywords(
            examination.retrieval.query.keywords,
            [passage.chunk.chunk_id for passage in examination.retrieval.passages],
            audiences=audiences,
            column_weights=ANY_WORD_WEIGHTS,
        )
        chunks = sum(self._reader.languages().values())
        return explain(
            examination,
            terms,
            public=self._reader.public_vocabulary(),
            unknown_idf=unknown_idf(chunks),
        )

    def search(
        self, question: Question, limit: int, audiences: Audiences = PUBLIC
    ) -> SearchResults:
        """Rank at most `limit` passages that these may read (see `Searcher.search`)."""
        return self._searcher.search(question, limit=limit, audiences=audiences)

    def chunks(self, chunk_ids: Sequence[str], audiences: Audiences) -> list[StoredChunk]:
        """Return those of these passages that are there and may be read by these, in order."""
        found = self._reader.chunks(chunk_ids, audiences=audiences)
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def may_read(self, chunk_ids: Collection[str], audiences: Audiences) -> bool:
        """Say whether all of these passages are in the index, and these audiences may read them."""
        return len(self._reader.chunks(list(chunk_ids), audiences=audiences)) == len(chunk_ids)

    def vectors(self, texts: Sequence[str]) -> Vector | None:
        """Encode texts as unit vectors, one per row; None when no encoder takes part."""
        if self._embedder is None:
            return None
        try:
            return self._embedder.embed_passages(texts)
        except EncodingFailed as error:
            logger.warning("encoder failed", extra={"reason": str(error)})
            return None

    def warm_up(self) -> None:
        """Load the encoder and the vectors now, so that nobody's first question waits for them."""
        try:
            self._searcher.search(Question("bienvenue"), limit=1)
        except HandbookError as error:
            logger.warning("could not get ready ahead of time", extra={"reason": str(error)})

    def close(self) -> None:
        """Let go of the index."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_engine_room(
    settings: BotSettings,
    *,
    engine: Engine | None = None,
    incidents: Incidents | None = None,
    on_verification: OnVerification | None = None,
) -> EngineRoom:
    """Wire answering and searching over one index and one encoder, which is what takes memory.

    Args:
        settings: Of everything.
        engine: Of the bot's tables, up to date and open for longer; None: one of its own.
        incidents: Told when the model goes down, is back, or has spent its budget.
        on_verification: Told what the gate said of each draft.

    Raises:
        IndexNotBuiltError: If nothing has been ingested yet.
        EmbeddingError: If the encoder cannot be set up.
        ConfigurationError: If a setting or handbook.toml is wrong.
    """
    with ExitStack() as resources:
        parts = _open(settings, resources)
        model = _model(settings, resources, incidents, engine=engine)
        answerer = _answerer(settings, parts, model, on_verification=on_verification)
        searcher = _searcher(parts)
        return EngineRoom(parts, answerer, searcher, resources.pop_all())


def build_answerer(
    settings: BotSettings, *, metered: Callable[[RunMeter], None] = lambda meter: None
) -> Answerer:
    """Wire what answers questions on the index of these settings (raises as the engine room).

    Args:
        settings: Of everything.
        metered: Given the meter of the model, if there is one.
    """
    with ExitStack() as resources:
        parts = _open(settings, resources)
        model = _model(settings, resources, metered=metered)
        return _answerer(settings, parts, model, resources.pop_all())


def build_searcher(settings: BotSettings) -> Searcher:
    """Wire what ranks passages on the index of these settings (raises as the engine room)."""
    with ExitStack() as resources:
        return _searcher(_open(settings, resources), resources.pop_all())


def _answerer(
    settings: BotSettings,
    parts: _Parts,
    model: _Model | None,
    resources: ExitStack | None = None,
    *,
    on_verification: OnVerification | None = None,
) -> Answerer:
    quotes = ExtractiveGenerator(max_words=settings.answer_max_words)
    return Answerer(
        parts.hybrid,
        model.generator if model else quotes,
        SupportCheck(support_model(settings, parts.embedder), reader=open_reader_model(settings)),
        fallback=quotes if model else None,
        closeness=encoder_closeness(parts.embedder) if parts.embedder else None,
        rewriter=model.rewriter if model else None,
        translator=model.translator if model else None,
        on_verification=on_verification,
        resources=resources,
    )


def support_model(settings: BotSettings, embedder: Embedder | None) -> SupportModel:
    """Return the weights that judge answers, with the company's own threshold if it fitted one."""
    model = DEFAULT_MODEL
    if embedder is None and model.without_encoder is not None:
        model = model.without_encoder
    if settings.reader_model:
        model = with_reader(model, settings.reader_model)
    engine = open_engine(settings.database_url)
    try:
        found = CalibrationStore(engine).find(settings.ranking_models, model.version)
    finally:
        engine.dispose()
    return replace(model, answer_threshold=found.threshold) if found else model


def open_reader_model(settings: BotSettings) -> Reader | None:
    """Return what reads passages beside the question, None without `READER_MODEL`.

    Raises:
        ConfigurationError: If its package is not installed.
    """
    return CrossEncoderReader(settings.reader_model) if settings.reader_model else None


def _open_reranker(
    settings: BotSettings, reader: IndexReader, embedder: Embedder | None
) -> Reranker | None:
    units = UnitReranker(reader, embedder) if embedder else None
    if not settings.reranker_model:
        return units
    model = CrossEncoderReader(settings.reranker_model, setting="RERANKER_MODEL")
    return ReadingReranker(model, units)


def token_price(settings: BotSettings) -> TokenPrice | None:
    """Return what tokens of the settings' model cost, None where handbook.toml does not say.

    Raises:
        ConfigurationError: If handbook.toml is wrong.
    """
    found = load_config(settings).prices.get(settings.answer_model)
    return TokenPrice(found.input, found.output, found.currency) if found else None


def _searcher(parts: _Parts, resources: ExitStack | None = None) -> Searcher:
    vector = (
        EmbeddingRetriever(parts.reader, parts.embedder, parts.queries) if parts.embedder else None
    )
    return Searcher(
        parts.reader,
        parts.queries,
        hybrid=parts.hybrid,
        keyword=KeywordRetriever(parts.reader, parts.queries),
        vector=vector,
        resources=resources,
    )


def _model(
    settings: BotSettings,
    resources: ExitStack,
    incidents: Incidents | None = None,
    metered: Callable[[RunMeter], None] = lambda meter: None,
    engine: Engine | None = None,
) -> _Model | None:
    if not settings.answer_model:
        return None
    # Imported on demand: without a model nothing needs the openai package.
    from bot.answering.llm import open_model_generator

    engine = engine or resources.enter_context(opened(settings.database_url))
    incidents = incidents or LoggedIncidents()
    budget = ModelUsage(
        engine,
        settings.answer_model,
        daily_tokens=settings.model_daily_tokens,
        zone=ZoneInfo(settings.timezone),
        incidents=incidents,
    )
    meter = RunMeter(budget)
    metered(meter)
    generator = open_model_generator(settings, meter=meter, incidents=incidents)
    chat, max_tokens = generator.endpoint, settings.answer_max_tokens
    resources.callback(chat.close)
    return _Model(
        generator,
        ModelRewriter(chat, max_tokens=max_tokens),
        ModelTranslator(chat, max_tokens=max_tokens) if settings.translate_quotes else None,
    )


def _open(settings: BotSettings, resources: ExitStack) -> _Parts:
    reader = resources.enter_context(open_reader(settings))
    reader.status()  # says at once, and clearly, when there is no index yet
    config = load_config(settings)
    queries = QueryBuilder(
        reader,
        synonyms=config.synonym_table(),
        acronyms=config.acronyms,
        respell=Respeller(reader.public_vocabulary),
    )
    embedder = open_embedder(settings)
    fusion: Fusion = "rrf" if settings.fusion == "rrf" else "score"
    hybrid = HybridRetriever(
        reader,
        queries,
        KeywordRetriever(reader, queries),
        EmbeddingRetriever(reader, embedder, queries) if embedder else None,
        reranker=_open_reranker(settings, reader, embedder),
        fusion=fusion,
    )
    return _Parts(reader, embedder, queries, hybrid)
