"""Finds the documents that share a question's rarest words: where hard near misses come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from tests.benchmarks.reader.windows import stems


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a set."""

    document_id: str
    title: str
    text: str


class Lookup:
    """Documents of one set, by the cosine of their tf-idf with a question."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = list(documents)
        self.by_id = {document.document_id: document for document in documents}
        self._vectorizer = TfidfVectorizer(analyzer=stems, sublinear_tf=True)
        self._matrix = self._vectorizer.fit_transform(f"{d.title}\n{d.text}" for d in documents)

    def closest(self, question: str, count: int, *, but: Collection[str] = ()) -> list[Document]:
        """Return the documents nearest to a question, best first, without some of them."""
        scores = (self._matrix @ self._vectorizer.transform([question]).T).toarray().ravel()
        order = np.argsort(-scores, kind="stable")[: count + len(but)]
        found = [self.documents[i] for i in order]
        return [document for document in found if document.document_id not in but][:count]
