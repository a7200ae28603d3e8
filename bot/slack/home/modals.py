"""The modals that show what was asked for in the Home tab. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.slack.feedback_row import plain_blocks, verdict_in
from bot.slack.mrkdwn import clean, shortened
from bot.slack.rendering import Block, Message, button
from bot.slack.wording import Words
from bot.store import Verdict

THUMB = "home_thumb"
"""Action id of a thumb in a modal; with `_up` or `_down`."""

BLOCKS_LIMIT = 100
_TITLE_LIMIT = 24
_QUESTION_SHOWN = 300
# What a message has for its place in a channel; a modal refuses it or cannot act on it.
_LEFT_OUT = frozenset({"actions", "context_actions"})
_NOT_IN_MODALS = frozenset({"data_table", "markdown"})


def waiting_modal(title: str, question: str, words: Words) -> Block:
    """Return the modal that stands until there is something to show."""
    return _modal(title, [_asked(question, words), _section(words.searching)], words)


def message_modal(title: str, question: str, message: Message, words: Words) -> Block:
    """Return a message as a modal: its blocks, or its words where a modal cannot show one.

    Feedback stays possible; what only makes sense in a channel goes.
    """
    rows = [_thumbs(row) for row in _feedback_rows(message)]
    body = [block for block in plain_blocks(message) if block["type"] not in _LEFT_OUT]
    if any(block["type"] in _NOT_IN_MODALS for block in body):
        body = [{"type": "section", "text": _mrkdwn(part)} for part in _parts(message.text)]
    room = BLOCKS_LIMIT - 1 - len(rows)
    return _modal(title, [_asked(question, words), *body[:room], *rows], words)


def notice_modal(title: str, sentence: str, words: Words) -> Block:
    """Return one of the bot's own sentences as a modal."""
    return _modal(title, [_section(sentence)], words)


def with_thanks(view: Block, thanks: str) -> Block:
    """Return an open modal, as Slack hands it back, with thanks instead of its thumbs."""
    blocks = [_section(thanks) if _is_thumbs(block) else block for block in view["blocks"]]
    kept = {key: view[key] for key in ("type", "title", "close") if view.get(key)}
    return {**kept, "blocks": blocks}


def _modal(title: str, blocks: list[Block], words: Words) -> Block:
    return {
        "type": "modal",
        "title": _plain(shortened(title, _TITLE_LIMIT)),
        "close": _plain(shortened(words.close_window, _TITLE_LIMIT)),
        "blocks": blocks,
    }


def _feedback_rows(message: Message) -> Iterator[Block]:
    for block in message.blocks:
        if block["type"] == "context_actions":
            yield from (e for e in block["elements"] if e["type"] == "feedback_buttons")


def _thumbs(row: Block) -> Block:
    elements = []
    for side, mark in (("positive_button", "👍"), ("negative_button", "👎")):
        pressed = row[side]
        verdict, _ = verdict_in(pressed["value"])
        thumb = button(f"{mark} {pressed['text']['text']}", _thumb_id(verdict), pressed["value"])
        elements.append(thumb)
    return {"type": "actions", "elements": elements}


def _thumb_id(verdict: Verdict) -> str:
    return f"{THUMB}_{verdict.value}"


def _is_thumbs(block: Block) -> bool:
    elements = block.get("elements") or ()
    return any(str(e.get("action_id", "")).startswith(THUMB) for e in elements)


def _parts(text: str, limit: int = 3_000) -> Iterator[str]:
    """Cut escaped text at lines into parts that fit a section."""
    part = ""
    for line in text.split("\n"):
        while len(line) > limit:
            cut = line.rfind(" ", 0, limit) + 1 or limit
            yield from filter(None, (part.strip(), line[:cut].strip()))
            part, line = "", line[cut:]
        if len(part) + 1 + len(line) > limit:
            yield part
            part = line
        else:
            part = f"{part}\n{line}" if part else line
    if part.strip():
        yield part


def _asked(question: str, words: Words) -> Block:
    asked = words.home_question.format(question=shortened(clean(question), _QUESTION_SHOWN))
    return {"type": "context", "elements": [_plain(asked, emoji=False)]}


def _section(text: str) -> Block:
    return {"type": "section", "text": _plain(text)}


def _mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _plain(text: str, *, emoji: bool = True) -> Block:
    return {"type": "plain_text", "text": text, "emoji": emoji}
