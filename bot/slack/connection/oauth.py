"""Installing the app: `/slack/install` leads to Slack, and Slack leads back with a code."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.oauth.state_store.sqlalchemy import SQLAlchemyOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import Engine
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from bot.errors import JobStoreError
from bot.slack.connection.installations import Installations, NotAllowedError
from bot.slack.connection.library_log import library_log
from bot.slack.connection.reaching import UNREACHABLE
from bot.slack.wording import INSTALLATION_FAILED, NOT_ALLOWED

log = logging.getLogger(__name__)

INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
"""deploy/build_manifests.py has it too."""
STATE_LIFETIME_S = 600
"""How long somebody may take to agree; Slack's code lasts as long."""


def oauth_routes(
    installations: Installations,
    engine: Engine,
    *,
    client_id: str,
    client_secret: str,
    scopes: Sequence[str],
    public_url: str,
    api_url: str,
    client: AsyncWebClient,
) -> list[BaseRoute]:
    """Return the two pages of an installation.

    Args:
        installations: Takes what comes out of it.
        engine: Keeps states: they tie the way back to the browser that set out.
        client_id: Of the app.
        client_secret: Of the app.
        scopes: What the app asks for.
        public_url: Under which browsers reach us.
        api_url: Slack's Web API; Slack's pages are beside it.
        client: Calls Slack.
    """
    flow = AsyncOAuthFlow(
        client=client,
        logger=library_log(),
        settings=AsyncOAuthSettings(
            client_id=client_id,
            client_secret=client_secret,
            scopes=list(scopes),
            user_scopes=[],
            redirect_uri=f"{public_url.rstrip('/')}{REDIRECT_PATH}",
            install_path=INSTALL_PATH,
            redirect_uri_path=REDIRECT_PATH,
            install_page_rendering_enabled=False,
            authorization_url=f"{api_url.rstrip('/').removesuffix('/api')}/oauth/v2/authorize",
            installation_store=installations,
            state_store=_States(engine),
            state_expiration_seconds=STATE_LIFETIME_S,
            callback_options=AsyncCallbackOptions(success=_succeed, failure=_fail),
            logger=library_log(),
        ),
    )

    async def install(request: Request) -> Response:
        return to_starlette_response(
            await flow.handle_installation(to_async_bolt_request(request, b""))
        )

    async def come_back(request: Request) -> Response:
        try:
            answer = await flow.handle_callback(to_async_bolt_request(request, b""))
        except (JobStoreError, *UNREACHABLE) as error:
            log.error("installation failed: %s", type(error).__name__)
            return PlainTextResponse(INSTALLATION_FAILED, status_code=503)
        return to_starlette_response(answer)

    return [Route(INSTALL_PATH, install), Route(REDIRECT_PATH, come_back)]


async def _succeed(args: AsyncSuccessArgs) -> BoltResponse:
    return await args.default.success(args)


async def _fail(args: AsyncFailureArgs) -> BoltResponse:
    log.warning("installation failed: %s", args.reason)
    if isinstance(args.error, NotAllowedError):
        return BoltResponse(
            status=403,
            body=NOT_ALLOWED,
            headers={"Content-Type": "text/plain; charset=utf-8"},
        )
    return await args.default.failure(args)


class _States(AsyncOAuthStateStore):
    """slack_sdk's store of states, off the event loop."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = SQLAlchemyOAuthStateStore(STATE_LIFETIME_S, engine, logger=library_log())

    async def async_issue(self, *_: object, **__: object) -> str:
        """Return a new state, and forget those that nobody used in time."""
        await asyncio.to_thread(self._forget_old)
        return await asyncio.to_thread(self._store.issue)

    async def async_consume(self, state: str) -> bool:
        """Say whether a state is good; it is so once."""
        return await asyncio.to_thread(self._store.consume, state)

    def _forget_old(self) -> None:
        table = self._store.oauth_states
        now = datetime.now(UTC).replace(tzinfo=None)
        with self._engine.begin() as connection:
            connection.execute(table.delete().where(table.c.expire_at < now))
