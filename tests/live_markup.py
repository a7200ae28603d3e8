"""Finds everything in a stand-in that Slack would bring to life: mentions, broadcasts, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bot.sandbox.control import Sandbox

_TOKEN = re.compile(r"<[@#!]?[^<>]*>")
_LIVE_ELEMENTS = frozenset({"usergroup", "broadcast", "channel"})


def live_markup(sandbox: Sandbox, *, hosts: tuple[str, ...] = ()) -> list[str]:
    """Return what is live in all that the app posted or opened.

    Mentions of people are allowed where we make them, in elements of their own; links to `hosts`.
    """
    people = set(sandbox.workspace().users)
    return [
        found
        for node in _shown(sandbox)
        for found in _live(node, people, hosts)
        if found is not None
    ]


def _shown(sandbox: Sandbox) -> Iterator[Any]:
    workspace = sandbox.workspace()
    posted = [m for channel in workspace.channels.values() for m in channel.messages.values()]
    for message in (*posted, *workspace.ephemerals):
        if message.bot == workspace.bot:
            yield {"type": "mrkdwn", "text": message.text}
            yield message.blocks
    for stack in workspace.modals.values():
        for view in stack:
            yield view.content
    for home in workspace.homes.values():
        yield home.content


def _live(node: Any, people: set[str], hosts: tuple[str, ...]) -> Iterator[str]:
    if isinstance(node, list | tuple):
        for child in node:
            yield from _live(child, people, hosts)
        return
    if not isinstance(node, dict):
        return
    kind, text = node.get("type"), node.get("text")
    if kind in ("mrkdwn", "markdown") and isinstance(text, str):
        tokens = _TOKEN.findall(text)
        yield from (t for t in tokens if t.removeprefix("<@").removesuffix(">") not in people)
    if kind in _LIVE_ELEMENTS or (kind == "user" and node.get("user_id") not in people):
        yield str(node)
    address = node.get("url") or node.get("image_url")
    if isinstance(address, str) and not address.startswith(hosts):
        yield address
    for child in node.values():
        yield from _live(child, people, hosts)
