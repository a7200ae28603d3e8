"""Counts the tokens a model costs, and holds it to a daily budget."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one or more requests.

    Attributes:
        prompt: Read by the model.
        completion: Written by it, its thinking included.
    """

    requests: int = 0
    prompt: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        """Return all tokens."""
        return self.prompt + self.completion

    def __add__(self, other: TokenUsage) -> TokenUsage:
        return TokenUsage(
            self.requests + other.requests,
            self.prompt + other.prompt,
            self.completion + other.completion,
        )


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """What a million tokens cost.

    Attributes:
        prompt: Of those that are read.
        completion: Of those that are written.
    """

    prompt: float
    completion: float
    currency: str

    def of(self, usage: TokenUsage) -> float:
        """Return what was spent, in the currency."""
        spent = usage.prompt * self.prompt + usage.completion * self.completion
        return spent / 1_000_000


@dataclass(frozen=True, slots=True)
class RunCost:
    """What it took to ask a set of questions.

    Attributes:
        generator: "extractive" or the model's name.
        amount: In the currency; None where no price is known.
    """

    generator: str
    tokens: TokenUsage
    seconds: float
    amount: float | None = None
    currency: str | None = None


class TokenMeter(Protocol):
    """Adds up what a model costs. Safe to share between threads."""

    def refusal(self) -> str | None:
        """Return why no further request may be made today, or None."""
        ...

    def count(self, usage: TokenUsage) -> None:
        """Add the tokens of one request."""
        ...


class RunMeter:
    """Counts what one run costs, and passes it on.

    Args:
        budget: Also counts, and decides whether more may be spent; None: nobody does.
    """

    def __init__(self, budget: TokenMeter | None = None) -> None:
        self._lock = threading.Lock()
        self._usage = TokenUsage()
        self._budget = budget

    @property
    def usage(self) -> TokenUsage:
        """Return what was counted so far."""
        with self._lock:
            return self._usage

    def refusal(self) -> str | None:
        """Return what the budget says."""
        return self._budget.refusal() if self._budget else None

    def count(self, usage: TokenUsage) -> None:
        """Add the tokens of one request."""
        with self._lock:
            self._usage += usage
        if self._budget:
            self._budget.count(usage)
