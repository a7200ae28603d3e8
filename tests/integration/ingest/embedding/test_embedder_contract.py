"""What every embedder must do, whatever it is given."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ingest.embedding.base import Embedder
from ingest.embedding.openai_compatible import OpenAICompatibleEmbedder
from tests.embeddings_server import embeddings_server

HOSTILE = {
    "empty": "",
    "spaces": "  \t \n ",
    "100,000 characters": "congés payés " * 7700,
    "one word of 100,000 characters": "a" * 100_000,
    "NUL": "congés\0payés",
    "only NUL": "\0",
    "lone surrogates": "a\ud800b\udfff",
    "ten U+FDFA": "\ufdfa" * 10,
    "emoji": "🎉👩‍👩‍👧‍👦🏳️‍🌈",
    "unknown script": "\U000103a0\U000103a1",
    "zero width": "\u200b\u200d\ufeff",
    "special tokens": "<s></s><pad><mask><unk>",
    "combining": "e" + "\N{COMBINING ACUTE ACCENT}" * 3000,
}


@pytest.fixture(params=["bundled", "transformer", "openai"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    if request.param == "openai":
        with embeddings_server() as server:
            yield OpenAICompatibleEmbedder("small", base_url=server.base_url)
    else:
        yield request.getfixturevalue(request.param)


def _sound(vectors: np.ndarray, count: int, embedder: Embedder) -> bool:
    return (
        vectors.dtype == np.float32
        and vectors.shape == (count, embedder.dimension)
        and np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    )


def test_no_texts_are_no_vectors(embedder):
    assert _sound(embedder.embed_passages([]), 0, embedder)


def test_any_text_has_a_vector(embedder):
    assert _sound(embedder.embed_passages(list(HOSTILE.values())), len(HOSTILE), embedder)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_any_text_can_be_a_question(bundled, text):
    assert _sound(bundled.embed_query(text)[np.newaxis], 1, bundled)


def test_a_text_has_the_same_vector_in_any_batch_and_at_any_place(embedder, real_texts):
    texts = [
        " ".join(text.split()[: 3 + number // 2]) for number, text in enumerate(real_texts[:32])
    ]
    together = embedder.embed_passages(texts)
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    backwards = embedder.embed_passages(texts[::-1])[::-1]
    assert (together * alone).sum(1).min() >= 0.9999
    assert (together * backwards).sum(1).min() >= 0.9999


def test_threads_may_share_an_embedder(embedder):
    texts = [f"texte numéro {number}" for number in range(12)]
    expected = np.stack([embedder.embed_query(text) for text in texts])
    with ThreadPoolExecutor(4) as pool:
        vectors = np.stack(list(pool.map(embedder.embed_query, texts)))
    assert (vectors * expected).sum(1).min() >= 0.9999


def test_the_fingerprint_names_the_model_and_stays(embedder):
    fingerprint = embedder.fingerprint
    embedder.embed_query("bonjour")
    assert embedder.fingerprint == fingerprint
    assert len(fingerprint) < 200
