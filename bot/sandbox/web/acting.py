"""What a person does in the page, done with the hands of the stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import Delivery
from bot.sandbox.workspace import Json, Message

SETTLED_S = 20.0
"""Longest wait for the app's acknowledgement; Slack itself gives up after three seconds."""


class Acting:
    """Carries out what the page asks for, always as one person.

    Every method takes the id of the person and the request's fields, and may raise LookupError
    or ValueError: then nothing was done.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def act(self, name: str, fields: Mapping[str, Any]) -> Json:
        """Do one thing.

        Args:
            name: One of `ACTIONS`.
            fields: `as` (a user id) and what the action needs.

        Returns:
            `state` of the delivery to the app, where the action waits for its acknowledgement.

        Raises:
            LookupError: If the action, the person or what it is about does not exist.
            ValueError: If the person may not do that.
        """
        if name not in ACTIONS:
            raise LookupError(f"unknown action {name}")
        delivery = ACTIONS[name](self, str(fields["as"]), fields)
        if not isinstance(delivery, Delivery):
            return {}
        try:
            await delivery.settled(SETTLED_S)
        except TimeoutError:
            return {"state": "pending"}
        return {"state": delivery.state.value}

    def _say(self, user: str, fields: Mapping[str, Any]) -> None:
        channel = self._place(user, fields)
        text = str(fields["text"])
        self._sandbox.say(
            user,
            channel,
            text,
            fields.get("thread_ts"),
            looking_at=fields.get("looking_at"),
            broadcast=bool(fields.get("broadcast")),
        )

    def _slash(self, user: str, fields: Mapping[str, Any]) -> Delivery:
        channel = self._place(user, fields)
        return self._sandbox.slash(user, channel, str(fields["command"]), str(fields["text"]))

    def _press(self, user: str, fields: Mapping[str, Any]) -> Delivery:
        state = fields.get("state") or {}
        action_id, value = str(fields["action_id"]), fields.get("value")
        if not fields.get("ts"):
            return self._sandbox.click_in_view(user, action_id, value, state=state)
        message = self._message(user, fields)
        return self._sandbox.click(user, message, action_id, value, state=state)

    def _submit(self, user: str, fields: Mapping[str, Any]) -> Delivery:
        return self._sandbox.submit(user, fields.get("state") or {})

    def _close_modal(self, user: str, _: Mapping[str, Any]) -> Delivery | None:
        return self._sandbox.close_modal(user)

    def _shortcut(self, user: str, fields: Mapping[str, Any]) -> Delivery:
        message = self._message(user, fields)
        return self._sandbox.shortcut(user, message, str(fields["callback_id"]))

    def _open_home(self, user: str, fields: Mapping[str, Any]) -> None:
        self._sandbox.open_home(user, str(fields["tab"]), entities=fields.get("looking_at"))

    def _stop(self, user: str, fields: Mapping[str, Any]) -> None:
        self._sandbox.press_stop(user, self._message(user, fields))

    def _edit(self, user: str, fields: Mapping[str, Any]) -> None:
        self._sandbox.edit(self._own(user, fields), str(fields["text"]))

    def _delete(self, user: str, fields: Mapping[str, Any]) -> None:
        self._sandbox.delete(self._own(user, fields))

    def _react(self, user: str, fields: Mapping[str, Any]) -> None:
        message, reaction = self._message(user, fields), str(fields["reaction"])
        person = self._sandbox.workspace().user(user)
        if person.user_id not in message.reactions.get(reaction, ()):
            self._sandbox.react(user, message, reaction)

    def _invite(self, user: str, fields: Mapping[str, Any]) -> None:
        self._sandbox.join(self._sandbox.bot_id, self._place(user, fields))

    def _place(self, user: str, fields: Mapping[str, Any]) -> str:
        """Return the id of a conversation that the person is in."""
        channel = self._sandbox.workspace().channel(str(fields["channel"]))
        if self._sandbox.workspace().user(user).user_id not in channel.members:
            raise ValueError("not in this conversation")
        return channel.channel_id

    def _message(self, user: str, fields: Mapping[str, Any]) -> Message:
        """Return a message that the person sees."""
        found = self._sandbox.workspace().find_message(self._place(user, fields), str(fields["ts"]))
        if found is None or found.visible_to not in (None, user):
            raise LookupError("there is no such message any more")
        return found

    def _own(self, user: str, fields: Mapping[str, Any]) -> Message:
        message = self._message(user, fields)
        if message.user_id != user:
            raise ValueError("only its author may do that")
        return message


ACTIONS = {
    "close_modal": Acting._close_modal,
    "delete": Acting._delete,
    "edit": Acting._edit,
    "invite": Acting._invite,
    "open_home": Acting._open_home,
    "press": Acting._press,
    "react": Acting._react,
    "say": Acting._say,
    "shortcut": Acting._shortcut,
    "slash": Acting._slash,
    "stop": Acting._stop,
    "submit": Acting._submit,
}
"""Everything a person can do: `POST api/act/<name>`."""
