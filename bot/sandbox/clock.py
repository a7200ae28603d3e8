"""The stand-in's clock: real time, plus what a test adds to it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress


class SandboxClock:
    """Real time that a test can push forward; sleepers wake when their time has come."""

    def __init__(self) -> None:
        self._ahead_s = 0.0
        self._moved = asyncio.Event()

    def now(self) -> float:
        """Return the sandbox's time, in seconds since the epoch."""
        return time.time() + self._ahead_s

    def advance(self, seconds: float) -> None:
        """Push the clock forward and wake whoever was waiting for a time now passed."""
        self._ahead_s += seconds
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def sleep(self, seconds: float) -> None:
        """Sleep until the sandbox's time has grown by `seconds`."""
        until = self.now() + seconds
        while (remaining := until - self.now()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(remaining):
                    await self._moved.wait()
