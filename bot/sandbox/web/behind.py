"""What is behind a message: the events and calls that led to it, and the limits it uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.sandbox.blocks import Surface, limit_uses
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import Delivery, PayloadKind
from bot.sandbox.methods.content import MAX_TEXT
from bot.sandbox.payloads import view_json
from bot.sandbox.text import unescape
from bot.sandbox.web.snapshot import as_shown
from bot.sandbox.workspace import Json, Message, View, Workspace

RECOMMENDED_TEXT = 4_000
"""Characters of `text` that Slack advises. Source: the chat.postMessage page."""


def message_behind(sandbox: Sandbox, message: Message) -> Json:
    """Return the JSON of a message, its limits, and the exchange with the app around it."""
    workspace = sandbox.workspace()
    asked = question_of(workspace, message)
    return {
        "json": as_shown(workspace, message),
        "limits": [
            {"what": "text", "used": len(message.text), "most": RECOMMENDED_TEXT},
            {"what": "text (cut)", "used": len(message.text), "most": MAX_TEXT},
            *limit_uses(message.blocks, Surface.MESSAGE),
        ],
        "exchange": exchange(sandbox, message),
        "question": asked.text if asked else None,
    }


def view_behind(sandbox: Sandbox, view: View) -> Json:
    """Return the JSON of a Home tab or a modal and its limits."""
    content = view_json(sandbox.workspace(), view)
    surface = Surface(content["type"])
    return {"json": content, "limits": limit_uses(content["blocks"], surface), "exchange": []}


def question_of(workspace: Workspace, message: Message) -> Message | None:
    """Return the message of a person that the app answered with this one, where it is known."""
    if message.bot != workspace.bot or not message.thread_ts:
        return None
    thread = workspace.thread(workspace.channels[message.channel_id], message.thread_ts)
    asked = [m for m in thread if m.bot is None and m.ts < message.ts]
    return asked[-1] if asked else None


def questions(workspace: Workspace, asked: Message) -> list[str]:
    """Return what was asked, then what had been asked in its thread before, oldest first.

    In plain words: without the mentions of the app, and unescaped.
    """
    root = asked.thread_ts or asked.ts
    thread = workspace.thread(workspace.channels[asked.channel_id], root)
    earlier = [m for m in thread if m.bot is None and m.ts < asked.ts]
    mention = f"<@{workspace.bot.user_id}>"
    return [unescape(m.text.replace(mention, "")).strip() for m in (asked, *earlier)]


def exchange(sandbox: Sandbox, message: Message) -> list[Json]:
    """Return deliveries to the app and calls of it around a message, oldest first.

    An entry has `at_s` (seconds after the first), `kind`, `name`, `ok`, `note` and `detail`.
    """
    workspace = sandbox.workspace()
    cause = _cause(sandbox, workspace, message)
    if cause is None:
        return []
    started = cause.attempts[0].sent_at if cause.attempts else float(message.ts)
    names = _names(message, cause)
    entries = [_delivery_entry(d) for d in _deliveries(sandbox, names, started)]
    entries += _calls(sandbox, names, started)
    entries += _posts(sandbox, message, started)
    entries.sort(key=lambda entry: float(entry["at_s"]))
    for entry in entries:
        entry["at_s"] = round(entry["at_s"] - started, 4)
    return entries


def _cause(sandbox: Sandbox, workspace: Workspace, message: Message) -> Delivery | None:
    """Return the delivery that a message came from, or that it caused."""
    asked = question_of(workspace, message) or message
    sent = [d for d in sandbox.deliveries() if d.attempts]
    own = [d for d in sent if asked.ts in (d.event.get("ts"), d.event.get("event_ts"))]
    if own and message.visible_to is None:
        return own[0]
    before = [d for d in sent if d.attempts[0].sent_at <= float(message.ts)]
    person = message.visible_to
    near = [
        d
        for d in before
        if d.kind is not PayloadKind.EVENT
        and (person is None or person in _strings(d.payload))
        and message.channel_id in _strings(d.payload)
    ]
    return near[-1] if near else (own[0] if own else None)


def _names(message: Message, cause: Delivery) -> set[str]:
    """Return the ids by which a call belongs to a message."""
    names = {message.ts, cause.event.get("ts"), message.thread_ts}
    user = cause.event.get("user") or cause.payload.get("user_id")
    names.add(user if isinstance(user, str) else cause.payload.get("user", {}).get("id"))
    names |= {cause.payload.get("trigger_id")}
    return {name for name in names if name}


def _deliveries(sandbox: Sandbox, names: set[str], started: float) -> Iterator[Delivery]:
    for delivery in sandbox.deliveries():
        sent = delivery.attempts and delivery.attempts[0].sent_at >= started
        if sent and names & set(_strings(delivery.payload)):
            yield delivery


def _delivery_entry(delivery: Delivery) -> Json:
    first = delivery.attempts[0]
    acknowledged = [a for a in delivery.attempts if a.acknowledged_at is not None]
    note = delivery.state.value
    if acknowledged and acknowledged[0].acknowledged_at is not None:
        took_ms = (acknowledged[0].acknowledged_at - acknowledged[0].sent_at) * 1000
        note = f"{note} · {took_ms:.0f} ms"
    if len(delivery.attempts) > 1:
        note = f"{note} · {len(delivery.attempts)} ×"
    payload = delivery.payload
    names = (delivery.event.get("type"), payload.get("command"), payload.get("type"))
    return {
        "at_s": first.sent_at,
        "kind": delivery.kind.value,
        "name": next(name for name in (*names, delivery.kind.value) if name),
        "ok": delivery.state.value in ("acknowledged", "pending"),
        "note": note,
        "detail": payload,
    }


def _calls(sandbox: Sandbox, names: set[str], started: float) -> list[Json]:
    found = []
    for call in sandbox.calls():
        texts = {*_strings(call.arguments), *_strings(call.answer.get("ts"))}
        if call.at >= started and names & texts:
            found.append(
                {
                    "at_s": call.at,
                    "kind": "call",
                    "name": call.method,
                    "ok": call.ok,
                    "note": "ok" if call.ok else str(call.answer.get("error", "dropped")),
                    "detail": {"arguments": call.arguments, "answer": call.answer},
                }
            )
    return found


def _posts(sandbox: Sandbox, message: Message, started: float) -> list[Json]:
    return [
        {
            "at_s": post.at,
            "kind": "call",
            "name": "response_url",
            "ok": not post.error,
            "note": post.error or "ok",
            "detail": post.content,
        }
        for post in sandbox.interactions.posts
        if post.at >= started
        and post.channel_id == message.channel_id
        and message.visible_to in (None, post.user_id)
    ]


def _strings(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for child in node.values():
            yield from _strings(child)
    elif isinstance(node, list):
        for child in node:
            yield from _strings(child)
