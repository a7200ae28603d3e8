"""The Slack app: puts its parts together, runs until told to stop, and stops without loss."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import aiohttp
from pydantic import SecretStr
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient

from bot.app import open_engine_room
from bot.maintenance import Maintenance
from bot.settings import BotSettings
from bot.slack import direct_messages, mentions
from bot.slack.admin import AdminCommands
from bot.slack.asking import PrivateAsking
from bot.slack.commands import Commands
from bot.slack.delivery import SlackDelivery
from bot.slack.feedback import FeedbackListener
from bot.slack.jobs import Workers
from bot.slack.library_log import library_log
from bot.slack.people import People
from bot.slack.readiness import Handbook, HandbookWhenReady
from bot.store import Stores, migrate, open_engine
from ingest import ConfigurationError, IngestScheduler

log = logging.getLogger(__name__)

STOP_LIMIT_S = 20.0
"""How long a stop waits for jobs under way; service managers kill after 30 to 90 s."""
PING_EVERY_S = 5.0
"""Also how long a connection that broke without a word goes unnoticed."""
RETRIES = 3
LONGEST_PAUSE_S = 30.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are in the workspace, as Slack says."""

    team_id: str
    bot_id: str
    bot_user_id: str


async def serve(settings: BotSettings, *, build: Callable[[], Handbook] | None = None) -> None:
    """Run the Slack app and the scheduled sync until SIGTERM or SIGINT.

    Without an index it starts too: it then builds one, unless the schedule is switched off, and
    says until then that the handbook cannot be consulted.

    Args:
        settings: Of everything.
        build: Opens the handbook, instead of what the settings describe.

    Raises:
        ConfigurationError: If a setting is wrong, a token is missing, or Slack refuses one.
        SchemaVersionError: If the database was written by a newer version.
        EmbeddingError: If the encoder cannot be set up.
    """
    bot_token = _required(settings.slack_bot_token, "SLACK_BOT_TOKEN", "xoxb-")
    app_token = _required(settings.slack_app_token, "SLACK_APP_TOKEN", "xapp-")
    stop = stop_signal()
    async with AsyncExitStack() as resources:
        engine = open_engine(settings.database_url)
        resources.callback(engine.dispose)
        await asyncio.to_thread(migrate, engine)
        handbook = HandbookWhenReady(build or partial(open_engine_room, settings))
        resources.callback(handbook.close)
        maintenance = Maintenance(settings)
        resources.callback(maintenance.stop)
        scheduler = IngestScheduler(settings)
        ready = await asyncio.to_thread(handbook.is_ready)
        scheduler.start()
        first_sync = _first_sync(settings, scheduler, ready=ready)
        resources.push_async_callback(_end_syncs, scheduler, first_sync)
        app = SlackApp(
            api_url=settings.slack_api_url,
            bot_token=bot_token,
            app_token=app_token,
            stores=Stores.on(
                engine,
                question_log_days=settings.question_log_days,
                job_lease_s=settings.job_lease_s,
            ),
            handbook=handbook,
            maintenance=maintenance,
            admins=settings.admin_user_ids,
            answer_workers=settings.answer_workers,
        )
        await app.run(stop)


def _first_sync(
    settings: BotSettings, scheduler: IngestScheduler, *, ready: bool
) -> asyncio.Task[None] | None:
    if ready:
        return None
    log.warning("there is no index yet: until there is, questions get an outage notice")
    if not settings.reindex_cron.strip():
        return None
    return asyncio.create_task(scheduler.run_scheduled())


async def _end_syncs(scheduler: IngestScheduler, first_sync: asyncio.Task[None] | None) -> None:
    await scheduler.shutdown()
    if first_sync is not None:
        await first_sync


def stop_signal() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows: Ctrl-C then ends the process at once
            loop.add_signal_handler(number, stop.set)
    return stop


class SlackApp:
    """Everything between Slack and the handbook.

    Args:
        api_url: Base of Slack's Web API, or of the local stand-in.
        stores: What the app keeps.
        handbook: Answers and searches.
        maintenance: Syncs and describes the index, for admins.
        admins: Ids of people who count as admins whatever Slack says.
        answer_workers: Questions answered at the same time.
    """

    def __init__(
        self,
        *,
        api_url: str,
        bot_token: str,
        app_token: str,
        stores: Stores,
        handbook: Handbook,
        maintenance: Maintenance,
        admins: frozenset[str],
        answer_workers: int,
    ) -> None:
        self._handbook = handbook
        self._bot_token = bot_token
        self._app_token = app_token
        self._handler: AsyncSocketModeHandler | None = None
        # Two clients: a call that changes nothing may be repeated blindly, a post may not.
        self._client = AsyncWebClient(
            base_url=api_url,
            logger=library_log(),
            retry_handlers=[
                AsyncConnectionErrorRetryHandler(max_retry_count=RETRIES),
                AsyncRateLimitErrorRetryHandler(max_retry_count=RETRIES),
            ],
        )
        poster = AsyncWebClient(
            bot_token, base_url=api_url, logger=library_log(), retry_handlers=[]
        )
        self._people = People(poster, admins=admins)
        self._workers = Workers(
            stores.jobs,
            SlackDelivery(poster, self._people.words),
            handbook.answer,
            questions=stores.questions,
            words_for=self._people.words,
            answer_workers=answer_workers,
        )
        self._asking = PrivateAsking(
            handbook, stores.private_answers, stores.questions, self._people
        )
        self._feedback = FeedbackListener(stores.feedback, poster, self._people)
        self._admin = AdminCommands(maintenance, self._people, poster)

    async def run(self, stop: asyncio.Event, *, stop_limit_s: float = STOP_LIMIT_S) -> None:
        """Answer questions until `stop` is set.

        Args:
            stop: Set by whoever wants it to end.
            stop_limit_s: How long jobs under way may take then; the rest is handed back.

        Raises:
            ConfigurationError: If Slack refuses a token.
        """
        starting = asyncio.create_task(self._start())
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()  # raises what went wrong
            await stopping
        finally:
            starting.cancel()
            stopping.cancel()
            await asyncio.gather(starting, stopping, return_exceptions=True)
            # Still connected: what is asked meanwhile is stored, and answered after the restart.
            log.info("stopping: letting jobs under way end")
            await self._workers.stop(limit_s=stop_limit_s)
            if self._handler is not None:
                await self._handler.close_async()  # type: ignore[no-untyped-call] # Bolt's
            self._workers.close()
        log.info("stopped")

    async def _start(self) -> None:
        identity = await self._identify()
        bolt = build_bolt(self._client, self._bot_token, identity)
        self._listen(bolt, identity.bot_user_id)
        self._handler = AsyncSocketModeHandler(
            bolt, self._app_token, logger=library_log(), ping_interval=PING_EVERY_S
        )
        # Asked for here because the library would ask for ever, whatever Slack answers.
        self._handler.client.wss_uri = await _until_reachable(
            self._handler.client.issue_new_wss_url, "SLACK_APP_TOKEN"
        )
        self._workers.start()
        await self._handler.connect_async()  # type: ignore[no-untyped-call] # Bolt's
        log.info("connected", extra={"team_id": identity.team_id, "bot": identity.bot_user_id})

    def _listen(self, bolt: AsyncApp, bot_user_id: str) -> None:
        mentions.register(bolt, bot_user_id=bot_user_id, accept=self._workers.accept)
        direct_messages.register(bolt, bot_user_id=bot_user_id, accept=self._workers.accept)
        Commands(
            bot_user_id=bot_user_id,
            handbook=self._handbook,
            asking=self._asking,
            admin=self._admin,
            people=self._people,
        ).register(bolt)
        self._asking.register(bolt)
        self._feedback.register(bolt)
        self._admin.register(bolt)

    async def _identify(self) -> Identity:
        async def auth_test() -> Any:
            return await self._client.auth_test(token=self._bot_token)

        answer = await _until_reachable(auth_test, "SLACK_BOT_TOKEN")
        return Identity(answer["team_id"], answer.get("bot_id") or "", answer["user_id"])


def build_bolt(client: AsyncWebClient, bot_token: str, identity: Identity) -> AsyncApp:
    """Return a Bolt app without listeners.

    Those of questions only store, and an event is acknowledged once they have
    (`process_before_response`): when storing fails Slack sends the event again.
    """

    async def authorize() -> AuthorizeResult:
        # Known since the start. Bolt's own would call Slack on the first event, and acknowledge
        # that event without handling it when the call fails.
        return AuthorizeResult(
            enterprise_id=None,
            team_id=identity.team_id,
            bot_user_id=identity.bot_user_id,
            bot_id=identity.bot_id,
            bot_token=bot_token,
        )

    # Everything is passed: Bolt would take what is missing from the environment.
    app = AsyncApp(
        name="manuel",
        logger=library_log(),
        client=client,
        authorize=authorize,
        signing_secret="",
        process_before_response=True,
        raise_error_for_unhandled_request=True,
    )

    @app.error
    async def failed(error: Exception) -> BoltResponse | None:
        if isinstance(error, BoltUnhandledRequestError):
            return BoltResponse(status=200)  # else Slack repeats what we do not listen to
        log.error("an event was not handled: %s", type(error).__name__)
        return None

    return app


async def _until_reachable(call: Callable[[], Awaitable[_T]], token_name: str) -> _T:
    """Repeat a call while Slack cannot be reached; a refusal is final."""
    pause_s = 1.0
    while True:
        try:
            return await call()
        except SlackApiError as error:
            if error.response.status_code == 200:
                raise ConfigurationError(
                    f"{token_name} is refused by Slack ({error.response['error']});"
                    " copy it again from your app's settings"
                ) from error
            reason = f"HTTP {error.response.status_code}"
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            reason = type(error).__name__
        log.warning("Slack cannot be reached (%s); trying again in %.0f s", reason, pause_s)
        await asyncio.sleep(pause_s)
        pause_s = min(LONGEST_PAUSE_S, pause_s * 2)


def _required(secret: SecretStr | None, name: str, prefix: str) -> str:
    value = secret.get_secret_value().strip() if secret else ""
    if not value.startswith(prefix):
        raise ConfigurationError(f"{name} is missing or wrong: it starts with {prefix}")
    return value
