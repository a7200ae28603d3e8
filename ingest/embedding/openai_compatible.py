"""Any OpenAI-compatible embeddings endpoint. Alone in `ingest` to import openai."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Sequence
from urllib.parse import urlsplit

import numpy as np
import openai
from openai.types import CreateEmbeddingResponse

from ingest.embedding.base import TextKind, Vector
from ingest.embedding.batching import length_batches
from ingest.embedding.cleaning import clean_text
from ingest.embedding.vectors import unit_rows
from ingest.errors import ConfigurationError, EncodingFailed

PASSAGE_TIMEOUT_S, PASSAGE_RETRIES = 60.0, 4
QUERY_TIMEOUT_S, QUERY_RETRIES = 10.0, 1
"""Somebody waits for a question's vector, and keywords take over; ingest can be patient. Retries
are those of the client: 408, 409, 429, 5xx and lost connections, with exponential backoff."""

_BATCH_TEXTS = 64
_CHARS_PER_TOKEN = 3
"""Fewer than most tokenizers put in a token of French or English: batches err on the small side."""

_MIN_SHORTENED_CHARS = 1000
"""A text refused at this length is not refused for its length: models read 512 tokens or more."""

_REFUSED_INPUT = (400, 413, 422)
"""How endpoints refuse an input, one longer than their model reads among others."""

_TOO_LARGE = re.compile(r"too (?:large|long)|exceed", re.IGNORECASE)
"""What llama.cpp says of such an input under the status 500."""


class OpenAICompatibleEmbedder:
    """`Embedder` over `POST /embeddings`. Safe to use from several threads.

    A text that the endpoint refuses for its length is cut until it is accepted.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        query_prefix: str = "",
        passage_prefix: str = "",
        batch_tokens: int = 4096,
    ) -> None:
        """Prepare a client; nothing is asked of the endpoint yet.

        Args:
            model: Name the endpoint knows.
            api_key: Key, if the endpoint wants one.
            base_url: Address up to and without `/embeddings`; None is OpenAI's own.
            query_prefix: Put before each question.
            passage_prefix: Put before each passage.
            batch_tokens: Most tokens of a request, roughly.

        Raises:
            ConfigurationError: If OpenAI's own endpoint is to be used without a key.
        """
        if api_key is None and base_url is None:
            raise ConfigurationError(
                f"EMBEDDING_MODEL=openai:{model} needs OPENAI_API_KEY, or OPENAI_BASE_URL for an"
                " endpoint that wants no key"
            )
        # A redirect would take the handbook to a host nobody chose.
        connections = openai.DefaultHttpxClient(follow_redirects=False)
        weakref.finalize(self, connections.close)
        client = openai.OpenAI(
            api_key=api_key or "unused", base_url=base_url, http_client=connections
        )
        self._clients: dict[TextKind, openai.OpenAI] = {
            "query": client.with_options(timeout=QUERY_TIMEOUT_S, max_retries=QUERY_RETRIES),
            "passage": client.with_options(timeout=PASSAGE_TIMEOUT_S, max_retries=PASSAGE_RETRIES),
        }
        self._prefixes: dict[TextKind, str] = {"query": query_prefix, "passage": passage_prefix}
        self._model = model
        self._host = urlsplit(str(client.base_url)).netloc.rpartition("@")[2]
        self._batch_tokens = batch_tokens
        self._dimension: int | None = None

    @property
    def fingerprint(self) -> str:
        """Model, host and prefixes; they decide the dimension, which only a request would tell."""
        prefixes = f"{self._prefixes['query']}|{self._prefixes['passage']}"
        return f"openai:{self._model}@{self._host}:{prefixes}"

    @property
    def dimension(self) -> int:
        """Length of a vector, asked of the endpoint the first time.

        Raises:
            EncodingFailed: If the endpoint is down or refuses.
        """
        return self._dimension or len(self.embed_query("dimension"))

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Encode passages (see `Embedder.embed_passages`)."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return self._embed(texts, "passage")

    def embed_query(self, text: str) -> Vector:
        """Encode one question (see `Embedder.embed_query`)."""
        vector: Vector = self._embed([text], "query")[0]
        return vector

    def _embed(self, texts: Sequence[str], kind: TextKind) -> Vector:
        inputs = [self._prefixes[kind] + clean_text(text) for text in texts]
        lengths = [len(text) // _CHARS_PER_TOKEN + 1 for text in inputs]
        rows: dict[int, Vector] = {}
        for batch in length_batches(lengths, max_tokens=self._batch_tokens, max_texts=_BATCH_TEXTS):
            encoded = self._request([inputs[position] or " " for position in batch], kind)
            rows.update(zip(batch, encoded, strict=True))
        return np.stack([rows[position] for position in range(len(texts))])

    def _request(self, inputs: list[str], kind: TextKind) -> Vector:
        """Encode one batch; halve what is refused as too large, and try again."""
        try:
            response = self._clients[kind].embeddings.create(
                model=self._model, input=inputs, encoding_format="float"
            )
        except openai.APIStatusError as exc:
            halves = _halved(inputs) if _may_be_too_large(exc) else []
            if not halves:
                raise EncodingFailed(self._refusal(exc.status_code)) from exc
            return np.concatenate([self._request(half, kind) for half in halves])
        except openai.APITimeoutError as exc:
            raise EncodingFailed(f"the embeddings endpoint {self._host} takes too long") from exc
        except openai.OpenAIError as exc:
            raise EncodingFailed(
                f"the embeddings endpoint {self._host} cannot be reached: check OPENAI_BASE_URL"
            ) from exc
        except (json.JSONDecodeError, ValueError) as exc:
            raise EncodingFailed(self._nonsense("did not answer with embeddings")) from exc
        return self._checked(response, len(inputs))

    def _checked(self, response: CreateEmbeddingResponse, count: int) -> Vector:
        """Return the vectors in the order of the inputs, of length 1.

        The client builds its objects without validating them: anything may be in there.
        """
        try:
            items = list(response.data)
            by_index = {
                position if item.index is None else int(item.index): item.embedding
                for position, item in enumerate(items)
            }
            vectors = np.array([by_index[index] for index in range(count)], dtype=np.float32)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise EncodingFailed(
                self._nonsense(f"did not answer with {count} vectors of one length")
            ) from exc
        if len(items) != count or vectors.ndim != 2 or vectors.shape[1] == 0:
            raise EncodingFailed(self._nonsense(f"did not answer with {count} vectors"))
        if self._dimension not in (None, vectors.shape[1]):
            raise EncodingFailed(
                self._nonsense(
                    f"answers with {vectors.shape[1]} dimensions after {self._dimension}"
                )
            )
        self._dimension = vectors.shape[1]
        return unit_rows(vectors)

    def _refusal(self, status: int) -> str:
        """Say what a status means; what the endpoint wrote may repeat a key or a text."""
        match status:
            case 401 | 403:
                advice = "check OPENAI_API_KEY"
            case 404:
                advice = f"check OPENAI_BASE_URL and that it serves the model {self._model}"
            case 429:
                advice = "too many requests or no credit left; it is tried again at the next run"
            case _ if status >= 500:
                advice = "it is out of order; it is tried again at the next run"
            case _:
                advice = f"check that {self._model} is a model for embeddings"
        return f"the embeddings endpoint {self._host} answered {status}: {advice}"

    def _nonsense(self, what: str) -> str:
        return f"the embeddings endpoint {self._host} {what}: check OPENAI_BASE_URL"


def _may_be_too_large(error: openai.APIStatusError) -> bool:
    return error.status_code in _REFUSED_INPUT or bool(_TOO_LARGE.search(error.message))


def _halved(inputs: list[str]) -> list[list[str]]:
    """Return what to ask for instead: two halves of a batch, or the first half of a long text."""
    if len(inputs) > 1:
        middle = len(inputs) // 2
        return [inputs[:middle], inputs[middle:]]
    if len(inputs[0]) > _MIN_SHORTENED_CHARS:
        return [[inputs[0][: len(inputs[0]) // 2]]]
    return []
