"""Fits the threshold of the support check to a company's own questions (`manuel calibrate`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.answering.answerer import Answerer
from bot.answering.calibration import Observation, choose_threshold
from bot.evaluation import LabelledQuestion, QuestionScore, evaluate
from ingest import ConfigurationError

FEWEST = 10
"""Questions of either kind below which a share of them says nothing."""
LOWEST = 0.05
"""Threshold below which nothing is ever asked of an answer, whatever a few questions suggest."""


@dataclass(frozen=True, slots=True)
class ThresholdEffect:
    """What a threshold does to a set of questions; shares in [0, 1].

    Attributes:
        correct: Of the answerable questions.
        false_answers: Of the unanswerable ones.
        right_when_answering: Of the answerable questions that got an answer; None without any.
    """

    threshold: float
    correct: float
    false_answers: float
    right_when_answering: float | None


@dataclass(frozen=True, slots=True)
class ThresholdFit:
    """A threshold fitted to questions, beside the one in use until then."""

    answerable: int
    unanswerable: int
    before: ThresholdEffect
    after: ThresholdEffect


def fit_threshold(
    questions: Sequence[LabelledQuestion],
    answerer: Answerer,
    *,
    max_false: float,
    current: float,
    progress: Callable[[], None] = lambda: None,
) -> ThresholdFit:
    """Ask every question and choose the lowest threshold that keeps false answers rare enough.

    Args:
        questions: Answerable ones and ones that the handbook does not answer.
        answerer: On the index of their handbook.
        max_false: Share of the unanswerable questions that may get an answer, in [0, 1].
        current: The threshold in use.
        progress: Called after each question.

    Raises:
        ConfigurationError: If there are too few questions of either kind.
    """
    answerable = sum(question.answerable for question in questions)
    unanswerable = len(questions) - answerable
    if min(answerable, unanswerable) < FEWEST:
        raise ConfigurationError(
            f"calibrating takes at least {FEWEST} questions that the handbook answers and"
            f' {FEWEST} that it does not (`"answerable": false`); the file has {answerable} and'
            f" {unanswerable}"
        )
    scores = evaluate(questions, answerer, progress=progress).scores
    fitted = choose_threshold(
        [_observation(score) for score in scores],
        [score.confidence for score in scores],
        max_false=max_false,
    )
    return ThresholdFit(
        answerable,
        unanswerable,
        before=threshold_effect(scores, current),
        after=threshold_effect(scores, max(LOWEST, fitted)),
    )


def threshold_effect(scores: Sequence[QuestionScore], threshold: float) -> ThresholdEffect:
    """Return what would have been shown at a threshold."""
    shown = [score for score in scores if score.confidence >= threshold]
    answered = [score for score in shown if score.answerable]
    right = sum(score.correct_if_shown for score in answered)
    answerable = sum(score.answerable for score in scores)
    others = len(scores) - answerable
    return ThresholdEffect(
        threshold,
        correct=right / answerable if answerable else 0.0,
        false_answers=(len(shown) - len(answered)) / others if others else 0.0,
        right_when_answering=right / len(answered) if answered else None,
    )


def _observation(score: QuestionScore) -> Observation:
    return Observation({}, right=score.correct_if_shown, answerable=score.answerable)
