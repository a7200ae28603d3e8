"""Fitting the support check."""

from __future__ import annotations

import math

import pytest

from bot.answering.calibration import (
    Observation,
    area_under_curve,
    choose_threshold,
    fit_logistic,
)


def observation(signal: float, *, right: bool, answerable: bool = True, vetoed: bool = False):
    return Observation({"s": signal, "noise": 1.0}, right, answerable, vetoed)


def test_a_fit_finds_the_log_odds_of_two_groups():
    observations = [observation(0.0, right=i < 2) for i in range(10)]
    observations += [observation(1.0, right=i < 8) for i in range(10)]
    fit = fit_logistic(observations, ["s"], penalty=1e-9)
    assert fit.intercept == pytest.approx(math.log(0.2 / 0.8), abs=1e-3)
    assert fit.weights["s"] == pytest.approx(2 * math.log(4), abs=1e-3)
    assert fit.probability({"s": 1.0}) == pytest.approx(0.8, abs=1e-3)


def test_a_signal_that_never_varies_gets_no_weight():
    observations = [observation(i % 3, right=i % 3 == 2) for i in range(30)]
    fit = fit_logistic(observations, ["s", "noise"])
    assert fit.weights["noise"] == pytest.approx(0.0)
    assert fit.weights["s"] > 0


def test_separable_data_stay_finite():
    observations = [observation(float(i), right=i >= 5) for i in range(10)]
    assert math.isfinite(fit_logistic(observations, ["s"]).weights["s"])


def test_every_set_weighs_the_same():
    few = [observation(0.0, right=True) for _ in range(2)]
    many = [observation(0.0, right=False) for _ in range(98)]
    fit = fit_logistic([*few, *many], ["s"], groups=["a"] * 2 + ["b"] * 98)
    assert fit.probability({"s": 0.0}) == pytest.approx(0.5, abs=1e-6)


def test_the_threshold_lets_through_the_share_allowed():
    observations = [observation(0.0, right=False, answerable=False) for _ in range(10)]
    probabilities = [i / 10 for i in range(10)]
    threshold = choose_threshold(observations, probabilities, max_false=0.2)
    assert sum(p >= threshold for p in probabilities) == 2


def test_vetoed_questions_use_up_no_allowance():
    observations = [
        observation(0.0, right=False, answerable=False, vetoed=i >= 8) for i in range(10)
    ]
    probabilities = [i / 10 for i in range(10)]
    threshold = choose_threshold(observations, probabilities, max_false=0.2)
    shown = sum(
        p >= threshold and not o.vetoed for o, p in zip(observations, probabilities, strict=True)
    )
    assert shown == 2


def test_without_unanswerable_questions_everything_is_shown():
    assert choose_threshold([observation(1.0, right=True)], [0.3], max_false=0.2) == 0.0


def test_the_area_is_the_chance_of_the_right_order():
    assert area_under_curve([True, False], [0.9, 0.1]) == 1.0
    assert area_under_curve([True, False], [0.1, 0.9]) == 0.0
    assert area_under_curve([True, False, False], [0.5, 0.5, 0.1]) == 0.75
