"""Writes the numbers that a text spells out, in French or in English, in digits. Pure."""

from __future__ import annotations

import re

_SIMPLE = {
    word: value
    for value, words in {
        2: "deux two", 3: "trois three", 4: "quatre four", 5: "cinq five", 6: "six",
        7: "sept seven", 8: "huit eight", 9: "neuf nine", 10: "dix ten", 11: "onze eleven",
        12: "douze twelve", 13: "treize thirteen", 14: "quatorze fourteen", 15: "quinze fifteen",
        16: "seize sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "vingt vingts"
        " twenty", 30: "trente thirty", 40: "quarante forty", 50: "cinquante fifty",
        60: "soixante sixty", 70: "septante seventy", 80: "huitante octante eighty",
        90: "nonante ninety",
    }.items()
    for word in words.split()
}  # fmt: skip
_ONE = frozenset(("un", "une", "one"))
_HUNDREDS = frozenset(("cent", "cents", "hundred"))
_THOUSANDS = frozenset(("mille", "thousand"))
_ALL = "|".join(sorted((*_SIMPLE, *_HUNDREDS, *_THOUSANDS), key=len, reverse=True))
_SEQUENCE = re.compile(
    rf"(?<![\w])(?<!\d )(?:(?:one|une?)(?= (?:hundred|thousand|cents?|mille)\b) )?(?:{_ALL})\b"
    rf"(?:(?: et | and |[ -])(?:(?:{_ALL})\b"
    r"|(?:(?<=vingt.)|(?<=ante.)|(?<= et )|(?<=ty-))(?:une?|one)\b))*"
)
_SEPTEMBER = re.compile(r"\bsept(?=\.|\s(?:19|20)\d\d)")
_HALF = re.compile(
    r"(?<![\w-])(?:(?:une?|a|an|la) )?(?:demi[- ]e?|half[- ](?:an? )?)"
    r"(?=(?:journee|jour|day|heure|hour)s?\b)"
)
_PERCENT = re.compile(r"\b(?:pour|per) ?cents?\b|\bpercent\b")


def in_digits(folded: str) -> str:
    """Replace spelled numbers by digits: `vingt-cinq jours` becomes `25 jours`.

    Args:
        folded: Lower case, without accents.
    """
    text = _PERCENT.sub("%", folded)
    text = _SEPTEMBER.sub("september", text)
    text = _HALF.sub("0.5 ", text)
    return _SEQUENCE.sub(lambda match: _write(match.group()), text)


def _write(words: str) -> str:
    """Return the value of a run of number words, or several where they do not form one."""
    numbers: list[int] = []
    total = current = previous = 0
    open_number = False
    for word in re.split(r"[ -]", words):
        if word in ("et", "and", ""):
            continue
        if word in _THOUSANDS:
            total, current, previous = total + max(1, current) * 1000, 0, 1000
        elif word in _HUNDREDS:
            current, previous = max(1, current) * 100, 100
        else:
            value = 1 if word in _ONE else _SIMPLE[word]
            if value == 20 and current % 100 == 4 and previous == 4:
                current, value = current + 76, 20
            elif open_number and previous <= value < 100 and previous < 100:
                numbers.append(total + current)
                total, current = 0, value
            else:
                current += value
            previous = value
        open_number = True
    numbers.append(total + current)
    return " ".join(str(number) for number in numbers)
