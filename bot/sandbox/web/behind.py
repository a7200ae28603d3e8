"""What is behind a message or a view: the events and calls that led to it, the limits it uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.sandbox.blocks import Surface, limit_uses
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import Delivery, PayloadKind
from bot.sandbox.methods.content import MAX_TEXT
from bot.sandbox.payloads import view_json
from bot.sandbox.web.questions import (
    asked_for_message,
    asked_for_view,
    asked_in_thread,
    cause_of_response,
    cause_of_view,
)
from bot.sandbox.web.snapshot import as_shown
from bot.sandbox.workspace import Json, Message, View, Workspace

RECOMMENDED_TEXT = 4_000
"""Characters of `text` that Slack advises. Source: the chat.postMessage page."""


def message_behind(sandbox: Sandbox, message: Message) -> Json:
    """Return the JSON of a message, its limits, and the exchange with the app around it."""
    workspace = sandbox.workspace()
    asked = asked_for_message(sandbox, message)
    cause = _cause(sandbox, workspace, message)
    entries = []
    if cause is not None:
        started = cause.attempts[0].sent_at if cause.attempts else float(message.ts)
        entries = _exchange(sandbox, cause, _names(message, cause), _person(cause), started)
        entries += _posts(sandbox, message, started)
    return {
        "json": as_shown(workspace, message),
        "limits": [
            {"what": "text", "used": len(message.text), "most": RECOMMENDED_TEXT},
            {"what": "text (cut)", "used": len(message.text), "most": MAX_TEXT},
            *limit_uses(message.blocks, Surface.MESSAGE),
        ],
        "exchange": _in_order(entries),
        "question": asked[0] if asked else None,
    }


def view_behind(sandbox: Sandbox, view: View) -> Json:
    """Return the same of a Home tab or a modal."""
    content = view_json(sandbox.workspace(), view)
    asked = asked_for_view(sandbox, view)
    cause = cause_of_view(sandbox, view) or _last_visit(sandbox, view)
    entries = []
    if cause is not None and cause.attempts:
        names = {view.view_id, view.trigger_id} - {""}
        entries = _exchange(sandbox, cause, names, view.user_id, cause.attempts[0].sent_at)
    return {
        "json": content,
        "limits": limit_uses(content["blocks"], Surface(content["type"])),
        "exchange": _in_order(entries),
        "question": asked[0] if asked else None,
    }


def _last_visit(sandbox: Sandbox, view: View) -> Delivery | None:
    """Return the event that a person's Home tab answers."""
    visits = [
        d
        for d in sandbox.deliveries("app_home_opened")
        if d.event.get("user") == view.user_id and d.event.get("tab") == "home" and d.attempts
    ]
    return visits[-1] if visits else None


def _in_order(entries: list[Json]) -> list[Json]:
    """Return entries by time, with their `at_s` counted from the first."""
    entries = sorted(entries, key=lambda entry: float(entry["at_s"]))
    started = entries[0]["at_s"] if entries else 0.0
    return [entry | {"at_s": round(entry["at_s"] - started, 4)} for entry in entries]


def _cause(sandbox: Sandbox, workspace: Workspace, message: Message) -> Delivery | None:
    """Return the delivery that a message came from, or that it caused."""
    if answered := cause_of_response(sandbox, message):
        return answered
    asked = asked_in_thread(workspace, message) or message
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
    names = {message.ts, cause.event.get("ts"), message.thread_ts, cause.payload.get("trigger_id")}
    return {name for name in names if name}


def _person(cause: Delivery) -> str:
    """Return the id of whoever set something off."""
    user = cause.event.get("user") or cause.payload.get("user_id")
    return str(user if isinstance(user, str) else cause.payload.get("user", {}).get("id"))


def _exchange(
    sandbox: Sandbox, cause: Delivery, names: set[str], person: str, started: float
) -> list[Json]:
    """Return what set something off, and deliveries and calls that name any of `names`.

    Calls about the person alone (`users.info`) belong to it as long as others followed.

    An entry has `at_s`, `took_s` (None while it lasts), `kind`, `name`, `ok`, `note` and `detail`.
    """
    sent = _deliveries(sandbox, cause, names, started)
    deliveries = [_delivery_entry(d) for d in sent if d.attempts]
    calls = _calls(sandbox, names, started)
    last = max((call["at_s"] for call in calls), default=started)
    about = [call for call in _calls(sandbox, {person}, started) if call["at_s"] < last]
    return deliveries + calls + [call for call in about if call not in calls]


def _deliveries(
    sandbox: Sandbox, cause: Delivery, names: set[str], started: float
) -> Iterator[Delivery]:
    """Yield what set something off, then what was sent since then about the same."""
    yield cause
    for delivery in sandbox.deliveries():
        sent = delivery.attempts and delivery.attempts[0].sent_at >= started
        if sent and delivery is not cause and names & set(_strings(delivery.payload)):
            yield delivery


def _delivery_entry(delivery: Delivery) -> Json:
    first = delivery.attempts[0]
    acknowledged = [a.acknowledged_at for a in delivery.attempts if a.acknowledged_at is not None]
    note = delivery.state.value
    if len(delivery.attempts) > 1:
        note = f"{note} · {len(delivery.attempts)} ×"
    payload = delivery.payload
    names = (delivery.event.get("type"), payload.get("command"), payload.get("type"))
    return {
        "at_s": first.sent_at,
        "took_s": round(acknowledged[0] - first.sent_at, 4) if acknowledged else None,
        "kind": delivery.kind.value,
        "name": next(name for name in (*names, delivery.kind.value) if name),
        "ok": delivery.state.value in ("acknowledged", "pending"),
        "note": note,
        "detail": payload,
    }


def _calls(sandbox: Sandbox, names: set[str], started: float) -> list[Json]:
    found = []
    for call in sandbox.calls():
        told = (call.answer.get("ts"), call.answer.get("view", {}).get("id"))
        texts = {*_strings(call.arguments), *_strings(list(told))}
        if call.received_at >= started and names & texts:
            found.append(
                {
                    "at_s": call.received_at,
                    "took_s": round(call.at - call.received_at, 4),
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
            "took_s": 0.0,
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
