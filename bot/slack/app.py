"""The Slack app: puts its parts together, runs until told to stop, and stops without loss."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress

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
from bot.slack.audiences import Readers
from bot.slack.bolt import Authorize, build_bolt
from bot.slack.channel_command import ChannelCommand
from bot.slack.channel_settings import ChannelPolicy
from bot.slack.channel_threads import ChannelThreads
from bot.slack.close_pages import ClosePages
from bot.slack.commands import Commands
from bot.slack.connection import Connection, connect
from bot.slack.delivery import SlackDelivery
from bot.slack.explain import Explaining
from bot.slack.feedback import FeedbackListener
from bot.slack.feedback_writer import FeedbackWriter
from bot.slack.home import Home
from bot.slack.home_admin import HomeAdmin
from bot.slack.house_rules import HouseRules
from bot.slack.jobs import Workers
from bot.slack.library_log import library_log
from bot.slack.model_alerts import ModelAlerts
from bot.slack.people import People
from bot.slack.presentation import Presentation
from bot.slack.readiness import Handbook, HandbookWhenReady
from bot.slack.reception import Reception
from bot.slack.searching import Searching
from bot.slack.shortcut import MessageShortcut
from bot.slack.web_client import SlackClient
from bot.slack.wider_answers import WiderAnswers
from bot.slack.wording import DEFAULT_LANGUAGE, WORDS
from bot.slack.workspaces import Workspace, enter
from bot.store import ANSWER, Stores, migrate, open_engine
from bot.web import WebServer
from ingest import HandbookError, IngestScheduler

log = logging.getLogger(__name__)

STOP_LIMIT_S = 20.0
"""How long a stop waits for jobs under way; service managers kill after 30 to 90 s."""
RETRIES = 3
SWITCH_INTERVAL_S = 0.001
"""Of Python's threads. An acknowledgement takes a dozen turns between threads; with Python's 5 ms,
each may wait as long for every answer being computed. Answers take no longer for it (measured)."""
HTTP_MODE_PORT = 3_000
"""Unless HTTP_PORT says otherwise; what Slack's own examples use."""


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
    metrics = Metrics()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    stop = stop_signal()
    async with AsyncExitStack() as resources:
        engine = open_engine(settings.database_url)
        resources.callback(engine.dispose)
        connection = connect(settings, engine, metrics)
        await asyncio.to_thread(migrate, engine)

        def open_handbook() -> Handbook:
            return open_engine_room(settings, incidents=app.model_alerts)

        handbook = HandbookWhenReady(build or open_handbook, metrics)
        resources.callback(handbook.close)
        scheduler = IngestScheduler(settings)
        maintenance = Maintenance(settings, scheduler)
        resources.callback(maintenance.stop)
        app = SlackApp(
            api_url=settings.slack_api_url,
            connection=connection,
            stores=Stores.on(
                engine,
                question_log_days=settings.question_log_days,
                job_lease_s=settings.job_lease_s,
            ),
            handbook=handbook,
            maintenance=maintenance,
            metrics=metrics,
            admins=settings.admin_user_ids,
            admin_groups=settings.admin_group_ids,
            answer_workers=settings.answer_workers,
            rules=HouseRules.of(settings),
        )
        web = _web_server(settings, app.routes)
        if web is not None:
            await web.start()
            resources.push_async_callback(web.stop)
        ready = await asyncio.to_thread(handbook.is_ready)
        scheduler.start()
        first_sync = _first_sync(scheduler, ready=ready)
        resources.push_async_callback(_end_syncs, scheduler, first_sync)
        await app.run(stop)


def _web_server(settings: BotSettings, served: list[BaseRoute]) -> WebServer | None:
    """Return the server of HTTP mode; in Socket Mode there is one where HTTP_PORT is set."""
    port = settings.http_port
    if port is None and settings.slack_mode == "http":
        port = HTTP_MODE_PORT
    return None if port is None else WebServer(settings.http_host, port, served)


def _first_sync(scheduler: IngestScheduler, *, ready: bool) -> asyncio.Task[None] | None:
    if ready:
        return None
    log.warning("there is no index to read yet: until there is, questions get an outage notice")
    if scheduler.next_run_at() is None:
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
        connection: How what happens in Slack reaches the app, and where from.
        stores: What the app keeps.
        handbook: Answers and searches.
        maintenance: Syncs and describes the index, for admins.
        metrics: Where what happens is counted.
        admins: Ids of people who count as admins whatever Slack says.
        admin_groups: Ids of user groups whose members count as admins.
        answer_workers: Questions answered at the same time.
        rules: What the company has chosen.
    """

    def __init__(
        self,
        *,
        api_url: str,
        connection: Connection,
        stores: Stores,
        handbook: Handbook,
        maintenance: Maintenance,
        metrics: Metrics,
        admins: frozenset[str],
        admin_groups: frozenset[str] = frozenset(),
        answer_workers: int,
        rules: HouseRules,
    ) -> None:
        self._handbook = handbook
        self._connection = connection
        self._receiver = connection.receiver
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
        poster = SlackClient(metrics, base_url=api_url, logger=library_log(), retry_handlers=[])
        self._poster = poster
        # Where several workspaces share the handbook, the admins of one do not run it.
        self._people = People(
            poster, admins=admins, admin_groups=admin_groups, slack_roles=not connection.shared
        )
        readers = Readers(rules.audiences, self._people)
        self._readers = readers
        self._presentation = Presentation(rules.stale_after_days, rules.owners_channel)
        channels = ChannelPolicy(stores.channel_settings)
        self._channels = channels
        self._admission = Admission(
            self._people,
            poster,
            channels,
            guests=rules.allow_guests,
            shared_channels=rules.allow_shared_channels,
        )
        self._pane = AgentPane(poster, self._people, stores.jobs)
        self._asking = PrivateAsking(
            handbook,
            stores.private_answers,
            stores.questions,
            self._people,
            self._admission,
            self._presentation,
            channels,
            readers,
        )
        self._wider = WiderAnswers(
            handbook, self._asking, stores.questions, self._people, channels, readers, poster
        )
        self._workers = Workers(
            stores.jobs,
            SlackDelivery(poster, self._people.words, channels),
            handbook.answer,
            enter=self._enter,
            questions=stores.questions,
            words_for=self._people.words,
            answer_workers=answer_workers,
            presentation=self._presentation,
            reception=Reception(self._admission, stores.muted_threads, stores.jobs),
            progress=self._pane,
            afterwards=self._wider.offer,
            channels=channels,
            readers=readers,
        )
        self._close_pages = ClosePages(
            handbook,
            stores.questions,
            self._people,
            self._admission,
            readers,
            self._presentation,
        )
        self._ask_human = AskHuman(
            self._workers.post,
            stores.jobs,
            stores.questions,
            self._people,
            poster,
            channel_id=rules.owners_channel,
        )
        writer = FeedbackWriter(stores.feedback)
        self._feedback = FeedbackListener(
            writer,
            poster,
            self._people,
            stores.questions,
            humans=bool(rules.owners_channel),
        )
        self._admin = AdminCommands(maintenance, self._people, poster)
        self._explaining = Explaining(
            handbook,
            stores.statistics,
            stores.questions,
            self._people,
            poster,
            channels,
            readers,
        )
        self._channel = ChannelCommand(stores.channel_settings, maintenance, self._people, poster)
        self._home = Home(
            handbook=handbook,
            asking=self._asking,
            client=self._client,
            statistics=stores.statistics,
            feedback=writer,
            maintenance=maintenance,
            admin=HomeAdmin(
                client=poster,
                handbook=handbook,
                maintenance=maintenance,
                statistics=stores.statistics,
                commands=self._admin,
                people=self._people,
            ),
            people=self._people,
            admission=self._admission,
            readers=readers,
        )
        self.model_alerts = ModelAlerts(poster, rules.owners_channel, WORDS[DEFAULT_LANGUAGE])
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
        return [*self._connection.routes, *routes(health, self._metrics)]

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
            self._connection.workspaces.close()
            await self._pane.close()
            await self._wider.close()
        log.info("stopped")

    async def _start(self) -> None:
        await self._connection.workspaces.open()
        bolt = build_bolt(
            self._client,
            self._authorizing(),
            self._metrics,
            signing_secret=self._receiver.signing_secret,
        )
        self._listen(bolt)
        self.model_alerts.start()
        self._workers.start()
        await self._receiver.start(bolt)
        log.info("connected")

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

    def _listen(self, bolt: AsyncApp) -> None:
        mentions.register(bolt, accept=self._workers.accept)
        threads = ChannelThreads(
            self._ask_human.take_answer,
            self._workers.accept,
            self._stores.jobs,
            self._stores.muted_threads,
        )
        direct_messages.register(bolt, accept=self._workers.accept, elsewhere=threads.hear)
        searching = Searching(
            self._handbook, self._people, self._admission, self._channels, self._readers
        )
        searching.register(bolt)
        Commands(
            asking=self._asking,
            admin=self._admin,
            explaining=self._explaining,
            channel=self._channel,
            channels=self._channels,
            people=self._people,
            admission=self._admission,
            searching=searching,
        ).register(bolt)
        MessageShortcut(self._asking, self._people, self._presentation, self._poster).register(bolt)
        self._asking.register(bolt)
        self._pane.register(bolt)
        self._close_pages.register(bolt)
        self._wider.register(bolt)
        self._ask_human.register(bolt)
        self._feedback.register(bolt)
        self._admin.register(bolt)
        self._channel.register(bolt)
        self._home.register(bolt)

        if self._connection.uninstalling is not None:
            self._connection.uninstalling.register(bolt)

    def _authorizing(self) -> Authorize:
        async def authorize(team_id: str | None) -> AuthorizeResult | None:
            # Bolt's own would call Slack on the first event, and acknowledge that event without
            # handling it when the call fails.
            workspace = await self._enter(team_id or "")
            if workspace is None:
                return None
            return AuthorizeResult(
                enterprise_id=None,
                team_id=workspace.team_id,
                bot_user_id=workspace.bot_user_id,
                bot_id=workspace.bot_id,
                bot_token=workspace.bot_token,
            )

        return authorize

    async def _enter(self, team_id: str) -> Workspace | None:
        workspace = await self._connection.workspaces.get(team_id)
        if workspace is not None:
            enter(workspace)
        return workspace
