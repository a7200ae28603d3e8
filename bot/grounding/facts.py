"""Reads the checkable facts of a text, the same in French and in English. Pure.

`1 500 €`, `1,500 euros` and `EUR 1500` are one fact, as are `25 jours` and `vingt-cinq jours`, or
`1er mars 2026`, `2026-03-01` and `March 1, 2026`. Hours of the day and lengths of time are both
counted in minutes: `2h30` is `2 hours 30 minutes`, `6 pm` is `18 h`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from bot.grounding.bounds import Bound, bound_around
from bot.grounding.spelled import in_digits
from ingest import fold

DateParts = tuple[int | None, int | None, int | None]
"""Year, month and day; None where the text does not say."""

UNITS: Mapping[str, str] = {
    "eur": r"€|euros?|eur",
    "usd": r"us ?\$|usd",
    "cad": r"ca ?\$|\$ ?ca|cad",
    "dollar": r"\$|dollars?",
    "gbp": r"£|gbp|pounds?|livres? sterling",
    "chf": r"chf|francs? suisses?|swiss francs?",
    "%": r"%|pct",
    "jour ouvré": r"jours? ouvres?",
    "jour ouvrable": r"jours? ouvrables?",
    "working day": r"(?:working|business|work)[ -]days?|workdays?",
    "calendar day": r"jours? calendaires?|calendar[ -]days?",
    "day": r"jours?|journees?|days?|j|d",
    "week": r"semaines?|weeks?|wks?",
    "month": r"mois|months?",
    "year": r"ans?|annees?|years?|yrs?",
    "hour": r"heures?|hours?|hrs?|h",
    "minute": r"minutes?|mins?|mn",
    "second": r"secondes?|seconds?|secs?|s",
    "km": r"kilometres?|kilometers?|km|kms",
    "mile": r"miles?",
    "m": r"metres?|meters?|m",
    "cm": r"centimetres?|centimeters?|cm",
    "kg": r"kilogrammes?|kilograms?|kilos?|kg",
    "kb": r"ko|kb",
    "mb": r"mo|mb|mib",
    "gb": r"go|gb|gib",
    "tb": r"tb|tib",
}
"""Unit -> how it is written, folded; longer forms first."""

CURRENCIES = frozenset(("eur", "usd", "cad", "dollar", "gbp", "chf"))

_SAME_UNIT = {
    frozenset(pair)
    for pair in (
        ("dollar", "usd"),
        ("dollar", "cad"),
        ("day", "jour ouvré"),
        ("day", "jour ouvrable"),
        ("day", "working day"),
        ("day", "calendar day"),
        ("working day", "jour ouvré"),
        ("working day", "jour ouvrable"),
    )
}
"""Pairs one of which may stand for the other; `jours ouvrés` and `jours ouvrables` may not."""
KINDS_OF_DAY = frozenset(("jour ouvré", "jour ouvrable", "working day", "calendar day"))

_ADJECTIVES = (
    r"(?:(?:full|consecutive|additional|more|paid|extra|whole|complete|first|last|further|other"
    r"|premiers?|premieres?|derniers?|dernieres?|autres?|bons?|grandes?) ){0,2}"
)
_UNIT = re.compile(
    rf"[ -]?{_ADJECTIVES}(?:d'|de )?(?:"
    + "|".join(f"(?P<u{i}>{forms})" for i, forms in enumerate(UNITS.values()))
    + r")(?:(?<=[€$£%])|(?![a-z0-9]))"
)
_UNIT_NAMES = tuple(UNITS)
_CURRENCY_BEFORE = re.compile(
    r"(?:(?P<usd>us ?\$|usd)|(?P<cad>ca ?\$|cad)|(?P<eur>€|eur)|(?P<gbp>£|gbp)|(?P<chf>chf)"
    r"|(?P<dollar>\$)) ?$"
)
_MONEY = "(?= ?(?:€|\\$|£|eur|usd|gbp))"
_MULTIPLIER = re.compile(
    rf" ?(?:(?P<thousand>mille|thousand|k{_MONEY})|(?P<million>millions?|m{_MONEY})"
    rf"|(?P<billion>milliards?|billions?|mds?{_MONEY}))(?![a-z])"
)
_MULTIPLIER_OF_MONEY = re.compile(
    r" ?(?:(?P<thousand>k|thousand)|(?P<million>m|mn|mm|millions?)|(?P<billion>bn?|billions?))"
    r"(?![a-z])"
)
_MULTIPLES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMBER = re.compile(
    r"(?<![\w])(?<!\d[.,])(?:\d{1,3}(?:[ '.,]\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d+(?:[.,]\d+)?)"
)
_ORDINAL = re.compile(r"\^?(?:ers?|res?|eres?|emes?|e|st|nd|rd|th)(?![a-z0-9])")
_RANGE = re.compile(r" ?(?:-|–|—|a|to|et|and|ou|or|au) ?")

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "janvier january janv jan", "fevrier february fevr fev feb", "mars march mar",
            "avril april avr apr", "mai may", "juin june jun", "juillet july juil jul",
            "aout august aug", "septembre september sept sep", "octobre october oct",
            "novembre november nov", "decembre december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
"""Pattern of the folded names of months."""
_YEAR = r"(?:19|20)\d\d"
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("lundi monday", "mardi tuesday", "mercredi wednesday", "jeudi thursday",
         "vendredi friday", "samedi saturday", "dimanche sunday")
    )
    for name in names.split()
}  # fmt: skip
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)})s?\b")
_MONTH_ALONE = re.compile(
    rf"\b(?P<plain>{'|'.join(m for m in _MONTHS if len(m) > 4 and m != 'march')}"
    r"|mars|juin|aout|june|july)\b"
    r"|\b(?:in|of|until|since|from|by|mid|early|late|through|en|de|a|debut|fin|mi)[ -]"
    r"(?P<after>mai|may|march)\b"
)
_DATES = (
    re.compile(rf"(?<![\w])(?P<y>{_YEAR})-(?P<m>\d\d)-(?P<d>\d\d)(?!\w)"),
    re.compile(
        rf"(?<![\w.,])(?P<d>\d{{1,2}})(?:\^?er|st|nd|rd|th)? (?:of |de )?(?P<month>{MONTH})\b\.?"
        rf"(?:,? (?P<y>{_YEAR})(?!\d))?"
    ),
    re.compile(
        rf"\b(?P<month>{MONTH})\.? (?:the )?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\w])"
        r"(?!:\d|[.,]\d| ?%)"
        rf"(?:,? (?P<y>{_YEAR})(?!\d))?"
    ),
    re.compile(rf"\b(?P<month>{MONTH})\.?,? (?:de |of )?(?P<y>{_YEAR})(?!\d)"),
)
_SLASHED = re.compile(r"(?<![\w/])(\d{1,2})[/.](\d{1,2})[/.](\d{4}|\d{2})(?![\w/])")
_LINK = re.compile(
    r"\b(?:https?://|www\.)[^\s<>\"'»)\]]+"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|fr|eu|gouv|gov|ca|uk|co|dev|app|info|edu|int|ai|be|ch)"
    r"\b(?:/[^\s<>\"'»)\]]*)?"
)
_EMAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w.,])(?:\+|00)?\(?\d[\d .()/-]{7,18}\d(?![\w])")
_CODE = re.compile(
    r"(?<![\w])(?=[\w./-]*[a-z])(?=[\w./-]*\d)[a-z0-9]+(?:[-./_][a-z0-9]+)*(?![\w])"
    r"|(?<![\w.,])(?:\d+(?:[-/.]\d+){2,}|\d+/\d+)(?!\w)|(?<![\w.,])\d{2,}-\d+(?=[^\w]|$)"
)
_GLUED = re.compile(
    rf"\d+(?:[.,]\d+)*(?:-?(?:{'|'.join(f'(?:{forms})' for forms in UNITS.values())})"
    r"|k|k?eur|ers?|res?|emes?|e|st|nd|rd|th|am|pm|x|h\d\d)"
)
_CLOCK = re.compile(
    r"(?<![\w.,])(?P<h>\d{1,2}) ?(?:h|:|heures? |hours? |hrs? )(?:et |and )?(?P<m>[0-5]\d)"
    r"(?: ?(?:min(?:ute)?s?|mn))?(?: ?(?P<half>[ap])\.?m\b\.?)?(?![\w])"
    r"|(?<![\w.,])(?P<h2>\d{1,2}) ?(?P<half2>[ap])\.?m\b\.?"
)


def is_same_unit(one: str, other: str) -> bool:
    """Tell whether one unit may stand for the other."""
    return one == other or frozenset((one, other)) in _SAME_UNIT


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts.

    Attributes:
        value: Hours are counted in minutes.
        unit: A key of `UNITS`, or "" for a bare number.
        bound: Whether it is a least or a most.
        before: The word before it, folded; "" if none.
        word: For a bare number: the word after it, folded; "" if none.
        written: As it stands in the text, folded.
    """

    value: Decimal
    unit: str
    bound: Bound | None
    before: str
    word: str
    written: str

    @property
    def is_year(self) -> bool:
        """Tell whether it may be a year."""
        return not self.unit and self.value == int(self.value) and 1900 <= self.value <= 2100

    def counts_as(self, other: Quantity) -> bool:
        """Tell whether both are the same amount of the same thing."""
        if self.value != other.value:
            return False
        return is_same_unit(self.unit, other.unit)


@dataclass(frozen=True, slots=True)
class Date:
    """A date in one or, for `01/02/2026`, two readings."""

    readings: tuple[DateParts, ...]
    written: str

    def within(self, other: Date) -> bool:
        """Tell whether the other date says all that this one says."""
        return any(
            all(part in (None, known) for part, known in zip(mine, theirs, strict=True))
            for mine in self.readings
            for theirs in other.readings
        )

    def without_year(self) -> Date:
        """Return the date without its year."""
        return Date(tuple((None, m, d) for _, m, d in self.readings), self.written)

    @property
    def years(self) -> frozenset[int]:
        """Return the years it may be in."""
        return frozenset(y for y, _, _ in self.readings if y is not None)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything checkable in a text.

    Attributes:
        marks: By kind: e-mail addresses, links, phone numbers, codes, weekdays, months.
        units: Units that the text names, with or without a number.
        rates: Those of time by which it counts: `per week`, `chaque mois`.
    """

    quantities: tuple[Quantity, ...] = ()
    dates: tuple[Date, ...] = ()
    marks: Mapping[str, frozenset[str]] = field(default_factory=dict)
    units: frozenset[str] = frozenset()
    rates: frozenset[str] = frozenset()

    @property
    def years(self) -> frozenset[int]:
        """Return every year the text mentions, in dates or alone."""
        return self.years_alone.union(*(date.years for date in self.dates))

    def count(self, quantity: Quantity) -> int:
        """Count how often a value stands in the text, as a year of dates too."""
        dated = sum(quantity.is_year and int(quantity.value) in date.years for date in self.dates)
        return dated + sum(other.value == quantity.value for other in self.quantities)

    @property
    def years_alone(self) -> frozenset[int]:
        """Return the years that belong to no date."""
        return frozenset(int(q.value) for q in self.quantities if q.is_year)


def read_facts(text: str, *, articles: bool = False) -> Facts:
    """Read the facts of a text.

    Args:
        text: In French or English.
        articles: Whether "a week" counts as one week: it may in a source, and in a sentence it
            mostly means "per week".
    """
    rest = in_digits(fold(text).replace("\u00a0", " ").replace("\u202f", " "))
    rest = " ".join(rest.split())
    rest = _one(rest, articles=articles)
    marks: dict[str, set[str]] = {}
    dates: list[Date] = []

    def take(pattern: re.Pattern[str], kind: str, form: Callable[[str], str | None]) -> None:
        nonlocal rest

        def note(match: re.Match[str]) -> str:
            value = form(match.group())
            if value is None:
                return match.group()
            marks.setdefault(kind, set()).add(value)
            return "\x00" * len(match.group())

        rest = pattern.sub(note, rest)

    take(_EMAIL, "e-mail address", lambda found: found.rstrip("."))
    take(_LINK, "link", _bare_link)
    rest = _take_dates(rest, dates)
    take(_PHONE, "phone number", _phone)
    clock, rest = _take_clock(rest)
    take(_CODE, "code", lambda found: None if _GLUED.fullmatch(found) else _code(found))
    months = {str(_MONTHS[m["plain"] or m["after"]]) for m in _MONTH_ALONE.finditer(rest)}
    months |= {str(m) for date in dates for _, m, _ in date.readings if m is not None}
    marks["weekday"] = {str(_WEEKDAYS[m.group().rstrip("s")]) for m in _WEEKDAY.finditer(rest)}
    quantities = (*clock, *_quantities(rest))
    return Facts(
        quantities,
        tuple(dates),
        {**{kind: frozenset(v) for kind, v in marks.items()}, "month": frozenset(months)},
        _named_units(rest) | {quantity.unit for quantity in quantities if quantity.unit},
        frozenset(unit for unit, pattern in _RATES.items() if pattern.search(rest)),
    )


_ADVERBS: Mapping[str, str] = {
    "hour": r"hourly|horaires?",
    "day": r"daily|quotidien\w*|journalier\w*",
    "week": r"weekly|hebdomadaire\w*",
    "month": r"monthly|mensuel\w*",
    "year": r"yearly|annual\w*|annuel\w*",
}
_FACT_FORMS = (*UNITS.values(), *_ADVERBS.values())
_FACT_WORD = re.compile(
    rf"{'|'.join(f'(?:{forms})' for forms in _FACT_FORMS)}|{MONTH}|(?:{'|'.join(_WEEKDAYS)})s?"
)


def is_fact_word(folded: str) -> bool:
    """Tell whether a word is a unit, a month, a day of the week or a number in words."""
    return bool(_FACT_WORD.fullmatch(folded)) or in_digits(folded).isdigit()


_ONE_OF_UNIT = re.compile(
    r"(?<![\w'-])(?P<one>une?|one)(?= (?:jours?|journee|semaine|mois|ans?|annee|heure|minute|euro"
    r"|day|week|month|year|hour|minute|dollar|full (?:day|week|month|year))\b)"
)
_ARTICLE_OF_UNIT = re.compile(
    r"(?<![\w'-])an?(?= (?:full |whole )?(?:day|week|month|year|hour|minute)\b)"
)


def _one(text: str, *, articles: bool) -> str:
    text = _ONE_OF_UNIT.sub("1", text)
    return _ARTICLE_OF_UNIT.sub("1", text) if articles else text


def _take_dates(text: str, dates: list[Date]) -> str:
    def slashed(match: re.Match[str]) -> str:
        first, second, year = int(match[1]), int(match[2]), int(match[3])
        year += 2000 if year < 100 else 0
        readings = [(year, m, d) for d, m in ((first, second), (second, first)) if 1 <= m <= 12]
        readings = [r for r in dict.fromkeys(readings) if r[2] <= 31]
        if not readings:
            return match.group()
        dates.append(Date(tuple(readings), match.group()))
        return "\x00" * len(match.group())

    def note(match: re.Match[str]) -> str:
        named = match.groupdict()
        month = _MONTHS[named["month"]] if named.get("month") else int(named["m"])
        year = int(named["y"]) if named.get("y") else None
        day = int(named["d"]) if named.get("d") else None
        if day is not None and not 1 <= day <= 31:
            return match.group()
        dates.append(Date(((year, month, day),), match.group()))
        return "\x00" * len(match.group())

    text = _SLASHED.sub(slashed, text)
    for pattern in _DATES:
        text = pattern.sub(note, text)
    return text


def _take_clock(text: str) -> tuple[list[Quantity], str]:
    found: list[Quantity] = []

    def note(match: re.Match[str]) -> str:
        hours = int(match["h"] or match["h2"])
        half = match["half"] or match["half2"]
        if half == "p" and hours < 12:
            hours += 12
        if half == "a" and hours == 12:
            hours = 0
        minutes = Decimal(60 * hours + int(match["m"] or 0))
        bound = bound_around(text[: match.start()], text[match.end() :])
        found.append(Quantity(minutes, "minute", bound, "", "", match.group()))
        return "\x00" * len(match.group())

    return found, _CLOCK.sub(note, text)


def _quantities(text: str) -> Iterator[Quantity]:
    matches = list(_NUMBER.finditer(text))
    shared = ("", Decimal(1))  # of the number after, for "3 à 5 jours"
    found: list[Quantity] = []
    for position in range(len(matches) - 1, -1, -1):
        match = matches[position]
        end, value = match.end(), _value(match.group())
        if ordinal := _ORDINAL.match(text, end):
            end = ordinal.end()
        before = _CURRENCY_BEFORE.search(text, max(0, match.start() - 5), match.start())
        multiplier = (_MULTIPLIER_OF_MONEY if before else _MULTIPLIER).match(text, end)
        multiple = Decimal(1)
        if multiplier and multiplier.lastgroup:
            multiple, end = Decimal(_MULTIPLES[multiplier.lastgroup]), multiplier.end()
        unit, end = (str(before.lastgroup), end) if before else _unit(text, end)
        following = matches[position + 1] if position + 1 < len(matches) else None
        ranged = _RANGE.fullmatch(text, end, following.start()) if following else None
        if ranged and not unit:
            unit, multiple = shared[0], max(multiple, shared[1])
        shared = (unit, multiple)
        bound = bound_around(text[: match.start()], text[end:])
        value *= multiple
        if unit == "hour":
            value, unit = value * 60, "minute"
        word = "" if unit else _next_word(text, end)
        lead = _WORD_BEFORE.search(text, max(0, match.start() - _REACH), match.start())
        written = text[match.start() : end].strip()
        named = lead[1] if lead else ""
        found.append(Quantity(value.normalize(), unit, bound, named, word, written))
    yield from reversed(found)


def _unit(text: str, end: int) -> tuple[str, int]:
    match = _UNIT.match(text, end)
    if match is None:
        return "", end
    name = next(k for k, v in match.groupdict().items() if v is not None)
    return _UNIT_NAMES[int(name[1:])], match.end()


_REACH = 30
_WORD_BEFORE = re.compile(r"([a-z]+)\W*$")
_WORD_AFTER = re.compile(r"[ -]?(?:d'|de |des |of )?([a-z]{3,})")


def _next_word(text: str, end: int) -> str:
    match = _WORD_AFTER.match(text, end)
    return match[1] if match else ""


_NAMED_UNITS = {
    unit: re.compile(
        rf"(?<![a-z])(?:{'|'.join(filter(None, (forms, _ADVERBS.get(unit))))})(?![a-z0-9])"
    )
    for unit, forms in UNITS.items()
}
_RATES = {
    unit: re.compile(
        rf"(?<![a-z])(?:(?:per|each|every|par|chaque|tou(?:s|tes) les) (?:{UNITS[unit]})|{adverb})"
        r"(?![a-z0-9])"
    )
    for unit, adverb in _ADVERBS.items()
}
"""`per week`, `chaque semaine`, `weekly`: what a figure is counted by."""


def _named_units(text: str) -> frozenset[str]:
    named = {unit for unit, pattern in _NAMED_UNITS.items() if pattern.search(text)}
    if "hour" in named:
        named.add("minute")
    return frozenset(named)


def _value(written: str) -> Decimal:
    """Return 1500 for `1 500`, `1,500` and `1.500,00`; 3.8 for `3,80`."""
    digits = re.sub(r"[ ']", "", written)
    last = max(digits.rfind("."), digits.rfind(","))
    decimals = digits[last + 1 :] if last >= 0 else ""
    one_kind = len({character for character in digits if character in ".,"}) == 1
    if one_kind and len(decimals) == 3 and digits[0] != "0":
        return Decimal(re.sub(r"[.,]", "", digits))
    if not decimals:
        return Decimal(digits)
    return Decimal(f"{re.sub(r'[.,]', '', digits[:last]) or '0'}.{decimals}")


def _bare_link(found: str) -> str:
    return (
        found.rstrip(".,;:!?/")
        .removeprefix("https://")
        .removeprefix("http://")
        .removeprefix("www.")
    )


_MIN_PHONE_DIGITS = 9


def _phone(found: str) -> str | None:
    digits = re.sub(r"\D", "", found)
    if len(digits) < _MIN_PHONE_DIGITS or re.fullmatch(r"\d{1,3}(?: \d{3})+", found):
        return None
    return digits[-_MIN_PHONE_DIGITS:]


def _code(found: str) -> str:
    return re.sub(r"[^a-z0-9]", "", found)
