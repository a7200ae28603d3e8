"""What a message says, whatever it is made of."""

from __future__ import annotations

from typing import Any

from bot.slack.message_text import TEXT_LIMIT, text_of


def said(*sections: dict[str, Any], text: str = "rendu *autrement*") -> str:
    block = {"type": "rich_text", "elements": list(sections)}
    return text_of({"text": text, "blocks": [block]}, "UBOT")


def section(kind: str, *elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": f"rich_text_{kind}", "elements": list(elements)}


def word(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def test_rich_text_is_read_without_its_markup_and_without_ids() -> None:
    bold = {**word("télétravail"), "style": {"bold": True}}
    people = [
        {"type": "user", "user_id": "U1"},
        {"type": "broadcast", "range": "channel"},
        {"type": "emoji", "name": "wave"},
    ]

    assert said(section("section", *people, word(" combien de "), bold, word(" ?"))) == (
        "combien de télétravail ?"
    )


def test_lists_quotes_and_links_stay_readable() -> None:
    link = {"type": "link", "url": "https://x.example", "text": "le guide"}
    bare = {"type": "link", "url": "https://y.example"}
    items = section("list", section("section", word("un")), section("section", word("deux")))

    assert said(section("quote", word("cité\nencore")), items, section("section", link, bare)) == (
        "cité\nencore\n- un\n- deux\nle guidehttps://y.example"
    )


def test_a_message_without_rich_text_is_read_from_its_text() -> None:
    message = {"text": "<@UBOT> les <https://x.example|congés> &amp; RTT ?", "blocks": []}

    assert text_of(message, "UBOT") == "les congés & RTT ?"


def test_a_message_of_an_app_is_read_from_its_blocks_and_attachments() -> None:
    message = {
        "text": "",
        "blocks": [
            {"type": "section", "text": {"type": "mrkdwn", "text": "Nouvelle <!here> demande"}},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": "de *Paul*"}, {}]},
            {"type": "image", "alt_text": "x"},
        ],
        "attachments": [{"fallback": "Congé le 3 mai"}, {"text": "Motif : déménagement"}],
    }

    assert text_of(message, "UBOT") == (
        "Nouvelle @here demande\nde *Paul*\nCongé le 3 mai\nMotif : déménagement"
    )


def test_a_message_without_words_says_nothing_and_a_long_one_is_cut() -> None:
    assert text_of({"files": [{}]}, "UBOT") == ""
    assert text_of({"text": None, "blocks": None}, "UBOT") == ""
    assert len(text_of({"text": "mot " * 5_000}, "UBOT")) == TEXT_LIMIT
