"""The `Retriever` port and its two single-leg adapters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.records import Passage, Question
from ingest import PUBLIC, Audiences


class Retriever(Protocol):
    """Finds passages for a question."""

    def retrieve(
        self, question: Question, *, top_k: int, audiences: Audiences = PUBLIC
    ) -> Sequence[Passage]:
        """Rank passages for a question.

        Args:
            question: With the earlier questions of its thread, if any.
            top_k: Passages wanted, at most.
            audiences: Only what these may read.

        Returns:
            Best first, ranks from 1, ties by chunk_id. Empty when nothing matches.
        """
        ...
