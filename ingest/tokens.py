"""Text to tokens: Unicode folding, numbers, elisions, compounds and stems. Pure.

The index and the queries go through the same functions, so a rule added here holds on both sides;
change `ANALYSIS_VERSION` in `ingest.analysis` with it.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer  # type: ignore[import-untyped]  # it ships no type hints

MAX_TOKEN_CHARS = 64
"""Longer runs (encoded data, keys) are cut: nobody types them whole."""

_CACHED_FORMS = 1 << 16

SNOWBALL_ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}
"""ISO 639-1 code -> Snowball algorithm."""

_APOSTROPHES = "'’‘ʼ′`´＇"
_HYPHENS = "-‐‑"
_INVISIBLE = "\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_REWRITTEN = str.maketrans(
    {
        **dict.fromkeys(_APOSTROPHES, "'"),
        **dict.fromkeys(_HYPHENS, "-"),
        **dict.fromkeys(_INVISIBLE, None),
        # NFKC would glue these to the word before them ("SlackTM").
        **dict.fromkeys("™®©℠", " "),
    }
)
_ACCENTS = re.compile("[\u0300-\u036f]+")
_LETTERS_WITHOUT_DECOMPOSITION = str.maketrans(
    {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)

# Combining marks belong to the letters before them, but `\w` knows letters and digits only.
_INDIC_MARKS = "".join(
    f"{chr(base)}-{chr(base + 3)}{chr(base + 0x3A)}-{chr(base + 0x3C)}"
    f"{chr(base + 0x3E)}-{chr(base + 0x4F)}{chr(base + 0x55)}-{chr(base + 0x57)}"
    f"{chr(base + 0x62)}{chr(base + 0x63)}"
    for base in range(0x0900, 0x0D80, 0x80)
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    + _INDIC_MARKS
    + "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84"
    "\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)
_WORD = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
_UNITS = "h|min|mn|s|j|jours?|ans?|km|m|cm|mm|k|k?€|k?eur|euros?|go|mo|ko|gb|mb|kb|kg|g|x"

_TOKEN = re.compile(
    rf"""
    (?P<number> (?<![\w.,])
        (?: \d{{1,3}}(?:[\s']\d{{3}})+ (?:[.,]\d{{1,2}})?   # 1 500   1 500,00   1'500
          | \d{{1,3}}(?:\.\d{{3}})+ (?:,\d+)?               # 1.500   1.500,00
          | \d{{1,3}}(?:,\d{{3}})+ (?:\.\d+)?               # 1,500   1,500.00
          | \d+(?:[.,]\d+)?                                 # 1500    3,80   3.80
        )
        (?! \d | [.,]\d ) (?: (?!\w) | (?=(?:{_UNITS})(?!\w)) )
    )
  | (?P<dotted> (?<![\w.]) (?:[^\W\d_]\.){{2,}} (?:[^\W\d_](?!\w))? )   # R.T.T.
  | (?P<symbol> (?<!\w) [a-z] (?:\+\+|\#) (?!\w) )                     # C++  C#
  | (?P<word> {_WORD} (?:['-]{_WORD})* )
    """,
    re.VERBOSE | re.IGNORECASE,
)

_ELISION = re.compile(r"(?:[ldjnstmc]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=.)")
_CLITICS = frozenset(
    [
        "je",
        "tu",
        "il",
        "elle",
        "ils",
        "elles",
        "nous",
        "vous",
        "moi",
        "toi",
        "lui",
        "leur",
        "ci",
        "là",
        "t",
    ]
)
_WITH_CLITIC_LOOK = frozenset(["rendez-vous"])
_MAX_JOINED_PARTS = 3

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def fold(text: str) -> str:
    """Return the text in lower case without accents, ligatures or invisible characters.

    Vowel signs and marks of other scripts than Latin, Greek and Cyrillic are kept.
    """
    return _without_accents(normalise(text).casefold())


def normalise(text: str) -> str:
    """Return the text in NFKC with one kind of apostrophe and hyphen and nothing invisible."""
    return unicodedata.normalize("NFKC", text.translate(_REWRITTEN)).translate(_REWRITTEN)


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    plain = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", plain).translate(_LETTERS_WITHOUT_DECOMPOSITION)


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text.

    Attributes:
        surface: As written, up to `normalise`.
        parts: Its words in lower case with their accents, elisions removed: one, or several for
            a compound ("télé-travail") and for scripts without spaces (pairs of characters).
        joined: The parts of a compound in one word ("télétravail"), or None.
    """

    surface: str
    parts: tuple[str, ...]
    joined: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Return everything it is indexed under, in lower case with accents."""
        return self.parts if self.joined is None else (*self.parts, self.joined)


def scan(text: str) -> Iterator[Token]:
    """Split a text into tokens, in order; punctuation, emoji and surrogates are dropped."""
    for match in _TOKEN.finditer(normalise(text)):
        token = _token(match.group(), match.lastgroup or "word")
        if token.parts:
            yield token


@lru_cache(maxsize=_CACHED_FORMS)
def _token(surface: str, kind: str) -> Token:
    if kind == "number":
        return Token(surface, (_canonical_number(surface),))
    lowered = unicodedata.normalize("NFC", surface.casefold())
    if kind == "dotted":
        return Token(surface, (lowered.replace(".", ""),))
    if kind == "symbol":
        return Token(surface, (lowered,))
    return _compound(surface, lowered)


def _canonical_number(written: str) -> str:
    """Return 1500 for `1 500`, `1,500`, `1.500,00`; 3.80 for `3,80`."""
    digits = re.sub(r"[\s']", "", written)
    last = max(digits.rfind("."), digits.rfind(","))
    decimals = digits[last + 1 :] if last >= 0 else ""
    separators = {character for character in digits if character in ".,"}
    if len(separators) == 1 and len(decimals) == 3 and last <= len(digits) - 4 and digits[0] != "0":
        decimals = ""  # one kind of separator before groups of three: thousands
    elif decimals:
        digits = digits[:last]
    whole = re.sub(r"[.,]", "", digits)
    number = whole if not decimals.strip("0") else f"{whole}.{decimals}"
    return number[:MAX_TOKEN_CHARS]


def _compound(surface: str, lowered: str) -> Token:
    parts = [bare for part in lowered.split("-") if (bare := _bare(part))]
    if len(parts) > 1 and lowered not in _WITH_CLITIC_LOOK:
        while len(parts) > 1 and parts[-1] in _CLITICS:
            parts.pop()
    joined = None
    if 1 < len(parts) <= _MAX_JOINED_PARTS and not all(part.isdigit() for part in parts):
        joined = "".join(parts)[:MAX_TOKEN_CHARS]
    words = tuple(word for part in parts for word in _spaced(part[:MAX_TOKEN_CHARS]))
    return Token(surface, words, joined)


def _bare(part: str) -> str:
    """Drop elisions and the English possessive; join what other apostrophes cut (`aujourd'hui`)."""
    while match := _ELISION.match(part):
        part = part[match.end() :]
    return part.removesuffix("'s").replace("'", "")


def _spaced(word: str) -> Iterator[str]:
    """Cut runs of a script without spaces into overlapping pairs; leave other words whole."""
    if word.isascii() or not _UNSPACED.search(word):
        yield word
        return
    rest = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > rest:
            yield word[rest : run.start()]
        characters = run.group()
        for index in range(max(len(characters) - 1, 1)):
            yield characters[index : index + 2]
        rest = run.end()
    if rest < len(word):
        yield word[rest:]


_local = threading.local()


def _stem_word(algorithm: str, word: str) -> str:
    """Stem with this thread's stemmer: Snowball's keep state while they work."""
    stemmers = _local.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = snowballstemmer.stemmer(algorithm)
    return str(stemmers[algorithm].stemWord(word))


@lru_cache(maxsize=_CACHED_FORMS)
def folded(word: str) -> str:
    """Return the indexed form of one word of a `Token`."""
    return _without_accents(word)


@lru_cache(maxsize=2 * _CACHED_FORMS)
def stem(word: str, language: str) -> str:
    """Return the stem of one word of a `Token`, accents folded after stemming.

    Words with digits, and languages that Snowball does not know, keep the word.
    """
    algorithm = SNOWBALL_ALGORITHMS.get(language)
    if algorithm is None or not word.isalpha():
        return _without_accents(word)
    return _without_accents(_stem_word(algorithm, word))
