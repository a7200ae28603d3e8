"""Slack's text: what somebody types becomes tokens and rich text; which tokens notify people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.sandbox.workspace import Json, Message, UnknownName, Workspace

_TYPED = re.compile(
    r"<@(?P<token>[UW][A-Z0-9]+)>"
    r"|(?<![\w@])@(?P<name>[\w.\-]+)"
    r"|(?<![\w#])#(?P<channel>[\w\-]+)"
    r"|(?P<url>https?://[^\s<>|]+)"
    r"|(?P<mail>[\w.+\-]+@[\w\-]+\.[\w.\-]*\w)"
)
_TOKEN = re.compile(r"<([^<>]+)>")
_BROADCASTS = frozenset({"here", "channel", "everyone"})
LIVE_TOKEN = re.compile(r"<(?:@[UW][A-Z0-9]+|!here|!channel|!everyone|!subteam\^S[A-Z0-9]+)[^<>]*>")
"""Tokens that notify people when a message holding them is posted."""


def escape(text: str) -> str:
    """Escape as Slack does: exactly `&`, `<` and `>`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def unescape(text: str) -> str:
    """Undo `escape`."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def typed(workspace: Workspace, text: str) -> str:
    """Return what Slack stores when a person types `text`.

    `@name` of somebody, `@here`, `#channel`, web and mail addresses become tokens; `<@U…>` of an
    existing person is kept as the mention it stands for; everything else is escaped, so that a
    typed `<!channel>` stays harmless, as in Slack.
    """
    parts: list[str] = []
    position = 0
    for match in _TYPED.finditer(text):
        parts.append(escape(text[position : match.start()]))
        parts.append(_token(workspace, match) or escape(match.group()))
        position = match.end()
    parts.append(escape(text[position:]))
    return "".join(parts)


def _token(workspace: Workspace, match: re.Match[str]) -> str | None:
    if user_id := match["token"]:
        return f"<@{user_id}>" if user_id in workspace.users else None
    if name := match["name"]:
        if name in _BROADCASTS:
            return f"<!{name}>"
        try:
            return f"<@{workspace.user(name).user_id}>"
        except UnknownName:
            return None
    if name := match["channel"]:
        try:
            channel = workspace.channel(name)
        except UnknownName:
            return None
        return f"<#{channel.channel_id}|{channel.name}>"
    if url := match["url"]:
        return f"<{escape(url)}>"
    return f"<mailto:{match['mail']}|{match['mail']}>"


def rich_text(text: str, block_id: str = "b1") -> list[Json]:
    """Return the `rich_text` block that Slack gives a person's message with this stored text."""
    elements: list[Json] = []
    position = 0
    for match in _TOKEN.finditer(text):
        _add_text(elements, text[position : match.start()])
        elements.append(_element(match[1]))
        position = match.end()
    _add_text(elements, text[position:])
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": block_id, "elements": [section]}]


def _add_text(elements: list[Json], text: str) -> None:
    if text:
        elements.append({"type": "text", "text": unescape(text)})


def _element(token: str) -> Json:
    target, _, label = token.partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!"):
        return {"type": "broadcast", "range": target[1:]}
    link: Json = {"type": "link", "url": unescape(target)}
    return link | {"text": unescape(label)} if label else link


def notifying_tokens(message: Message) -> list[str]:
    """Return every token of a message that would notify somebody: mentions and broadcasts.

    Looks into the text, into mrkdwn and markdown of blocks, and at rich text elements.
    """
    found = LIVE_TOKEN.findall(message.text)
    for node in _nodes(message.blocks):
        kind = node.get("type")
        if kind in ("mrkdwn", "markdown"):
            found += LIVE_TOKEN.findall(str(node.get("text", "")))
        elif kind == "user":
            found.append(f"<@{node['user_id']}>")
        elif kind == "usergroup":
            found.append(f"<!subteam^{node['usergroup_id']}>")
        elif kind == "broadcast":
            found.append(f"<!{node['range']}>")
    return found


def _nodes(value: Any) -> Iterator[Json]:
    if isinstance(value, dict):
        yield value
        for child in value.values():
            yield from _nodes(child)
    elif isinstance(value, list):
        for child in value:
            yield from _nodes(child)
