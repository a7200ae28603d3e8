"""What a reader tells the support check."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.reader import Reader
from bot.records import Claim
from bot.retrieval.reranker import full_text

_LEAST = 0.002
"""Probabilities are kept this far from 0 and 1: a model that is too sure moves a logit by 6."""


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
