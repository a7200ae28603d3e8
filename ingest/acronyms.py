"""Learns from a handbook what its acronyms stand for. Pure.

A meaning is believed only where its initials spell the acronym: "paid time off (PTO)", "PTO (paid
time off)", and "PTO: paid time off" at the start of a line or in a table, as glossaries have it.
Small words may be left out ("obligation d'emploi des travailleurs handicapés" is OETH).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from ingest.stopwords import STOP_WORDS
from ingest.tokens import fold

_SHORT = r"[^\W\d_][\w&]{1,8}"
"""What may be an acronym; `_is_acronym` tells."""
_LONGEST_MEANING = 100
_MOST_WORDS = 9
_SMALL_WORDS = """
a and au aux d de des du en et for in l la le les of on par pour sur the to un une with
"""
_SKIPPED = frozenset(_SMALL_WORDS.split())
_MIN_TYPED_SMALL = 3
"""Letters of an acronym that is also known when typed in small letters."""
_CALENDAR = "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
_ORDINARY = STOP_WORDS | frozenset(_CALENDAR.split())
"""Never taken for an acronym when typed in small letters, whatever a handbook writes."""
_MIN_IN_A_GLOSSARY = 3
"""Letters of an acronym that a line of its own defines: two are as well somebody's initials."""

_BRACKETS = re.compile(rf"\(([^()\n|]{{2,{_LONGEST_MEANING}}})\)")
_ALONE = re.compile(rf"[\s«\"“*_]{{0,20}}({_SHORT}?)s?[\s»\"”*_]{{0,20}}")
_LAST = re.compile(rf"(?<![\w&])({_SHORT}?)s?[\s*_]{{0,20}}$")
_IN_A_GLOSSARY = re.compile(
    rf"^(?:[^\w\n]|_){{0,20}}({_SHORT})[*_\"»”\s]{{0,20}}[:=–—|-][^\S\n]{{0,20}}"
    rf"([^\n|.;:()]{{5,{_LONGEST_MEANING}}})",
    re.MULTILINE,
)
_ENDS_AN_ENTRY = tuple(",/[")
_WORD = re.compile(r"[^\W_]+")


def defined_acronyms(text: str) -> Iterator[tuple[str, str]]:
    """Yield each acronym that a text defines, with its meaning as written."""
    for match in _BRACKETS.finditer(text):
        before = text[max(0, match.start() - _LONGEST_MEANING) : match.start()]
        alone = _ALONE.fullmatch(match[1])
        last = _LAST.search(before[-_LONGEST_MEANING // 2 :])
        if alone and _is_acronym(alone[1]):
            short, meaning = alone[1], _spelled_at_the_end(alone[1], before)
        elif last and _is_acronym(last[1]):
            short, meaning = last[1], _spelled_at_the_start(last[1], match[1])
        else:
            continue
        if meaning:
            yield short, meaning
    for match in _IN_A_GLOSSARY.finditer(text):
        short = match[1]
        if len(short) < _MIN_IN_A_GLOSSARY or not _is_acronym(short):
            continue
        meaning = _spelled_at_the_start(short, match[2])
        if meaning:
            rest = match[2].partition(meaning)[2].strip(' *_»"”')
            if not rest or rest.startswith(_ENDS_AN_ENTRY):
                yield short, meaning


def learn_acronyms(texts: Sequence[str]) -> dict[str, str]:
    """Return what the acronyms of a handbook stand for, most often.

    Args:
        texts: Of its passages.

    Returns:
        Acronyms as people type them (see `as_typed`), no word of the handbook among them.
    """
    meanings: dict[str, Counter[str]] = {}
    for text in texts:
        for short, meaning in defined_acronyms(text):
            meanings.setdefault(short, Counter())[" ".join(meaning.split())] += 1
    learned = {
        short: min(found, key=lambda meaning: (-found[meaning], meaning))
        for short, found in sorted(meanings.items())
    }
    tokens = {token for text in texts for token in text.split()}
    words = (word for token in tokens for word in _WORD.findall(token))
    return as_typed(learned, but={fold(word) for word in words if word.islower()})


def as_typed(acronyms: Mapping[str, str], *, but: Container[str] = ()) -> dict[str, str]:
    """Return acronyms as written, and in small letters where that is no ordinary word.

    Args:
        acronyms: With their meanings.
        but: Words that are none in small letters, folded.
    """
    small = {
        short.lower(): meaning
        for short, meaning in acronyms.items()
        if len(short) >= _MIN_TYPED_SMALL
        and short.lower() not in but
        and fold(short) not in _ORDINARY
    }
    return {**small, **acronyms}


def _is_acronym(word: str) -> bool:
    """Tell whether a word starts with a capital and has another one."""
    return word[:1].isupper() and sum(character.isupper() for character in word) > 1


def _spelled_at_the_end(short: str, text: str) -> str | None:
    """Return the most words at the end of a text that spell an acronym."""
    words = list(_WORD.finditer(text))[-_MOST_WORDS:]
    for first in range(len(words) - 1):
        if _spells([word.group() for word in words[first:]], short):
            return text[words[first].start() : words[-1].end()]
    return None


def _spelled_at_the_start(short: str, text: str) -> str | None:
    """Return the most words at the start of a text that spell an acronym."""
    words = list(_WORD.finditer(text))[:_MOST_WORDS]
    for end in range(len(words), 1, -1):
        if _spells([word.group() for word in words[:end]], short):
            return text[words[0].start() : words[end - 1].end()]
    return None


def _spells(words: Sequence[str], short: str) -> bool:
    """Tell whether the initials of these words, small words left out at will, spell an acronym."""
    letters = [character for character in fold(short) if character.isalnum()]
    folded = [fold(word) for word in words]
    if folded[0] in _SKIPPED or folded[-1] in _SKIPPED:
        return False
    reached = {0}  # how many letters the words so far may have spelled
    for word in folded:
        spelled = {at + 1 for at in reached if at < len(letters) and word.startswith(letters[at])}
        reached = spelled | (reached if word in _SKIPPED else set())
    return len(letters) in reached and len(letters) > 1
