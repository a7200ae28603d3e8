"""Late interaction: each word of a question against the tokens of a text. Pure.

Unlike one vector per text, it tells whether every word of the question has a counterpart, in
whatever form or language.

Source: Khattab & Zaharia, ColBERT, SIGIR 2020; here with the states of an encoder that was not
trained for it, which is why their common direction is removed and words are weighted by idf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bot.retrieval.query import Query
from ingest import CodedTokens, TokenStates, Vector, analyze_query


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTokens:
    """The content words of a question as the encoder reads them.

    Attributes:
        states: float32, shape (words, dimension): the mean state of each word's tokens.
        weights: float32, shape (words,), adding up to 1; empty for a question without words.
    """

    states: Vector
    weights: Vector

    @classmethod
    def of(cls, query: Query, tokens: TokenStates) -> QuestionTokens:
        """Group the tokens of a question into its content words, weighted by idf.

        A word that stands in it twice, for itself and in what an acronym means, counts once.
        """
        idf = {weighted.word.folded: weighted.idf for weighted in query.words}
        positions = np.array(tokens.words, dtype=np.int64)
        own: dict[str, list[Vector]] = {}
        for position, text in enumerate(tokens.text.split()):
            known = [w.folded for w in analyze_query(text).words if w.folded in idf]
            found = tokens.states[positions == position]
            if known and len(found):
                word = max(known, key=idf.__getitem__)
                own.setdefault(word, []).append(found)
        states = [np.concatenate(parts).mean(axis=0) for parts in own.values()]
        if not states:
            dimension = tokens.states.shape[1]
            return cls(np.zeros((0, dimension), np.float32), np.zeros(0, np.float32))
        weights = np.array([idf[word] for word in own], dtype=np.float32)
        return cls(np.stack(states).astype(np.float32), weights / weights.sum())


def word_matches(question: QuestionTokens, tokens: CodedTokens, center: Vector) -> Vector:
    """Return how well each token of a text matches each word of the question.

    Args:
        question: With at least one word.
        tokens: Of the text.
        center: What all states have in common (`TokenCodec.center`): it counts for nothing.

    Returns:
        Cosines, float32, shape (tokens, words).
    """
    matches: Vector = tokens.directions @ _directions(question.states - center).T
    return matches


def best_match(matches: Vector, weights: Vector) -> float:
    """Return the late interaction of some tokens: each word's best match, weighted; 0 for none."""
    return float(matches.max(axis=0) @ weights) if len(matches) else 0.0


def _directions(states: Vector) -> Vector:
    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    unit: Vector = np.asarray(states / np.maximum(lengths, 1e-9), dtype=np.float32)
    return unit
