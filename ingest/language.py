"""Tells the language of a page and of a question."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from py3langid.langid import (  # type: ignore[import-untyped]  # ships no types
    MODEL_FILE,
    LanguageIdentifier,
)

UNKNOWN: Final = "und"
"""ISO 639 code of an undetermined language."""

# Languages a company handbook may be in. A shorter list makes short texts safer: unrestricted, the
# model takes French menus for Occitan and English lists for Latin.
_PAGE_LANGUAGES: Final = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "he", "hr", "hu", "it",
    "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "tr", "uk", "vi",
    "zh",
)  # fmt: skip
_NAMES: Final = {
    "english": "en", "anglais": "en", "french": "fr", "français": "fr", "francais": "fr",
    "german": "de", "deutsch": "de", "allemand": "de", "spanish": "es", "español": "es",
    "espagnol": "es", "nb": "no", "nn": "no",
}  # fmt: skip

_SAMPLE_CHARS: Final = 500
_SAMPLES: Final = 4
_MIN_LETTERS: Final = 40
"""With fewer letters a page's language is a guess."""
_CONTRADICTION_LETTERS: Final = 300
_CONTRADICTION_CONFIDENCE: Final = 0.95
_OTHER_CONFIDENCE: Final = 0.9
_OTHER_LETTERS: Final = 12
_CLEAR_BALANCE: Final = 3

_WORDS: Final = re.compile(r"[^\W\d_]+")
_NOT_PROSE: Final = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|[|`*#<>{}\[\]()_=/\\]|\d+")
_FRENCH_LETTERS: Final = re.compile(r"[àâçèéêëîïôùûœ]", re.I)
_ELISION: Final = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|aujourd)['’]\w", re.I)
_ENGLISH_CONTRACTION: Final = re.compile(r"\b\w+(?:n['’]t|['’](?:re|ve|ll|m))\b", re.I)

# Words that one of the two languages uses in nearly every sentence and that the other has not.
_FRENCH_WORDS_TEXT = """
    ai aux avec avoir avons avez ça ce ces cet cette ceux chez combien comment dans de depuis dois
    doit du elle elles est et être faire faut il ils je jours le les leur leurs lui mes mois mon
    nos notre nous ont ou où par pas pendant peut peux plus pour pourquoi puis quand que quel quelle
    quelles quels qui quoi sans ses sommes sont sous suis sur tes tous tout toute toutes très un une
    vais vers veut veux vos votre vous
    bonjour bonsoir merci salut svp stp cest jai koi
    """
_FRENCH_WORDS: Final = frozenset(_FRENCH_WORDS_TEXT.split())
_ENGLISH_WORDS_TEXT = """
    about after am and any are at be been before by can could did does during each every for from
    get gets had has have he her his how i if in is it its may much must my need of our out she
    should so than that the their them then there these they this those to under up us was we were
    what when where which who whom whose why will with within work would you your
    hello hi please report thanks
    """
_ENGLISH_WORDS: Final = frozenset(_ENGLISH_WORDS_TEXT.split())


def detect_language(text: str, hint: str | None = None) -> str:
    """Return the language of a page, an ISO 639-1 code or "und".

    Args:
        text: The page's text; samples from all over it are read.
        hint: What the page says of itself ("fr", "fr-CA", "French"); counts unless a long text
            clearly contradicts it.
    """
    declared = _code(hint)
    sample = _NOT_PROSE.sub(" ", _sample(text))
    letters = _letters(sample)
    if letters < _MIN_LETTERS:
        return declared or UNKNOWN
    if declared is not None and letters < _CONTRADICTION_LETTERS:
        return declared
    language, confidence = _identifier().classify(sample)
    if declared is not None and confidence < _CONTRADICTION_CONFIDENCE:
        return declared
    return str(language)


def detect_question_language(text: str) -> str:
    """Return the language of a question: "fr", "en", or another ISO 639-1 code when it is clear.

    Function words and spelling decide between French and English; the model is asked only when they
    say little. A text that says nothing (digits, an acronym) is French, the language of most
    readers.
    """
    cleaned = _NOT_PROSE.sub(" ", text)
    balance = _french_marks(cleaned) - _english_marks(cleaned)
    if abs(balance) >= _CLEAR_BALANCE:
        return "fr" if balance > 0 else "en"
    letters = _letters(cleaned)
    if letters >= _OTHER_LETTERS:
        language, confidence = _identifier().classify(cleaned)
        if language not in {"fr", "en"} and confidence >= _OTHER_CONFIDENCE:
            return str(language)
    if balance:
        return "fr" if balance > 0 else "en"
    scores = dict(_identifier().rank(cleaned)) if letters else {}
    return "en" if scores.get("en", 0.0) > scores.get("fr", 0.0) else "fr"


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _french_marks(text: str) -> int:
    return (
        _count(text, _FRENCH_WORDS)
        + 2 * len(_ELISION.findall(text))
        + min(1, len(_FRENCH_LETTERS.findall(text)))
    )


def _english_marks(text: str) -> int:
    return _count(text, _ENGLISH_WORDS) + 2 * len(_ENGLISH_CONTRACTION.findall(text))


def _count(text: str, words: frozenset[str]) -> int:
    return sum(word in words for word in _WORDS.findall(text.lower()))


def _sample(text: str) -> str:
    """Return pieces from the whole length: the first lines alone are often a menu."""
    if len(text) <= _SAMPLES * _SAMPLE_CHARS:
        return text
    step = (len(text) - _SAMPLE_CHARS) // (_SAMPLES - 1)
    return " ".join(text[i * step : i * step + _SAMPLE_CHARS] for i in range(_SAMPLES))


def _code(hint: str | None) -> str | None:
    if hint is None:
        return None
    name = re.split(r"[-_.,;\s]", hint.strip().lower(), maxsplit=1)[0]
    code = _NAMES.get(name, name)
    return code if len(code) == 2 and code.isascii() and code.isalpha() else None


@cache
def _identifier() -> LanguageIdentifier:
    """Load the model once, when it is first needed: it takes a second."""
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_PAGE_LANGUAGES)
    return identifier
