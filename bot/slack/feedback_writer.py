"""Writes feedback down in the order in which it was given."""

from __future__ import annotations

import asyncio
import logging

from bot.errors import JobStoreError
from bot.store import Feedback, FeedbackStore

log = logging.getLogger(__name__)


class FeedbackWriter:
    """Keeps what people think of answers.

    A later word of somebody replaces an earlier one, and a thumb and what is said in the modal it
    opens are two: whatever the database does, the one given first is written first.
    """

    def __init__(self, store: FeedbackStore) -> None:
        self._store = store
        self._writing: dict[tuple[str, str], asyncio.Task[bool]] = {}

    def write(self, given: Feedback) -> asyncio.Task[bool]:
        """Begin to write; the task says whether it is written, and why not goes to the log."""
        key = (given.question_id, given.user_id)
        task = asyncio.create_task(self._write(given, after=self._writing.get(key)))
        self._writing[key] = task

        def done(_: asyncio.Task[bool]) -> None:
            if self._writing.get(key) is task:
                del self._writing[key]

        task.add_done_callback(done)
        return task

    async def _write(self, given: Feedback, *, after: asyncio.Task[bool] | None) -> bool:
        if after is not None:
            await asyncio.wait({after})
        try:
            await asyncio.to_thread(self._store.give, given)
        except JobStoreError as error:
            log.error("feedback was lost: %s", error)
            return False
        extra = {"question_id": given.question_id, "verdict": given.verdict.value}
        log.info("feedback", extra=extra)
        return True
