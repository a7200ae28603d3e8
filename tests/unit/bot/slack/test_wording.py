"""The bot's words exist in every language it speaks, and it speaks the asker's."""

import dataclasses
import string
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.slack.wording import ENGLISH, FRENCH, WORDS, Words, language_of

SAID = [field.name for field in dataclasses.fields(Words) if field.name != "zone"]


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("field", SAID)
def test_every_word_is_said_in_every_language(field: str) -> None:
    for words in WORDS.values():
        assert getattr(words, field)
    french, english = getattr(FRENCH, field), getattr(ENGLISH, field)
    if isinstance(french, str):
        assert placeholders(french) == placeholders(english)
    else:
        assert len(french) == len(english)


@pytest.mark.parametrize("field", SAID)
def test_no_word_was_left_in_the_other_language(field: str) -> None:
    alike = {"sources", "home_gap", "date"}

    assert (getattr(FRENCH, field) == getattr(ENGLISH, field)) is (field in alike)


def test_words_of_the_bot_contain_no_markup() -> None:
    for words in WORDS.values():
        text = " ".join(map(str, dataclasses.astuple(words)))
        assert not set("<>&*_`~") & set(text)


def test_a_date_is_written_in_words() -> None:
    day = datetime(2026, 8, 1, tzinfo=UTC)

    assert FRENCH.format_date(day) == "1 août 2026"
    assert ENGLISH.format_date(day) == "1 August 2026"


def test_a_moment_is_told_in_the_zone_of_whoever_reads() -> None:
    moment = datetime(2026, 7, 31, 22, 30, tzinfo=UTC)
    paris = dataclasses.replace(FRENCH, zone=ZoneInfo("Europe/Paris"))

    assert paris.format_moment(moment) == "1 août 2026 à 00:30"
    assert ENGLISH.format_moment(moment) == "31 July 2026 at 22:30"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Combien de jours de télétravail par semaine ?", "fr"),
        ("qui valide mes notes de frais", "fr"),
        ("How many days can I work from home?", "en"),
        ("I can't find what the gym benefit is", "en"),
        ("congés payés", "fr"),
    ],
)
def test_the_language_is_that_of_the_question(question: str, language: str) -> None:
    assert language_of(question, otherwise="en" if language == "fr" else "fr") == language


def test_a_question_that_does_not_tell_takes_the_other_hint() -> None:
    assert language_of("PSLF form", otherwise="en") == "en"
    assert language_of("RTT", otherwise="de") == "fr"
    assert language_of("") == "fr"
