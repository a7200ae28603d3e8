"""Socket Mode: the app opens a connection to Slack, and hears from it there."""

from __future__ import annotations

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from starlette.routing import BaseRoute

from bot.slack.connection.library_log import library_log
from bot.slack.connection.reaching import until_reachable

PING_EVERY_S = 5.0
"""Also how long a connection that broke without a word goes unnoticed."""


class SocketModeReceiver:
    """Receives over one connection, which the library opens again when it breaks.

    Args:
        app_token: App-level token with `connections:write`.
    """

    signing_secret = ""
    """Nothing is signed: the connection was opened with the app-level token."""

    def __init__(self, app_token: str) -> None:
        self._app_token = app_token
        self._handler: AsyncSocketModeHandler | None = None

    @property
    def routes(self) -> list[BaseRoute]:
        """Return nothing: Slack does not come to us."""
        return []

    async def start(self, bolt: AsyncApp) -> None:
        """Connect; waits while Slack cannot be reached.

        Raises:
            ConfigurationError: If Slack refuses the app-level token.
        """
        handler = AsyncSocketModeHandler(
            bolt, self._app_token, logger=library_log(), ping_interval=PING_EVERY_S
        )
        self._handler = handler
        # Asked for here because the library would ask for ever, whatever Slack answers.
        handler.client.wss_uri = await until_reachable(
            handler.client.issue_new_wss_url, "SLACK_APP_TOKEN"
        )
        await handler.connect_async()  # type: ignore[no-untyped-call] # Bolt's

    async def is_receiving(self) -> bool:
        """Say whether the connection stands."""
        return self._handler is not None and await self._handler.client.is_connected()

    async def stop(self) -> None:
        """Close the connection."""
        if self._handler is not None:
            await self._handler.close_async()  # type: ignore[no-untyped-call] # Bolt's
