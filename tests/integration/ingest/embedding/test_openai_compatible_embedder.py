"""The OpenAI-compatible embedder against a real HTTP server, whose failures are scripted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from ingest.embedding import openai_compatible
from ingest.embedding.openai_compatible import OpenAICompatibleEmbedder
from ingest.errors import EncodingFailed
from tests.embeddings_server import (
    DIMENSION,
    EmbeddingsServer,
    answering,
    embeddings,
    embeddings_server,
    failing,
    items,
    slow,
    vector_of,
)
from tests.scripted_server import Scripted, scripted_server


@pytest.fixture
def server() -> Iterator[EmbeddingsServer]:
    with embeddings_server() as running:
        yield running


def _embedder(server: EmbeddingsServer, **options: object) -> OpenAICompatibleEmbedder:
    return OpenAICompatibleEmbedder(
        "small", api_key="sk-secret", base_url=server.base_url, **options
    )


def _unit(text: str) -> np.ndarray:
    vector = np.array(vector_of(text), dtype=np.float32)
    return vector / np.linalg.norm(vector)


def test_vectors_are_of_length_1_in_the_order_of_the_texts_over_many_requests(server):
    texts = [f"texte {number} " + "mot " * (number % 7) for number in range(150)]
    vectors = _embedder(server, passage_prefix="passage: ").embed_passages(texts)
    assert np.allclose(vectors, [_unit(f"passage: {text}") for text in texts], atol=1e-6)
    assert len(server.requests) > 1
    assert set(server.paths) == {"/v1/embeddings"}


def test_questions_have_their_own_prefix(server):
    _embedder(server, query_prefix="query: ", passage_prefix="passage: ").embed_query("bonjour")
    assert server.requests[0]["input"] == ["query: bonjour"]
    assert server.requests[0]["model"] == "small"
    assert server.keys == ["Bearer sk-secret"]


def test_an_endpoint_that_points_elsewhere_is_not_followed_with_texts_and_key(server):
    moved = Scripted(status=307, body={}, headers={"Location": f"{server.base_url}/embeddings"})
    with scripted_server(moved) as pointing:
        embedder = OpenAICompatibleEmbedder("small", api_key="sk-secret", base_url=pointing.url)
        with pytest.raises(EncodingFailed):
            embedder.embed_query("bonjour")
    assert len(pointing.requests) >= 1
    assert server.requests == []


def test_a_request_is_bounded_in_tokens(server):
    _embedder(server, batch_tokens=512).embed_passages(["mot " * 150] * 10)
    assert len(server.requests) == 5


def test_vectors_are_put_in_order_by_their_index(server):
    server.script = [lambda body: answering(items(body["input"])[::-1])(body)]
    vectors = _embedder(server).embed_passages(["a", "b", "c"])
    assert np.allclose(vectors, [_unit("a"), _unit("b"), _unit("c")], atol=1e-6)


def test_the_dimension_is_asked_of_the_endpoint_once(server):
    embedder = _embedder(server)
    assert (embedder.dimension, embedder.dimension) == (DIMENSION, DIMENSION)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_passing_failures_are_tried_again(server, status):
    server.script = [failing(status)]
    assert np.allclose(_embedder(server).embed_passages(["a"]), [_unit("a")], atol=1e-6)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "OPENAI_API_KEY"),
        (403, "OPENAI_API_KEY"),
        (404, "OPENAI_BASE_URL"),
        (400, "model for embeddings"),
        (429, "too many requests"),
        (500, "out of order"),
    ],
)
def test_a_refusal_says_what_to_look_at_and_no_secret(server, status, words):
    server.script = [failing(status, "Incorrect API key provided: sk-secret")] * 9
    with pytest.raises(EncodingFailed, match=words) as caught:
        _embedder(server).embed_query("bonjour")
    assert str(status) in str(caught.value)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        [],
        None,
        "vectors",
        [{"index": 0, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [1.0, 2.0]}] * 2,
        [{"index": 0, "embedding": [1.0, 2.0]}, {"index": 1, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0, 2.0]}, {"index": 1, "embedding": [float("nan"), 1.0]}],
        [{"index": 0, "embedding": [1.0, 2.0]}, {"index": 1, "embedding": [0.0, 0.0]}],
        [{"index": 0, "embedding": [1.0, 2.0]}, {"index": 1, "embedding": [None, 1.0]}],
        [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}],
        [{"index": 0, "embedding": 3}, {"index": 1, "embedding": 4}],
        [{"index": n, "embedding": [1.0, 2.0]} for n in range(3)],
        [{"index": 0}, {"index": 1}],
        [1, 2],
    ],
)
def test_an_answer_of_the_wrong_shape_is_an_encoding_failure(server, data):
    server.script = [answering(data)]
    with pytest.raises(EncodingFailed):
        _embedder(server).embed_passages(["a", "b"])


@pytest.mark.parametrize("body", [b"", b"{", b"<html>welcome</html>", b"[]", b"3", b'{"data": 1}'])
def test_an_answer_that_is_not_json_of_embeddings_is_an_encoding_failure(server, body):
    server.script = [lambda _: (200, {"Content-Type": "application/json"}, body)]
    with pytest.raises(EncodingFailed, match="OPENAI_BASE_URL"):
        _embedder(server).embed_query("bonjour")


def test_a_web_page_instead_of_an_answer_is_an_encoding_failure(server):
    server.script = [lambda _: (200, {"Content-Type": "text/html"}, b"<html>welcome</html>")]
    with pytest.raises(EncodingFailed, match="OPENAI_BASE_URL"):
        _embedder(server).embed_query("bonjour")


def test_a_dimension_that_changes_is_an_encoding_failure(server):
    embedder = _embedder(server)
    embedder.embed_query("bonjour")
    server.script = [answering([{"index": 0, "embedding": [1.0, 2.0]}])]
    with pytest.raises(EncodingFailed, match="2 dimensions after 16"):
        embedder.embed_query("bonjour")


def test_an_endpoint_that_takes_too_long_is_an_encoding_failure(server, monkeypatch):
    monkeypatch.setattr(openai_compatible, "QUERY_TIMEOUT_S", 0.05)
    server.script = [slow(0.4)] * 3
    with pytest.raises(EncodingFailed, match="takes too long"):
        _embedder(server).embed_query("bonjour")


def test_an_endpoint_that_is_not_there_is_an_encoding_failure():
    with embeddings_server() as stopped:
        pass
    with pytest.raises(EncodingFailed, match="cannot be reached"):
        _embedder(stopped).embed_query("bonjour")


@pytest.mark.parametrize(
    "refusal",
    [failing(400, "maximum context length"), failing(500, "input (5002 tokens) is too large")],
)
def test_a_text_refused_for_its_length_is_cut_and_the_others_are_whole(server, refusal):
    def limited(body: dict) -> tuple[int, dict[str, str], bytes]:
        too_long = any(len(text) > 2000 for text in body["input"])
        return refusal(body) if too_long else embeddings(body)

    server.script = [limited] * 60
    texts = ["court", "long " * 2000, "autre"]
    vectors = _embedder(server, batch_tokens=100_000).embed_passages(texts)
    assert np.allclose(vectors[[0, 2]], [_unit("court"), _unit("autre")], atol=1e-6)
    assert np.allclose(vectors[1], _unit(texts[1][:1250]), atol=1e-6)
