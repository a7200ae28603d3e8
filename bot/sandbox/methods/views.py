"""`views.*` methods."""

from __future__ import annotations

import json
import secrets

from bot.sandbox.arguments import MethodError, invalid_arguments
from bot.sandbox.blocks import as_kept, view_problems, with_defaults
from bot.sandbox.methods.call import Call
from bot.sandbox.payloads import view_json
from bot.sandbox.workspace import Json, View, Workspace

MAX_VIEW_BYTES = 250_000
MAX_STACK = 3
"""Sources: the views.publish and views.push pages."""


def publish(call: Call) -> Json:
    """Show a Home tab to one person."""
    if not call.slack.world.manifest.home_tab:
        raise MethodError("not_enabled")
    user_id = call.arguments.text("user_id")
    if user_id not in call.workspace.users:
        raise invalid_arguments("invalid `user_id`")
    content = _content(call, "home")
    current = call.workspace.homes.get(user_id)
    _check_hash(call, current)
    view = new_view(call.workspace, user_id, content)
    if current is not None:
        view.view_id = view.root_view_id = current.view_id
    call.workspace.homes[user_id] = view
    return _answer(call, view)


def open_modal(call: Call) -> Json:
    """Open a modal for the person whose interaction gave the trigger."""
    content = _content(call, "modal")
    trigger = call.slack.interactions.exchange(call.workspace, _trigger_id(call))
    view = new_view(call.workspace, trigger.user_id, content)
    view.trigger_id = _trigger_id(call)
    call.workspace.modals[trigger.user_id] = [view]
    return _answer(call, view)


def push(call: Call) -> Json:
    """Put a modal on top of the one the trigger came from."""
    content = _content(call, "modal")
    trigger = call.slack.interactions.exchange(call.workspace, _trigger_id(call))
    stack = call.workspace.modals.get(trigger.user_id, [])
    if trigger.view_id not in [v.view_id for v in stack]:
        raise MethodError("not_found")
    if len(stack) >= MAX_STACK:
        raise MethodError("push_limit_reached")
    view = push_view(call.workspace, trigger.user_id, content)
    view.trigger_id = _trigger_id(call)
    return _answer(call, view)


def update(call: Call) -> Json:
    """Replace the content of an open view, found by its id or external id."""
    view = _find(call)
    if view is None:
        raise MethodError("not_found")
    content = _content(call, view.content["type"])
    _check_hash(call, view)
    replace(view, content)
    return _answer(call, view)


def new_view(workspace: Workspace, user_id: str, content: Json) -> View:
    """Make a view; nobody sees it until it is put in place."""
    view_id = workspace.world.new_id("V")
    return View(view_id, user_id, _kept(content), _new_hash(workspace), view_id)


def push_view(workspace: Workspace, user_id: str, content: Json) -> View:
    """Put a new modal on top of somebody's stack."""
    stack = workspace.modals[user_id]
    view = new_view(workspace, user_id, content)
    view.previous_view_id = stack[-1].view_id
    view.root_view_id = stack[0].view_id
    stack.append(view)
    return view


def replace(view: View, content: Json) -> None:
    """Give a view new content and a new hash; what was typed in kept blocks stays."""
    view.content = _kept(content)
    view.hash = f"{view.hash.partition('.')[0]}.{secrets.token_hex(4)}"
    kept = {block["block_id"] for block in view.content["blocks"]}
    view.state = {block_id: v for block_id, v in view.state.items() if block_id in kept}


def _kept(content: Json) -> Json:
    texts = {k: with_defaults(content[k]) for k in ("title", "submit", "close") if k in content}
    return content | texts | {"blocks": as_kept(content["blocks"])}


def check_view(content: Json) -> None:
    """Refuse a view that Slack would refuse.

    Raises:
        MethodError: `view_too_large` or `invalid_arguments`.
    """
    if len(json.dumps(content).encode()) > MAX_VIEW_BYTES:
        raise MethodError("view_too_large")
    if problems := view_problems(content):
        raise invalid_arguments(*problems)


def _content(call: Call, kind: str) -> Json:
    content = call.arguments.mapping("view", "invalid_arguments")
    if content is None:
        raise invalid_arguments("missing required field: view")
    check_view(content)
    if content.get("type") != kind:
        raise invalid_arguments(f"view must be of type `{kind}`")
    return content


def _find(call: Call) -> View | None:
    if view_id := call.arguments.text("view_id"):
        return call.workspace.find_view(view_id)
    external_id = call.arguments.required("external_id", "invalid_arguments")
    stacks = [*call.workspace.modals.values(), list(call.workspace.homes.values())]
    views = [view for stack in stacks for view in stack]
    return next((v for v in views if v.content.get("external_id") == external_id), None)


def _check_hash(call: Call, view: View | None) -> None:
    given = call.arguments.text("hash")
    if given and view is not None and given != view.hash:
        raise MethodError("hash_conflict")


def _trigger_id(call: Call) -> str:
    trigger_id = call.arguments.text("trigger_id")
    if not trigger_id:
        raise invalid_arguments("missing required field: trigger_id")
    return trigger_id


def _new_hash(workspace: Workspace) -> str:
    return f"{int(workspace.world.clock.now())}.{secrets.token_hex(4)}"


def _answer(call: Call, view: View) -> Json:
    call.slack.world.changes.publish(
        "view", team_id=call.workspace.team_id, user_id=view.user_id, view_id=view.view_id
    )
    return {"view": view_json(call.workspace, view)}
