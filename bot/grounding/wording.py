"""How much of a sentence its quote says: names, content words, and meaning across languages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.grounding.facts import is_fact_word
from bot.language import french_or_english
from bot.retrieval.coverage import IndexedForms
from ingest import QueryWord, analyze_query, fold

Closeness = Callable[[str, str], float | None]
"""How close two texts are in meaning, in [-1, 1], or None when nothing can tell."""

LANGUAGES = ("fr", "en")

MIN_QUOTED = 0.4
"""Share of a sentence's content words that the quoted sentences alone hold (same source)."""

MIN_COVERAGE = 0.65
"""Share of a sentence's content words that quote, headings and question hold. Source:
docs/grounding.md, the value that drops most invented sentences at 3 % of faithful ones."""

LEAST_QUOTED = 0.3
"""That share at least, where the encoder finds that a sentence says the same in other words."""

SAME_CLOSENESS = 0.955
"""Cosine from which it does, for the bundled encoder: above all half-invented sentences, below most
free rewordings (same source)."""

MIN_CLOSENESS = 0.855
"""Cosine of a sentence and the quote it translates, for the bundled encoder (same source)."""

_NAME = re.compile(
    r"(?<![\w'’.@/-])(?:[dlnsmtjcDLNSMTJC]['’]|[Qq]u['’])?"
    r"([A-ZÀ-ÖØ-Þ][\w&]*(?:[-.’'][A-ZÀ-ÖØ-Þ][\w&]*)*)"
)
_START = re.compile(r"(?:^|[.!?…:;]\s+|\n\s*|[«\"“(]\s*|^[-*•]\s+|^\d+[.)]\s+)(?=\W*[A-ZÀ-ÖØ-Þ])")
_COGNATE = 0.72
_NAMES_ABROAD_TEXT = """
    rh/hr drh/hrd ue/eu tva/vat ti/it si/it pdg/ceo daf/cfo allemagne/germany espagne/spain
    royaume/kingdom unis/united etats/states londres/london suisse/switzerland pays/netherlands
    grece/greece japon/japan chine/china coree/korea noel/christmas paques/easter
    gouvernement/government ecosse/scotland galles/wales
"""
_NAMES_ABROAD = tuple(frozenset(pair.split("/")) for pair in _NAMES_ABROAD_TEXT.split())
_CALENDAR_TEXT = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december lundi mardi mercredi jeudi vendredi samedi
    dimanche eur usd gbp cad chf am pm i i'm i'll
"""
_CALENDAR = frozenset(_CALENDAR_TEXT.split())
"""Capitalised words that are no names; days, months and currencies are checked as facts."""


@dataclass(frozen=True, slots=True)
class Words:
    """Analysed text that sentences are compared with, in one language or unknown."""

    forms: IndexedForms
    text: str

    @classmethod
    def of(cls, text: str, language: str) -> Words:
        """Analyse a text as ingest does."""
        return cls(IndexedForms.of(text, language), fold(text))


def sentence_language(sentence: str, passage_language: str) -> str:
    """Return "fr" or "en", or the passage's language where function words do not decide."""
    found = french_or_english(sentence)
    return found if found in LANGUAGES else passage_language


def proper_names(sentence: str) -> tuple[str, ...]:
    """Return the capitalised words that do not open a sentence, and acronyms anywhere."""
    starts = {match.end() for match in _START.finditer(sentence)} | {0}
    shouted = not any(character.islower() for character in sentence)
    names = []
    for match in _NAME.finditer(sentence):
        name = match[1]
        opens = match.start() in starts and not (len(name) > 1 and name.isupper())
        if not opens and not shouted and fold(name) not in _CALENDAR:
            names.append(name)
    return tuple(dict.fromkeys(names))


def unknown_names(sentence: str, known: Words, *, same_language: bool) -> tuple[str, ...]:
    """Return the proper names of a sentence that neither its passage nor the question has."""
    return tuple(
        name
        for name in proper_names(sentence)
        if not _is_known(name, known, same_language=same_language)
    )


def _is_known(name: str, known: Words, *, same_language: bool) -> bool:
    folded = fold(name)
    stem = folded.removesuffix("s")
    if re.search(rf"(?<!\w)(?:{re.escape(folded)}|{re.escape(stem)})s?(?!\w)", known.text):
        return True
    if _stands_for_words(name, known.text):
        return True
    if same_language:
        return False
    terms = known.forms.terms
    return any(bool(terms & (pair - {folded})) for pair in _NAMES_ABROAD if folded in pair) or bool(
        difflib.get_close_matches(folded, terms, n=1, cutoff=_COGNATE)
    )


_SMALL_WORDS = r"(?:(?:of|the|and|for|de|du|des|la|le|les|et|en) |[dl]['’])*"
_MIN_ACRONYM, _MAX_ACRONYM = 2, 6


def _stands_for_words(name: str, folded: str) -> bool:
    """Tell whether an acronym is made of the initials of words that follow each other (UK)."""
    if not name.isupper() or not _MIN_ACRONYM <= len(name) <= _MAX_ACRONYM or not name.isalpha():
        return False
    initials = rf"[\s-]+{_SMALL_WORDS}".join(rf"{letter}\w+" for letter in fold(name))
    return bool(re.search(rf"\b{initials}\b", folded))


def invented_part(sentence: str, known: Words) -> str | None:
    """Return the first part of a sentence of which a text has not one content word, or None.

    Parts end at commas, brackets and "and": what is added to a faithful sentence stands in one.
    """
    said = _ATTRIBUTION.sub("", sentence)
    parts = [part.strip() for part in _PART.split(said) if part and part.strip()]
    for part in parts if len(parts) > 1 else ():
        words = [w for w in analyze_query(part).words if not _is_checked_elsewhere(w.folded)]
        if len(words) >= MIN_WORDS_OF_PART and not any(_holds(known, word) for word in words):
            return part
    return None


_PART = re.compile(
    r"[,;:()—–]|\b(?:et|and|avec|with|puis|then|mais|but|ainsi que|as well as|car|because)\b",
    re.IGNORECASE,
)
MIN_WORDS_OF_PART = 2


def coverage(sentence: str, known: Words) -> float | None:
    """Return the share of a sentence's content words that a text holds; None without any.

    Numbers, units and dates are left out: they are facts, and checked as such.
    """
    said = _ATTRIBUTION.sub("", sentence)
    words = [w for w in analyze_query(said).words if not _is_checked_elsewhere(w.folded)]
    if not words:
        return None
    return sum(_holds(known, word) for word in words) / len(words)


def _holds(known: Words, word: QueryWord) -> bool:
    return known.forms.hold(word) or _stands_for_words(word.surface, known.text)


_ATTRIBUTION = re.compile(
    r"^(?:selon|d['’]après|d['’]apres|according to|as|per|comme l['’]indique)\b[^,]{0,40}"
    r"\b(?:page|guide|handbook|manuel|document|livret|polic\w+|politique|charte|accord"
    r"|convention)\b[^,]{0,20}, ",
    re.IGNORECASE,
)
"""Saying where something stands is not part of what is said."""
_ANSWERS = frozenset(("oui", "non", "yes", "no"))


def _is_checked_elsewhere(word: str) -> bool:
    return word in _ANSWERS or any(c.isdigit() for c in word) or is_fact_word(word)


def stems_in(language: str) -> Callable[[str], frozenset[str]]:
    """Return what gives one stem for each content word of a text.

    Args:
        language: Of the texts that are compared; any but "fr" and "en": both.
    """
    languages = (language,) if language in LANGUAGES else LANGUAGES

    def stems(text: str) -> frozenset[str]:
        words = analyze_query(text, languages=languages).words
        return frozenset("/".join(word.stems) for word in words if not word.folded.isdigit())

    return stems
