"""The `Writer` ports: generators that can be told why a draft was refused, and be listened to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from bot.answering.extractive import Generator
from bot.grounding.verifier import RejectedClaim
from bot.records import Draft, DraftClaim, Passage
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


@runtime_checkable
class AudibleWriter(Writer, Protocol):
    """Can be listened to while it writes."""

    def draft_aloud(
        self,
        query: Query,
        passages: Sequence[Passage],
        on_claim: Callable[[DraftClaim], None],
        *,
        rejected: Sequence[RejectedClaim] = (),
    ) -> Draft:
        """Draft as `draft` does, or as `redraft` where something was rejected.

        Args:
            query: The question, analysed.
            passages: Best first.
            on_claim: Gets claims as they are written, in order: the first ones of the draft, as
                long as the model does not have to begin anew.
            rejected: What of an earlier draft was refused, and why.

        Raises:
            AnswerUnavailable: If the model is down, slow or refuses.
        """
        ...
