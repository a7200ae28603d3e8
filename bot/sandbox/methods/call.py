"""One call of a method: who calls, with what, and the parts of Slack it may touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.sandbox.arguments import Arguments, MethodError
from bot.sandbox.workspace import Channel, Message, Workspace, World

if TYPE_CHECKING:
    from bot.sandbox.events import EventFeed
    from bot.sandbox.interactions import Interactions
    from bot.sandbox.socket_mode import SocketMode


@dataclass(frozen=True, slots=True)
class Slack:
    """The parts of the stand-in that methods work with."""

    world: World
    feed: EventFeed
    interactions: Interactions
    socket_mode: SocketMode


@dataclass(frozen=True, slots=True)
class Call:
    """An authorised call."""

    slack: Slack
    workspace: Workspace
    arguments: Arguments

    def channel(self, name: str = "channel", *, must_be_in: bool = False) -> Channel:
        """Return the conversation an argument names.

        Args:
            name: The argument.
            must_be_in: Refuse where the app is not a member.

        Raises:
            MethodError: `channel_not_found`, or `not_in_channel` when `must_be_in`.
        """
        channel = self.workspace.channels.get(self.arguments.text(name))
        if channel is None:
            raise MethodError("channel_not_found")
        is_member = self.workspace.bot.user_id in channel.members
        if not is_member and channel.kind.value != "channel":
            raise MethodError("channel_not_found")
        if not is_member and must_be_in:
            raise MethodError("not_in_channel")
        return channel

    def message(self, channel: Channel, name: str, error: str = "message_not_found") -> Message:
        """Return the message of a channel whose time stamp an argument gives.

        Raises:
            MethodError: With `error`, when there is none.
        """
        message = channel.messages.get(self.arguments.text(name))
        if message is None:
            raise MethodError(error)
        return message

    def is_own(self, message: Message) -> bool:
        """Say whether the calling app posted a message."""
        return message.bot is not None and message.bot.app_id == self.slack.world.app_id
