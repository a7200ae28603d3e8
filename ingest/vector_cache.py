"""Keeps the cache of vectors complete: encodes each new text once, in bounded batches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from ingest.embedding.base import Embedder, TokenEmbedder, Vector
from ingest.embedding.token_codes import TokenCodec
from ingest.errors import EncodingFailed
from ingest.index.base import IndexWriter

logger = logging.getLogger(__name__)

BATCH_TEXTS = 64
"""Texts encoded, then stored, at a time: what a kill can lose, and the most vectors held."""

Watch = Callable[[int, int], None]
"""Called with the texts encoded and the texts known to need it, so far."""


class VectorCache:
    """Encodes what the index has no vector of, and makes readers switch to a new model.

    The database is only touched to look up and to store, never while a batch is being encoded.
    Once the encoder has failed, nothing more is tried until `complete` gives it a last chance.

    Attributes:
        computed: Texts encoded so far, or to be encoded in a dry run.
        reused: Texts asked for that already had a vector.
        failure: What the encoder last said, None while it works.
    """

    def __init__(
        self,
        writer: IndexWriter,
        embedder: Embedder | None,
        *,
        dry_run: bool,
        watch: Watch,
        stopped: Callable[[], bool],
    ) -> None:
        self._writer = writer
        self._embedder = embedder
        self._codec = TokenCodec(embedder) if isinstance(embedder, TokenEmbedder) else None
        self._dry_run = dry_run
        self._watch = watch
        self._stopped = stopped
        self._wanted = 0
        self._counted: set[str] = set()  # dry run only: nothing is stored to be found again
        self.computed = 0
        self.reused = 0
        self.failure: str | None = None

    def ensure(self, texts: Mapping[str, str], *, uses: int) -> None:
        """Give each text a vector of the current model, if the encoder works.

        Args:
            texts: By text hash.
            uses: Chunks that have these texts; at least as many.
        """
        embedder = self._embedder
        if embedder is None or self.failure is not None:
            return
        known = self._writer.known_embeddings(
            embedder.fingerprint, list(texts), coded=self._codec is not None
        )
        known |= self._counted
        missing = {key: text for key, text in texts.items() if key not in known}
        self.reused += uses - len(missing)
        self._encode(embedder, missing)

    def complete(self) -> None:
        """Encode whatever the whole index still misses, then let readers use this model.

        That is what an earlier encoder failure, a kill or a change of model left behind. Vectors
        are built beside those of the active model, which readers keep until none is missing.
        """
        embedder = self._embedder
        if embedder is None or self._dry_run:
            return
        self.failure = None
        while self.failure is None and not self._stopped():
            missing = dict(
                self._writer.missing_embeddings(
                    embedder.fingerprint, limit=4 * BATCH_TEXTS, coded=self._codec is not None
                )
            )
            if not missing:
                self._activate(embedder)
                return
            self._encode(embedder, missing)

    def _encode(self, embedder: Embedder, texts: Mapping[str, str]) -> None:
        self._wanted += len(texts)
        if self._dry_run:
            self._counted.update(texts)
            self.computed += len(texts)
            return
        # Texts of one length share a batch: an encoder pads each batch to its longest text.
        ordered = sorted(texts, key=lambda key: (len(texts[key]), key))
        for start in range(0, len(ordered), BATCH_TEXTS):
            if self._stopped():
                return
            batch = ordered[start : start + BATCH_TEXTS]
            try:
                vectors, codes = self._read(embedder, [texts[key] for key in batch])
            except EncodingFailed as error:
                self.failure = str(error)
                logger.warning("encoding failed", extra={"reason": self.failure})
                return
            self._writer.store_embeddings(
                embedder.fingerprint,
                dict(zip(batch, vectors, strict=True)),
                codes=dict(zip(batch, codes, strict=False)),
            )
            self.computed += len(batch)
            self._watch(self.computed, self._wanted)
            if self._writer.active_fingerprint() is None:
                # The very first vectors: readers have nothing to lose by using them at once.
                self._activate(embedder)

    def _read(self, embedder: Embedder, texts: Sequence[str]) -> tuple[Vector, list[bytes]]:
        """Return the vectors of some texts and, from an encoder that shows them, their tokens."""
        if self._codec is None or not isinstance(embedder, TokenEmbedder):
            return embedder.embed_passages(texts), []
        vectors, tokens = embedder.embed_with_tokens(texts)
        return vectors, self._codec.encode(tokens)

    def _activate(self, embedder: Embedder) -> None:
        if self._writer.active_fingerprint() != embedder.fingerprint:
            self._writer.activate_model(embedder.fingerprint, embedder.dimension)
            logger.info("model activated", extra={"fingerprint": embedder.fingerprint})
