"""Fakes of our own ports, for tests that are about something else."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ingest.embedding.base import Vector
from ingest.errors import EncodingFailed, PageParseError
from ingest.records import RawPage
from ingest.sources.base import Entry, Listing


@dataclass
class FakeEmbedder:
    """Hashes words into a small space: texts that share words are close. Deterministic."""

    fingerprint: str = "fake-1"
    dimension: int = 64
    failing: bool = False
    embedded: list[str] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        if self.failing:
            raise EncodingFailed("the fake encoder is down")
        self.embedded.extend(texts)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._vector(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        if self.failing:
            raise EncodingFailed("the fake encoder is down")
        return self._vector(text)

    def _vector(self, text: str) -> Vector:
        vector = np.full(self.dimension, 1e-3, dtype=np.float32)
        for word in text.lower().split():
            digest = hashlib.blake2s(word.encode("utf-8", "replace"), digest_size=4).digest()
            vector[int.from_bytes(digest, "big") % self.dimension] += 1
        return (vector / np.linalg.norm(vector)).astype(np.float32)


@dataclass
class FakeSource:
    """Pages in memory."""

    name: str = "fake"
    pages: dict[str, RawPage] = field(default_factory=dict)
    complete: bool = True
    broken: set[str] = field(default_factory=set)

    def put(self, path: str, markdown: str) -> None:
        self.pages[path] = RawPage(path=path, content=markdown.encode(), media_type="text/markdown")

    def listing(self) -> Listing:
        entries = tuple(
            Entry(path, size=len(page.content)) for path, page in sorted(self.pages.items())
        )
        problem = None if self.complete else "the listing ended early"
        return Listing(entries, complete=self.complete, problem=problem)

    def fetch(self, entry: Entry) -> RawPage:
        if entry.path in self.broken:
            raise PageParseError("unreadable today")
        return self.pages[entry.path]
