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


class TokenMeter(Protocol):
    """Adds up what a model costs. Safe to share between threads."""

    def refusal(self) -> str | None:
        """Return why no further request may be made today, or None."""
        ...

    def count(self, usage: TokenUsage) -> None:
        """Add the tokens of one request."""
        ...


class RunMeter:
    """Counts for as long as the process runs; without a budget."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = TokenUsage()

    @property
    def usage(self) -> TokenUsage:
        """Return what was counted so far."""
        with self._lock:
            return self._usage

    def refusal(self) -> str | None:
        """Never refuse."""
        return None

    def count(self, usage: TokenUsage) -> None:
        """Add the tokens of one request."""
        with self._lock:
            self._usage += usage
