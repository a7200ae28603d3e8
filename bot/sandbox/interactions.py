"""Commands, presses, shortcuts and modals: their payloads, trigger ids and response addresses."""

from __future__ import annotations

import secrets
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


def find_action(blocks: list[Json], action_id: str, value: Any = None) -> tuple[Json, Json]:
    """Find the block and the element that a person presses.

    Raises:
        LookupError: If no element has this action id.
    """
    for block in blocks:
        accessory = block.get("accessory")
        elements = [*block.get("elements", ()), *([accessory] if accessory else ())]
        for element in elements:
            if element.get("action_id") == action_id and value in (None, *_values(element)):
                return block, element
    raise LookupError(f"no element with action id {action_id!r} and value {value!r}")


def _values(element: Json) -> list[Any]:
    buttons = (element.get("positive_button"), element.get("negative_button"))
    options = [o.get("value") for o in element.get("options", ())]
    return [element.get("value"), *options, *(b.get("value") for b in buttons if b)]


def pressed(block: Json, element: Json, value: Any, action_ts: str) -> Json:
    """Return the `actions[0]` of pressing an element, or choosing `value` in it."""
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
    if options := element.get("options"):
        chosen = next(o for o in options if value in (None, o.get("value")))
        return action | {"selected_option": chosen}
    if "text" in element:
        action["text"] = element["text"]
    if "value" in element:
        action["value"] = element["value"]
    return action
