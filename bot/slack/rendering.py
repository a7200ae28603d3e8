"""An outcome as a Slack message: Block Kit blocks and the same words as plain text. Pure.

Everything that comes from a page stands in `rich_text`, where Slack shows text as it is, or is
escaped; links are built here, from the URLs of page records alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.records import Abstention, Claim, GroundedAnswer, Outcome, Passage, collapse
from bot.slack.mrkdwn import clean, escape, escaped_within, safe_url, shortened, tidy
from bot.slack.tables import cells, table_block, table_runs
from bot.slack.wording import Words
from ingest import StoredChunk

# Slack's limits (docs: chat.postMessage; Block Kit reference), in characters unless said.
TEXT_LIMIT = 40_000
BLOCKS_LIMIT = 50
SECTION_LIMIT = 3_000
CONTEXT_LIMIT = 3_000

# Ours, so that a message stays readable and far from Slack's limits whatever a page holds.
CLAIMS_SHOWN = 12
ANSWER_LIMIT = 9_000
QUOTE_LIMIT = 2_400
CITED_LIMIT = 600
TITLE_LIMIT = 240
SPOKEN_URL_LIMIT = 500

EXTRACTIVE = "extractive"
_SEPARATOR = " · "

Block = dict[str, Any]
"""One Block Kit block, as JSON."""


@dataclass(frozen=True, slots=True)
class Message:
    """What is posted.

    Attributes:
        text: The whole message in plain words, escaped: screen readers and notifications use it.
        blocks: What is drawn, at most 50.
    """

    text: str
    blocks: tuple[Block, ...]

    def to_json(self) -> str:
        """Return it as it is kept until it is delivered."""
        return json.dumps({"text": self.text, "blocks": self.blocks})

    @classmethod
    def from_json(cls, stored: str) -> Message:
        """Undo `to_json`."""
        fields = json.loads(stored)
        return cls(fields["text"], tuple(fields["blocks"]))


@dataclass(slots=True)
class _Sources:
    """Numbers the passages in the order in which the answer uses them."""

    stale_before: datetime | None
    numbered: dict[tuple[str, str, str], tuple[int, Passage, list[str]]] = field(
        default_factory=dict
    )

    def number(self, claim: Claim) -> int:
        chunk = claim.citation.passage.chunk
        key = (chunk.source, chunk.page, chunk.heading)
        entry = self.numbered.setdefault(key, (len(self.numbered) + 1, claim.citation.passage, []))
        entry[2].append(claim.citation.quote)
        return entry[0]


def render(outcome: Outcome, words: Words, *, stale_before: datetime | None = None) -> Message:
    """Render an answer with its numbered sources, or an abstention without any.

    Args:
        outcome: Of a question.
        words: The bot's own, around it.
        stale_before: Pages not changed since then are marked; None marks none.
    """
    if isinstance(outcome, GroundedAnswer):
        return _answer(outcome, words, stale_before)
    return _abstention(outcome, words)


def claim_blocks(claims: Sequence[Claim]) -> tuple[Block, ...]:
    """Return what an answer that a model writes begins with: its claims, one block each.

    Further claims add blocks, and change none.
    """
    sources = _Sources(None)
    return tuple(
        _rich_text("rich_text_section", _said([tidy(claim.sentence)]), sources.number(claim))
        for claim in _fitting(claims)
    )


def render_notice(sentence: str) -> Message:
    """Render one of the bot's own sentences: help, an outage, a failure."""
    text = escaped_within(sentence, SECTION_LIMIT)
    return Message(text, ({"type": "section", "text": _mrkdwn(text)},))


def with_notice(message: Message, sentence: str) -> Message:
    """Put one of the bot's own sentences above a message."""
    notice = render_notice(sentence)
    blocks = (*notice.blocks, *message.blocks)[:BLOCKS_LIMIT]
    return Message(_within((notice.text, message.text), TEXT_LIMIT), blocks)


def with_block(message: Message, block: Block) -> Message:
    """Put a row of buttons below a message; it says nothing that must be read aloud."""
    return Message(message.text, (*message.blocks[: BLOCKS_LIMIT - 1], block))


def button(label: str, action_id: str, value: str, *, style: str | None = None) -> Block:
    """Return one button; `style` is "primary" or "danger"."""
    text = {"type": "plain_text", "text": label, "emoji": True}
    element: Block = {"type": "button", "action_id": action_id, "text": text, "value": value}
    return {**element, "style": style} if style else element


def _abstention(outcome: Abstention, words: Words) -> Message:
    blocks: list[Block] = [
        {"type": "section", "text": {"type": "plain_text", "text": outcome.text, "emoji": False}},
        _context(words.try_next),
    ]
    spoken = [outcome.text, escape(words.try_next)]
    if outcome.degraded:
        blocks.append(_context(words.degraded))
        spoken.append(escape(words.degraded))
    return Message("\n\n".join(spoken), tuple(blocks))


def _answer(answer: GroundedAnswer, words: Words, stale_before: datetime | None) -> Message:
    quoted = answer.generator == EXTRACTIVE
    shown = _fitting(answer.claims)
    sources = _Sources(stale_before)
    blocks: list[Block] = []
    spoken: list[str] = []
    translated: dict[str, None] = {}
    previous: Claim | None = None
    tabled = False
    for run in table_runs(shown) if quoted else [[claim] for claim in shown]:
        # One table a message: Slack takes no more.
        table = table_block(run) if quoted and not tabled else None
        for claim in run:
            number = sources.number(claim)
            lines = _claim_lines(claim, previous) if quoted else [tidy(claim.sentence)]
            said = _said(lines)
            if table is None:
                blocks.append(
                    _rich_text("rich_text_quote" if quoted else "rich_text_section", said, number)
                )
            spoken.append(f"{escape(said)} [{number}]")
            beside = _beside(claim, answer, words)
            if beside and not quoted:
                translated[f"[{number}] {beside}"] = None
            elif beside and table is None:
                blocks.append(_context(beside))
                spoken.append(escape(beside))
            previous = claim
        if table is not None:
            blocks += [_rich_text("rich_text_section", words.table, number), table]
            tabled = True
    notes = [words.more_left_out] if len(shown) < len(answer.claims) else []
    if answer.disagreement:
        notes.append(words.disagreement)
    if answer.degraded:
        notes.append(words.degraded)
    if notes:
        blocks.append(_context(" ".join(notes)))
        spoken.append(escape(" ".join(notes)))
    footer = words.quoted if quoted else words.written.format(model=clean(answer.generator))
    blocks.append(_source_list(sources, words, with_quotes=not quoted))
    spoken.append(_spoken_sources(sources, words))
    for line in translated:
        blocks.append(_context(line))
        spoken.append(escape(line))
    blocks.append(_context(footer))
    spoken.append(escape(footer))
    return Message(_within(spoken, TEXT_LIMIT), tuple(blocks))


def _beside(claim: Claim, answer: GroundedAnswer, words: Words) -> str:
    """Return the translation of a claim's quote, marked as the model's; "" if there is none."""
    translation = answer.translations.get(claim.citation.quote)
    if translation is None:
        return ""
    text = shortened(tidy(translation.text), QUOTE_LIMIT)
    return words.translated.format(model=clean(translation.model), text=text)


def _said(lines: Sequence[str]) -> str:
    return shortened("\n".join(lines), QUOTE_LIMIT) or "…"  # Slack refuses empty text


def _fitting(claims: Sequence[Claim]) -> list[Claim]:
    """Return the first claims that fit into one message, at least one."""
    shown: list[Claim] = []
    size = 0
    for claim in claims[:CLAIMS_SHOWN]:
        citation = claim.citation
        size += min(QUOTE_LIMIT, len(claim.sentence) + len(citation.quote) + len(citation.lead_in))
        if shown and size > ANSWER_LIMIT:
            break
        shown.append(claim)
    return shown


def _claim_lines(claim: Claim, previous: Claim | None) -> list[str]:
    """Return the quote as lines; what leads in a list or a table is said once."""
    citation = claim.citation
    lead_in, quote = tidy(citation.lead_in), tidy(citation.quote)
    header = cells(lead_in)
    lines = [_readable(line, header) for line in quote.split("\n")]
    repeated = (
        previous is not None
        and previous.citation.lead_in == citation.lead_in
        and previous.citation.passage.chunk.chunk_id == citation.passage.chunk.chunk_id
    )
    # A header stands in every row already.
    return lines if repeated or header or not lead_in else [lead_in, *lines]


def _readable(line: str, header: list[str]) -> str:
    """Return a table row as `column : cell · …`, a list item with a bullet, else the line."""
    row = cells(line)
    if row:
        names = header if len(header) == len(row) else [""] * len(row)
        named = zip(names, row, strict=True)
        return _SEPARATOR.join(f"{name} : {cell}" if name else cell for name, cell in named if cell)
    return f"• {line[2:]}" if line.startswith(("- ", "* ", "+ ")) else line


def _rich_text(kind: str, said: str, number: int) -> Block:
    elements: list[Block] = [
        {"type": "text", "text": said},
        {"type": "text", "text": f" [{number}]", "style": {"bold": True}},
    ]
    return {"type": "rich_text", "elements": [{"type": kind, "elements": elements}]}


def _context(sentence: str) -> Block:
    text = escaped_within(sentence, CONTEXT_LIMIT)
    return {"type": "context", "elements": [_mrkdwn(text)]}


def _mrkdwn(escaped: str) -> Block:
    # Verbatim: Slack makes no link of an address in it, such as one in the name of a page.
    return {"type": "mrkdwn", "text": escaped, "verbatim": True}


def _source_list(sources: _Sources, words: Words, *, with_quotes: bool) -> Block:
    heading = {"type": "text", "text": words.sources, "style": {"bold": True}}
    elements: list[Block] = [{"type": "rich_text_section", "elements": [heading]}]
    for number, passage, quotes in sources.numbered.values():
        entry = {
            "type": "rich_text_section",
            "elements": source_elements(passage.chunk, words, stale_before=sources.stale_before),
        }
        elements.append(
            {
                "type": "rich_text_list",
                "style": "ordered",
                "offset": number - 1,
                "elements": [entry],
            }
        )
        if with_quotes:
            cited = shortened(tidy("\n".join(quotes)), CITED_LIMIT) or "…"
            elements.append(
                {"type": "rich_text_quote", "elements": [{"type": "text", "text": cited}]}
            )
    return {"type": "rich_text", "elements": elements}


def source_elements(
    chunk: StoredChunk, words: Words, *, stale_before: datetime | None = None
) -> list[Block]:
    """Return the rich text that names a passage's page: linked where it has an address, dated."""
    url = safe_url(chunk.url)
    label = _label(chunk)
    name: Block = (
        {"type": "link", "url": url, "text": label}
        if url
        else {"type": "text", "text": _with_path(label, chunk)}
    )
    remarks = _remarks(chunk, words, stale_before)
    return [name, {"type": "text", "text": _SEPARATOR + remarks}] if remarks else [name]


def spoken_source(chunk: StoredChunk, words: Words, *, stale_before: datetime | None = None) -> str:
    """Return in plain words, not escaped, what `source_elements` shows."""
    url = safe_url(chunk.url, limit=SPOKEN_URL_LIMIT)
    name = _label(chunk) if url else _with_path(_label(chunk), chunk)
    parts = (name, url or "", _remarks(chunk, words, stale_before))
    return _SEPARATOR.join(part for part in parts if part)


def _spoken_sources(sources: _Sources, words: Words) -> str:
    lines = [escape(words.sources)]
    for number, passage, _ in sources.numbered.values():
        named = spoken_source(passage.chunk, words, stale_before=sources.stale_before)
        lines.append(f"{number}. {escape(named)}")
    return "\n".join(lines)


def _label(chunk: StoredChunk) -> str:
    title = collapse(clean(chunk.title)) or collapse(clean(chunk.page))
    headings = [collapse(clean(heading)) for heading in chunk.heading_path]
    path = [title, *(heading for heading in headings if heading and heading != title)]
    return shortened(" › ".join(path), TITLE_LIMIT) or "?"


def _with_path(label: str, chunk: StoredChunk) -> str:
    path = shortened(collapse(clean(chunk.page)), TITLE_LIMIT)
    return label if path == label else f"{label} ({path})"


def _remarks(chunk: StoredChunk, words: Words, stale_before: datetime | None) -> str:
    remarks = []
    if chunk.modified_at is not None:
        remarks.append(words.updated.format(date=words.format_date(chunk.modified_at)))
        if stale_before is not None and chunk.modified_at < stale_before and not chunk.outdated:
            remarks.append(words.stale)
    if chunk.outdated:
        remarks.append(words.outdated)
    return _SEPARATOR.join(remarks)


def _within(parts: Iterable[str], limit: int) -> str:
    """Join escaped paragraphs as long as they fit; a paragraph is never cut in an entity."""
    text = ""
    for part in parts:
        longer = f"{text}\n\n{part}" if text else part
        if len(longer) > limit:
            break
        text = longer
    return text
