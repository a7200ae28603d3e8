"""The row below « je ne sais pas » that says what to do next. It names no page. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from bot.records import Abstention
from bot.slack.rendering import Block, Message, button, with_block
from bot.slack.wording import Words

CLOSE_PAGES = "close_pages"
ASK_HUMAN = "ask_human"
VALUE_LIMIT = 2_000
"""Of a button, in characters. Source: Slack's Block Kit reference."""


@dataclass(frozen=True, slots=True)
class HumanRequest:
    """What the button to ask a human carries, so that nothing more need be kept for it.

    Attributes:
        question_id: Of the abstention.
        asker_id: Who asked.
        question: As asked, as far as it fits.
    """

    question_id: str
    asker_id: str
    question: str

    def to_value(self) -> str:
        """Return it as the value of a button."""
        return f"{self.question_id}:{self.asker_id}:{self.question}"[:VALUE_LIMIT]

    @classmethod
    def from_value(cls, value: str) -> Self:
        """Undo `to_value`."""
        question_id, asker_id, question = value.split(":", 2)
        return cls(question_id, asker_id, question)


def with_next_steps(
    message: Message,
    outcome: Abstention,
    words: Words,
    request: HumanRequest,
    *,
    humans: bool,
) -> Message:
    """Put below an abstention what can be done now.

    Args:
        message: The abstention.
        outcome: What it was made from.
        words: Of whoever reads.
        request: What asking a human would pass on.
        humans: Whether there is somebody to ask.
    """
    elements: list[Block] = []
    if outcome.subject_close:
        elements.append(button(words.close_pages, CLOSE_PAGES, request.question_id))
    if humans and request.question:
        elements.append(_ask_button(words, request))
    return with_block(message, {"type": "actions", "elements": elements}) if elements else message


def with_ask_button(message: Message, words: Words, request: HumanRequest) -> Message:
    """Put a button below a message that passes a question on to humans."""
    return with_block(message, {"type": "actions", "elements": [_ask_button(words, request)]})


def _ask_button(words: Words, request: HumanRequest) -> Block:
    asking = button(words.ask_human, ASK_HUMAN, request.to_value())
    return {**asking, "confirm": _confirmation(words)}


def _confirmation(words: Words) -> Block:
    return {
        "title": _plain(words.ask_human),
        "text": _plain(words.ask_human_confirm),
        "confirm": _plain(words.send),
        "deny": _plain(words.cancel),
    }


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": True}
