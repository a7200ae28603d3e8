"""Text analysis for the keyword leg: the same folding, elisions and stems for index and query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version

from ingest.stopwords import STOP_WORDS
from ingest.synonyms import EMPTY, SynonymTable
from ingest.tokens import SNOWBALL_ALGORITHMS, Token, fold, folded, scan, stem

__all__ = [
    "ANALYSIS_VERSION",
    "EMPTY",
    "QUERY_LANGUAGES",
    "AnalyzedText",
    "KeywordQuery",
    "QueryWord",
    "SynonymTable",
    "analysis_identity",
    "analyze_passage",
    "analyze_query",
    "fold",
    "query_word",
]

ANALYSIS_VERSION = "1"
"""Grows with every change of what a text is indexed under; the index is then analysed again."""

QUERY_LANGUAGES = ("fr", "en")
"""Languages whose stems a query is searched under, and those of a page in an unknown language."""

MAX_QUERY_WORDS = 60
"""Content words kept of a query: a question is shorter, and a pasted page needs no more."""

MAX_ALTERNATIVES = 12
"""Alternatives kept of one word."""

_MIN_PART_CHARS = 4
"""Shorter parts of a compound ("e" in "e-mail") do not stand for it."""

_LATIN_END = 0x0250


def analysis_identity() -> str:
    """Return the analysis and the stemmer behind it: the index was fed by exactly these."""
    return f"{ANALYSIS_VERSION} snowballstemmer {version('snowballstemmer')}"


@dataclass(frozen=True, slots=True)
class AnalyzedText:
    """A text as the index holds it: tokens separated by one space.

    Attributes:
        folded: Every word, lower case and without accents; compounds both cut and joined.
        stems: The stems of the same words, then those that words with accents have when they are
            typed without: "payés" has the stem "pai", but "payes" has "pay".
    """

    folded: str
    stems: str


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One content word of a query, in every form the index may hold it.

    Attributes:
        surface: As typed, for explanations.
        folded: Lower case, accents folded, elision removed: matched in title, headings and body.
            Several words separated by a space are a phrase.
        stems: Its stem in each language searched, matched in stems; distinct, sorted. Of a
            phrase, the stems of its words.
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


def analyze_passage(text: str, language: str) -> AnalyzedText:
    """Analyse a text to be indexed.

    Args:
        text: Any text; what is not a word or a number is dropped.
        language: ISO 639-1 code of its page. A language without a stemmer is stemmed as French and
            as English.
    """
    languages = (language,) if language in SNOWBALL_ALGORITHMS else QUERY_LANGUAGES
    forms = [_indexed_forms(word, languages) for token in scan(text) for word in token.words]
    # Stems of another spelling come last: between the others they would break phrases.
    stems = [form.stems for form in forms] + [form.plain_stems for form in forms]
    return AnalyzedText(" ".join(form.folded for form in forms), " ".join(filter(None, stems)))


@dataclass(frozen=True, slots=True)
class _IndexedForms:
    folded: str
    stems: str
    plain_stems: str


@lru_cache(maxsize=1 << 16)
def _indexed_forms(word: str, languages: tuple[str, ...]) -> _IndexedForms:
    plain = folded(word)
    stems = dict.fromkeys(stem(word, language) for language in languages)
    others = dict.fromkeys(stem(plain, language) for language in languages)
    return _IndexedForms(
        plain, " ".join(stems), " ".join(other for other in others if other not in stems)
    )


def analyze_query(
    text: str,
    *,
    synonyms: SynonymTable = EMPTY,
    languages: Iterable[str] = QUERY_LANGUAGES,
) -> KeywordQuery:
    """Analyse a question or search terms; any text is legal.

    Stop words are left out unless there is nothing else. A token typed in capitals among others
    that are not ("the IT team") is never a stop word.

    Args:
        text: As typed.
        synonyms: Expressions that count as each other.
        languages: ISO 639-1 codes whose stems are searched.
    """
    tokens = tuple(scan(text))
    codes = tuple(dict.fromkeys(languages))
    alternatives = _synonyms_by_position(tokens, synonyms, codes)
    shouted = not any(character.islower() for character in text)
    content = [
        position
        for position, token in enumerate(tokens)
        if alternatives.get(position) or not _is_noise(token, synonyms, shouted=shouted)
    ]
    words: dict[str, QueryWord] = {}
    for position in content or range(len(tokens)):
        for word in _query_words(tokens[position], codes):
            _add_word(words, word, alternatives.get(position, ()))
        if len(words) >= MAX_QUERY_WORDS:
            break
    return KeywordQuery(tuple(words.values())[:MAX_QUERY_WORDS])


def query_word(
    text: str, *, surface: str | None = None, languages: Iterable[str] = QUERY_LANGUAGES
) -> QueryWord | None:
    """Return one expression as a query word, a phrase when it has several; None without a word."""
    parts = [part for token in scan(text) for part in token.parts]
    return _phrase(surface or text, parts, tuple(languages)) if parts else None


def _phrase(surface: str, parts: Sequence[str], languages: Sequence[str]) -> QueryWord:
    stems = {" ".join(stem(part, code) for part in parts) for code in languages}
    return QueryWord(surface, " ".join(folded(part) for part in parts), tuple(sorted(stems)))


def _is_noise(token: Token, synonyms: SynonymTable, *, shouted: bool) -> bool:
    """Tell whether a token says nothing of the subject: stop words and single letters."""
    words = [folded(part) for part in token.parts]
    capitals = token.surface.isupper() and len(token.surface) > 1
    if capitals and (not shouted or synonyms.acronyms.issuperset(words)):
        return False
    return all(word in STOP_WORDS or _is_single_letter(word) for word in words)


def _is_single_letter(word: str) -> bool:
    return len(word) == 1 and word.isalpha() and ord(word) < _LATIN_END


def _query_words(token: Token, languages: Sequence[str]) -> list[QueryWord]:
    if token.joined is None:
        return [_phrase(token.surface, [part], languages) for part in token.parts]
    word = _phrase(token.surface, [token.joined], languages)
    standing = [p for p in token.parts if len(p) >= _MIN_PART_CHARS and folded(p) not in STOP_WORDS]
    others = [_phrase(token.surface, token.parts, languages)]
    others += [_phrase(part, [part], languages) for part in standing]
    return [replace(word, alternatives=tuple(others))]


def _synonyms_by_position(
    tokens: Sequence[Token], synonyms: SynonymTable, languages: Sequence[str]
) -> dict[int, tuple[QueryWord, ...]]:
    """Give each token of an expression of the table the other expressions of its group."""
    found: dict[int, dict[str, QueryWord]] = {}
    for start, end, expressions in synonyms.alternatives(tokens):
        forms = [form for text in expressions for form in _expression_forms(text, languages)]
        for position in range(start, end):
            if end - start > 1 and _is_noise(tokens[position], synonyms, shouted=True):
                continue
            for form in forms:
                found.setdefault(position, {}).setdefault(form.folded, form)
    return {position: tuple(forms.values()) for position, forms in found.items()}


def _expression_forms(text: str, languages: Sequence[str]) -> list[QueryWord]:
    tokens = tuple(scan(text))
    parts = [part for token in tokens for part in token.parts]
    forms = [_phrase(text, parts, languages)] if parts else []
    if len(tokens) == 1 and tokens[0].joined is not None:
        forms.append(_phrase(text, [tokens[0].joined], languages))
    return forms


def _add_word(
    words: dict[str, QueryWord], word: QueryWord, alternatives: Sequence[QueryWord]
) -> None:
    known = words.get(word.folded, word)
    merged = {form.folded: form for form in (*known.alternatives, *word.alternatives)}
    merged |= {form.folded: form for form in alternatives if form.folded not in merged}
    merged.pop(word.folded, None)
    kept = tuple(merged.values())[:MAX_ALTERNATIVES]
    words[word.folded] = replace(known, alternatives=kept)
