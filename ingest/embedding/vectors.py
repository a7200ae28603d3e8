"""What is true of every vector that leaves an embedder. Pure."""

from __future__ import annotations

import numpy as np

from ingest.embedding.base import Vector
from ingest.errors import EncodingFailed


def unit_rows(vectors: Vector) -> Vector:
    """Return the rows scaled to length 1, as float32.

    Raises:
        EncodingFailed: If a row has no direction: all zeros, or not finite.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise EncodingFailed("the encoder returned a vector of zeros, or one that is not finite")
    return np.asarray(vectors / lengths, dtype=np.float32)
