"""Trouble on demand: errors, refusals, delays and lost connections for chosen methods."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """What goes wrong."""

    ERROR = "error"
    """HTTP 200 with `ok: false` and the error named."""
    RATE_LIMITED = "ratelimited"
    """HTTP 429 with `Retry-After`."""
    SERVER_ERROR = "server_error"
    """HTTP 500."""
    DELAY = "delay"
    """The answer comes late."""
    DROP_BEFORE = "drop_before"
    """The connection breaks before anything is done."""
    DROP_AFTER = "drop_after"
    """The call is carried out, but its answer is lost."""


@dataclass(slots=True)
class Fault:
    """One kind of trouble for one method.

    Attributes:
        method: Name of a method; `*` for every one.
        kind: What goes wrong.
        times: Calls still to hit; None for every call.
        share: Probability, in [0, 1], that a call is hit.
        error: Word of an `ERROR`.
        seconds: `Retry-After` of a `RATE_LIMITED`, length of a `DELAY`.
    """

    method: str
    kind: FaultKind
    times: int | None = 1
    share: float = 1.0
    error: str = "fatal_error"
    seconds: float = 1.0
    hits: int = 0


class Faults:
    """The faults in force."""

    def __init__(self, *, seed: int = 0) -> None:
        self._faults: list[Fault] = []
        self._random = random.Random(seed)  # noqa: S311 - chooses calls, guards nothing

    def add(self, fault: Fault) -> Fault:
        """Put a fault in force."""
        self._faults.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Take one fault away, where it is still in force."""
        if fault in self._faults:
            self._faults.remove(fault)

    def clear(self) -> None:
        """Take every fault away."""
        self._faults.clear()

    def next(self, method: str) -> Fault | None:
        """Return the fault that hits this call, and count it."""
        for fault in self._faults:
            if fault.method not in (method, "*") or fault.times == 0:
                continue
            if fault.share < 1 and self._random.random() >= fault.share:
                continue
            if fault.times is not None:
                fault.times -= 1
            fault.hits += 1
            return fault
        return None
