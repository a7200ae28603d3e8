"""THE MAIN PATH: question -> passages -> draft -> gate -> support check -> answer | abstention.

With a model there are up to three drafts: the model's, the model's once more when the gate let
nothing of the first one through, and the handbook's own words.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from bot.answering.extractive import Generator
from bot.answering.rewriting import Rewriter, Rewriting, rewritten
from bot.answering.streaming import ClaimRelease, OnClaim
from bot.answering.support import Support, SupportCheck, SupportDecision, hard_rules
from bot.answering.translating import Translator, with_translations
from bot.answering.writing import AudibleWriter, Writer
from bot.errors import AnswerNotGrounded, AnswerUnavailable
from bot.grounding.disagreement import Disagreements
from bot.grounding.verifier import RejectedClaim, Verification, verify
from bot.grounding.wording import Closeness
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
class Attempt:
    """One draft and what became of it.

    Attributes:
        verification: The claims that may be shown, whether or not the check let them through.
        generator: "extractive" or the model's name.
        degraded: Why this draft had to stand in for a better one, or None.
    """

    draft: Draft
    verification: Verification
    decision: SupportDecision
    generator: str
    degraded: str | None = None

    @property
    def answers(self) -> bool:
        """Tell whether it is shown."""
        return self.decision.support is Support.ANSWER


@dataclass(frozen=True, slots=True)
class Examination:
    """Everything behind one outcome, for `explain`, evaluation and calibration.

    Attributes:
        draft: That the outcome was made from, as `verification` and `decision`.
        verification: The claims that may be shown, whether or not the check let them through.
        attempts: Every draft there was, in order of preference; the last one made the outcome.
        rewriting: What a model made of a follow-up; None when it was not asked.
    """

    outcome: Outcome
    retrieval: Retrieval
    draft: Draft
    verification: Verification
    decision: SupportDecision
    attempts: tuple[Attempt, ...] = ()
    rewriting: Rewriting | None = None


OnVerification = Callable[[Verification], None]
"""Gets the gate's verdict on each draft, to count it."""


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
        closeness: Closeness | None = None,
        rewriter: Rewriter | None = None,
        translator: Translator | None = None,
        on_verification: OnVerification | None = None,
        top_k: int = DEFAULT_TOP_K,
        resources: AbstractContextManager[object] | None = None,
    ) -> None:
        """Wire an answerer.

        Args:
            retriever: Finds passages.
            generator: Drafts from them.
            support: Decides last whether the draft is shown.
            fallback: Takes over when the generator's model is down, and the outcome says so.
            closeness: Compares a sentence with a quote in another language.
            rewriter: Makes follow-ups stand alone; without one the rule does.
            translator: Translates quotes in another language than the question.
            on_verification: Told what the gate said of each draft.
            top_k: Passages retrieved.
            resources: Closed with the answerer.
        """
        self._retriever = retriever
        self._generator = generator
        self._support = support
        self._fallback = fallback
        self._closeness = closeness
        self._rewriter = rewriter
        self._translator = translator
        self._on_verification = on_verification
        self._top_k = top_k
        self._resources = ExitStack()
        if resources is not None:
            self._resources.enter_context(resources)

    def answer(
        self,
        question: Question,
        *,
        audiences: Audiences = PUBLIC,
        on_claim: OnClaim | None = None,
    ) -> Outcome:
        """Answer a question, or abstain. Any text is a legal question.

        Args:
            question: With the earlier questions of its thread, if any.
            audiences: Only what these may read is used.
            on_claim: Gets what a model writes before the outcome is there, claim by claim. The
                outcome is the same as without, and has the claims among its own, unless the model
                failed after them: then it counts alone.

        Raises:
            IndexStoreError: If the index cannot be read: an outage, never an abstention.
            AnswerUnavailable: If the model is down and there is no fallback.
        """
        return self.examine(question, audiences=audiences, on_claim=on_claim).outcome

    def examine(
        self,
        question: Question,
        *,
        audiences: Audiences = PUBLIC,
        on_claim: OnClaim | None = None,
    ) -> Examination:
        """Answer a question and keep everything that led to the outcome (see `answer`)."""
        started = time.perf_counter()
        question, rewriting = rewritten(question, self._rewriter)
        understood = time.perf_counter()
        retrieval = self._retriever.search(question, top_k=self._top_k, audiences=audiences)
        retrieved = time.perf_counter()
        attempts = self._attempts(retrieval, on_claim)
        last = attempts[-1]
        outcome = self._translated(_outcome(retrieval, attempts, self._closeness), retrieval, last)
        done = time.perf_counter()
        timings_ms = {
            **retrieval.timings_ms,
            **({"rewrite": 1_000 * (understood - started)} if rewriting is not None else {}),
            "answer": 1_000 * (done - retrieved),
            "total": 1_000 * (done - started),
        }
        return Examination(
            replace(outcome, timings_ms=timings_ms),
            retrieval,
            last.draft,
            last.verification,
            last.decision,
            attempts,
            rewriting,
        )

    def _translated(self, outcome: Outcome, retrieval: Retrieval, made_by: Attempt) -> Outcome:
        """Translate quotes, unless the model has just been found to be down."""
        if self._translator is None or made_by.degraded or not isinstance(outcome, GroundedAnswer):
            return outcome
        language = retrieval.query.language
        return with_translations(outcome, language, self._translator, self._closeness)

    def _attempts(self, retrieval: Retrieval, on_claim: OnClaim | None) -> tuple[Attempt, ...]:
        """Draft until something may be shown, or nothing is left to try.

        A model is asked only where the handbook has something on the subject, and its word that
        the passages do not answer is taken.
        """
        if self._fallback is None:
            return (self._quote(self._generator, retrieval),)
        quoted = self._quote(self._fallback, retrieval)
        if not retrieval.passages or quoted.decision.support is Support.NONE:
            return (quoted,)
        written: list[Attempt] = []
        try:
            self._write(retrieval, on_claim, written)
        except AnswerUnavailable as error:
            logger.warning("model unavailable, quoting instead", extra={"reason": str(error)})
            written.append(replace(quoted, degraded=MODEL_UNAVAILABLE))
        except AnswerNotGrounded as error:
            logger.info("quoting instead of the model", extra={"reason": str(error)})
            written.append(quoted)
        return tuple(written)

    def _quote(self, generator: Generator, retrieval: Retrieval) -> Attempt:
        query, passages = retrieval.query, retrieval.passages
        nothing = Draft((), query.language, confidence=0.0)
        draft = generator.draft(query, passages) if passages else nothing
        verification = self._verify(draft, retrieval)
        decision = self._support.decide(query, verification.claims, passages)
        return Attempt(draft, verification, decision, generator.name)

    def _write(
        self, retrieval: Retrieval, on_claim: OnClaim | None, attempts: list[Attempt]
    ) -> None:
        """Let the model draft, and once more when nothing of its draft may be shown.

        Args:
            retrieval: What it drafts from.
            on_claim: See `answer`.
            attempts: Gets each draft; the last one answers, or says that the passages do not.

        Raises:
            AnswerUnavailable: If the model is down, slow or refuses.
            AnswerNotGrounded: If it has something to say, and none of it may be shown.
        """
        refused: tuple[RejectedClaim, ...] = ()
        for _ in range(2 if isinstance(self._generator, Writer) else 1):
            # A draft of which anything was let out answers: before a second one nothing was heard.
            attempt = self._judge(self._drafted(retrieval, on_claim, refused), retrieval)
            attempts.append(attempt)
            refused = attempt.verification.rejected
            if attempt.answers or not attempt.draft.claims:
                return
            if not refused:
                break
        raise AnswerNotGrounded(f"nothing that {self._generator.name} wrote may be shown")

    def _drafted(
        self,
        retrieval: Retrieval,
        on_claim: OnClaim | None,
        refused: Sequence[RejectedClaim] = (),
    ) -> Draft:
        query, passages, writer = retrieval.query, retrieval.passages, self._generator
        if on_claim is not None and isinstance(writer, AudibleWriter):
            release = ClaimRelease(query, passages, self._closeness, on_claim)
            return writer.draft_aloud(query, passages, release.take, rejected=refused)
        if refused and isinstance(writer, Writer):
            return writer.redraft(query, passages, refused)
        return writer.draft(query, passages)

    def _judge(self, draft: Draft, retrieval: Retrieval) -> Attempt:
        """Check a model's draft: it has read the passages, so only rules and gate overrule it."""
        query = retrieval.query
        verification = self._verify(draft, retrieval)
        claims = verification.claims
        decision = self._support.decide(query, claims, retrieval.passages)
        if claims and not hard_rules(query, claims):
            decision = replace(decision, support=Support.ANSWER, reasons=())
        return Attempt(draft, verification, decision, self._generator.name)

    def _verify(self, draft: Draft, retrieval: Retrieval) -> Verification:
        verification = verify(
            draft,
            retrieval.passages,
            question=retrieval.query.text,
            closeness=self._closeness,
        )
        if self._on_verification is not None:
            self._on_verification(verification)
        return verification

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
    attempts: Sequence[Attempt],
    closeness: Closeness | None,
) -> Outcome:
    last = attempts[-1]
    degraded = retrieval.degraded or last.degraded
    if last.answers:
        disagreements = Disagreements(retrieval.passages, closeness)
        claims, disagreement = disagreements.among(last.verification.claims)
        return GroundedAnswer(
            claims=claims,
            language=last.draft.language,
            confidence=last.decision.probability,
            generator=last.generator,
            passages=retrieval.passages,
            degraded=degraded,
            disagreement=disagreement,
        )
    return Abstention(
        reason=_abstention_reason(retrieval, last.draft, last.verification),
        subject_close=last.decision.support is Support.CLOSE,
        language=retrieval.query.language,
        confidence=last.decision.probability,
        generator=last.generator,
        passages=retrieval.passages,
        explanation=tuple(reason for attempt in attempts for reason in _reasons(attempt)),
        degraded=degraded,
    )


def _reasons(attempt: Attempt) -> tuple[str, ...]:
    rejected = (claim.reason for claim in attempt.verification.rejected)
    return (*attempt.decision.reasons, *rejected)


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
