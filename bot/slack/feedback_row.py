"""The row below an answer that asks what people think of it, and how to show a message without it.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from bot.slack.rendering import Block, Message, button, with_block
from bot.slack.tables import as_preformatted
from bot.slack.wording import Words
from bot.store import Verdict

FEEDBACK = "feedback"
"""Action id of the row; as plain buttons, one with `_up` and one with `_down`."""


def with_feedback(message: Message, words: Words, question_id: str) -> Message:
    """Ask below a message what people think of it."""
    buttons = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": _button(words.useful, words.useful_label, Verdict.UP, question_id),
        "negative_button": _button(
            words.not_useful, words.not_useful_label, Verdict.DOWN, question_id
        ),
    }
    return with_block(message, {"type": "context_actions", "elements": [buttons]})


def verdict_in(value: str) -> tuple[Verdict, str]:
    """Return the verdict and the question id in the value of a button."""
    verdict, _, question_id = value.partition(":")
    return Verdict(verdict), question_id


def variants(message: Message) -> Iterator[Message]:
    """Yield ways to show a message, to be tried in order where Slack refuses its blocks.

    As it is; with plain buttons and text where feedback buttons and tables are not taken; as text
    alone.
    """
    yield message
    blocks = plain_blocks(message)
    if blocks != message.blocks:
        yield Message(message.text, blocks)
    if message.blocks:
        yield Message(message.text, ())


def plain_blocks(message: Message) -> tuple[Block, ...]:
    """Return the blocks of a message, with older ones instead of those not taken everywhere."""
    return tuple(_plain(block) for block in message.blocks)


def _button(text: str, label: str, verdict: Verdict, question_id: str) -> Block:
    return {
        "text": {"type": "plain_text", "text": text, "emoji": True},
        "accessibility_label": label,
        "value": f"{verdict}:{question_id}",
    }


def _plain(block: Block) -> Block:
    if block["type"] == "table":
        return as_preformatted(block)
    if block["type"] != "context_actions":
        return block
    [asked] = block["elements"]
    up, down = asked["positive_button"], asked["negative_button"]
    elements = [
        button(f"👍 {up['text']['text']}", f"{FEEDBACK}_up", up["value"]),
        button(f"👎 {down['text']['text']}", f"{FEEDBACK}_down", down["value"]),
    ]
    return {"type": "actions", "elements": elements}
