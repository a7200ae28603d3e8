"""Slack's message markup: what an incoming message says, and how to say something safely. Pure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_TOKEN = re.compile(r"<([^<>]*)>")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
# Characters that show nothing but can spoil a message: controls other than tab and line feed, and
# the marks that reverse the direction of the text around them.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ELLIPSIS = "…"


def escape(text: str) -> str:
    """Return the text such that Slack shows it as it is: no mention, link or broadcast in it.

    Source: Slack, "Formatting text for app surfaces": exactly `&`, `<` and `>`, in that order.
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Undo `escape`; incoming message texts are escaped the same way."""
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


def clean(text: str) -> str:
    """Drop what shows nothing and may spoil a message; replace what UTF-8 cannot carry."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _INVISIBLE.sub("", text.encode("utf-8", "replace").decode("utf-8"))


def tidy(text: str) -> str:
    """Return the lines of a text without empty ones, white space in them as single spaces."""
    lines = (" ".join(line.split()) for line in clean(text).split("\n"))
    return "\n".join(line for line in lines if line)


def question_text(event_text: str, bot_user_id: str) -> str:
    """Return what a person asked, as they saw it while typing.

    The mention of the bot is left out, and so are mentions of which only the id is known; other
    mentions, channels and links become their readable part.
    """

    def readable(match: re.Match[str]) -> str:
        return _readable(match.group(1), bot_user_id)

    text = clean(unescape(_TOKEN.sub(readable, event_text)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(lines).strip()


def _readable(token: str, bot_user_id: str) -> str:
    target, _, label = token.partition("|")
    kind, name = target[:1], target[1:]
    if kind == "@":
        return "" if name == bot_user_id or not label else f"@{label.removeprefix('@')}"
    if kind == "#":
        return f"#{label}" if label else ""
    if kind == "!":
        if label:
            return label
        return f"@{name}" if name in {"here", "channel", "everyone"} else ""
    return label or target.removeprefix("mailto:").removeprefix("tel:")


def shortened(text: str, limit: int) -> str:
    """Cut the text to `limit` characters, the last of them an ellipsis when it was longer."""
    if len(text) <= limit:
        return text
    return text[: limit - len(_ELLIPSIS)].rstrip() + _ELLIPSIS


def escaped_within(text: str, limit: int) -> str:
    """Escape the text, cutting it so that the result has at most `limit` characters."""
    if len(escape(text)) <= limit:
        return escape(text)
    room = limit - len(_ELLIPSIS)
    while (excess := len(escape(text)) - room) > 0:
        # A character takes at most five once escaped (`&amp;`), so this never cuts too much.
        text = text[: -max(1, excess // 5)].rstrip()
    return escape(text) + _ELLIPSIS


def safe_url(url: str | None, *, limit: int = 3_000) -> str | None:
    """Return the URL if it may become a link: http or https, with a host, nothing odd in it."""
    if not url or len(url) > limit or re.search(r"[\s<>|\"`\\]", url) or url != clean(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme.lower() in {"http", "https"} and parts.hostname else None
