"""Spelling alternatives: what a word that the index does not know may have meant. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ingest.analysis import QUERY_LANGUAGES, QueryWord
from ingest.tokens import stem

MIN_WORD_CHARS = 4
"""Shorter words have too many neighbours."""

MAX_ALTERNATIVES = 2
"""Measured with the rest of the recipe on typing errors: more of them bring more noise."""

_SHORT_WORD_CHARS = 5
_MAX_CANDIDATES = 300
_BORDER = "\0"


def max_distance(word: str) -> int:
    """Return how many typing errors a word of this length may have: 1 up to 5 letters, then 2."""
    return 1 if len(word) <= _SHORT_WORD_CHARS else 2


def damerau_levenshtein(left: str, right: str, *, at_most: int) -> int | None:
    """Count the insertions, deletions, substitutions and swaps of neighbours between two words.

    Returns:
        The distance (each character takes part in one edit at most), or None when it is larger
        than `at_most`.

    Source: optimal string alignment, Boytsov 2011, section 3.1.
    """
    if abs(len(left) - len(right)) > at_most:
        return None
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, letter in enumerate(left, start=1):
        current = [row] + [at_most + 1] * len(right)
        for column in range(max(1, row - at_most), min(len(right), row + at_most) + 1):
            other = right[column - 1]
            best = min(
                previous[column] + 1,
                current[column - 1] + 1,
                previous[column - 1] + (letter != other),
            )
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                best = min(best, before[column - 2] + 1)
            current[column] = best
        if min(current) > at_most:
            return None
        before, previous = previous, current
    return previous[-1] if previous[-1] <= at_most else None


class SpellingIndex:
    """The words of one vocabulary, by the pairs of letters in them; safe to share."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        """Index a vocabulary: term -> chunks that contain it."""
        self._frequencies = vocabulary
        self._words = [word for word in vocabulary if word.isalpha()]
        postings: dict[str, list[int]] = {}
        for number, word in enumerate(self._words):
            for pair in _pairs(word):
                postings.setdefault(pair, []).append(number)
        self._postings: dict[str, NDArray[np.int32]] = {
            pair: np.array(numbers, dtype=np.int32) for pair, numbers in postings.items()
        }
        self._lengths = np.array([len(word) for word in self._words], dtype=np.int32)

    def nearest(self, word: str, *, limit: int = MAX_ALTERNATIVES) -> list[str]:
        """Return the known words closest to a folded word, itself excluded.

        Returns:
            Nearest first, then the most frequent, then in alphabetical order. Nothing for words
            under `MIN_WORD_CHARS` and for words with digits.
        """
        if len(word) < MIN_WORD_CHARS or not word.isalpha():
            return []
        allowed = max_distance(word)
        ranked = [
            (distance, -self._frequencies[candidate], candidate)
            for candidate in self._candidates(word, allowed)
            if (distance := damerau_levenshtein(word, candidate, at_most=allowed))
        ]
        return [candidate for _, _, candidate in sorted(ranked)[:limit]]

    def _candidates(self, word: str, allowed: int) -> list[str]:
        """Return the words of about the same length that share the most pairs of letters."""
        pairs = _pairs(word)
        found = [self._postings[pair] for pair in pairs if pair in self._postings]
        if not found:
            return []
        shared = np.bincount(np.concatenate(found), minlength=len(self._words))
        shared[np.abs(self._lengths - len(word)) > allowed] = 0
        # A swap of two letters, the worst single error, changes three pairs.
        possible = np.flatnonzero(shared >= max(1, len(pairs) - 3 * allowed))
        best = possible[np.argsort(-shared[possible], kind="stable")]
        return [self._words[number] for number in best[:_MAX_CANDIDATES]]


class Respeller:
    """Gives the words of the index that an unknown query word may have meant. Thread-safe."""

    def __init__(self, vocabulary: Callable[[], Mapping[str, int]]) -> None:
        """Take where the vocabulary comes from; `IndexReader.public_vocabulary` in practice."""
        self._vocabulary = vocabulary
        self._built: tuple[Mapping[str, int], SpellingIndex] | None = None

    def __call__(self, word: QueryWord) -> tuple[QueryWord, ...]:
        """Return the alternatives of a word, best first; none when some form of it is indexed."""
        vocabulary = self._vocabulary()
        if is_known(word, vocabulary):
            return ()
        return spelling_alternatives(word, self._index(vocabulary))

    def _index(self, vocabulary: Mapping[str, int]) -> SpellingIndex:
        built = self._built
        if built is None or built[0] is not vocabulary:
            # Two threads may both build it: the result is the same and nothing is lost.
            built = (vocabulary, SpellingIndex(vocabulary))
            self._built = built
        return built[1]


def is_known(word: QueryWord, vocabulary: Mapping[str, int]) -> bool:
    """Tell whether some form of a query word may be in the index; of a phrase, all its words."""
    return any(
        all(part in vocabulary for part in term.split())
        for form in (word, *word.alternatives)
        for term in (form.folded, *form.stems)
    )


def spelling_alternatives(word: QueryWord, index: SpellingIndex) -> tuple[QueryWord, ...]:
    """Return the indexed words closest to a query word that is not known, best first."""
    # A candidate may be a word or already a stem: it is looked for as both.
    return tuple(
        QueryWord(
            surface=candidate,
            folded=candidate,
            stems=tuple(sorted({candidate, *(stem(candidate, code) for code in QUERY_LANGUAGES)})),
        )
        for candidate in index.nearest(word.folded)
    )


def _pairs(word: str) -> set[str]:
    bordered = f"{_BORDER}{word}{_BORDER}"
    return {bordered[start : start + 2] for start in range(len(bordered) - 1)}
