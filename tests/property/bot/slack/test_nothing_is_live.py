"""Whatever a page, a title or an address holds, nothing of it is live in Slack."""

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.records import collapse
from bot.slack.mrkdwn import clean, escape, escaped_within, question_text, safe_url, unescape
from bot.slack.rendering import BLOCKS_LIMIT, TEXT_LIMIT, Message, render
from bot.slack.wording import FRENCH
from tests.outcomes import answer, claim, passage

NASTIES = st.sampled_from(
    [
        "<!channel>",
        "<!here|@here>",
        "<@U123>",
        "<#C1|x>",
        "<!subteam^S1>",
        "<!date^1^{date}|x>",
        "<https://evil.example|cliquez>",
        "<mailto:a@b|c>",
        "&lt;!channel&gt;",
        "&amp;lt;!channel>",
        "<",
        ">",
        "&",
        "| a | b |",
        "- ",
        "\x00",
        "\u202e",
        "\ud800",
        "```",
    ]
)
TEXTS = st.lists(st.one_of(NASTIES, st.text(max_size=20)), max_size=12).map("".join)
ENTITY_OR_TEXT = re.compile(r"&(?:amp|lt|gt);|[^&<>]")


@given(TEXTS)
def test_escaped_text_holds_nothing_live_and_nothing_is_lost(text: str) -> None:
    escaped = escape(text)

    assert not set("<>") & set(escaped)
    assert unescape(escaped) == text


@given(TEXTS, st.integers(min_value=1, max_value=60))
def test_cut_text_is_short_enough_and_well_formed(text: str, limit: int) -> None:
    cut = escaped_within(text, limit)

    assert len(cut) <= limit
    assert ENTITY_OR_TEXT.sub("", cut) == ""


@given(TEXTS)
def test_any_message_can_be_read_and_stored(text: str) -> None:
    asked = question_text(text, "UBOT")

    asked.encode("utf-8")
    assert "\x00" not in asked
    assert clean(asked) == asked


@given(TEXTS)
def test_a_link_is_always_plain_http(url: str) -> None:
    for candidate in (url, f"https://{url}", f"http://x.example/{url}"):
        safe = safe_url(candidate)
        assert safe is None or re.fullmatch(r"(?i)https?://[^\s<>|]+", safe)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_only_the_page_record_makes_links_and_no_markup_reaches_slack(
    text: str, title: str, heading: str, url: str
) -> None:
    if not collapse(text):
        text = f"x{text}"
    source = passage(text, title=title, heading_path=(heading,), url=f"https://x.example/{url}")

    message = render(answer(claim(of=source)), FRENCH)

    assert not set("<>") & set(message.text)
    assert len(message.text) <= TEXT_LIMIT
    assert len(message.blocks) <= BLOCKS_LIMIT
    for element in elements(message):
        if element["type"] == "mrkdwn":
            assert not set("<>") & set(element["text"])
        elif element["type"] == "link":
            assert element["url"] == source.chunk.url
        else:
            assert element["type"] in {"text", "plain_text"}
        assert element["text"]
    message.to_json().encode("utf-8")


def elements(message: Message) -> list[dict[str, Any]]:
    """Return everything in the blocks that is shown as text."""
    found: list[dict[str, Any]] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("text"), str):
                found.append(node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list | tuple):
            for item in node:
                walk(item)

    walk(message.blocks)
    return found
