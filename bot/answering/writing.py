"""The `Writer` port: a generator that can be told why its draft was refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from bot.answering.extractive import Generator
from bot.grounding.verifier import RejectedClaim
from bot.records import Draft, Passage
from bot.retrieval.query import Query


@runtime_checkable
class Writer(Generator, Protocol):
    """Writes sentences of its own, and may try again."""

    def redraft(
        self, query: Query, passages: Sequence[Passage], rejected: Sequence[RejectedClaim]
    ) -> Draft:
        """Answer again after nothing of a draft passed the gate.

        Args:
            query: The question, analysed.
            passages: Best first.
            rejected: What was refused, and why.

        Raises:
            AnswerUnavailable: If the model is down, slow or refuses.
        """
        ...
