"""Writes the value of a spreadsheet's cell as its format shows it. Pure."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Final

_SECTION: Final = re.compile(r'(?:[^;"]|"[^"]*")*')
_LITERAL: Final = re.compile(r'"([^"]*)"')
_DECIMALS: Final = re.compile(r"\.(0+)")
_HAS_DIGITS: Final = re.compile(r"[0#?]")
_BRACKETS: Final = re.compile(r"\[[^\]]*\]|_.|\*.|\\")
_ASIDE: Final = re.compile(r'"[^"]*"|\[[^\]]*\]|[\\_*].')
# Words, a currency, an escaped character, a gap as wide as a character: "h", [$€-40C], \e, _-.
_AROUND: Final = re.compile(
    r'"(?P<quoted>[^"]*)"|(?:\[\$)?(?P<sign>[€$£])(?:-?[0-9A-F]*\])?|\\(?P<escaped>.)|_.| '
)
_SIGNIFICANT: Final = 10
"""Digits of a number without format; more are the noise of binary fractions."""


def shown(value: object, number_format: str) -> str:
    """Return what a reader sees of a cell, "" for an empty one.

    Dates are day/month/year where the format begins with the day, else ISO; amounts keep the sign
    of their currency and their decimals, shares become per cent.

    Args:
        value: As openpyxl gives it.
        number_format: The format's code, as in `0.00 "h"`.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime | date | time | timedelta):
        return _moment(value, number_format)
    if isinstance(value, int | float):
        return _number(value, number_format)
    return str(value).strip()


def _moment(value: datetime | date | time | timedelta, number_format: str) -> str:
    if isinstance(value, timedelta):
        minutes = round(value.total_seconds() / 60)
        return f"{minutes // 60}:{minutes % 60:02}"
    if isinstance(value, time):
        return f"{value:%H:%M}"
    day_first = _BRACKETS.sub("", number_format).lstrip().lower().startswith("d")
    day = f"{value:%d/%m/%Y}" if day_first else f"{value:%Y-%m-%d}"
    if isinstance(value, datetime) and (value.hour or value.minute):
        return f"{day} {value:%H:%M}"
    return day


def _number(value: float, number_format: str) -> str:
    section = _SECTION.match(number_format)
    code = section[0] if section else ""
    pattern = _LITERAL.sub("", _BRACKETS.sub("", code))
    if not _HAS_DIGITS.search(pattern) or "E" in pattern.upper().replace("GENERAL", ""):
        return f"{value:.{_SIGNIFICANT}g}" if isinstance(value, float) else str(value)
    share = "%" in pattern
    decimals = _DECIMALS.search(pattern)
    digits = f"{value * 100 if share else value:.{len(decimals[1]) if decimals else 0}f}"
    return _with_signs(digits + (" %" if share else ""), code)


def _with_signs(digits: str, code: str) -> str:
    """Add the currency and the words that a format puts around a number."""
    places = [match.start() for match in _HAS_DIGITS.finditer(_ASIDE.sub(_blank, code))]
    before = "".join(map(_read, _AROUND.finditer(code[: places[0]])))
    after = "".join(map(_read, _AROUND.finditer(code[places[-1] + 1 :])))
    return " ".join(f"{before}{digits}{after}".split())


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _read(match: re.Match[str]) -> str:
    """Return what one part of a format shows."""
    return match["quoted"] or match["sign"] or match["escaped"] or " "
