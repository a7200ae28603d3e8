"""Why a question got its outcome: everything behind it, in the order it happened. Pure.

It is made from what answering itself leaves behind (`Answerer.examine`): there is no second path
that could tell another story.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass

from bot.answering.answerer import Attempt, Examination
from bot.answering.rewriting import Rewriting
from bot.answering.support import Support
from bot.records import Outcome, Passage, Question
from bot.retrieval.query import WeightedWord
from ingest import QueryWord


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """A word that was looked for.

    Attributes:
        idf: How rare it is in the index; higher is rarer.
        known: False when no form of it is indexed.
        others: What else counts as it: synonyms, acronyms, spellings.
    """

    surface: str
    idf: float
    known: bool
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainedPassage:
    """A passage that was retrieved.

    Attributes:
        passage: With its rank in each leg, its signals and its final score.
        terms: What each word gave to its BM25.
    """

    passage: Passage
    terms: Mapping[str, float]

    @property
    def first_stage(self) -> float:
        """Return the score after fusion."""
        return self.passage.signals.get("first_stage", self.passage.score)

    @property
    def second_stage(self) -> float | None:
        """Return the score that decided the order, None when fusion did."""
        return self.passage.score if "first_stage" in self.passage.signals else None


@dataclass(frozen=True, slots=True)
class WeighedSignal:
    """A signal of the support check; what it gave is `value * weight`, in logits."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class ExplainedAttempt:
    """One draft: what the gate said of it, and the support check.

    Attributes:
        generator: "extractive" or the model's name.
        passed: Sentences that the gate let through.
        refused: (sentence, reason) of the others.
        threshold: Probability from which an answer is shown; None when nothing was judged.
        reasons: Why it is not shown; empty when it is.
        signals: By how much they weighed, the heaviest first.
        degraded: Why this draft had to stand in for a better one.
    """

    generator: str
    passed: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]
    support: Support
    probability: float
    threshold: float | None
    reasons: tuple[str, ...]
    signals: tuple[WeighedSignal, ...]
    degraded: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything behind one outcome.

    Attributes:
        text: The question made to stand alone, as the encoder reads it.
        language: Of the question; "und" when it does not tell.
        words: Those looked for, in order.
        passages: Best first.
        attempts: Drafts in the order they were made; the last one made the outcome.
        rewriting: What a model made of a follow-up; None when it was not asked.
    """

    question: Question
    text: str
    language: str
    words: tuple[ExplainedWord, ...]
    passages: tuple[ExplainedPassage, ...]
    attempts: tuple[ExplainedAttempt, ...]
    outcome: Outcome
    rewriting: Rewriting | None = None


def explain(
    examination: Examination,
    terms: Mapping[str, Mapping[str, float]],
    *,
    public: Container[str],
    unknown_idf: float,
) -> Explanation:
    """Put an examination into the order of events.

    A word that stands on pages of others alone is told as one that stands nowhere.

    Args:
        examination: Of one question.
        terms: BM25 contribution of each word, by chunk id (see `IndexReader.explain_keywords`).
        public: Words that everybody may know of (see `IndexReader.public_vocabulary`).
        unknown_idf: Of a word that stands nowhere.
    """
    query = examination.retrieval.query
    matched = {surface for found in terms.values() for surface in found}

    def is_told(weighted: WeightedWord) -> bool:
        seen = weighted.word.surface in matched or _stands_in(weighted.word, public)
        return weighted.known and seen

    words = tuple(
        ExplainedWord(
            weighted.word.surface,
            weighted.idf if is_told(weighted) else unknown_idf,
            is_told(weighted),
            tuple(dict.fromkeys(other.folded for other in weighted.word.alternatives)),
        )
        for weighted in query.words
    )
    passages = tuple(
        ExplainedPassage(passage, terms.get(passage.chunk.chunk_id, {}))
        for passage in examination.retrieval.passages
    )
    attempts = tuple(_attempt(attempt) for attempt in examination.attempts)
    return Explanation(
        query.question,
        query.encoded,
        query.language,
        words,
        passages,
        attempts,
        examination.outcome,
        examination.rewriting,
    )


def _stands_in(word: QueryWord, vocabulary: Container[str]) -> bool:
    """Tell whether a vocabulary has some form of a word; of a phrase, all its words."""
    return any(
        all(part in vocabulary for part in term.split())
        for form in (word, *word.alternatives)
        for term in (form.folded, *form.stems)
    )


def _attempt(attempt: Attempt) -> ExplainedAttempt:
    decision, verification = attempt.decision, attempt.verification
    model = decision.model
    return ExplainedAttempt(
        generator=attempt.generator,
        passed=tuple(claim.sentence for claim in verification.claims),
        refused=tuple(
            (refused.claim.sentence, refused.reason) for refused in verification.rejected
        ),
        support=decision.support,
        probability=decision.probability,
        threshold=model.answer_threshold if model else None,
        reasons=decision.reasons,
        signals=_weighed(decision.signals, model.weights if model else {}),
        degraded=attempt.degraded,
    )


def _weighed(
    signals: Mapping[str, float], weights: Mapping[str, float]
) -> tuple[WeighedSignal, ...]:
    weighed = [
        WeighedSignal(name, value, weights.get(name, 0.0)) for name, value in signals.items()
    ]
    weighed.sort(key=lambda signal: (-abs(signal.value * signal.weight), signal.name))
    return tuple(weighed)


def explanation_to_json(explanation: Explanation) -> dict[str, object]:
    """Return what `ask --explain --json` adds to an outcome."""
    return {
        "text": explanation.text,
        "language": explanation.language,
        "rewriting": asdict(explanation.rewriting) if explanation.rewriting else None,
        "words": [
            {
                "word": word.surface,
                "idf": round(word.idf, 4),
                "known": word.known,
                "others": list(word.others),
            }
            for word in explanation.words
        ],
        "passages": [_passage_to_json(passage) for passage in explanation.passages],
        "attempts": [_attempt_to_json(attempt) for attempt in explanation.attempts],
    }


def _passage_to_json(explained: ExplainedPassage) -> dict[str, object]:
    passage = explained.passage
    second = explained.second_stage
    return {
        "chunk_id": passage.chunk.chunk_id,
        "page": passage.chunk.page,
        "heading": passage.chunk.heading,
        "rank": passage.rank,
        "legs": {leg: passage.legs.get(leg) for leg in ("keyword", "vector")},
        "first_stage": round(explained.first_stage, 6),
        "second_stage": None if second is None else round(second, 6),
        "signals": _rounded(passage.signals),
        "terms": _rounded(explained.terms),
    }


def _attempt_to_json(attempt: ExplainedAttempt) -> dict[str, object]:
    return {
        "generator": attempt.generator,
        "passed": list(attempt.passed),
        "refused": [{"sentence": s, "reason": reason} for s, reason in attempt.refused],
        "support": attempt.support.value,
        "probability": round(attempt.probability, 4),
        "threshold": attempt.threshold,
        "reasons": list(attempt.reasons),
        "signals": [
            {"name": s.name, "value": round(s.value, 4), "weight": s.weight}
            for s in attempt.signals
        ],
        "degraded": attempt.degraded,
    }


def _rounded(figures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in figures.items()}


def named_words(words: Sequence[ExplainedWord], *, unknown: str) -> list[str]:
    """Return each word with its rarity and what else counts as it, `unknown` for unknown ones."""
    said = []
    for word in words:
        rarity = f"{word.idf:.1f}" if word.known else unknown
        others = f" = {', '.join(word.others)}" if word.others else ""
        said.append(f"{word.surface}{others} ({rarity})")
    return said
