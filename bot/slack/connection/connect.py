"""How the app is connected to Slack: the way in, and the workspaces it serves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from sqlalchemy import Engine
from starlette.routing import BaseRoute

from bot.encryption import TokenVault
from bot.metrics import Metrics
from bot.settings import BotSettings
from bot.slack.connection.http_mode import HttpReceiver
from bot.slack.connection.installations import Installations
from bot.slack.connection.library_log import library_log
from bot.slack.connection.oauth import oauth_routes
from bot.slack.connection.scopes import REQUIRED_SCOPES
from bot.slack.connection.socket_mode import SocketModeReceiver
from bot.slack.connection.uninstalling import Uninstalling
from bot.slack.connection.web_client import SlackClient
from bot.slack.connection.workspaces import OneWorkspace, Workspace, Workspaces, enter
from bot.store.forgetting import forget_workspace
from ingest import ConfigurationError


class Receiver(Protocol):
    """How what happens in Slack reaches the app: `SocketModeReceiver` or `HttpReceiver`."""

    @property
    def signing_secret(self) -> str:
        """Return what requests are signed with; "" where they cannot come from anybody else."""
        ...

    @property
    def routes(self) -> list[BaseRoute]:
        """Return what the web server must serve for it."""
        ...

    async def start(self, bolt: AsyncApp) -> None:
        """Begin to receive.

        Raises:
            ConfigurationError: If Slack refuses a token.
        """
        ...

    async def is_receiving(self) -> bool:
        """Say whether what happens in Slack would reach us now."""
        ...

    async def stop(self) -> None:
        """Receive no more."""
        ...


@dataclass(frozen=True, slots=True)
class Connection:
    """The parts.

    Attributes:
        receiver: The way in.
        workspaces: Who is served.
        uninstalling: Listens for the end of installations, where workspaces install the app by
            themselves.
        routes: What the web server must serve for all of it.
    """

    receiver: Receiver
    workspaces: Workspaces
    uninstalling: Uninstalling | None = None
    routes: tuple[BaseRoute, ...] = ()

    @property
    def shared(self) -> bool:
        """Say whether several workspaces share the handbook."""
        return self.uninstalling is not None

    async def enter(self, team_id: str) -> Workspace | None:
        """Act in a workspace from here on; returns None where we do not serve.

        Raises:
            BotError: If that cannot be told now.
        """
        workspace = await self.workspaces.get(team_id)
        if workspace is not None:
            enter(workspace)
        return workspace


def connect(settings: BotSettings, engine: Engine, metrics: Metrics) -> Connection:
    """Put the parts together, as the settings say; nothing is opened yet.

    Raises:
        ConfigurationError: If a setting is missing or wrong.
    """
    client = SlackClient(
        metrics, base_url=settings.slack_api_url, logger=library_log(), retry_handlers=[]
    )
    if settings.slack_mode == "http" and settings.slack_client_id:
        return _several(settings, engine, _http_receiver(settings), client)
    bot_token = required(settings.slack_bot_token, "SLACK_BOT_TOKEN", "xoxb-")
    if settings.slack_mode == "http":
        receiver: Receiver = _http_receiver(settings)
    else:
        app_token = required(settings.slack_app_token, "SLACK_APP_TOKEN", "xapp-")
        receiver = SocketModeReceiver(app_token)
    return Connection(receiver, OneWorkspace(client, bot_token), routes=tuple(receiver.routes))


def _http_receiver(settings: BotSettings) -> HttpReceiver:
    return HttpReceiver(required(settings.slack_signing_secret, "SLACK_SIGNING_SECRET"))


def _several(
    settings: BotSettings, engine: Engine, receiver: Receiver, client: SlackClient
) -> Connection:
    if settings.slack_bot_token is not None:
        raise ConfigurationError(
            "set SLACK_BOT_TOKEN (one workspace) or SLACK_CLIENT_ID (workspaces install the app),"
            " not both"
        )
    if not settings.public_url.startswith(("https://", "http://")):
        raise ConfigurationError("PUBLIC_URL is missing: it looks like https://manuel.your.company")
    if not settings.workspace_ids:
        raise ConfigurationError(
            "ALLOWED_WORKSPACES is missing: the ids (T…) of the workspaces that may read the"
            " handbook, separated by commas"
        )
    client_secret = required(settings.slack_client_secret, "SLACK_CLIENT_SECRET")
    installations = Installations(
        engine,
        client_id=settings.slack_client_id,
        client_secret=client_secret,
        vault=TokenVault(settings.encryption_keys),
        allowed=settings.workspace_ids,
        client=client,
    )
    pages = oauth_routes(
        installations,
        engine,
        client_id=settings.slack_client_id,
        client_secret=client_secret,
        scopes=sorted(REQUIRED_SCOPES),
        public_url=settings.public_url,
        api_url=settings.slack_api_url,
        client=client,
    )
    uninstalling = Uninstalling(installations, partial(forget_workspace, engine))
    return Connection(receiver, installations, uninstalling, (*receiver.routes, *pages))


def required(secret: SecretStr | None, name: str, prefix: str = "") -> str:
    """Return a secret.

    Raises:
        ConfigurationError: If it is not set, or does not start with `prefix`.
    """
    value = secret.get_secret_value().strip() if secret else ""
    if not value or not value.startswith(prefix):
        expected = f": it starts with {prefix}" if prefix else ""
        raise ConfigurationError(f"{name} is missing or wrong{expected}")
    return value
