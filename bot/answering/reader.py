"""The `Reader` port: a model that reads a question and a passage together, and says if it answers.

An encoder compares two texts it has read apart, and places a page on the subject as near as the
page with the answer. A reader sees both at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from bot.records import Claim
from bot.retrieval.reranker import full_text

_LEAST = 0.002
"""Probabilities are kept this far from 0 and 1: a model that is too sure moves a logit by 6."""


class Reader(Protocol):
    """Tells whether texts answer a question. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Return what the settings call it."""
        ...

    def read(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the probability that each text answers the question, in their order.

        Raises:
            ReadingFailed: If the model cannot be loaded or fails.
        """
        ...


def signal_name(reader: str) -> str:
    """Return the support check's signal of a reader: each has its own, and so its own weight."""
    return f"reader {reader}"


def reader_signal(reader: Reader, question: str, claims: Sequence[Claim]) -> float:
    """Return the log-odds that the best of the passages quoted answers the question.

    Args:
        reader: Reads each passage once, however often it is quoted.
        question: As asked.
        claims: At least one.

    Raises:
        ReadingFailed: If the reader fails.
    """
    passages = {claim.citation.passage.chunk.chunk_id: claim.citation.passage for claim in claims}
    texts = [full_text(passage.chunk) for passage in passages.values()]
    best = min(max(max(reader.read(question, texts)), _LEAST), 1 - _LEAST)
    return math.log(best / (1 - best))
