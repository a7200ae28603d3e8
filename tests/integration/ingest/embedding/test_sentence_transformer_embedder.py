"""The real SentenceTransformer on the bundled weights, unpacked: offline, and the same vectors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from ingest.embedding.sentence_transformer import SentenceTransformerEmbedder
from ingest.errors import EmbeddingError, EncodingFailed


def test_vectors_agree_with_the_bundled_encoder_on_real_texts(bundled, transformer, real_texts):
    texts = [" ".join(text.split()[:40]) for text in real_texts]
    assert len(texts) >= 100
    cosines = (bundled.embed_passages(texts) * transformer.embed_passages(texts)).sum(1)
    assert cosines.min() >= 0.99
    assert np.median(cosines) >= 0.9999


def test_questions_agree_with_the_bundled_encoder(bundled, transformer):
    question = "Combien de jours de congés payés par an ?"
    assert bundled.embed_query(question) @ transformer.embed_query(question) >= 0.99


def test_nearly_all_texts_are_cut_into_the_same_tokens(bundled, transformer, real_texts):
    theirs = transformer._load().model.tokenizer
    ours = bundled._model().tokenizer
    texts = [*real_texts, "\U000103a0\U000103a1 \U000103a0", "日本語と中文 🎉🎉", "naïve ﬁche ½"]
    same = [
        ours.encode(text, prefix="passage: ")
        == theirs(f"passage: {text}", truncation=True)["input_ids"]
        for text in texts
    ]
    assert np.mean(same) >= 0.99


def test_prompts_come_from_the_model(transformer):
    assert ":query: |passage: :384" in transformer.fingerprint


def test_prefixes_of_the_settings_win(unpacked_model):
    embedder = SentenceTransformerEmbedder(
        str(unpacked_model), query_prefix="", passage_prefix="texte : "
    )
    assert embedder.fingerprint.endswith(":|texte : :384")


def test_an_e5_model_without_prompts_gets_those_of_its_family(unpacked_model, tmp_path):
    copy = tmp_path / "multilingual-e5-small"
    shutil.copytree(unpacked_model, copy, copy_function=_link)
    (copy / "config_sentence_transformers.json").unlink()
    assert ":query: |passage: :" in SentenceTransformerEmbedder(str(copy)).fingerprint


def test_another_model_without_prompts_gets_no_prefix(unpacked_model, tmp_path):
    copy = tmp_path / "some-model"
    shutil.copytree(unpacked_model, copy, copy_function=_link)
    (copy / "config_sentence_transformers.json").unlink()
    assert ":|:384" in SentenceTransformerEmbedder(str(copy)).fingerprint


def test_the_fingerprint_changes_with_the_files_and_not_with_the_place(
    unpacked_model, transformer, tmp_path
):
    moved = tmp_path / unpacked_model.name
    shutil.copytree(unpacked_model, moved, copy_function=_link)
    assert SentenceTransformerEmbedder(str(moved)).fingerprint == transformer.fingerprint
    config = moved / "1_Pooling" / "config.json"
    changed = json.loads(config.read_text()) | {"include_prompt": False}
    config.unlink()
    config.write_text(json.dumps(changed))
    assert SentenceTransformerEmbedder(str(moved)).fingerprint != transformer.fingerprint


@pytest.mark.parametrize("name", ["/nowhere/model", "no such name"])
def test_a_model_that_is_not_there_is_an_error_that_says_what_to_do(name):
    embedder = SentenceTransformerEmbedder(name)
    with pytest.raises(EncodingFailed, match=r"EMBEDDING_MODEL=.*cannot be loaded.*the path"):
        embedder.embed_query("bonjour")
    with pytest.raises(EmbeddingError, match="EMBEDDING_MODEL=bundled needs no download"):
        _ = embedder.fingerprint


def test_a_directory_without_a_model_is_an_error(tmp_path):
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        _ = SentenceTransformerEmbedder(str(tmp_path)).dimension


@pytest.mark.skipif(find_spec("optimum") is not None, reason="the onnx backend is installed")
def test_the_onnx_backend_names_what_it_lacks(unpacked_model):
    with pytest.raises(EmbeddingError, match=r"sentence-transformers\[onnx\]"):
        SentenceTransformerEmbedder(str(unpacked_model), backend="onnx")


def test_a_model_that_fails_is_an_encoding_failure(transformer, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(transformer._load().model, "encode", fail)
    with pytest.raises(EncodingFailed, match="out of memory"):
        transformer.embed_passages(["bonjour"])


def test_constructing_does_not_load_torch(unpacked_model):
    script = (
        "import sys; from ingest.embedding.sentence_transformer import SentenceTransformerEmbedder;"
        "SentenceTransformerEmbedder(sys.argv[1]); sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script, str(unpacked_model)], check=True)


def _link(source: str, target: str) -> str:
    """Share the files of a copy of the model with the original: it is large."""
    Path(target).hardlink_to(source)
    return target
