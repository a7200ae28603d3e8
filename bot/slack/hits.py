"""Search results as a Slack message: where each passage stands, and the words that match. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.records import Passage, collapse
from bot.retrieval.search import SearchResults
from bot.slack.mrkdwn import clean, escape, shortened
from bot.slack.rendering import Block, Message, source_elements
from bot.slack.tables import cells
from bot.slack.wording import Words
from ingest import KeywordQuery, analyze_passage, analyze_query

SNIPPET_LIMIT = 240
TERMS_LIMIT = 100
_LEAD = 60
"""Characters kept before the first word that matches."""

_BETWEEN = " · "
_ENDS = ".:;,!?…"
_WORD = re.compile(r"[^\W_]+")


def render_hits(found: SearchResults, words: Words, *, skipped: int = 0) -> Message:
    """Render a ranking: title, headings and date of each passage, and a snippet of it.

    Args:
        found: What to show.
        words: Of whoever reads.
        skipped: Passages before these in the ranking.
    """
    terms = shortened(collapse(clean(found.query)), TERMS_LIMIT)
    if not found.results:
        sentence = words.no_hits.format(terms=terms)
        return Message(escape(sentence), (_rich_text([{"type": "text", "text": sentence}]),))
    heading = words.hits.format(terms=terms)
    sections: list[Block] = [_section([{"type": "text", "text": heading, "style": {"bold": True}}])]
    spoken = [heading]
    query = analyze_query(found.query)
    for number, result in enumerate(found.results, start=skipped + 1):
        source = source_elements(result.passage.chunk, words)
        snippet = _snippet(result.passage, query)
        sections.append(_section([{"type": "text", "text": f"{number}. "}, *source]))
        sections.append({"type": "rich_text_quote", "elements": snippet})
        place = "".join(element["text"] for element in source)
        spoken.append(f"{number}. {place}\n{''.join(part['text'] for part in snippet)}")
    if found.degraded:
        sections.append(_section([{"type": "text", "text": words.degraded}]))
        spoken.append(words.degraded)
    block: Block = {"type": "rich_text", "elements": sections}
    return Message(escape("\n\n".join(spoken)), (block,))


def _rich_text(elements: list[Block]) -> Block:
    return {"type": "rich_text", "elements": [_section(elements)]}


def _section(elements: list[Block]) -> Block:
    return {"type": "rich_text_section", "elements": elements}


def _snippet(passage: Passage, query: KeywordQuery) -> list[Block]:
    """Return rich text around the first word that matches, matching words in bold."""
    chunk = passage.chunk
    text = _in_one_line(clean(chunk.text))
    matches = list(_matches(text, query, chunk.language))
    start = _start(text, matches[0][0] if matches else 0)
    shown = shortened(text[start:], SNIPPET_LIMIT)
    elements: list[Block] = [{"type": "text", "text": "…"}] if start else []
    position = 0
    for begin, end in ((b - start, e - start) for b, e in matches if b >= start):
        if end > len(shown):
            break
        if begin > position:
            elements.append({"type": "text", "text": shown[position:begin]})
        elements.append({"type": "text", "text": shown[begin:end], "style": {"bold": True}})
        position = end
    if position < len(shown):
        elements.append({"type": "text", "text": shown[position:]})
    return elements or [{"type": "text", "text": "…"}]


def _in_one_line(text: str) -> str:
    """Return a passage as running text: rows without bars, and marks where a line ends without."""
    shown = list(filter(None, map(_running, text.split("\n"))))
    ended = [f"{line} " if line[-1] in _ENDS else f"{line}{_BETWEEN}" for line in shown[:-1]]
    return "".join([*ended, *shown[-1:]])


def _running(line: str) -> str:
    line = collapse(line).strip()
    return _BETWEEN.join(filter(None, cells(line))) or line.removeprefix("- ")


def _start(text: str, first: int) -> int:
    """Return where a snippet begins: at a word, a little before the first match."""
    if first <= _LEAD:
        return 0
    return text.find(" ", first - _LEAD) + 1


def _matches(text: str, query: KeywordQuery, language: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the words of a text that the keyword leg would have found."""
    wanted = {stem for word in query.words for stem in word.stems}
    for match in _WORD.finditer(text):
        if wanted.intersection(analyze_passage(match[0], language).stems.split()):
            yield match.span()
