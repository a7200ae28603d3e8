"""Quoted rows of a table are shown as a table, as far as Slack takes one."""

from __future__ import annotations

import json

import pytest

from bot.records import Claim
from bot.sandbox.blocks import Surface, block_problems
from bot.slack.feedback_row import variants
from bot.slack.rendering import Message, render
from bot.slack.tables import MOST_CHARACTERS
from bot.slack.wording import FRENCH
from tests.outcomes import answer, claim, passage

HEADER = "| Ville | Nuit |"


def rows_claim(*rows: str, header: str = HEADER) -> Claim:
    text = "\n".join((header, "| --- | --- |", *rows))
    return claim("\n".join(rows), of=passage(text), lead_in=header)


def tables(message: Message) -> list[list[list[str]]]:
    return [
        [[cell["text"] for cell in row] for row in block["rows"]]
        for block in message.blocks
        if block["type"] == "table"
    ]


def test_rows_become_a_table_below_their_header() -> None:
    message = render(answer(rows_claim("| Paris | 150 € |", "| Lyon | |")), FRENCH)

    assert tables(message) == [[["Ville", "Nuit"], ["Paris", "150 €"], ["Lyon", "\u00a0"]]]
    assert message.text.startswith("Ville : Paris · Nuit : 150 €\nVille : Lyon [1]")
    assert json.dumps(message.blocks[0]).count("[1]") == 1


def test_claims_that_quote_rows_of_one_table_share_it() -> None:
    of = passage(f"{HEADER}\n| --- | --- |\n| Paris | 150 € |\n| Lyon | 120 € |\nSauf exception.")
    quotes = [
        claim(f"| {row} |", of=of, lead_in=HEADER) for row in ("Paris | 150 €", "Lyon | 120 €")
    ]
    message = render(answer(*quotes, claim("Sauf exception.", of=of)), FRENCH)

    assert tables(message) == [[["Ville", "Nuit"], ["Paris", "150 €"], ["Lyon", "120 €"]]]
    assert "Sauf exception." in json.dumps(message.blocks, ensure_ascii=False)


def test_a_single_row_is_read_as_a_line() -> None:
    message = render(answer(rows_claim("| Paris | 150 € |")), FRENCH)

    assert tables(message) == []
    assert message.blocks[0]["elements"][0]["type"] == "rich_text_quote"


@pytest.mark.parametrize(
    "rows",
    [
        [f"| Ville {n} | {n} € |" for n in range(100)],  # with the header, one more than taken
        ["| " + "x" * MOST_CHARACTERS + " | 1 |", "| Lyon | 2 |"],
        ["| Paris | 150 € | petit déjeuner |", "| Lyon | 120 € |"],
    ],
    ids=["too many rows", "too many characters", "uneven rows"],
)
def test_what_slack_would_not_take_as_a_table_is_read_as_lines(rows: list[str]) -> None:
    message = render(answer(rows_claim(*rows)), FRENCH)

    assert tables(message) == []
    assert block_problems(list(message.blocks), Surface.MESSAGE) == []


def test_a_table_at_the_limit_of_rows_is_taken() -> None:
    message = render(answer(rows_claim(*(f"| V{n} | {n} |" for n in range(99)))), FRENCH)

    assert len(tables(message)[0]) == 100
    assert block_problems(list(message.blocks), Surface.MESSAGE) == []


def test_a_message_holds_one_table_at_most() -> None:
    other = passage(f"{HEADER}\n| Nice | 1 |\n| Brest | 2 |", chunk_id="c2", page="b.md")
    message = render(
        answer(
            rows_claim("| Paris | 150 € |", "| Lyon | 120 € |"),
            claim("| Nice | 1 |\n| Brest | 2 |", of=other, lead_in=HEADER),
        ),
        FRENCH,
    )

    assert len(tables(message)) == 1
    assert "Ville : Nice · Nuit : 1\nVille : Brest · Nuit : 2 [2]" in message.text


def test_where_tables_are_refused_the_rows_stay_as_text() -> None:
    message = render(answer(rows_claim("| Paris | 150 € |", "| Lyon | 120 € |")), FRENCH)
    [_, simpler, bare] = variants(message)

    assert "Ville | Nuit\nParis | 150 €\nLyon | 120 €" in [
        part["text"]
        for block in simpler.blocks
        if block["type"] == "rich_text"
        for element in block["elements"]
        for part in element["elements"]
        if "text" in part
    ]
    assert bare.blocks == ()
