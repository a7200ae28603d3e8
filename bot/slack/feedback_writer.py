"""Writes feedback down beside other work."""

from __future__ import annotations

import asyncio
import logging

from bot.errors import JobStoreError
from bot.store import Feedback, FeedbackStore

log = logging.getLogger(__name__)


class FeedbackWriter:
    """Keeps what people think of answers.

    A later word of somebody replaces an earlier one, and a thumb and what is said in the modal it
    opens are two. They may be written in any order: the store keeps the one given last.
    """

    def __init__(self, store: FeedbackStore) -> None:
        self._store = store

    def write(self, given: Feedback) -> asyncio.Task[bool]:
        """Begin to write; the task says whether it is written, and why not goes to the log."""
        return asyncio.create_task(self._write(given))

    async def _write(self, given: Feedback) -> bool:
        try:
            await asyncio.to_thread(self._store.give, given)
        except JobStoreError as error:
            log.error("feedback was lost: %s", error)
            return False
        extra = {"question_id": given.question_id, "verdict": given.verdict.value}
        log.info("feedback", extra=extra)
        return True
