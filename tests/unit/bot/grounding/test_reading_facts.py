"""Facts are the same fact in French and in English, in digits and in words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bot.grounding.bounds import Bound
from bot.grounding.facts import read_facts
from bot.grounding.spelled import in_digits


@pytest.mark.parametrize(
    ("words", "digits"),
    [
        ("vingt-cinq", "25"),
        ("quatre-vingt-dix-sept", "97"),
        ("soixante et onze", "71"),
        ("vingt et un", "21"),
        ("mille cinq cents", "1500"),
        ("deux mille vingt-six", "2026"),
        ("one hundred and twenty", "120"),
        ("twenty-one", "21"),
        ("deux trois", "2 3"),
        ("50 pour cent", "50 %"),
        ("half a day", "0.5 day"),
        ("sept. 2026", "september. 2026"),
        ("une semaine", "une semaine"),
    ],
)
def test_numbers_in_words_are_read(words, digits):
    assert in_digits(words) == digits


def amounts(text: str) -> set[tuple[Decimal, str]]:
    return {(q.value, q.unit) for q in read_facts(text).quantities}


@pytest.mark.parametrize(
    ("value", "unit", "forms"),
    [
        ("1500", "eur", ["1 500 €", "1,500 euros", "EUR 1500", "1.500,00 euros", "1\u202f500 €"]),
        ("45000", "eur", ["45 k€", "45 000 €", "€45,000", "€45k", "quarante-cinq mille euros"]),
        ("1500000", "eur", ["1,5 million d'euros", "1.5 million euros", "€1.5M"]),
        ("25", "day", ["25 jours", "vingt-cinq jours", "twenty-five days", "25-day"]),
        ("50", "%", ["50 %", "50%", "50 percent", "50 per cent", "cinquante pour cent"]),
        ("150", "minute", ["2h30", "2 heures 30", "2 hours and 30 minutes", "150 minutes"]),
        ("1080", "minute", ["18h", "18 h", "6 pm", "6 p.m.", "18:00", "dix-huit heures"]),
        ("1", "day", ["un jour", "one day", "1 day"]),
        ("1200", "dollar", ["$1,200", "1 200 $", "1,200 dollars"]),
    ],
)
def test_an_amount_is_the_same_in_every_form(value, unit, forms):
    for form in forms:
        assert amounts(form) == {(Decimal(value), unit)}, form


@pytest.mark.parametrize(
    "text", ["1er mars 2026", "2026-03-01", "March 1, 2026", "1st of March 2026", "1 March 2026"]
)
def test_a_date_is_the_same_in_every_form(text):
    assert read_facts(text).dates[0].readings == ((2026, 3, 1),)
    assert read_facts(text).dates[0].within(read_facts("01/03/2026").dates[0])


def test_a_range_counts_the_same_thing_at_both_ends():
    for text in ("3 à 5 jours", "3-5 days", "between 3 and 5 days"):
        assert amounts(text) == {(Decimal(3), "day"), (Decimal(5), "day")}


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("jusqu'à 3 jours", Bound.MOST),
        ("3 days maximum", Bound.MOST),
        ("no more than 3 days", Bound.MOST),
        ("dans les 3 jours", Bound.MOST),
        ("au moins 3 jours", Bound.LEAST),
        ("3 days or more", Bound.LEAST),
        ("3 jours", None),
    ],
)
def test_a_limit_belongs_to_its_number(text, bound):
    assert [q.bound for q in read_facts(text).quantities] == [bound]


def test_working_days_are_told_apart_where_the_law_does():
    (worked,), (workable,), (days,), (working,) = (
        read_facts(f"5 {unit}").quantities
        for unit in ("jours ouvrés", "jours ouvrables", "jours", "working days")
    )
    assert not worked.counts_as(workable)
    assert worked.counts_as(days)
    assert worked.counts_as(working)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Écrire à RH@Exemple.fr.", "e-mail address", "rh@exemple.fr"),
        ("voir https://www.exemple.fr/conges.", "link", "exemple.fr/conges"),
        ("au 01 23 45 67 89", "phone number", "123456789"),
        ("+33 1 23 45 67 89", "phone number", "123456789"),
        ("article L. 3121-1", "code", "31211"),
        ("version v2.3", "code", "v23"),
        ("4O jours", "code", "4o"),
        ("le lundi", "weekday", "0"),
        ("on Mondays", "weekday", "0"),
        ("en mars", "month", "3"),
    ],
)
def test_marks_are_read(text, kind, value):
    assert read_facts(text).marks[kind] == {value}
