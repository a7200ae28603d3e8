"""What a message says, whatever it is made of: rich text, blocks, attachments. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.slack.mrkdwn import clean, question_text, shortened

TEXT_LIMIT = 2_000
"""What is looked up of a message, in characters; a question is rarely longer."""

Node = Mapping[str, Any]


def text_of(message: Node, bot_user_id: str) -> str:
    """Return a message as plain text, "" when it says nothing.

    Rich text is what people write; the `text` beside it is Slack's rendering of the same with
    markup in it. Messages of apps may have blocks or attachments alone.
    """
    blocks = message.get("blocks") or []
    text = "\n".join(_rich_texts(blocks)) or question_text(message.get("text") or "", bot_user_id)
    text = text or "\n".join((*_block_texts(blocks), *_attachment_texts(message)))
    lines = (" ".join(line.split()) for line in clean(text).split("\n"))
    return shortened("\n".join(line for line in lines if line), TEXT_LIMIT)


def _rich_texts(blocks: list[Node]) -> Iterator[str]:
    for block in blocks:
        if block.get("type") == "rich_text":
            for section in block.get("elements") or ():
                yield from _section_lines(section)


def _section_lines(section: Node) -> Iterator[str]:
    elements = section.get("elements") or []
    if section.get("type") == "rich_text_list":
        for item in elements:
            yield from (f"- {line}" for line in _section_lines(item))
    else:
        yield "".join(map(_element_text, elements))


def _element_text(element: Node) -> str:
    match element.get("type"):
        case "text":
            return str(element.get("text", ""))
        case "link":
            return str(element.get("text") or element.get("url", ""))
        case "date":
            return str(element.get("fallback", ""))
        case _:  # people, channels, broadcasts, emoji: only an id is known, and it says nothing
            return ""


def _block_texts(blocks: list[Node]) -> Iterator[str]:
    for block in blocks:
        texts = (block.get("text"), *(block.get("fields") or ()), *(block.get("elements") or ()))
        for text in texts:
            said = text.get("text") if isinstance(text, Mapping) else text
            if isinstance(said, str):
                yield question_text(said, "")


def _attachment_texts(message: Node) -> Iterator[str]:
    for attachment in message.get("attachments") or ():
        said = attachment.get("text") or attachment.get("fallback") or ""
        yield question_text(said, "")
