"""Work that goes on beside other work: tasks are kept from being collected, and ended together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class BackgroundTasks:
    """Tasks that nobody awaits; each is forgotten when it ends."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Begin on the running event loop, and return the task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self, *, patience_s: float = 0.0) -> None:
        """Wait for at most so many seconds, then cancel what is left."""
        if self._tasks and patience_s:
            await asyncio.wait(self._tasks, timeout=patience_s)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
