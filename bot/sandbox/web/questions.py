"""What was asked when the app answered: in a thread, by a command, a press, a shortcut."""

from __future__ import annotations

import re

from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import Delivery, PayloadKind
from bot.sandbox.text import unescape
from bot.sandbox.workspace import Json, Message, View, Workspace

_ASKED = re.compile(r"\s*ask\s+(?P<question>\S.*)", re.IGNORECASE | re.DOTALL)
"""A command that asks; anything else it may do has no answer to explain."""
_SEARCHED = "search"
"""In the action ids of what looks for words instead of answering."""


def asked_for_message(sandbox: Sandbox, message: Message) -> list[str]:
    """Return the question that a message of the app answers, then those before it in its thread.

    In plain words: without the mentions of the app, and unescaped. Empty where there is none.
    """
    workspace = sandbox.workspace()
    if message.bot != workspace.bot:
        return []
    if cause := cause_of_response(sandbox, message):
        return asked_in(sandbox, cause)
    asked = asked_in_thread(workspace, message)
    return _with_earlier(workspace, asked) if asked else []


def asked_for_view(sandbox: Sandbox, view: View) -> list[str]:
    """Return the question that a modal answers; empty where there is none."""
    cause = cause_of_view(sandbox, view)
    return asked_in(sandbox, cause) if cause else []


def asked_in_thread(workspace: Workspace, message: Message) -> Message | None:
    """Return the message of a person before one of the app in its thread."""
    if message.bot != workspace.bot or not message.thread_ts:
        return None
    thread = workspace.thread(workspace.channels[message.channel_id], message.thread_ts)
    asked = [m for m in thread if m.bot is None and m.ts < message.ts]
    return asked[-1] if asked else None


def cause_of_response(sandbox: Sandbox, message: Message) -> Delivery | None:
    """Return the interaction that a message posted to a response address answers."""
    if not message.response_token:
        return None
    ending = f"/{message.response_token}"
    return next(
        (d for d in sandbox.deliveries() if str(d.payload.get("response_url")).endswith(ending)),
        None,
    )


def cause_of_view(sandbox: Sandbox, view: View) -> Delivery | None:
    """Return the interaction that opened a modal."""
    if not view.trigger_id:
        return None
    return next(
        (d for d in sandbox.deliveries() if d.payload.get("trigger_id") == view.trigger_id), None
    )


def asked_in(sandbox: Sandbox, cause: Delivery) -> list[str]:
    """Return what was asked by an interaction, or by the message that was pressed."""
    workspace, payload = sandbox.workspace(), cause.payload
    if cause.kind is PayloadKind.COMMAND:
        found = _ASKED.fullmatch(str(payload["text"]))
        return [unescape(found["question"]).strip()] if found else []
    if payload["type"] == "message_action":
        return [_plain(workspace, str(payload["message"].get("text", "")))]
    if payload["type"] != "block_actions":
        return []
    if typed := _typed(payload):
        return [typed]
    container = payload["container"]
    pressed = workspace.find_message(
        str(container.get("channel_id")), str(container.get("message_ts"))
    )
    return asked_for_message(sandbox, pressed) if pressed else []


def _typed(payload: Json) -> str:
    """Return what stands in the box that was sent, or on the button that asks once more."""
    [action] = payload["actions"]
    value = action.get("value")
    if not isinstance(value, str) or _SEARCHED in action["action_id"]:
        return ""
    boxes = (box for block in payload["state"]["values"].values() for box in block.items())
    text = next((entry.get("value") for name, entry in boxes if name == value), None)
    if text is not None:
        return str(text).strip()
    return value.strip() if action["type"] == "plain_text_input" or " " in value else ""


def _with_earlier(workspace: Workspace, asked: Message) -> list[str]:
    root = asked.thread_ts or asked.ts
    thread = workspace.thread(workspace.channels[asked.channel_id], root)
    earlier = [m for m in thread if m.bot is None and m.ts < asked.ts]
    return [_plain(workspace, m.text) for m in (asked, *earlier)]


def _plain(workspace: Workspace, text: str) -> str:
    return unescape(text.replace(f"<@{workspace.bot.user_id}>", "")).strip()
