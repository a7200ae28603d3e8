"""The Slack app: puts its parts together, runs until told to stop, and stops without loss."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from pydantic import SecretStr
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from starlette.routing import BaseRoute

from bot.app import open_engine_room
from bot.errors import JobStoreError
from bot.maintenance import Maintenance
from bot.metrics import Metrics
from bot.observability import Health, routes
from bot.settings import BotSettings
from bot.slack import direct_messages, mentions
from bot.slack.admin import AdminCommands
from bot.slack.admission import Admission
from bot.slack.agent_pane import AgentPane
from bot.slack.ask_human import AskHuman
from bot.slack.asking import PrivateAsking
from bot.slack.bolt import Authorize, build_bolt
from bot.slack.close_pages import ClosePages
from bot.slack.commands import Commands
from bot.slack.delivery import SlackDelivery
from bot.slack.feedback import FeedbackListener
from bot.slack.home import Home
from bot.slack.home_admin import HomeAdmin
from bot.slack.house_rules import HouseRules
from bot.slack.http_mode import HttpReceiver
from bot.slack.jobs import Workers
from bot.slack.library_log import library_log
from bot.slack.people import People
from bot.slack.presentation import Presentation
from bot.slack.reaching import until_reachable
from bot.slack.readiness import Handbook, HandbookWhenReady
from bot.slack.reception import Reception
from bot.slack.shortcut import MessageShortcut
from bot.slack.socket_mode import SocketModeReceiver
from bot.slack.web_client import SlackClient
from bot.store import ANSWER, Stores, migrate, open_engine
from bot.web import WebServer
from ingest import ConfigurationError, HandbookError, IngestScheduler

log = logging.getLogger(__name__)

STOP_LIMIT_S = 20.0
"""How long a stop waits for jobs under way; service managers kill after 30 to 90 s."""
RETRIES = 3
HTTP_MODE_PORT = 3_000
"""Unless HTTP_PORT says otherwise; what Slack's own examples use."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are in the workspace, as Slack says."""

    team_id: str
    bot_id: str
    bot_user_id: str


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


async def serve(settings: BotSettings, *, build: Callable[[], Handbook] | None = None) -> None:
    """Run the Slack app and the scheduled sync until SIGTERM or SIGINT.

    Without an index it starts too: it then builds one, unless the schedule is switched off, and
    says until then that the handbook cannot be consulted.

    Args:
        settings: Of everything.
        build: Opens the handbook, instead of what the settings describe.

    Raises:
        ConfigurationError: If a setting is wrong, a token is missing, Slack refuses one, or the
            address to listen on is taken.
        SchemaVersionError: If the database was written by a newer version.
        EmbeddingError: If the encoder cannot be set up.
    """
    bot_token = _required(settings.slack_bot_token, "SLACK_BOT_TOKEN", "xoxb-")
    receiver = _receiver(settings)
    metrics = Metrics()
    stop = stop_signal()
    async with AsyncExitStack() as resources:
        engine = open_engine(settings.database_url)
        resources.callback(engine.dispose)
        await asyncio.to_thread(migrate, engine)
        handbook = HandbookWhenReady(build or partial(open_engine_room, settings), metrics)
        resources.callback(handbook.close)
        scheduler = IngestScheduler(settings)
        maintenance = Maintenance(settings, scheduler)
        resources.callback(maintenance.stop)
        app = SlackApp(
            api_url=settings.slack_api_url,
            bot_token=bot_token,
            receiver=receiver,
            stores=Stores.on(
                engine,
                question_log_days=settings.question_log_days,
                job_lease_s=settings.job_lease_s,
            ),
            handbook=handbook,
            maintenance=maintenance,
            metrics=metrics,
            admins=settings.admin_user_ids,
            answer_workers=settings.answer_workers,
            rules=HouseRules.of(settings),
        )
        web = _web_server(settings, app.routes)
        if web is not None:
            await web.start()
            resources.push_async_callback(web.stop)
        ready = await asyncio.to_thread(handbook.is_ready)
        scheduler.start()
        first_sync = _first_sync(settings, scheduler, ready=ready)
        resources.push_async_callback(_end_syncs, scheduler, first_sync)
        await app.run(stop)


def _receiver(settings: BotSettings) -> Receiver:
    if settings.slack_mode == "http":
        secret = _required(settings.slack_signing_secret, "SLACK_SIGNING_SECRET")
        return HttpReceiver(secret)
    return SocketModeReceiver(_required(settings.slack_app_token, "SLACK_APP_TOKEN", "xapp-"))


def _web_server(settings: BotSettings, served: list[BaseRoute]) -> WebServer | None:
    """Return the server of HTTP mode; in Socket Mode there is one where HTTP_PORT is set."""
    port = settings.http_port
    if port is None and settings.slack_mode == "http":
        port = HTTP_MODE_PORT
    return None if port is None else WebServer(settings.http_host, port, served)


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
        bot_token: Of the workspace.
        receiver: How what happens in Slack reaches the app.
        stores: What the app keeps.
        handbook: Answers and searches.
        maintenance: Syncs and describes the index, for admins.
        metrics: Where what happens is counted.
        admins: Ids of people who count as admins whatever Slack says.
        answer_workers: Questions answered at the same time.
        rules: What the company has chosen.
    """

    def __init__(
        self,
        *,
        api_url: str,
        bot_token: str,
        receiver: Receiver,
        stores: Stores,
        handbook: Handbook,
        maintenance: Maintenance,
        metrics: Metrics,
        admins: frozenset[str],
        answer_workers: int,
        rules: HouseRules,
    ) -> None:
        self._handbook = handbook
        self._bot_token = bot_token
        self._receiver = receiver
        self._stores = stores
        self._maintenance = maintenance
        self._metrics = metrics
        # Two clients: a call that changes nothing may be repeated blindly, a post may not.
        self._client = SlackClient(
            metrics,
            base_url=api_url,
            logger=library_log(),
            retry_handlers=[
                AsyncConnectionErrorRetryHandler(max_retry_count=RETRIES),
                AsyncRateLimitErrorRetryHandler(max_retry_count=RETRIES),
            ],
        )
        poster = SlackClient(
            metrics, token=bot_token, base_url=api_url, logger=library_log(), retry_handlers=[]
        )
        self._poster = poster
        self._people = People(poster, admins=admins)
        self._presentation = Presentation(rules.stale_after_days, rules.owners_channel)
        admission = Admission(
            self._people,
            poster,
            guests=rules.allow_guests,
            shared_channels=rules.allow_shared_channels,
        )
        self._pane = AgentPane(poster, self._people, stores.jobs)
        self._workers = Workers(
            stores.jobs,
            SlackDelivery(poster, self._people.words),
            handbook.answer,
            questions=stores.questions,
            words_for=self._people.words,
            answer_workers=answer_workers,
            presentation=self._presentation,
            reception=Reception(admission, stores.muted_threads, stores.jobs),
            progress=self._pane,
        )
        self._asking = PrivateAsking(
            handbook,
            stores.private_answers,
            stores.questions,
            self._people,
            admission,
            self._presentation,
        )
        self._close_pages = ClosePages(handbook, stores.questions, self._people, self._presentation)
        self._ask_human = AskHuman(
            self._workers.post,
            stores.jobs,
            stores.questions,
            self._people,
            poster,
            channel_id=rules.owners_channel,
        )
        self._feedback = FeedbackListener(stores.feedback, poster, self._people)
        self._admin = AdminCommands(maintenance, self._people, poster)
        self._home = Home(
            handbook=handbook,
            asking=self._asking,
            statistics=stores.statistics,
            feedback=stores.feedback,
            maintenance=maintenance,
            admin=HomeAdmin(
                handbook=handbook,
                maintenance=maintenance,
                statistics=stores.statistics,
                commands=self._admin,
                people=self._people,
            ),
            people=self._people,
            admission=admission,
        )
        metrics.watch(stores.jobs, maintenance)

    @property
    def routes(self) -> list[BaseRoute]:
        """Return what a web server may serve: Slack's requests, health, metrics."""
        health = Health(
            {
                "database": self._probe_database,
                "index": self._probe_index,
                "workers": self._probe_workers,
                "slack": self._probe_slack,
            }
        )
        return [*self._receiver.routes, *routes(health, self._metrics)]

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
            # Still receiving: what is asked meanwhile is stored, and answered after the restart.
            log.info("stopping: letting jobs under way end")
            await self._workers.stop(limit_s=stop_limit_s)
            await self._receiver.stop()
            self._workers.close()
            await self._pane.close()
        log.info("stopped")

    async def _start(self) -> None:
        identity = await self._identify()
        bolt = build_bolt(
            self._client,
            self._authorizing(identity),
            self._metrics,
            signing_secret=self._receiver.signing_secret,
        )
        self._listen(bolt, identity.bot_user_id)
        self._workers.start()
        await self._receiver.start(bolt)
        log.info("connected", extra={"team_id": identity.team_id, "bot": identity.bot_user_id})

    async def _probe_database(self) -> str:
        try:
            await asyncio.to_thread(self._stores.jobs.is_due, ANSWER)
        except JobStoreError:
            return "cannot be used"
        return ""

    async def _probe_index(self) -> str:
        try:
            state = await asyncio.to_thread(self._maintenance.state)
        except HandbookError:
            return "cannot be read"
        return "" if state.index else "not built yet"

    async def _probe_workers(self) -> str:
        return "" if self._workers.are_working else "not working"

    async def _probe_slack(self) -> str:
        return "" if await self._receiver.is_receiving() else "not connected"

    def _listen(self, bolt: AsyncApp, bot_user_id: str) -> None:
        mentions.register(bolt, bot_user_id=bot_user_id, accept=self._workers.accept)
        direct_messages.register(
            bolt,
            bot_user_id=bot_user_id,
            accept=self._workers.accept,
            elsewhere=self._ask_human.in_thread,
        )
        Commands(
            bot_user_id=bot_user_id,
            handbook=self._handbook,
            asking=self._asking,
            admin=self._admin,
            people=self._people,
        ).register(bolt)
        MessageShortcut(
            self._asking,
            self._people,
            self._presentation,
            self._poster,
            bot_user_id=bot_user_id,
        ).register(bolt)
        self._asking.register(bolt)
        self._pane.register(bolt)
        self._close_pages.register(bolt)
        self._ask_human.register(bolt)
        self._feedback.register(bolt)
        self._admin.register(bolt)
        self._home.register(bolt)

    def _authorizing(self, identity: Identity) -> Authorize:
        async def authorize() -> AuthorizeResult:
            # Known since the start. Bolt's own would call Slack on the first event, and
            # acknowledge that event without handling it when the call fails.
            return AuthorizeResult(
                enterprise_id=None,
                team_id=identity.team_id,
                bot_user_id=identity.bot_user_id,
                bot_id=identity.bot_id,
                bot_token=self._bot_token,
            )

        return authorize

    async def _identify(self) -> Identity:
        async def auth_test() -> Any:
            return await self._client.auth_test(token=self._bot_token)

        answer = await until_reachable(auth_test, "SLACK_BOT_TOKEN")
        return Identity(answer["team_id"], answer.get("bot_id") or "", answer["user_id"])


def _required(secret: SecretStr | None, name: str, prefix: str = "") -> str:
    value = secret.get_secret_value().strip() if secret else ""
    if not value or not value.startswith(prefix):
        expected = f": it starts with {prefix}" if prefix else ""
        raise ConfigurationError(f"{name} is missing or wrong{expected}")
    return value
