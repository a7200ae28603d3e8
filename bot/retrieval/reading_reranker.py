"""A second stage after the second: a reader orders the best passages."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from bot.errors import ReadingFailed
from bot.reader import Reader
from bot.records import Passage
from bot.retrieval.query import Query
from bot.retrieval.reranker import Reranker, full_text
from ingest import PUBLIC, Audiences

logger = logging.getLogger(__name__)

READ_PASSAGES = 12
"""Read of each question: a cross-encoder takes some tens of milliseconds a passage."""

READER_WEIGHT = 0.3
"""In units of cosine, from "does not answer" to "answers": the passages it is put to lie within
about as much of each other. A guess, not fitted to any one model. Without an encoder scores are far
smaller, and the reader alone decides."""


class ReadingReranker:
    """Adds what a reader says of each of the best passages to the score they come with.

    score = score of the stage before + `READER_WEIGHT` * probability that the passage answers.
    A reader that fails is done without. Units that the stage before encoded by themselves are
    those of its own order.
    """

    def __init__(self, reader: Reader, before: Reranker | None = None) -> None:
        """Wire a reranker.

        Args:
            reader: Reads question and passage together.
            before: Chooses which passages are read; None: the first stage does.
        """
        self._reader = reader
        self._before = before

    def rerank(
        self, query: Query, passages: Sequence[Passage], *, audiences: Audiences = PUBLIC
    ) -> list[Passage]:
        """Reorder by what the reader says (see `Reranker.rerank`)."""
        if self._before is not None:
            passages = self._before.rerank(query, passages, audiences=audiences)
        head, tail = passages[:READ_PASSAGES], passages[READ_PASSAGES:]
        try:
            read = self._reader.read(query.text, [full_text(p.chunk) for p in head])
        except ReadingFailed as error:
            logger.warning("reader failed, ordering without", extra={"reason": str(error)})
            return list(passages)
        ordered = [
            replace(
                passage,
                score=passage.score + READER_WEIGHT * probability,
                signals={**passage.signals, "read": probability},
            )
            for passage, probability in zip(head, read, strict=True)
        ]
        ordered.sort(key=lambda passage: (-passage.score, passage.chunk.chunk_id))
        return [replace(p, rank=rank) for rank, p in enumerate((*ordered, *tail), start=1)]
