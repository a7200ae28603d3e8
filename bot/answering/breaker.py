"""Stops asking a model that is down, and finds out by itself when it is back.

Own code because the known library, pybreaker, holds one lock for as long as a call takes: two
questions could not ask the model at the same time.

Source: the circuit breaker of M. Nygard, Release It!, 2007, chapter 5.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

logger = logging.getLogger(__name__)

FAILURES_TO_OPEN = 3
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 600.0


class Incidents(Protocol):
    """Told once when the model goes down, once when it is back, once a day of a spent budget."""

    def model_down(self, reason: str) -> None:
        """Hear that the model is not asked for a while; `reason` is for an operator."""
        ...

    def model_back(self, down_s: float) -> None:
        """Hear that it answers again, after so many seconds."""
        ...

    def budget_spent(self, tokens: int) -> None:
        """Hear that the budget of the day, so many tokens, is spent."""
        ...


class LoggedIncidents:
    """Writes incidents to the log."""

    def model_down(self, reason: str) -> None:
        """Log it as an error."""
        logger.error("the model is down; answers are quoted", extra={"reason": reason})

    def model_back(self, down_s: float) -> None:
        """Log it."""
        logger.info("the model is back", extra={"down_s": round(down_s)})

    def budget_spent(self, tokens: int) -> None:
        """Log it as a warning."""
        logger.warning("the model's budget of the day is spent", extra={"tokens": tokens})


@dataclass(frozen=True, slots=True)
class _Outage:
    """Since when the model is down, and when it is tried again."""

    since_s: float
    reason: str
    pause_s: float
    try_at_s: float
    probing: bool = False


class CircuitBreaker:
    """Closed while the model answers; open, with a probe from time to time, while it is down.

    Safe to share between threads; no lock is held during a request.
    """

    def __init__(
        self,
        incidents: Incidents | None = None,
        *,
        failures_to_open: int = FAILURES_TO_OPEN,
        first_pause_s: float = FIRST_PAUSE_S,
        longest_pause_s: float = LONGEST_PAUSE_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wire a breaker.

        Args:
            incidents: Told of every outage, once; default: the log.
            failures_to_open: Failures in a row that make an outage.
            first_pause_s: Before the first probe; each failed probe doubles it.
            longest_pause_s: At most.
            now: Clock in seconds that never goes back.
        """
        self._incidents = incidents or LoggedIncidents()
        self._failures_to_open = failures_to_open
        self._first_pause_s = first_pause_s
        self._longest_pause_s = longest_pause_s
        self._now = now
        self._lock = threading.Lock()
        self._failures = 0
        self._outage: _Outage | None = None

    def refusal(self) -> str | None:
        """Return why the model must not be asked now, or None when it may be.

        While it is down one caller at a time gets None: its request is the probe, and it must end
        in `worked`, `failed` or `gave_up`.
        """
        with self._lock:
            outage = self._outage
            if outage is None:
                return None
            if outage.probing or self._now() < outage.try_at_s:
                return f"{outage.reason}; it is tried again by and by"
            self._outage = replace(outage, probing=True)
            return None

    def worked(self) -> None:
        """Note that the model answered."""
        with self._lock:
            self._failures = 0
            outage, self._outage = self._outage, None
        if outage is not None:
            self._incidents.model_back(self._now() - outage.since_s)

    def failed(self, reason: str, *, lasting: bool = False) -> None:
        """Note that it did not.

        Args:
            reason: For an operator.
            lasting: It will not mend itself (a wrong key): an outage at the first failure.
        """
        now = self._now()
        with self._lock:
            self._failures += 1
            outage = self._outage
            if outage is not None:
                if outage.probing:
                    pause_s = min(2 * outage.pause_s, self._longest_pause_s)
                    self._outage = _Outage(outage.since_s, reason, pause_s, now + pause_s)
                return
            if not lasting and self._failures < self._failures_to_open:
                return
            pause_s = self._first_pause_s
            self._outage = _Outage(now, reason, pause_s, now + pause_s)
        self._incidents.model_down(reason)

    def gave_up(self) -> None:
        """Note that a request says nothing of the model's state: the next one is the probe."""
        with self._lock:
            if self._outage is not None:
                self._outage = replace(self._outage, probing=False)
