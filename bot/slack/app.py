"""The Slack app: starts, runs until told to stop, and stops without loss."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress

from starlette.routing import BaseRoute

from bot.app import open_engine_room
from bot.errors import JobStoreError
from bot.maintenance import Maintenance
from bot.metrics import Metrics
from bot.observability import Health, health_routes, metrics_routes
from bot.settings import BotSettings
from bot.slack.composition import Foundation, compose
from bot.slack.connection.bolt import build_bolt
from bot.slack.connection.connect import connect
from bot.slack.connection.recording import Recording
from bot.slack.house_rules import HouseRules
from bot.slack.model_alerts import ModelAlerts
from bot.slack.readiness import Handbook, HandbookWhenReady
from bot.store import ANSWER, Stores, migrate, open_engine
from bot.web import WebServer
from ingest import HandbookError, IngestScheduler, SourcePresence

log = logging.getLogger(__name__)

STOP_LIMIT_S = 20.0
"""How long a stop waits for jobs under way; service managers kill after 30 to 90 s."""
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
            room = open_engine_room(
                settings,
                engine=engine,
                incidents=app.model_alerts,
                on_verification=metrics.verified,
            )
            room.warm_up()
            return room

        presence = SourcePresence(settings)
        handbook = HandbookWhenReady(build or open_handbook, metrics, presence.is_gone)
        resources.callback(handbook.close)
        scheduler = IngestScheduler(settings)
        maintenance = Maintenance(settings, scheduler)
        resources.callback(maintenance.stop)
        foundation = Foundation(
            api_url=settings.slack_api_url,
            connection=connection,
            stores=Stores.on(
                engine,
                question_log_days=settings.question_log_days,
                freshness_days=settings.freshness_days,
                job_lease_s=settings.job_lease_s,
            ),
            handbook=handbook,
            maintenance=maintenance,
            metrics=metrics,
            admins=settings.admin_user_ids,
            admin_groups=settings.admin_group_ids,
            answer_workers=settings.answer_workers,
            rules=HouseRules.of(settings),
            recording=Recording(settings.slack_recording) if settings.slack_recording else None,
        )
        app = SlackApp(foundation)
        for web in _web_servers(settings, app):
            await web.start()
            resources.push_async_callback(web.stop)
        ready = await asyncio.to_thread(handbook.is_ready)
        scheduler.start()
        first_sync = _first_sync(scheduler, ready=ready)
        resources.push_async_callback(_end_syncs, scheduler, first_sync)
        await app.run(stop)


def _web_servers(settings: BotSettings, app: SlackApp) -> Iterator[WebServer]:
    """Return the server of HTTP mode, and of Socket Mode with HTTP_PORT, and that of metrics."""
    port = settings.http_port
    if port is None and settings.slack_mode == "http":
        port = HTTP_MODE_PORT
    if port is not None:
        yield WebServer(settings.http_host, port, app.routes)
    if settings.metrics_address:
        host, _, metrics_port = settings.metrics_address.rpartition(":")
        yield WebServer(
            host.strip("[]"),
            int(metrics_port),
            app.metrics_routes,
            chosen_by="METRICS_ADDRESS",
        )


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
    """Everything between Slack and the handbook."""

    def __init__(self, foundation: Foundation) -> None:
        self._connection = foundation.connection
        self._receiver = foundation.connection.receiver
        self._jobs = foundation.stores.jobs
        self._maintenance = foundation.maintenance
        self._metrics = foundation.metrics
        self._recording = foundation.recording
        self._parts = compose(foundation)
        self._metrics.watch(self._jobs, self._maintenance)

    @property
    def model_alerts(self) -> ModelAlerts:
        """Return what the model's incidents are to be told."""
        return self._parts.model_alerts

    @property
    def routes(self) -> list[BaseRoute]:
        """Return what the web server that Slack reaches may serve: its requests, and health."""
        health = Health(
            {
                "database": self._probe_database,
                "index": self._probe_index,
                "workers": self._probe_workers,
                "slack": self._probe_slack,
            }
        )
        return [*self._connection.routes, *health_routes(health)]

    @property
    def metrics_routes(self) -> list[BaseRoute]:
        """Return what is for whoever runs Manuel alone."""
        return metrics_routes(self._metrics)

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
            await self._parts.workers.stop(limit_s=stop_limit_s)
            await self._parts.closing.stop()
            await self._parts.uploads.stop()
            await self._parts.corrections.stop()
            await self._receiver.stop()
            self._parts.workers.close()
            self._connection.workspaces.close()
            await self._parts.pane.close()
            await self._parts.wider.close()
            await self._parts.home.close()
        log.info("stopped")

    async def _start(self) -> None:
        await self._connection.workspaces.open()
        await self._parts.pauses.load()
        bolt = build_bolt(
            self._parts.client,
            self._connection.enter,
            self._metrics,
            signing_secret=self._receiver.signing_secret,
            recording=self._recording,
        )
        for register in self._parts.listeners:
            register(bolt)
        if self._connection.uninstalling is not None:
            self._connection.uninstalling.register(bolt)
        self.model_alerts.start()
        self._parts.workers.start()
        self._parts.closing.start()
        self._parts.pane.start(self._connection.enter)
        self._parts.uploads.start()
        self._parts.corrections.start()
        await self._receiver.start(bolt)
        log.info("connected")

    async def _probe_database(self) -> str:
        try:
            await asyncio.to_thread(self._jobs.is_due, ANSWER)
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
        return "" if self._parts.workers.are_working else "not working"

    async def _probe_slack(self) -> str:
        return "" if await self._receiver.is_receiving() else "not connected"
