"""The support check: the last word on whether an answer is shown, as a calibrated probability.

It looks at what would be quoted, never at fusion or BM25 scores as thresholds and never at how
long the question is. Hard rules and the figures of the model explain themselves.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bot.answering.extractive import evidence_signals
from bot.answering.reader_signal import reader_signal, signal_name
from bot.errors import ReadingFailed
from bot.question_types import asked_units, held_units
from bot.reader import Reader
from bot.records import Claim, Passage
from bot.retrieval.coverage import IndexedForms, idf_coverage
from bot.retrieval.query import Query
from bot.retrieval.reranker import full_text
from ingest import fold

logger = logging.getLogger(__name__)


class Support(StrEnum):
    """The three outcomes."""

    ANSWER = "answer"
    CLOSE = "close"
    """Abstain, but pages on the subject exist."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class SupportModel:
    """A logistic model on named signals, and its thresholds.

    Attributes:
        origin: Data, date and script the numbers come from.
        intercept: Of the logit.
        weights: Of each signal, in logits per unit of the signal; absent signals count 0.
        answer_threshold: Probability from which an answer is shown.
        close_threshold: Of `close_signal`, from which the subject counts as covered.
        without_encoder: Judges what was found and quoted by keywords alone; None: this one does.
    """

    origin: str
    intercept: float
    weights: Mapping[str, float]
    answer_threshold: float
    close_threshold: float
    close_signal: str = "best_unit"
    without_encoder: SupportModel | None = None

    @property
    def version(self) -> str:
        """Return what identifies the weights: a threshold fitted with others means nothing."""
        weights = json.dumps([self.intercept, dict(self.weights)], sort_keys=True)
        return hashlib.sha256(weights.encode()).hexdigest()[:16]

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the answer is right, in (0, 1)."""
        logit = self.intercept + sum(
            weight * signals.get(name, 0.0) for name, weight in self.weights.items()
        )
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, logit))))


@dataclass(frozen=True, slots=True)
class SupportDecision:
    """What the check decided, and why.

    Attributes:
        probability: Calibrated, in [0, 1]; shown as confidence.
        reasons: One sentence for each rule that fired.
        signals: What the model saw.
        model: Whose weights and thresholds decided, for `explain`.
    """

    support: Support
    probability: float
    reasons: tuple[str, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict)
    model: SupportModel | None = None


class SupportCheck:
    """Decides whether verified claims answer the question."""

    def __init__(self, model: SupportModel, *, reader: Reader | None = None) -> None:
        """Wire a check.

        Args:
            model: Weighs the signals.
            reader: Adds a signal of its own; when it fails, the check does without.
        """
        self._model = model
        self._reader = reader

    def decide(
        self, query: Query, claims: Sequence[Claim], passages: Sequence[Passage]
    ) -> SupportDecision:
        """Judge an answer.

        Args:
            query: The question, analysed.
            claims: Those that passed the gate; none gives an abstention.
            passages: All that was retrieved, best first.
        """
        reasons = hard_rules(query, claims)
        signals = support_signals(query, claims, passages)
        if self._reader is not None and not reasons:
            signals |= _read(self._reader, query, claims)
        model = self._model
        if "unit_cosine" not in signals and model.without_encoder is not None:
            model = model.without_encoder
        probability = 0.0 if reasons else model.probability(signals)
        if not reasons and probability >= model.answer_threshold:
            return SupportDecision(Support.ANSWER, probability, signals=signals, model=model)
        if not reasons:
            reasons = (f"support {probability:.2f} is below {model.answer_threshold:.2f}",)
        subject = signals.get(model.close_signal, 0.0)
        close = bool(passages) and subject >= model.close_threshold
        return SupportDecision(
            Support.CLOSE if close else Support.NONE, probability, reasons, signals, model
        )


def _read(reader: Reader, query: Query, claims: Sequence[Claim]) -> dict[str, float]:
    try:
        return {signal_name(reader.name): reader_signal(reader, query.text, claims)}
    except ReadingFailed as error:
        logger.warning("reader failed, judging without", extra={"reason": str(error)})
        return {}


def support_signals(
    query: Query, claims: Sequence[Claim], passages: Sequence[Passage]
) -> dict[str, float]:
    """Compute what the model looks at; a signal that does not apply is absent.

    All are shares or differences of cosines; none depends on how long the question is, on BM25 or
    on fused scores.
    """
    signals = evidence_signals(query, passages)
    if passages:
        top = passages[:5]
        best = passages[0].chunk
        signals["same_page"] = sum(
            (p.chunk.source, p.chunk.page) == (best.source, best.page) for p in top
        ) / len(top)
        signals["cosine"] = max(p.signals.get("cosine", 0.0) for p in passages)
        signals["lift"] = max(p.signals.get("lift", 0.0) for p in passages)
        signals["best_unit"] = max(max(p.unit_cosines, default=0.0) for p in passages)
        signals["same_language"] = float(query.language in (best.language, "und"))
    if claims:
        signals["quote_coverage"] = idf_coverage(query, _quoted_forms(claims[0]))
    signals["entity_missing"] = _share_missing(named_things(query), claims)
    return signals


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_CAPITALISED = re.compile(r"(?<![\w'’.-])[A-ZÀ-ÖØ-Þ][\w&-]+")
_SENTENCE_START = re.compile(r"(?:^|[.!?…:]\s+|[«\"(]\s*)(?=[A-ZÀ-ÖØ-Þ])")


def hard_rules(query: Query, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Return why these claims cannot answer, one sentence per rule; empty when none fires."""
    if not claims:
        return ("nothing that could be quoted passed the checks",)
    quoted = "\n".join(claim.sentence for claim in claims)
    cited = "\n".join(_cited_text(claim) for claim in claims)
    reasons = []
    units = asked_units(query.text)
    if units and not units & held_units(quoted):
        reasons.append(f"asked for a number of {'/'.join(sorted(units))}, and none is quoted")
    years = set(_YEAR.findall(query.text)) - set(_YEAR.findall(cited))
    if years:
        reasons.append(f"asked about {', '.join(sorted(years))}, which no cited page mentions")
    return tuple(reasons)


def named_things(query: Query) -> tuple[str, ...]:
    """Return the capitalised words of a question that are not the start of a sentence, folded."""
    text = query.text
    if not any(character.islower() for character in text):
        return ()
    starts = {match.end() for match in _SENTENCE_START.finditer(text)}
    return tuple(
        fold(match.group()) for match in _CAPITALISED.finditer(text) if match.start() not in starts
    )


def _share_missing(names: Sequence[str], claims: Sequence[Claim]) -> float:
    cited = fold("\n".join(_cited_text(claim) for claim in claims))
    return sum(name not in cited for name in names) / len(names) if names else 0.0


def _quoted_forms(claim: Claim) -> IndexedForms:
    chunk = claim.citation.passage.chunk
    text = "\n".join((chunk.title, *chunk.heading_path, claim.sentence))
    return IndexedForms.of(text, chunk.language)


def _cited_text(claim: Claim) -> str:
    chunk = claim.citation.passage.chunk
    return f"{chunk.page}\n{full_text(chunk)}"
