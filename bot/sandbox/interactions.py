"""Commands, presses, shortcuts and modals: their payloads, trigger ids and response addresses."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.sandbox.arguments import MethodError
from bot.sandbox.payloads import message_json, view_json
from bot.sandbox.workspace import Channel, Json, Message, User, View, Workspace, World

TRIGGER_LIFETIME_S = 3.0
RESPONSE_URL_LIFETIME_S = 30 * 60.0
RESPONSE_URL_USES = 5
"""Sources of the three: the handling-user-interaction page."""


@dataclass(slots=True)
class Trigger:
    """The right to open one modal for one person, for a short time."""

    team_id: str
    user_id: str
    made_at: float
    view_id: str | None = None
    used: bool = False


@dataclass(frozen=True, slots=True)
class ResponsePost:
    """Something posted to a response address, and how it went."""

    at: float
    channel_id: str
    user_id: str
    content: Json
    error: str
    """Empty when it was taken."""


@dataclass(slots=True)
class ResponseUrl:
    """The right to answer one interaction a few times."""

    token: str
    team_id: str
    channel_id: str
    user_id: str
    made_at: float
    origin_ts: str | None = None
    """Message the interaction came from; None for a command."""
    uses: int = 0


class Interactions:
    """Makes interaction payloads and remembers the rights given in them."""

    def __init__(self, world: World) -> None:
        self.base_url = ""
        """Scheme and host of the stand-in, set when it starts."""
        self.posts: list[ResponsePost] = []
        """Everything posted to a response address that exists, oldest first."""
        self._world = world
        self._triggers: dict[str, Trigger] = {}
        self._response_urls: dict[str, ResponseUrl] = {}

    # Rights

    def new_trigger(self, workspace: Workspace, user_id: str, view_id: str | None = None) -> str:
        """Return a trigger id, valid once for 3 s."""
        trigger_id = f"{len(self._triggers) + 1}.{workspace.team_id}.{secrets.token_hex(8)}"
        self._triggers[trigger_id] = Trigger(
            workspace.team_id, user_id, self._world.clock.now(), view_id
        )
        return trigger_id

    def exchange(self, workspace: Workspace, trigger_id: str) -> Trigger:
        """Use a trigger id.

        Raises:
            MethodError: `invalid_trigger_id`, `expired_trigger_id` or `exchanged_trigger_id`.
        """
        trigger = self._triggers.get(trigger_id)
        if trigger is None or trigger.team_id != workspace.team_id:
            raise MethodError("invalid_trigger_id")
        if trigger.used:
            raise MethodError("exchanged_trigger_id")
        if self._world.clock.now() - trigger.made_at > TRIGGER_LIFETIME_S:
            raise MethodError("expired_trigger_id")
        trigger.used = True
        return trigger

    def new_response_url(
        self, kind: str, workspace: Workspace, channel: Channel, user_id: str, origin_ts: str | None
    ) -> str:
        """Return an address that takes 5 answers within 30 minutes."""
        token = secrets.token_hex(12)
        self._response_urls[token] = ResponseUrl(
            token,
            workspace.team_id,
            channel.channel_id,
            user_id,
            self._world.clock.now(),
            origin_ts,
        )
        return f"{self.base_url}/{kind}/{workspace.team_id}/{token}"

    def use_response_url(self, token: str) -> ResponseUrl:
        """Count one answer to a response address.

        Raises:
            MethodError: `expired_url` or `used_url`; both are answered as HTTP 404.
        """
        url = self._response_urls.get(token)
        if url is None or self._world.clock.now() - url.made_at > RESPONSE_URL_LIFETIME_S:
            raise MethodError("expired_url")
        if url.uses >= RESPONSE_URL_USES:
            raise MethodError("used_url")
        url.uses += 1
        return url

    # Payloads

    def slash_command(
        self, workspace: Workspace, channel: Channel, user: User, command: str, text: str
    ) -> Json:
        """Return the payload of a slash command."""
        return {
            "token": "sandbox-verification-token",
            "team_id": workspace.team_id,
            "team_domain": workspace.domain,
            "channel_id": channel.channel_id,
            "channel_name": channel_name(channel),
            "user_id": user.user_id,
            "user_name": user.name,
            "command": command,
            "text": text,
            "api_app_id": self._world.app_id,
            "is_enterprise_install": "false",
            "response_url": self.new_response_url(
                "commands", workspace, channel, user.user_id, None
            ),
            "trigger_id": self.new_trigger(workspace, user.user_id),
        }

    def block_actions_in_message(
        self, workspace: Workspace, message: Message, user: User, action: Json, state: Json
    ) -> Json:
        """Return the payload of a press in a message; an ephemeral one carries no message."""
        channel = workspace.channels[message.channel_id]
        container: Json = {
            "type": "message",
            "message_ts": message.ts,
            "channel_id": message.channel_id,
            "is_ephemeral": message.visible_to is not None,
        }
        if message.thread_ts and message.thread_ts != message.ts:
            container["thread_ts"] = message.thread_ts
        payload = self._interaction("block_actions", workspace, user) | {
            "container": container,
            "trigger_id": self.new_trigger(workspace, user.user_id),
            "channel": {"id": channel.channel_id, "name": channel_name(channel)},
            "state": {"values": state},
            "response_url": self.new_response_url(
                "actions", workspace, channel, user.user_id, message.ts
            ),
            "actions": [action],
        }
        if message.visible_to is None:
            payload["message"] = message_json(workspace, message)
        return payload

    def block_actions_in_view(
        self, workspace: Workspace, view: View, user: User, action: Json
    ) -> Json:
        """Return the payload of a press in a modal or the Home tab: no channel, no response URL."""
        return self._interaction("block_actions", workspace, user) | {
            "container": {"type": "view", "view_id": view.view_id},
            "trigger_id": self.new_trigger(workspace, user.user_id, view.view_id),
            "state": {"values": view.state},
            "view": view_json(workspace, view),
            "actions": [action],
        }

    def view_submission(self, workspace: Workspace, view: View, user: User) -> Json:
        """Return the payload of a modal's submission."""
        return self._interaction("view_submission", workspace, user) | {
            "trigger_id": self.new_trigger(workspace, user.user_id, view.view_id),
            "view": view_json(workspace, view),
            "response_urls": [],
        }

    def view_closed(
        self, workspace: Workspace, view: View, user: User, *, is_cleared: bool
    ) -> Json:
        """Return the payload of a modal closed by the person."""
        return self._interaction("view_closed", workspace, user) | {
            "view": view_json(workspace, view),
            "is_cleared": is_cleared,
            "response_urls": [],
        }

    def message_shortcut(
        self, workspace: Workspace, message: Message, user: User, callback_id: str
    ) -> Json:
        """Return the payload of a shortcut used on a message."""
        channel = workspace.channels[message.channel_id]
        return {
            "type": "message_action",
            "token": "sandbox-verification-token",
            "team": {"id": workspace.team_id, "domain": workspace.domain},
            "enterprise": None,
            "is_enterprise_install": False,
            "callback_id": callback_id,
            "user": {"id": user.user_id, "name": user.name},
            "action_ts": workspace.new_ts(),
            "trigger_id": self.new_trigger(workspace, user.user_id),
            "channel": {"id": channel.channel_id, "name": channel_name(channel)},
            "message_ts": message.ts,
            "message": message_json(workspace, message),
            "response_url": self.new_response_url(
                "app", workspace, channel, user.user_id, message.ts
            ),
        }

    def _interaction(self, kind: str, workspace: Workspace, user: User) -> Json:
        return {
            "type": kind,
            "user": {
                "id": user.user_id,
                "username": user.name,
                "name": user.name,
                "team_id": workspace.team_id,
            },
            "api_app_id": self._world.app_id,
            "token": "sandbox-verification-token",
            "team": {"id": workspace.team_id, "domain": workspace.domain},
            "enterprise": None,
            "is_enterprise_install": False,
        }


def channel_name(channel: Channel) -> str:
    """Return the name interactions give a conversation."""
    return "directmessage" if channel.is_im else channel.name


_CHOSEN: Mapping[str, str] = {
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "datepicker": "selected_date",
    "datetimepicker": "selected_date_time",
    "multi_channels_select": "selected_channels",
    "multi_conversations_select": "selected_conversations",
    "multi_users_select": "selected_users",
    "timepicker": "selected_time",
    "users_select": "selected_user",
} | dict.fromkeys(
    ("email_text_input", "number_input", "plain_text_input", "rich_text_input", "url_text_input"),
    "value",
)
"""Key of what was chosen, for elements that do not list their options."""


def find_action(blocks: list[Json], action_id: str, value: Any = None) -> tuple[Json, Json]:
    """Find the block and the element that a person presses.

    Raises:
        LookupError: If no element has this action id.
    """
    for top in blocks:
        for block, element in _interactive(top, top):
            if element["action_id"] == action_id and _offers(element, value):
                return block, element
    raise LookupError(f"no element with action id {action_id!r} and value {value!r}")


def _interactive(block: Json, node: Any) -> Iterator[tuple[Json, Json]]:
    """Yield every element with an action id, with the block it stands in."""
    if isinstance(node, list):
        for child in node:
            yield from _interactive(block, child)
    elif isinstance(node, dict):
        if isinstance(node.get("action_id"), str):
            yield block, node
        for key, child in node.items():
            for inner in child if key == "child_blocks" else (child,):
                yield from _interactive(inner if key == "child_blocks" else block, inner)


def _offers(element: Json, value: Any) -> bool:
    if value is None or element["type"] in _CHOSEN:
        return True
    offered = _values(element)
    return all(v in offered for v in value) if isinstance(value, list) else value in offered


def _values(element: Json) -> list[Any]:
    buttons = (element.get("positive_button"), element.get("negative_button"))
    options = [o.get("value") for o in options_of(element)]
    return [element.get("value"), *options, *(b.get("value") for b in buttons if b)]


def options_of(element: Json) -> list[Json]:
    """Return the options of a select, of checkboxes and their like, those of groups included."""
    groups = [group.get("options", ()) for group in element.get("option_groups", ())]
    return [*element.get("options", ()), *itertools.chain.from_iterable(groups)]


def pressed(block: Json, element: Json, value: Any, action_ts: str) -> Json:
    """Return the `actions[0]` of pressing an element, or choosing `value` in it.

    Args:
        block: Where it stands.
        element: What is pressed.
        value: Of a button or an option; a list where several may be chosen; an id, a date or a
            text where there are no options.
        action_ts: Time stamp of the press.
    """
    kind = element["type"]
    action: Json = {
        "type": kind,
        "action_id": element["action_id"],
        "block_id": block.get("block_id", "b1"),
        "action_ts": action_ts,
    }
    if kind == "feedback_buttons":
        buttons = (element["positive_button"], element["negative_button"])
        button = next(b for b in buttons if value in (None, b.get("value")))
        return action | {"text": button["text"], "value": button.get("value", "")}
    if kind in _CHOSEN:
        return action | {_CHOSEN[kind]: value}
    if options := options_of(element):
        if isinstance(value, list):
            return action | {"selected_options": [o for o in options if o.get("value") in value]}
        chosen = next(o for o in options if value in (None, o.get("value")))
        return action | {"selected_option": chosen}
    if "text" in element:
        action["text"] = element["text"]
    if "value" in element:
        action["value"] = element["value"]
    return action
