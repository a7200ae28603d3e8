"""The workspaces that installed the app: their tokens, encrypted, kept fresh, and deleted."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from slack_bolt.error import BoltError
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.installation_store.sqlalchemy import SQLAlchemyInstallationStore
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from bot.encryption import TokenVault
from bot.errors import JobStoreError, WorkspaceUnavailable
from bot.slack.connection.library_log import library_log
from bot.slack.connection.reaching import UNREACHABLE
from bot.slack.connection.workspaces import Workspace
from bot.store.engine import READ_ONLY
from bot.store.leases import Leases

log = logging.getLogger(__name__)

REFRESH_BEFORE_MIN = 120
"""Minutes before its end from which a token is exchanged; tokens last 12 h."""
LEASE_S = 60.0
"""Longer than an exchange takes, which Slack's client gives up after 30 s."""
WAIT_S = 15.0
"""How long somebody waits for another process to exchange an expired token."""
SAVE_TRIES = 5


class NotAllowedError(BoltError):
    """The workspace is not one of ALLOWED_WORKSPACES."""


class Installations(AsyncInstallationStore):
    """Knows the workspaces that have the app, as `Workspaces` and as Bolt's installation store.

    Only bot tokens are kept; who installed the app is not.

    Args:
        engine: A migrated database.
        client_id: Of the app.
        client_secret: Of the app; exchanges tokens.
        vault: Seals tokens.
        allowed: Ids of the workspaces that are served.
        client: Calls Slack, without retry handlers: a token is exchanged once.
        now: Clock in seconds since the epoch.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        client_id: str,
        client_secret: str,
        vault: TokenVault,
        allowed: frozenset[str],
        client: AsyncWebClient,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._reading = _EncryptedBots(client_id, engine.execution_options(**READ_ONLY), vault)
        self._writing = _EncryptedBots(client_id, engine, vault)
        self._allowed = allowed
        self._client = client
        self._rotator = AsyncTokenRotator(
            client_id=client_id, client_secret=client_secret, client=client
        )
        self._leases = Leases(engine, now=now)
        # Of its own: what Slack sends must not wait behind other work in threads.
        self._finding = ThreadPoolExecutor(1, thread_name_prefix="installations")
        self._refreshing = asyncio.Lock()
        self._now = now

    async def open(self) -> None:
        """Do nothing: workspaces come and go."""

    def close(self) -> None:
        """Let go of the thread."""
        self._finding.shutdown()

    async def get(self, team_id: str) -> Workspace | None:
        """Return a workspace with a token that lasts, None when it is not served.

        Raises:
            JobStoreError: If the database cannot be used now.
            VaultError: If its token cannot be opened.
            WorkspaceUnavailable: If its token has expired, and cannot be exchanged now.
        """
        if team_id not in self._allowed:
            return None
        bot = await self._find(team_id)
        if bot is not None and self._is_due(bot):
            # Not to be cut short: Slack takes a refresh token once.
            bot = await asyncio.shield(self._refresh(team_id))
        if bot is None:
            return None
        return Workspace(team_id, bot.bot_id, bot.bot_user_id, bot.bot_token)

    async def async_save(self, installation: Installation) -> None:
        """Keep a new installation (called by Bolt).

        Raises:
            NotAllowedError: If the workspace is not served; its token is revoked.
            JobStoreError: If the database cannot be used now.
        """
        team_id = installation.team_id
        if installation.is_enterprise_install or team_id not in self._allowed:
            log.error("installation refused: not in ALLOWED_WORKSPACES", extra={"team_id": team_id})
            if installation.bot_token:
                await self._client.auth_revoke(token=installation.bot_token)
            raise NotAllowedError(f"{team_id} is not in ALLOWED_WORKSPACES")
        await asyncio.to_thread(self._writing.replace, installation.to_bot())
        log.info("installed", extra={"team_id": team_id})

    async def installed_at(self, team_id: str) -> float | None:
        """Return when a workspace installed the app last, None where it did not.

        Also where its token can be opened by no key any more: it may have gone, and be forgotten.

        Raises:
            JobStoreError: If the database cannot be used now.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._finding, self._reading.installed_at, team_id)

    async def has_token(self, team_id: str) -> bool:
        """Say whether there is a token of a workspace (raises as `get`)."""
        return await self._find(team_id) is not None

    async def remove(self, team_id: str) -> None:
        """Forget the token of a workspace.

        Raises:
            JobStoreError: If the database cannot be used now.
        """
        await asyncio.to_thread(self._writing.remove, team_id)

    async def _find(self, team_id: str) -> Bot | None:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._finding, self._reading.find, team_id)

    def _is_due(self, bot: Bot) -> bool:
        return self._ends_within(bot, REFRESH_BEFORE_MIN * 60)

    def _ends_within(self, bot: Bot, seconds: float) -> bool:
        ends_at = bot.bot_token_expires_at
        return ends_at is not None and ends_at <= self._now() + seconds

    async def _refresh(self, team_id: str) -> Bot | None:
        """Exchange a token, unless somebody else does or did."""
        lease = f"token:{team_id}"
        give_up_at = self._now() + WAIT_S
        async with self._refreshing:
            while not await asyncio.to_thread(self._leases.take, lease, ttl_s=LEASE_S):
                bot = await self._find(team_id)
                if bot is None or not self._ends_within(bot, 0):
                    return bot  # good enough until the other one is done
                if self._now() > give_up_at:
                    raise WorkspaceUnavailable("the token has expired, and is being exchanged")
                await asyncio.sleep(0.2)
            try:
                bot = await self._find(team_id)
                return bot if bot is None or not self._is_due(bot) else await self._exchange(bot)
            finally:
                await asyncio.to_thread(self._leases.give_back, lease)

    async def _exchange(self, bot: Bot) -> Bot:
        try:
            fresh = await self._rotator.perform_bot_token_rotation(
                bot=bot, minutes_before_expiration=REFRESH_BEFORE_MIN
            )
        except (SlackTokenRotationError, *UNREACHABLE) as error:
            log.error(
                "a token was not exchanged; when this goes on, the app must be installed again",
                extra={"team_id": bot.team_id, "reason": _reason(error)},
            )
            if self._ends_within(bot, 0):
                raise WorkspaceUnavailable(
                    "the token has expired, and could not be exchanged"
                ) from error
            return bot
        if fresh is None:
            return bot
        await self._save(fresh)
        log.info("token exchanged", extra={"team_id": bot.team_id})
        return fresh

    async def _save(self, fresh: Bot) -> None:
        """Keep a fresh token, patiently: the old refresh token is used up."""
        for _ in range(SAVE_TRIES - 1):
            try:
                await asyncio.to_thread(self._writing.replace, fresh)
            except JobStoreError as error:
                log.warning("%s; a fresh token is not kept yet", error)
                await asyncio.sleep(1)
            else:
                return
        await asyncio.to_thread(self._writing.replace, fresh)


class _EncryptedBots(SQLAlchemyInstallationStore):
    """slack_sdk's table of bot tokens, with the tokens sealed."""

    def __init__(self, client_id: str, engine: Engine, vault: TokenVault) -> None:
        super().__init__(client_id, engine, logger=library_log())
        self._vault = vault

    def installed_at(self, team_id: str) -> float | None:
        """Return when a workspace installed the app last."""
        bot = self._sealed(team_id)
        return None if bot is None else bot.installed_at

    def find(self, team_id: str) -> Bot | None:
        """Return the bot of a workspace with its tokens opened."""
        bot = self._sealed(team_id)
        if bot is None:
            return None
        bot.bot_token = self._vault.open(bot.bot_token)
        if bot.bot_refresh_token:
            bot.bot_refresh_token = self._vault.open(bot.bot_refresh_token)
        return bot

    def _sealed(self, team_id: str) -> Bot | None:
        with _translated():
            return self.find_bot(enterprise_id=None, team_id=team_id)

    def replace(self, bot: Bot) -> None:
        """Keep this bot of its workspace, and no older one."""
        sealed = Bot(**bot.to_dict_for_copying())
        # Workspace ids are unique by themselves, and jobs know no more than those.
        sealed.enterprise_id = None
        sealed.bot_token = self._vault.seal(bot.bot_token)
        if bot.bot_refresh_token:
            sealed.bot_refresh_token = self._vault.seal(bot.bot_refresh_token)
        with _translated():
            self.save_bot(sealed)
            older = self.bots.c.installed_at < sealed.to_dict()["installed_at"].replace(tzinfo=None)
            with self.engine.begin() as connection:
                connection.execute(
                    self.bots.delete().where(self.bots.c.team_id == bot.team_id, older)
                )

    def remove(self, team_id: str) -> None:
        """Forget a workspace."""
        with _translated():
            self.delete_bot(enterprise_id=None, team_id=team_id)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise JobStoreError(f"cannot use the installations: {type(error).__name__}") from error


def _reason(error: Exception) -> str:
    """Return Slack's error code, or what went wrong; never the request, which holds secrets."""
    cause = getattr(error, "api_error", None)
    response = getattr(cause, "response", None)
    return str(response["error"]) if response is not None else type(error).__name__
