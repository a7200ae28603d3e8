"""Figures over scored questions: shares with bootstrap intervals, curves, and their picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bot.evaluation import QuestionScore, Tally, tally

RESAMPLES = 1_000
SEED = 20_261_130
FALSE_SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True, slots=True)
class Interval:
    """A share in [0, 1] and its 95 % bootstrap interval."""

    share: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.share:.0f} [{100 * self.low:.0f}-{100 * self.high:.0f}]"


def interval(
    scores: Sequence[QuestionScore], figure: Callable[[Tally], float | None]
) -> Interval | None:
    """Return a figure of some questions with its interval, None where it means nothing.

    Source: percentile bootstrap over questions, Efron & Tibshirani 1993, chapter 13.
    """
    share = figure(tally(scores))
    if share is None:
        return None
    values = [value for again in _resamples(scores) if (value := figure(tally(again))) is not None]
    low, high = np.percentile(values, (2.5, 97.5))
    return Interval(share, float(low), float(high))


def _resamples(scores: Sequence[QuestionScore]) -> Iterator[list[QuestionScore]]:
    generator = np.random.default_rng(SEED)
    for _ in range(RESAMPLES):
        yield [scores[i] for i in generator.integers(len(scores), size=len(scores))]


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """What one threshold gives.

    Attributes:
        allowed: Share of false answers that was allowed.
        correct: Share of the answerable questions.
        right_when_answering: Share of those that got an answer; None without any.
    """

    allowed: float
    threshold: float
    correct: float
    right_when_answering: float | None


def operating_points(scores: Sequence[QuestionScore]) -> list[OperatingPoint]:
    """Return what each threshold would give; hard rules stay as they are (confidence 0).

    Empty without questions of both kinds.
    """
    answerable = [s for s in scores if s.answerable]
    ranked = sorted((s.confidence for s in scores if not s.answerable), reverse=True)
    if not answerable or not ranked:
        return []
    points = []
    for allowed in FALSE_SHARES:
        threshold = ranked[min(int(allowed * len(ranked)), len(ranked) - 1)]
        shown = [s for s in answerable if s.confidence > threshold]
        right = sum(s.correct_if_shown for s in shown)
        points.append(
            OperatingPoint(
                allowed, threshold, right / len(answerable), right / len(shown) if shown else None
            )
        )
    return points


def draw_curves(
    groups: Mapping[str, Sequence[QuestionScore]], *, threshold: float, path: Path
) -> None:
    """Draw correct against false answers, for every threshold, as an SVG.

    Args:
        groups: Of questions; the first one is drawn with its interval and the shipped threshold.
        threshold: Shipped; marked on the first curve.
        path: Of the picture.
    """
    mpl.rcParams["svg.hashsalt"] = "manuel"  # the same figures give the same file
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    (first, scores), *others = groups.items()
    grid = np.linspace(0, 1, 101)
    curves = np.array([_correct_at(grid, again) for again in _resamples(scores)])
    low, high = np.percentile(curves, (2.5, 97.5), axis=0)
    axes.fill_between(100 * grid, 100 * low, 100 * high, color="C0", alpha=0.15, linewidth=0)
    for name, own in others:
        axes.plot(100 * grid, 100 * _correct_at(grid, own), linewidth=0.9, label=name)
    axes.plot(100 * grid, 100 * _correct_at(grid, scores), color="C0", linewidth=2.5, label=first)
    shown = [s for s in scores if s.confidence >= threshold]
    axes.plot(
        100 * sum(not s.answerable for s in shown) / sum(not s.answerable for s in scores),
        100 * sum(s.correct_if_shown for s in shown) / sum(s.answerable for s in scores),
        "o",
        color="black",
        label=f"shipped threshold, {threshold:g}",
    )
    axes.set(
        xlabel="unanswerable questions that get an answer, %",
        ylabel="answerable questions answered right, %",
        xlim=(0, 100),
        ylim=(0, 100),
    )
    axes.grid(visible=True, linewidth=0.4, alpha=0.5)
    axes.legend(fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def _correct_at(grid: NDArray[np.float64], scores: Sequence[QuestionScore]) -> NDArray[np.float64]:
    """Return the share answered right at each share of false answers."""
    false = np.sort([s.confidence for s in scores if not s.answerable])[::-1]
    right = np.array([s.confidence for s in scores if s.correct_if_shown])
    answerable = sum(s.answerable for s in scores)
    if not len(false) or not answerable:
        return np.zeros(len(grid))
    allowed = (grid * len(false)).astype(int)
    thresholds = np.append(false, -1.0)[allowed]
    return (right[None, :] > thresholds[:, None]).sum(axis=1) / answerable
