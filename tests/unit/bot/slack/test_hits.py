"""What a search shows."""

import pytest

from bot.records import Passage
from bot.retrieval.search import SearchResult, SearchResults
from bot.sandbox.blocks import Surface, block_problems
from bot.slack.hits import SNIPPET_LIMIT, render_hits
from bot.slack.rendering import Message
from bot.slack.wording import ENGLISH, FRENCH
from tests.outcomes import passage


def results(query: str, *passages: Passage, degraded: str | None = None) -> SearchResults:
    found = tuple(SearchResult(p) for p in passages)
    return SearchResults(query, "hybrid", found, degraded)


def elements(message: Message, kind: str) -> list[dict]:
    [block] = message.blocks
    parts = [part for part in block["elements"] if part["type"] == kind]
    return [element for part in parts for element in part["elements"]]


def bold(message: Message) -> list[str]:
    quoted = elements(message, "rich_text_quote")
    return [e["text"] for e in quoted if e.get("style") == {"bold": True}]


def snippet(message: Message) -> str:
    return "".join(e["text"] for e in elements(message, "rich_text_quote"))


def test_hit_shows_page_heading_link_date_and_snippet():
    message = render_hits(results("télétravail", passage()), FRENCH)
    [link] = [e for e in elements(message, "rich_text_section") if e["type"] == "link"]
    assert link["text"] == "Télétravail › Rythme"
    assert link["url"] == "https://guide.example/teletravail#rythme"
    assert "mis à jour le 12 mars 2026" in message.text
    assert snippet(message) == "Deux jours de télétravail par semaine."


def test_words_that_match_are_bold_whatever_their_ending_or_accents():
    text = "Le congé payé s'ajoute aux congés d'ancienneté."
    message = render_hits(results("conges payés", passage(text)), FRENCH)
    assert bold(message) == ["congé", "payé", "congés"]


def test_snippet_starts_near_the_first_match_of_a_long_passage():
    text = "Rien à voir ici. " * 30 + "Le remboursement du repas est de 19 euros. " + "Suite. " * 50
    message = render_hits(results("repas", passage(text)), FRENCH)
    shown = snippet(message)
    assert "repas est de 19 euros" in shown
    assert shown.startswith("…")
    assert len(shown) <= SNIPPET_LIMIT + 1


def test_nothing_found_says_so_with_the_terms():
    message = render_hits(results("zzz <b>"), ENGLISH)
    assert message.text == "No passage of the handbook for “zzz &lt;b&gt;”. Try other words."


@pytest.mark.parametrize("hostile", ["<!channel> @here", "<@U1>", "*a* & <https://evil|x>"])
def test_nothing_of_terms_or_pages_is_live(hostile):
    message = render_hits(results(hostile, passage(hostile, title=hostile)), FRENCH)
    assert "<!" not in message.text
    assert "<@" not in message.text
    assert "<http" not in message.text
    kinds = {e["type"] for e in elements(message, "rich_text_quote")}
    assert kinds == {"text"}


@pytest.mark.parametrize("text", ["x", "mot " * 5000, "\x00\u202e", ""])
def test_slack_accepts_any_passage(text):
    message = render_hits(results("mot", *[passage(text)] * 5), FRENCH)
    assert block_problems([dict(b) for b in message.blocks], Surface.MESSAGE) == []


def test_reduced_search_is_said():
    message = render_hits(results("mot", passage(), degraded="encoder down"), FRENCH)
    assert FRENCH.degraded in message.text
    assert "encoder down" not in message.text


def test_rows_and_headings_read_as_text_in_one_line():
    text = "Congés\n\n- Un salarié prévient.\n\n| Congé | Durée |\n|  | 16 semaines |\n"
    message = render_hits(results("durée", passage(text)), FRENCH)
    assert snippet(message) == "Congés · Un salarié prévient. Congé · Durée · 16 semaines"
    assert bold(message) == ["Durée"]
