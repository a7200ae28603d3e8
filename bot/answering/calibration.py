"""Fits the numbers of the support check: a small logistic regression and its threshold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Observation:
    """What the support check saw for one question, and whether showing the draft was right.

    Attributes:
        signals: As computed by `support_signals`.
        right: The draft answers the question; always False for an unanswerable one.
        answerable: Whether the handbook answers it.
        vetoed: A hard rule abstains whatever the probability.
    """

    signals: Mapping[str, float]
    right: bool
    answerable: bool
    vetoed: bool = False


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model: logit = intercept + sum of weight * signal."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, signals: Mapping[str, float]) -> float:
        """Return the probability that the draft is right."""
        logit = self.intercept + sum(w * signals.get(n, 0.0) for n, w in self.weights.items())
        return float(1.0 / (1.0 + np.exp(-np.clip(logit, -30.0, 30.0))))


def fit_logistic(
    observations: Sequence[Observation],
    names: Sequence[str],
    *,
    groups: Sequence[str] | None = None,
    penalty: float = 1.0,
) -> Fit:
    """Fit by Newton's method on standardised signals, with a ridge penalty.

    Args:
        observations: At least one right and one not.
        names: Signals to use; absent ones count 0.
        groups: Set of each observation: every set weighs the same, whatever its size.
        penalty: Ridge penalty on the standardised weights, intercept excluded.

    Source: iteratively reweighted least squares, Hastie, Tibshirani & Friedman, section 4.4.1.
    """
    x = np.array([[o.signals.get(n, 0.0) for n in names] for o in observations], dtype=float)
    y = np.array([o.right for o in observations], dtype=float)
    mean, spread = x.mean(axis=0), x.std(axis=0)
    spread[spread == 0] = 1.0
    design = np.column_stack([np.ones(len(x)), (x - mean) / spread])
    sample = _equal_weights(groups, len(x))
    ridge = np.diag([0.0] + [penalty] * len(names))
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30, 30)))
        gradient = design.T @ (sample * (y - p)) - ridge @ beta
        hessian = (design * (sample * p * (1 - p))[:, None]).T @ design + ridge
        step = np.linalg.solve(hessian + 1e-9 * np.eye(len(beta)), gradient)
        beta = beta + step
        if np.abs(step).max() < 1e-8:
            break
    weights = beta[1:] / spread
    return Fit(float(beta[0] - weights @ mean), dict(zip(names, weights.tolist(), strict=True)))


def choose_threshold(
    observations: Sequence[Observation], probabilities: Sequence[float], *, max_false: float
) -> float:
    """Return the lowest threshold at which at most this share of unanswerable ones is answered.

    Args:
        observations: With their unanswerable questions; without any the threshold is 0.
        probabilities: Of each observation.
        max_false: Share in [0, 1].
    """
    unanswerable = sorted(
        (
            probability
            for o, probability in zip(observations, probabilities, strict=True)
            if not o.answerable and not o.vetoed
        ),
        reverse=True,
    )
    total = sum(not o.answerable for o in observations)
    allowed = int(max_false * total)
    if len(unanswerable) <= allowed:
        return 0.0
    return float(np.nextafter(unanswerable[allowed], 1.0))


def area_under_curve(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the chance that a positive scores above a negative, ties counting half.

    Source: Mann-Whitney U statistic.
    """
    positive = np.array([s for s, label in zip(scores, labels, strict=True) if label])
    negative = np.array([s for s, label in zip(scores, labels, strict=True) if not label])
    if not len(positive) or not len(negative):
        return float("nan")
    above = (positive[:, None] > negative[None, :]).mean()
    ties = (positive[:, None] == negative[None, :]).mean()
    return float(above + ties / 2)


def _equal_weights(groups: Sequence[str] | None, count: int) -> Figures:
    if groups is None:
        return np.ones(count)
    sizes = {group: groups.count(group) for group in set(groups)}
    return np.array([count / (len(sizes) * sizes[group]) for group in groups])
