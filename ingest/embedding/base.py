"""The `Embedder` port, and `TokenEmbedder` for encoders that also show their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors; queries and passages may be encoded differently."""

    @property
    def fingerprint(self) -> str:
        """Name, revision, prefixes and dimension: changes whenever a vector would."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Encode passages.

        Returns:
            float32, shape (len(texts), dimension), each row of length 1, in the order given.

        Raises:
            EncodingFailed: If the model is down or refuses.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """Encode one question.

        Returns:
            float32, shape (dimension,), of length 1.

        Raises:
            EncodingFailed: If the model is down or refuses.
        """
        ...


TextKind = Literal["query", "passage"]
"""What a text is to the index: models may encode questions and passages differently."""


@dataclass(frozen=True, slots=True)
class TokenStates:
    """A text token by token, without the prefix and the special tokens of its model.

    Attributes:
        text: The text as the model read it (cleaned, normalised, one space between words, cut at
            the model's limit of tokens or beyond).
        states: State of the last layer for each token, float32, shape (tokens, dimension), each
            row of length 1.
        spans: Offsets (start, end) in `text` of each token, in order; empty for a token that only
            marks the beginning of a word.
        words: For each token, the position in `text.split()` of the word it belongs to.
    """

    text: str
    states: Vector
    spans: tuple[tuple[int, int], ...]
    words: tuple[int, ...]


@runtime_checkable
class TokenEmbedder(Protocol):
    """What an embedder that can show the state of each token offers besides `Embedder`."""

    def token_states(
        self, texts: Sequence[str], *, kind: TextKind = "passage"
    ) -> list[TokenStates]:
        """Encode texts token by token, in the order given.

        Raises:
            EncodingFailed: If the model is down or refuses.
        """
        ...

    def embed_with_tokens(
        self, texts: Sequence[str], *, kind: TextKind = "passage"
    ) -> tuple[Vector, list[TokenStates]]:
        """Return what `embed_passages` (or `embed_query`) and `token_states` do, in one pass.

        Raises:
            EncodingFailed: If the model is down or refuses.
        """
        ...
