"""In which workspace something happens, and with which token we act there.

Each request and each job enters its workspace first. What is called from there, tasks it starts
included, acts in that workspace; outside of one, nothing is called in any.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.connection.reaching import until_reachable


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace that has the app, and who we are there."""

    team_id: str
    bot_id: str
    bot_user_id: str
    bot_token: str = field(repr=False)


class Workspaces(Protocol):
    """Knows the workspaces that have the app."""

    async def open(self) -> None:
        """Get ready.

        Raises:
            ConfigurationError: If Slack refuses a token.
        """
        ...

    async def get(self, team_id: str) -> Workspace | None:
        """Return a workspace, None when it is not served.

        Raises:
            BotError: If that cannot be told now.
        """
        ...

    def close(self) -> None:
        """Let go of what was needed for that."""
        ...


_current: ContextVar[Workspace | None] = ContextVar("workspace", default=None)


def enter(workspace: Workspace) -> None:
    """Act in a workspace from here on."""
    _current.set(workspace)


def current() -> Workspace | None:
    """Return the workspace entered last, None outside of any."""
    return _current.get()


def current_team_id() -> str:
    """Return the id of the current workspace; "" outside of any."""
    workspace = current()
    return workspace.team_id if workspace else ""


def our_user_id() -> str:
    """Return the id of our bot user in the current workspace; "" outside of any."""
    workspace = current()
    return workspace.bot_user_id if workspace else ""


class OneWorkspace:
    """The workspace of a bot token that was copied from the app's settings.

    Args:
        client: Calls Slack, without a token of its own.
        bot_token: Of the workspace.
    """

    def __init__(self, client: AsyncWebClient, bot_token: str) -> None:
        self._client = client
        self._bot_token = bot_token
        self._workspace: Workspace | None = None

    async def open(self) -> None:
        """Ask Slack who we are; waits while Slack cannot be reached.

        Raises:
            ConfigurationError: If Slack refuses the token.
        """

        async def auth_test() -> Any:
            return await self._client.auth_test(token=self._bot_token)

        answer = await until_reachable(auth_test, "SLACK_BOT_TOKEN")
        self._workspace = Workspace(
            team_id=answer["team_id"],
            bot_id=answer.get("bot_id") or "",
            bot_user_id=answer["user_id"],
            bot_token=self._bot_token,
        )

    async def get(self, team_id: str) -> Workspace | None:
        """Return it, whatever workspace is named: a shared channel may name another company's."""
        return self._workspace

    def close(self) -> None:
        """Do nothing."""
