"""Tells the language of a page."""

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

_NOT_PROSE: Final = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|[|`*#<>{}\[\]()_=/\\]|\d+")


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


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


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
