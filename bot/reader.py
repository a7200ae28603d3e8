"""The `Reader` port: a model that reads a question and a passage together, and says if it answers.

An encoder compares two texts it has read apart, and places a page on the subject as near as the
page with the answer. A reader sees both at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


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
