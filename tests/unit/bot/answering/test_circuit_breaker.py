"""When a model is left alone, and when it is asked again."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from bot.answering.breaker import CircuitBreaker


@dataclass
class Heard:
    """Remembers incidents."""

    words: list[object] = field(default_factory=list)

    def model_down(self, reason: str) -> None:
        self.words.append(reason)

    def model_back(self, down_s: float) -> None:
        self.words.append(down_s)

    def budget_spent(self, tokens: int) -> None:
        self.words.append(tokens)


@dataclass
class Clock:
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(heard, clock) -> CircuitBreaker:
    return CircuitBreaker(
        heard, failures_to_open=3, first_pause_s=30, longest_pause_s=100, now=clock
    )


def fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        assert breaker.refusal() is None
        breaker.failed("no answer")


def test_a_failure_now_and_then_is_no_outage(breaker, heard):
    fail(breaker, 2)
    breaker.worked()
    fail(breaker, 2)
    assert breaker.refusal() is None
    assert heard.words == []


def test_three_failures_in_a_row_are_told_once_and_end_the_asking(breaker, heard):
    fail(breaker, 3)
    breaker.failed("a request that was under way")
    assert "no answer" in breaker.refusal()
    assert heard.words == ["no answer"]


def test_what_does_not_mend_itself_is_an_outage_at_once(breaker, heard):
    breaker.failed("wrong key", lasting=True)
    assert breaker.refusal() is not None
    assert heard.words == ["wrong key"]


def test_after_the_pause_one_question_probes_and_the_others_go_on_without(breaker, clock):
    fail(breaker, 3)
    clock.seconds = 29.9
    assert breaker.refusal() is not None
    clock.seconds = 30
    assert breaker.refusal() is None
    assert breaker.refusal() is not None


def test_a_probe_that_works_ends_the_outage(breaker, clock, heard):
    fail(breaker, 3)
    clock.seconds = 30
    assert breaker.refusal() is None
    breaker.worked()
    assert breaker.refusal() is None
    assert heard.words == ["no answer", 30]


def test_each_failed_probe_doubles_the_pause_up_to_a_limit_and_says_nothing(breaker, clock, heard):
    fail(breaker, 3)
    for pause in (30, 60, 100, 100):
        clock.seconds += pause - 1
        assert breaker.refusal() is not None
        clock.seconds += 1
        assert breaker.refusal() is None
        breaker.failed("still down")
    assert heard.words == ["no answer"]


def test_a_probe_that_says_nothing_leaves_the_next_one_to_find_out(breaker, clock):
    fail(breaker, 3)
    clock.seconds = 30
    assert breaker.refusal() is None
    breaker.gave_up()
    assert breaker.refusal() is None
