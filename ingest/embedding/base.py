"""The `Embedder` port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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
