"""The gate: what a draft says is shown only where its passage says it. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from bot.grounding.citations import CitationRejected, cite
from bot.records import Claim, Draft, DraftClaim, Passage


@dataclass(frozen=True, slots=True)
class RejectedClaim:
    """A claim that did not pass, and why."""

    claim: DraftClaim
    reason: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What is left of a draft. No claims left means abstention."""

    claims: tuple[Claim, ...]
    rejected: tuple[RejectedClaim, ...]


def verify(draft: Draft, passages: Sequence[Passage]) -> Verification:
    """Check every claim of a draft.

    A claim passes when its quote stands, white space aside, in one of the retrieved passages, the
    one it names, and when every number, date, amount, e-mail address and link of its sentence
    stands in that passage too.

    Args:
        draft: Unverified.
        passages: Those retrieved for this question and visible to its audience.
    """
    by_id = {passage.chunk.chunk_id: passage for passage in passages}
    claims: list[Claim] = []
    rejected: list[RejectedClaim] = []
    for claim in draft.claims:
        try:
            citation = cite(claim, by_id)
        except CitationRejected as verdict:
            rejected.append(RejectedClaim(claim, str(verdict)))
            continue
        unsupported = unsupported_facts(claim.sentence, citation.passage)
        if unsupported or not claim.sentence.strip():
            missing = ", ".join(sorted(unsupported)) or "an empty sentence"
            rejected.append(RejectedClaim(claim, f"not in the cited passage: {missing}"))
            continue
        claims.append(Claim(claim.sentence, citation))
    return Verification(tuple(claims), tuple(rejected))


def unsupported_facts(sentence: str, passage: Passage) -> frozenset[str]:
    """Return the checkable facts of a sentence that its passage does not hold."""
    chunk = passage.chunk
    contexts = dict.fromkeys(unit.context for unit in chunk.units)
    source = "\n".join((chunk.title, *chunk.heading_path, chunk.context, *contexts, chunk.text))
    return facts(sentence) - facts(source)


_LINK = re.compile(r"\b(?:https?://|www\.)[^\s<>\"'»)\]]+", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_NUMBER = re.compile(
    r"[^\W_]*\d(?:[^\W_]|[.,:/'’\-\u2010-\u2015](?=\d)|[ \u00a0\u202f](?=\d{3}(?!\d)))*"
)
_GROUPING = re.compile(r"(?<=\d)[ \u00a0\u202f'’,.](?=\d{3}(?!\d))")
_WITH_UNIT = re.compile(
    r"(\d+(?:[.,:/\-]\d+)*)"
    r"(?:h|hrs?|min|mn|s|j|d|k|m|km|cm|mm|k?eur|usd|[kmgt][bo]|k?g|x|e|er|ere|eme|ème|st|nd|rd|th"
    r"|am|pm|ans?|jours?|mois|days?|weeks?|months?|years?|heures?|hours?)"
)
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_SPELLED = {
    word: str(value)
    for value, words in {
        2: "deux two", 3: "trois three", 4: "quatre four", 5: "cinq five", 6: "six",
        7: "sept seven", 8: "huit eight", 9: "neuf nine", 10: "dix ten", 11: "onze eleven",
        12: "douze twelve", 13: "treize thirteen", 14: "quatorze fourteen",
        15: "quinze fifteen", 16: "seize sixteen", 20: "vingt twenty", 30: "trente thirty",
        40: "quarante forty", 50: "cinquante fifty", 60: "soixante sixty",
        100: "cent hundred", 1000: "mille thousand",
    }.items()
    for word in words.split()
}  # fmt: skip
_SPELLED_WORD = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b", re.IGNORECASE)


def facts(text: str) -> frozenset[str]:
    """Return the numbers, dates, amounts, e-mail addresses and links of a text, normalised.

    Digits of any script count as digits, thousands separators are dropped, a number glued
    to its unit counts without it ("24h" is 24), and small numbers in words count as numbers ("deux"
    is 2). "1O0" with a letter O is not 100.
    """
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    links = [match.rstrip(".,;:!?").casefold() for match in _LINK.findall(plain)]
    emails = [match.rstrip(".").casefold() for match in _EMAIL.findall(plain)]
    rest = _EMAIL.sub(" ", _LINK.sub(" ", plain))
    numbers: set[str] = set()
    for match in _NUMBER.findall(rest):
        number = _GROUPING.sub("", match).translate(_ASCII_DIGITS).casefold()
        with_unit = _WITH_UNIT.fullmatch(number)
        numbers.add(with_unit[1] if with_unit else number)
    numbers.update(_SPELLED[word.casefold()] for word in _SPELLED_WORD.findall(rest))
    return frozenset((*links, *emails, *numbers))


class _AsciiDigits(dict[int, str]):
    """Maps any decimal digit to its ASCII form."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        value = unicodedata.decimal(character, None)
        mapped = character if value is None else str(value)
        self[code] = mapped
        return mapped


_ASCII_DIGITS = _AsciiDigits()
