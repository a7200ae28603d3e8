"""The content of a message given to a `chat.*` method, checked as Slack checks it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bot.sandbox.arguments import Arguments, MethodError
from bot.sandbox.blocks import MAX_MARKDOWN, Surface, as_kept, block_problems
from bot.sandbox.text import escape, unescape
from bot.sandbox.workspace import Json

MAX_TEXT = 40_000
"""Longer texts are cut. Source: the chat.postMessage page."""


_TOKEN = re.compile(r"(<(?:[@#!]|https?://|mailto:)[^<>]*>)")


@dataclass(slots=True)
class Content:
    """Text, blocks and what else a message may hold."""

    text: str
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    metadata: Json | None = None


def read_content(arguments: Arguments) -> Content:
    """Return the content of a message.

    Raises:
        MethodError: `no_text`, `invalid_blocks`, `invalid_blocks_format`, `msg_too_long`,
            `markdown_text_conflict`, `too_many_attachments`, `invalid_metadata_format`.
    """
    blocks = arguments.items("blocks", "invalid_blocks_format")
    attachments = arguments.items("attachments", "invalid_attachments") or []
    text = arguments.text("text")
    if "markdown_text" in arguments:
        if text or blocks:
            raise MethodError("markdown_text_conflict")
        return _markdown(arguments.text("markdown_text"))
    if not text.strip() and not blocks and not attachments:
        raise MethodError("no_text")
    if len(attachments) > 100:
        raise MethodError("too_many_attachments")
    if blocks and (problems := block_problems(blocks, Surface.MESSAGE)):
        raise MethodError(
            "invalid_blocks", errors=problems, response_metadata={"messages": problems}
        )
    metadata = arguments.mapping("metadata", "invalid_metadata_format")
    return Content(_stored(text), as_kept(blocks or []), attachments, metadata)


def _markdown(text: str) -> Content:
    if len(text) > MAX_MARKDOWN:
        raise MethodError("msg_too_long")
    return Content(text, [{"type": "markdown", "block_id": "b1", "text": text}])


def _stored(text: str) -> str:
    """Return a text as Slack keeps it: cut, with every `&`, `<`, `>` outside tokens escaped."""
    pieces = _TOKEN.split(text[:MAX_TEXT])
    plain = [escape(unescape(piece)) for piece in pieces[::2]]
    pieces[::2] = plain
    return "".join(pieces)
