"""THE MAIN PATH: question -> passages -> draft -> gate -> support check -> answer | abstention."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from bot.answering.extractive import Generator
from bot.answering.support import Support, SupportCheck, SupportDecision
from bot.errors import AnswerUnavailable
from bot.grounding.verifier import Verification, verify
from bot.records import (
    Abstention,
    AbstentionReason,
    Draft,
    GroundedAnswer,
    Outcome,
    Question,
)
from bot.retrieval.hybrid import HybridRetriever, Retrieval
from ingest import PUBLIC, Audiences

logger = logging.getLogger(__name__)

MODEL_UNAVAILABLE = "model unavailable: quoted from the handbook instead"

DEFAULT_TOP_K = 12
"""Passages retrieved for an answer: past these the page is hardly ever found."""


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything behind one outcome, for `explain`, evaluation and calibration.

    Attributes:
        verification: The claims that may be shown, whether or not the check let them through.
    """

    outcome: Outcome
    retrieval: Retrieval
    draft: Draft
    verification: Verification
    decision: SupportDecision


class Answerer:
    """Answers questions from passages only. Safe to share between threads.

    Close it, or use it as a context manager, to let go of the index.
    """

    def __init__(
        self,
        retriever: HybridRetriever,
        generator: Generator,
        support: SupportCheck,
        *,
        fallback: Generator | None = None,
        top_k: int = DEFAULT_TOP_K,
        resources: AbstractContextManager[object] | None = None,
    ) -> None:
        """Wire an answerer.

        Args:
            retriever: Finds passages.
            generator: Drafts from them.
            support: Decides last whether the draft is shown.
            fallback: Takes over when the generator's model is down, and the outcome says so.
            top_k: Passages retrieved.
            resources: Closed with the answerer.
        """
        self._retriever = retriever
        self._generator = generator
        self._support = support
        self._fallback = fallback
        self._top_k = top_k
        self._resources = ExitStack()
        if resources is not None:
            self._resources.enter_context(resources)

    def answer(self, question: Question, *, audiences: Audiences = PUBLIC) -> Outcome:
        """Answer a question, or abstain. Any text is a legal question.

        Args:
            question: With the earlier questions of its thread, if any.
            audiences: Only what these may read is used.

        Raises:
            IndexStoreError: If the index cannot be read: an outage, never an abstention.
            AnswerUnavailable: If the model is down and there is no fallback.
        """
        return self.examine(question, audiences=audiences).outcome

    def examine(self, question: Question, *, audiences: Audiences = PUBLIC) -> Examination:
        """Answer a question and keep everything that led to the outcome (see `answer`)."""
        started = time.perf_counter()
        retrieval = self._retriever.search(question, top_k=self._top_k, audiences=audiences)
        retrieved = time.perf_counter()
        draft, generator, reason = self._draft(retrieval)
        verification = verify(draft, retrieval.passages)
        decision = self._support.decide(retrieval.query, verification.claims, retrieval.passages)
        done = time.perf_counter()
        timings_ms = {
            **retrieval.timings_ms,
            "answer": 1_000 * (done - retrieved),
            "total": 1_000 * (done - started),
        }
        outcome = _outcome(
            retrieval,
            draft,
            verification,
            decision,
            generator=generator,
            degraded=retrieval.degraded or reason,
            timings_ms=timings_ms,
        )
        return Examination(outcome, retrieval, draft, verification, decision)

    def _draft(self, retrieval: Retrieval) -> tuple[Draft, str, str | None]:
        """Draft from the passages; nothing retrieved means no call at all."""
        query, passages = retrieval.query, retrieval.passages
        if not passages:
            return Draft((), query.language, confidence=0.0), self._generator.name, None
        try:
            return self._generator.draft(query, passages), self._generator.name, None
        except AnswerUnavailable as error:
            if self._fallback is None:
                raise
            logger.warning("model unavailable, quoting instead", extra={"reason": str(error)})
            return self._fallback.draft(query, passages), self._fallback.name, MODEL_UNAVAILABLE

    def close(self) -> None:
        """Let go of the index."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _outcome(
    retrieval: Retrieval,
    draft: Draft,
    verification: Verification,
    decision: SupportDecision,
    *,
    generator: str,
    degraded: str | None,
    timings_ms: Mapping[str, float],
) -> Outcome:
    if decision.support is Support.ANSWER:
        return GroundedAnswer(
            claims=verification.claims,
            language=draft.language,
            confidence=decision.probability,
            generator=generator,
            passages=retrieval.passages,
            degraded=degraded,
            timings_ms=timings_ms,
        )
    return Abstention(
        reason=_abstention_reason(retrieval, draft, verification),
        subject_close=decision.support is Support.CLOSE,
        language=retrieval.query.language,
        confidence=decision.probability,
        generator=generator,
        passages=retrieval.passages,
        explanation=(
            *decision.reasons,
            *(rejected.reason for rejected in verification.rejected),
        ),
        degraded=degraded,
        timings_ms=timings_ms,
    )


def _abstention_reason(
    retrieval: Retrieval, draft: Draft, verification: Verification
) -> AbstentionReason:
    if retrieval.query.is_empty:
        return AbstentionReason.EMPTY_QUESTION
    if not retrieval.passages:
        return AbstentionReason.NO_PASSAGE
    if draft.claims and not verification.claims:
        return AbstentionReason.NOT_GROUNDED
    return AbstentionReason.UNSUPPORTED
