"""What `manuel doctor` asks Slack: are the tokens good, and do they carry the scopes we use?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError

from bot.errors import JobStoreError
from bot.metrics import Metrics
from bot.settings import BotSettings
from bot.slack.connection.connect import connect
from bot.slack.connection.installations import Installations
from bot.slack.connection.oauth import INSTALL_PATH
from bot.slack.connection.scopes import REQUIRED_SCOPES
from bot.slack.connection.workspaces import Workspaces
from bot.store import open_engine


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found; `ok` is False when `remedy` must be followed before `manuel serve` works."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


def diagnose(settings: BotSettings) -> Iterator[Finding]:
    """Check the bot token with its scopes against Slack itself, then what the mode needs.

    Where workspaces install the app by themselves: which of them have.

    Raises:
        ConfigurationError: If a setting for that is missing or wrong.
    """
    if settings.slack_mode == "http" and settings.slack_client_id:
        yield _installations(settings)
        return
    yield _bot_token(settings)
    yield _signing_secret(settings) if settings.slack_mode == "http" else _app_token(settings)
    if settings.slack_bot_token is not None:
        token = settings.slack_bot_token.get_secret_value()
        for group_id in sorted(settings.admin_group_ids):
            yield _admin_group(settings, token, group_id)
        if settings.owners_channel:
            yield _owners_channel(settings, token)


def _bot_token(settings: BotSettings) -> Finding:
    name = "slack bot token"
    if settings.slack_bot_token is None:
        return Finding(
            name, False, "SLACK_BOT_TOKEN is not set", "copy it from the app's OAuth page"
        )
    client = _client(settings)
    try:
        answer = client.auth_test(token=settings.slack_bot_token.get_secret_value())
    except (SlackClientError, OSError) as error:
        return Finding(name, False, _words(error), "copy SLACK_BOT_TOKEN (xoxb-…) again")
    headers = {key.lower(): value for key, value in answer.headers.items()}
    granted = {scope.strip() for scope in str(headers.get("x-oauth-scopes", "")).split(",")}
    missing = sorted(REQUIRED_SCOPES - granted)
    if missing:
        remedy = "update the app from deploy/manifest.socket-mode.json, then reinstall it"
        return Finding(name, False, f"scopes missing: {', '.join(missing)}", remedy)
    return Finding(name, True, f"{answer.get('user')} in {answer.get('team')}")


def _app_token(settings: BotSettings) -> Finding:
    name = "slack app token"
    if settings.slack_app_token is None:
        remedy = "create an app-level token with connections:write"
        return Finding(name, False, "SLACK_APP_TOKEN is not set", remedy)
    token = settings.slack_app_token.get_secret_value()
    try:
        _client(settings).apps_connections_open(app_token=token)
    except (SlackClientError, OSError) as error:
        remedy = "copy SLACK_APP_TOKEN (xapp-…) again; it needs connections:write"
        return Finding(name, False, _words(error), remedy)
    return Finding(name, True, "Socket Mode connections can be opened")


def _admin_group(settings: BotSettings, token: str, group_id: str) -> Finding:
    name = f"slack admin group {group_id}"
    try:
        answer = _client(settings).usergroups_users_list(token=token, usergroup=group_id)
    except (SlackClientError, OSError) as error:
        remedy = "copy the id of the user group (S…) into ADMIN_USER_GROUPS again"
        return Finding(name, False, _words(error), remedy)
    return Finding(name, True, f"{len(answer['users'])} admins")


def _owners_channel(settings: BotSettings, token: str) -> Finding:
    name, channel_id = "slack owners channel", settings.owners_channel
    remedy = f"invite the app to {channel_id}, or set OWNERS_CHANNEL to the id of another channel"
    try:
        answer = _client(settings).conversations_info(token=token, channel=channel_id)
    except (SlackClientError, OSError) as error:
        return Finding(name, False, _words(error), remedy)
    channel = answer["channel"]
    if not channel.get("is_member"):
        return Finding(name, False, "the app is not in it", remedy)
    return Finding(name, True, f"#{channel.get('name')}")


def _signing_secret(settings: BotSettings) -> Finding:
    name = "slack signing secret"
    if settings.slack_signing_secret is None:
        remedy = "copy it from the app's Basic Information page"
        return Finding(name, False, "SLACK_SIGNING_SECRET is not set", remedy)
    # Only a request of Slack's could tell whether it is the right one.
    return Finding(name, True, "set; Slack's requests will tell whether it is the right one")


def _installations(settings: BotSettings) -> Finding:
    name = "slack installations"
    engine = open_engine(settings.database_url)
    workspaces = connect(settings, engine, Metrics()).workspaces
    try:
        having = [t for t in sorted(settings.workspace_ids) if _has_app(workspaces, t)]
    except JobStoreError:
        having = []  # before the first start there are no tables
    finally:
        workspaces.close()
        engine.dispose()
    detail = f"{len(having)} of {len(settings.workspace_ids)} workspaces have the app"
    remedy = f"an admin of each opens {settings.public_url.rstrip('/')}{INSTALL_PATH}"
    return Finding(name, bool(having), detail, "" if having else remedy)


def _has_app(workspaces: Workspaces, team_id: str) -> bool:
    return isinstance(workspaces, Installations) and asyncio.run(workspaces.has_token(team_id))


def _client(settings: BotSettings) -> WebClient:
    return WebClient(base_url=settings.slack_api_url, timeout=10)


def _words(error: Exception) -> str:
    """Say what Slack answered without repeating the request, which holds the token."""
    if isinstance(error, SlackApiError):
        return f"Slack answered {error.response.get('error', 'an error')}"
    return f"Slack cannot be reached ({type(error).__name__})"
