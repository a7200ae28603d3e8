"""Turns a question into the query that is sent to the index: words with weights, language."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bot.language import french_or_english
from bot.records import Question, collapse
from bot.retrieval.texting import spelled_out
from ingest import (
    COMMON_ACRONYMS,
    STOP_WORDS,
    Embedder,
    IndexReader,
    KeywordQuery,
    QueryWord,
    SynonymTable,
    TokenEmbedder,
    TokenStates,
    Vector,
    analyze_query,
    as_typed,
    fold,
)

MAX_QUESTION_CHARS = 2_000
"""What is read of a question: encoders cut far earlier, and nobody asks in more."""

BM25_SATURATION = 2.2
"""k1 + 1 with k1 = 1.2, as FTS5 has it: what one word can reach in BM25 is this times its idf."""

_MIN_IDF = 0.01

MOST_MEANINGS = 5
"""Meanings of acronyms written into a question: more would push the question out of what an encoder
reads."""

_USUAL_ACRONYMS = as_typed(COMMON_ACRONYMS)

Respell = Callable[[QueryWord], tuple[QueryWord, ...]]
"""Gives the indexed words a word unknown to the index may have meant, best first."""


@dataclass(frozen=True, slots=True)
class WeightedWord:
    """A content word of the query with its weight in this index.

    Attributes:
        idf: ln((N - df + .5) / (df + .5)) over chunks, at least 0.01; ln(N + 1) when unknown.
        known: False when no form of it is indexed: only then has it spelling alternatives.
    """

    word: QueryWord
    idf: float
    known: bool


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What is sent to the index and what answers are measured against.

    Attributes:
        question: As asked.
        text: The question made to stand alone, spelled out, cut to `MAX_QUESTION_CHARS`.
        language: "fr" or "en"; "und" when its words do not tell.
        words: Content words, in order.
        encoded: `text` with the meaning behind each acronym, as the encoder reads it: it knows few
            of a company's own.
        vector: Of `encoded`, or None when the encoder does not take part.
        tokens: Of `encoded`, from an encoder that shows them.
    """

    question: Question
    text: str
    language: str
    words: tuple[WeightedWord, ...]
    encoded: str
    vector: Vector | None = None
    tokens: TokenStates | None = None

    @property
    def is_empty(self) -> bool:
        """Tell whether there is not one letter or digit to look for."""
        return not any(character.isalnum() for character in self.text)

    @property
    def keywords(self) -> KeywordQuery:
        """Return the words as the keyword leg takes them."""
        return KeywordQuery(tuple(weighted.word for weighted in self.words))

    @property
    def ideal_bm25(self) -> float:
        """Return the BM25 that a chunk saturated with every word would have; > 0 with words.

        Unknown words count in full: a question of unknown words has no good keyword match.
        """
        return BM25_SATURATION * sum(weighted.idf for weighted in self.words)

    def with_vector(self, embedder: Embedder) -> Query:
        """Return this query with its vector and, where the encoder shows them, its tokens.

        Raises:
            EncodingFailed: If the encoder is down or refuses.
        """
        if not isinstance(embedder, TokenEmbedder):
            return replace(self, vector=embedder.embed_query(self.encoded))
        vectors, tokens = embedder.embed_with_tokens([self.encoded], kind="query")
        return replace(self, vector=vectors[0], tokens=tokens[0])


class QueryBuilder:
    """Analyses questions against the vocabulary of an index."""

    def __init__(
        self,
        reader: IndexReader,
        *,
        synonyms: SynonymTable | None = None,
        acronyms: Mapping[str, str] | None = None,
        respell: Respell | None = None,
    ) -> None:
        """Wire a builder.

        Args:
            reader: Whose vocabulary weighs words, and whose pages say what acronyms mean.
            synonyms: Expressions that count as each other.
            acronyms: With their meaning; they come before what the pages say.
            respell: Gives words that are not indexed another spelling.
        """
        self._reader = reader
        self._synonyms = synonyms or SynonymTable()
        self._own = as_typed(acronyms or {})
        self._respell = respell

    def build(self, question: Question) -> Query:
        """Analyse a question; any text is legal and may leave no word at all."""
        vocabulary = self._reader.vocabulary()
        text = standalone_text(question)
        language = french_or_english(text)
        text = spelled_out(text, language, vocabulary)
        chunks = sum(self._reader.languages().values())
        keywords = analyze_query(text, synonyms=self._synonyms)
        words = tuple(self._weigh(word, vocabulary, chunks) for word in keywords.words)
        language = french_or_english(text)
        return Query(question, text, language, words, with_meanings(text, self._meanings(language)))

    def _meanings(self, language: str) -> Callable[[str], str | None]:
        """Look acronyms up: the company's own, then the handbook's, then the usual ones."""
        usual = {} if language == "en" else _USUAL_ACRONYMS
        known = (self._own, self._reader.public_acronyms(), usual)
        return lambda word: next((table[word] for table in known if word in table), None)

    def _weigh(self, word: QueryWord, vocabulary: Mapping[str, int], chunks: int) -> WeightedWord:
        frequency = _chunk_frequency(word, vocabulary)
        if frequency:
            idf = math.log((chunks - frequency + 0.5) / (frequency + 0.5))
            return WeightedWord(word, max(_MIN_IDF, idf), known=True)
        if self._respell is not None:
            others = self._respell(word)
            word = replace(word, alternatives=(*word.alternatives, *others))
        return WeightedWord(word, unknown_idf(chunks), known=False)


_TYPED = re.compile(r"(?<![\w@/.&-])[^\W_][\w&]*(?![\w&@/]|[-.]\w)")
"""A word by itself: no part of an address, a link or a compound."""


def with_meanings(text: str, meaning_of: Callable[[str], str | None]) -> str:
    """Write the meaning of each acronym of a text behind it, once, where the text has it not.

    At most `MOST_MEANINGS` are written. In a text in capitals throughout, no ordinary word is taken
    for an acronym.
    """
    shouted = not any(character.islower() for character in text)
    told = [fold(text)]

    def told_by(match: re.Match[str]) -> str:
        word = match.group()
        meaning = meaning_of(word)
        if meaning is None and word.endswith("s") and word[:-1].isupper():
            meaning = meaning_of(word[:-1])
        if meaning is None or len(told) > MOST_MEANINGS or (shouted and fold(word) in STOP_WORDS):
            return word
        folded = fold(meaning)
        if any(folded in known for known in told):
            return word
        told.append(folded)
        return f"{word} ({meaning})"

    return _TYPED.sub(told_by, text)


def unknown_idf(chunks: int) -> float:
    """Return the weight of a word that stands in none of so many chunks."""
    return math.log(chunks + 1) or _MIN_IDF


def standalone_text(question: Question) -> str:
    """Make the question readable without its thread: carry over what a follow-up leaves out."""
    if question.standalone is not None:
        return clean_text(question.standalone)
    text = clean_text(question.text)
    if not question.context:
        return text
    *earlier, previous = question.context
    if not is_follow_up(text):
        return text
    before = standalone_text(Question(previous, tuple(earlier)))
    return f"{before} {text}"[-MAX_QUESTION_CHARS:].strip()


_FOLLOW_UP_START = re.compile(
    r"(et|mais|alors|sinon|ok|and|but|so|what about|how about|same|idem|pareil|ou)\b", re.IGNORECASE
)
_ANAPHORA = re.compile(
    r"\b(ça|cela|celui-ci|celle-ci|ceux-ci|celui-là|celle-là|là-dessus|lui|eux|celle|celui|ceux"
    r"|it|that|this|those|these|them|they|one|ones|there|then|dedans|en)\b",
    re.IGNORECASE,
)
_SHORT_QUESTION_WORDS = 7


def is_follow_up(text: str) -> bool:
    """Tell whether a later question of a thread leans on the one before it."""
    if _FOLLOW_UP_START.match(text) or len(text.split()) <= _SHORT_QUESTION_WORDS:
        return True
    return bool(_ANAPHORA.search(text)) and len(text.split()) <= 2 * _SHORT_QUESTION_WORDS


def clean_text(text: str) -> str:
    """Drop what no encoder or index takes: surrogates, control characters, excess length."""
    head = text[: 4 * MAX_QUESTION_CHARS].encode("utf-8", "replace").decode("utf-8")
    visible = "".join(
        " " if unicodedata.category(character) in ("Cc", "Co", "Cs") else character
        for character in head
    )
    return collapse(visible)[:MAX_QUESTION_CHARS]


def _chunk_frequency(word: QueryWord, vocabulary: Mapping[str, int]) -> int:
    """Count the chunks that hold some form of the word: at least those of its commonest form."""
    forms = (word, *word.alternatives)
    return max(_form_frequency(term, vocabulary) for form in forms for term in _terms(form))


def _terms(word: QueryWord) -> tuple[str, ...]:
    return (word.folded, *word.stems)


def _form_frequency(term: str, vocabulary: Mapping[str, int]) -> int:
    """Return an upper bound for a phrase: its rarest word."""
    return min((vocabulary.get(part, 0) for part in term.split()), default=0)
