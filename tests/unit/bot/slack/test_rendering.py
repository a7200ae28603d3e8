"""What people see of an answer, and what a screen reader says of it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.records import Translation
from bot.slack.rendering import (
    ANSWER_LIMIT,
    BLOCKS_LIMIT,
    QUOTE_LIMIT,
    Message,
    claim_blocks,
    render,
    render_notice,
    with_notice,
)
from bot.slack.wording import ENGLISH, FRENCH
from tests.outcomes import abstention, answer, claim, passage


def shown(message: Message) -> str:
    """Return every text and link label of the blocks, in order."""
    texts: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("text"), str):
                texts.append(node["text"])
            for key, value in node.items():
                if key != "text" or not isinstance(value, str):
                    walk(value)
        elif isinstance(node, list | tuple):
            for item in node:
                walk(item)

    walk(message.blocks)
    return "\n".join(texts)


def links(message: Message) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if node.get("type") == "link":
                found.append((node["url"], node["text"]))
            for value in node.values():
                walk(value)
        elif isinstance(node, list | tuple):
            for item in node:
                walk(item)

    walk(message.blocks)
    return found


def test_an_answer_shows_quote_link_heading_and_date() -> None:
    message = render(answer(), FRENCH)

    assert "Deux jours de télétravail par semaine." in shown(message)
    assert links(message) == [("https://guide.example/teletravail#rythme", "Télétravail › Rythme")]
    assert "mis à jour le 12 mars 2026" in shown(message)


def test_the_text_says_the_whole_answer() -> None:
    message = render(answer(), ENGLISH)

    assert message.text == (
        "Deux jours de télétravail par semaine. [1]\n\n"
        "Sources\n1. Télétravail › Rythme · https://guide.example/teletravail#rythme"
        " · updated 12 March 2026\n\nQuoted word for word from the handbook."
    )


def test_quotes_of_one_passage_share_a_number_and_sources_are_numbered_in_order() -> None:
    first = passage("Un. Deux.", chunk_id="a", title="A", heading_path=())
    second = passage(
        "Trois.", chunk_id="b", page="b.md", title="B", heading_path=(), url="https://b.example"
    )
    message = render(
        answer(claim("Un.", of=first), claim("Trois.", of=second), claim("Deux.", of=first)),
        FRENCH,
    )

    assert message.text.startswith("Un. [1]\n\nTrois. [2]\n\nDeux. [1]")
    assert [label for _, label in links(message)] == ["A", "B"]
    offsets = [
        element["offset"]
        for block in message.blocks
        for element in block["elements"]
        if element.get("type") == "rich_text_list"
    ]
    assert offsets == [0, 1]


def test_a_page_without_a_link_is_named_with_its_path() -> None:
    message = render(answer(claim(of=passage(url=None, modified_at=None))), FRENCH)

    assert links(message) == []
    assert "Télétravail › Rythme (teletravail.md)" in shown(message)
    assert "1. Télétravail › Rythme (teletravail.md)\n" in message.text


def test_an_unsafe_page_address_is_not_a_link() -> None:
    message = render(answer(claim(of=passage(url="javascript:alert(1)"))), FRENCH)

    assert links(message) == []
    assert "javascript" not in message.text


def test_an_outdated_page_is_marked() -> None:
    message = render(answer(claim(of=passage(outdated=True))), ENGLISH)

    assert ENGLISH.outdated in shown(message)
    assert ENGLISH.outdated in message.text


def test_table_rows_are_read_with_their_header() -> None:
    rows = "| Paris | 150 € | |\n| Lyon | 120 € | 8 € |"
    table = passage(f"| Ville | Nuit | Petit déjeuner |\n| --- | --- | --- |\n{rows}")
    message = render(
        answer(claim(rows, of=table, lead_in="| Ville | Nuit | Petit déjeuner |")), FRENCH
    )

    assert message.text.startswith(
        "Ville : Paris · Nuit : 150 €\nVille : Lyon · Nuit : 120 € · Petit déjeuner : 8 € [1]"
    )
    assert "|" not in shown(message)


def test_a_table_row_without_a_fitting_header_is_read_as_its_cells() -> None:
    table = passage("Barème\n| Paris | 150 € |")
    message = render(answer(claim("| Paris | 150 € |", of=table, lead_in="Barème")), FRENCH)

    assert message.text.startswith("Barème\nParis · 150 € [1]")


def test_a_list_item_is_read_with_what_introduces_it_said_once() -> None:
    listing = passage("Il vous faut :\n- un badge\n- une clé")
    message = render(
        answer(
            claim("- un badge", of=listing, lead_in="Il vous faut :"),
            claim("- une clé", of=listing, lead_in="Il vous faut :"),
        ),
        FRENCH,
    )

    assert message.text.startswith("Il vous faut :\n• un badge [1]\n\n• une clé [1]")


def test_a_written_answer_begins_with_its_claims_however_many_there_are_yet() -> None:
    other = passage("Un badge.", chunk_id="c2", page="badge.md", title="Badge")
    claims = [
        claim(sentence=f"Phrase\n{n}. " + "x" * 900 * n, of=(passage(), other)[n % 2])
        for n in range(15)
    ]
    whole = render(answer(*claims, generator="petit-modele"), FRENCH).blocks
    for n in range(1, 16):
        blocks = claim_blocks(claims[:n])
        assert blocks == whole[: len(blocks)]
    assert len(blocks) > 3


def test_a_written_answer_shows_its_quotes_and_who_wrote_it() -> None:
    message = render(
        answer(claim(sentence="On peut télétravailler deux jours."), generator="petit-modele"),
        FRENCH,
    )

    assert "On peut télétravailler deux jours." in shown(message)
    assert "Deux jours de télétravail par semaine." in shown(message)
    assert "petit-modele" in shown(message)


def test_an_abstention_is_the_fixed_words_without_source_or_page() -> None:
    message = render(abstention(), ENGLISH)

    assert message.blocks[0]["text"] == {
        "type": "plain_text",
        "text": "je ne sais pas",
        "emoji": False,
    }
    assert message.text == f"je ne sais pas\n\n{ENGLISH.try_next}"
    assert shown(message) == f"je ne sais pas\n{ENGLISH.try_next}"
    assert links(message) == []


def test_a_reduced_search_is_admitted() -> None:
    for outcome in (answer(degraded="keywords only"), abstention(degraded="keywords only")):
        message = render(outcome, FRENCH)
        assert FRENCH.degraded in shown(message)
        assert FRENCH.degraded in message.text


def test_a_long_answer_stays_within_the_limits_and_says_there_is_more() -> None:
    pages = [
        passage(f"{n} " + "mot " * 700, chunk_id=str(n), page=f"{n}.md", title=f"Page {n}")
        for n in range(40)
    ]
    message = render(answer(*(claim(of=page) for page in pages)), FRENCH)

    assert len(message.blocks) <= BLOCKS_LIMIT
    assert FRENCH.more_left_out in shown(message)
    assert len(shown(message)) < ANSWER_LIMIT + 2_000
    assert all(len(text) <= QUOTE_LIMIT for text in shown(message).split("\n"))
    assert len(links(message)) == len(
        [block for block in message.blocks if block["elements"][0]["type"] == "rich_text_quote"]
    )


def test_a_translation_stands_below_its_quote_marked_as_the_models() -> None:
    quote = claim().citation.quote
    beside = {quote: Translation("Two days <!channel> a week.", "m*del")}
    message = render(replace(answer(), translations=beside), ENGLISH)

    said = [block["elements"][0]["text"] for block in message.blocks if block["type"] == "context"]
    assert said[0] == "Translated by m*del: Two days &lt;!channel&gt; a week."
    assert said[0] in message.text
    assert quote in shown(message)
    assert "Translated" not in shown(render(answer(), ENGLISH))


def test_below_what_a_model_wrote_a_translation_says_which_source_it_is_of() -> None:
    written = answer(claim(sentence="Two days."), claim(sentence="Two."), generator="m")
    beside = {claim().citation.quote: Translation("Two days a week.", "m")}
    message = render(replace(written, translations=beside), FRENCH)

    assert shown(message).count("[1] Traduction de m : Two days a week.") == 1
    assert claim_blocks(written.claims) == message.blocks[:2]


def test_a_message_survives_being_stored() -> None:
    message = render(answer(), FRENCH)

    assert Message.from_json(message.to_json()) == message


def test_a_notice_can_stand_above_a_message() -> None:
    message = with_notice(render_notice("Voilà."), "Ici.")

    assert message.text == "Ici.\n\nVoilà."
    assert shown(message) == "Ici.\nVoilà."


def test_a_page_not_changed_for_too_long_is_marked_unless_it_says_so_itself() -> None:
    changed = datetime(2026, 3, 12, tzinfo=UTC)
    later = changed + timedelta(days=1)

    assert FRENCH.stale in shown(render(answer(), FRENCH, stale_before=later))
    assert FRENCH.stale in render(answer(), FRENCH, stale_before=later).text
    assert FRENCH.stale not in shown(render(answer(), FRENCH, stale_before=changed))
    marked = render(answer(claim(of=passage(outdated=True))), FRENCH, stale_before=later)
    assert FRENCH.stale not in marked.text
    undated = render(answer(claim(of=passage(modified_at=None))), FRENCH, stale_before=later)
    assert FRENCH.stale not in undated.text


def test_an_address_in_a_sentence_of_ours_is_made_no_link_of():
    [section] = render_notice("Page https://evil.example/x sautée").blocks

    assert section["text"]["verbatim"] is True
