"""Words of Notion are words: whatever people write, the page says it and nothing else."""

from __future__ import annotations

import lxml.html
from hypothesis import given
from hypothesis import strategies as st

from ingest.parsing import parse
from ingest.parsing.media import HTML
from ingest.records import RawPage
from ingest.sources.notion_blocks import render_page

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1).filter(
    lambda text: text.strip()
)
MARKUP = st.sampled_from(["<script>", "</p>", "&lt;", "{{ x }}", "# ", "| a |", '"', "<!--", "]]>"])


def rich_text(text: str) -> list[dict[str, object]]:
    return [{"plain_text": text, "annotations": {"bold": True, "code": "<" in text}}]


@given(st.lists(WORDS | MARKUP, min_size=1).map(" ".join), WORDS | MARKUP)
def test_text_is_never_taken_for_markup(text: str, title: str):
    block = {"type": "paragraph", "id": "1", "paragraph": {"rich_text": rich_text(text)}}

    page = render_page(title, {}, [block])

    document = lxml.html.document_fromstring(page)
    assert [element.tag for element in document.find(".//main")] == ["h1", "p"]
    assert document.find(".//h1").text_content() == title
    assert document.find(".//p").text_content() == text


@given(st.lists(st.from_regex(r"[a-zé]{3,9}( [a-zé]{3,9}){0,4}", fullmatch=True), min_size=1))
def test_every_item_of_a_list_is_in_the_text_in_order(items: list[str]):
    blocks = [
        {"type": "bulleted_list_item", "bulleted_list_item": {"rich_text": rich_text(item)}}
        for item in items
    ]

    raw = RawPage("Page", render_page("Titre", {}, blocks).encode(), HTML)

    assert parse(raw).text.split("\n\n")[1].split("\n") == [f"- {item}" for item in items]
