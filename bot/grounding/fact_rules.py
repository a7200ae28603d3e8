"""Compares the facts of a sentence with those of the text it rests on. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.grounding.bounds import Bound, limit_words
from bot.grounding.facts import (
    CURRENCIES,
    KINDS_OF_DAY,
    Date,
    Facts,
    Quantity,
    is_same_unit,
    read_facts,
)
from ingest import fold


def unsupported_facts(sentence: str, *, said: str, head: str, passage: str) -> Iterator[str]:
    """Yield what a sentence states as a fact and its quote does not, one reason each.

    Numbers, dates, codes and addresses must stand in the quoted sentences; a year, a bare number
    or a date may also stand in the headings, and a link anywhere in the passage.

    Args:
        sentence: Of the claim.
        said: The quoted sentences, whole.
        head: Title and headings.
        passage: All the text of the passage.
    """
    mine = read_facts(sentence)
    theirs, above = read_facts(said, articles=True), read_facts(head, articles=True)
    for quantity in mine.quantities:
        yield from _quantity(quantity, theirs, above)
    yield from _repeats(mine, theirs, above)
    yield from _limits(mine, theirs, fold(sentence), fold(said))
    yield from (
        f"the currency {unit} is not in the quoted sentence"
        for unit in mine.units & CURRENCIES
        if not any(is_same_unit(unit, other) for other in theirs.units | above.units)
    )
    for rate in mine.rates - theirs.units - above.units:
        yield f"the quote does not count by the {rate}"
    for date in mine.dates:
        if not _date_is_known(date, theirs, above):
            yield f"the date {date.written} is not in the quoted sentence"
    anywhere = read_facts(passage).marks
    for kind, values in mine.marks.items():
        known = theirs.marks.get(kind, frozenset()) | above.marks.get(kind, frozenset())
        if kind == "link":
            known |= anywhere.get(kind, frozenset())
        if kind in ("weekday", "month"):
            if values - known:
                yield f"a {kind} that is not in the quoted sentence"
        else:
            yield from (
                f"the {kind} {value} is not in the quoted sentence" for value in values - known
            )


def _quantity(quantity: Quantity, theirs: Facts, above: Facts) -> Iterator[str]:
    if quantity.is_year and int(quantity.value) in theirs.years | above.years:
        return
    equal = [other for other in theirs.quantities if _is_supported(quantity, other, theirs, above)]
    if not quantity.unit:
        equal += [other for other in above.quantities if _is_named_alike(quantity, other)]
    if not equal:
        yield f"{quantity.written} is not in the quoted sentence"
    elif quantity.word and all(other.word != quantity.word for other in equal):
        counted = [o.written for o in theirs.quantities if o.word == quantity.word]
        if counted:
            yield f"the quote counts {counted[0]} {quantity.word}, not {quantity.written}"


def _is_named_alike(mine: Quantity, heading: Quantity) -> bool:
    """Tell whether a heading has the number with the same word beside it: `niveau 2`."""
    return mine.value == heading.value and bool(
        (mine.before and mine.before == heading.before) or (mine.word and mine.word == heading.word)
    )


def _repeats(mine: Facts, theirs: Facts, above: Facts) -> Iterator[str]:
    """Find a number that has taken the place of another one of the same sentence."""
    for quantity in dict.fromkeys(mine.quantities):
        known = theirs.count(quantity) + above.count(quantity)
        if mine.count(quantity) > known > 0:
            yield f"the quote has {quantity.written} less often"


def _limits(mine: Facts, theirs: Facts, sentence: str, said: str) -> Iterator[str]:
    """Compare how often each number stands with a limit and without one."""
    amounts = {(q.value, q.unit): q for q in mine.quantities}
    for value, unit in amounts:
        written = amounts[value, unit].written
        own = [q.bound for q in mine.quantities if (q.value, q.unit) == (value, unit)]
        others = [q.bound for q in theirs.quantities if q.value == value]
        for bound in Bound:
            if own.count(bound) > others.count(bound) and not (
                None in others and limit_words(bound, said)
            ):
                yield f"the quote does not have {written} with “{bound}”"
            dropped = others.count(bound) and own.count(None) > others.count(None)
            if dropped and limit_words(bound, sentence) < limit_words(bound, said):
                yield f"the quote has {written} with “{bound}”"


def _is_supported(mine: Quantity, other: Quantity, theirs: Facts, above: Facts) -> bool:
    if mine.counts_as(other):
        named = theirs.units | above.units
        added = mine.unit in KINDS_OF_DAY and other.unit == "day"
        return not added or any(is_same_unit(mine.unit, unit) for unit in named & KINDS_OF_DAY)
    if mine.value != other.value:
        return False
    if not mine.unit:
        return not mine.word or not other.unit or _says_unit(mine.word, other)
    if other.unit or other.before.removesuffix("s") in _NUMBERED:
        return False
    return mine.unit in theirs.units | above.units


_NUMBERED = frozenset(
    """
    alinea annexe annexure appendix article art band categorie category chapitre chapter classe
    clause coefficient echelon etape etage figure floor formule forfait grade groupe group level
    ligne line niveau note numero number page paragraph paragraphe part partie phase plan point
    salle room section step tableau table tier titre version zone
    """.split()  # noqa: SIM905 - a list of words is easier to read
)
"""What has a number for a name: « article 5 » is no five of anything."""


def _says_unit(word: str, other: Quantity) -> bool:
    """Tell whether the word after a bare number could be about the other's unit: it may not."""
    return word in other.written


def _date_is_known(date: Date, theirs: Facts, above: Facts) -> bool:
    known = (*theirs.dates, *above.dates)
    if any(date.within(other) for other in known):
        return True
    years = theirs.years_alone | above.years
    undated = [other for other in known if not other.years]
    return bool(date.years & years) and any(date.without_year().within(o) for o in undated)
