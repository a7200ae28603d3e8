"""What is typed behind `/handbook`."""

import pytest

from bot.slack.commands import Order, Verb, parse


@pytest.mark.parametrize(
    ("typed", "order"),
    [
        ("", Order(Verb.HELP)),
        ("Aide", Order(Verb.HELP)),
        ("ask", Order(Verb.HELP)),
        ("ask combien de jours ?", Order(Verb.ASK, "combien de jours ?")),
        ("ASK  combien", Order(Verb.ASK, "combien")),
        ("search ask", Order(Verb.SEARCH, "ask")),
        ("congés payés", Order(Verb.SEARCH, "congés payés")),
        ("asking price", Order(Verb.SEARCH, "asking price")),
        ("reindex", Order(Verb.REINDEX)),
        ("reindex guide --dry-run", Order(Verb.REINDEX, "guide --dry-run")),
        ("status", Order(Verb.STATUS)),
        ("status of employees", Order(Verb.SEARCH, "status of employees")),
        ("schedule", Order(Verb.SCHEDULE)),
        ('schedule "0 6 * * 1-5"', Order(Verb.SCHEDULE, '"0 6 * * 1-5"')),
        ("scheduled leave", Order(Verb.SEARCH, "scheduled leave")),
        ("explain https://x", Order(Verb.EXPLAIN, "https://x")),
        ("channel", Order(Verb.CHANNEL)),
        ("channel rules", Order(Verb.SEARCH, "channel rules")),
        ("help desk", Order(Verb.SEARCH, "help desk")),
    ],
)
def test_the_first_word_says_what_to_do(typed: str, order: Order) -> None:
    assert parse(typed) == order
