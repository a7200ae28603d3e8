"""Text analysis for the keyword leg: the same folding, elisions and stems for index and query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One content word of a query, in every form the index may hold it.

    Attributes:
        surface: As typed, for explanations.
        folded: Lower case, accents folded, elision removed: matched in title, headings and body.
        stems: Its stem in each language searched, matched in stems; distinct, sorted.
        alternatives: Other folded words that count as this one (synonyms, acronyms, spelling),
            each with its own stems already listed in `stems` of the alternative.
    """

    surface: str
    folded: str
    stems: tuple[str, ...]
    alternatives: tuple[QueryWord, ...] = ()


@dataclass(frozen=True, slots=True)
class KeywordQuery:
    """An analysed query: content words in order, duplicates removed; may be empty."""

    words: tuple[QueryWord, ...]
