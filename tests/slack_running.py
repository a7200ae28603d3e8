"""Runs the real Slack app inside a test, with an answering function of the test's choice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.answering.breaker import Incidents
from bot.answering.explanation import Explanation
from bot.app import open_engine_room
from bot.maintenance import Maintenance
from bot.metrics import Metrics
from bot.records import Outcome, Question
from bot.retrieval.search import SearchResult, SearchResults
from bot.sandbox.control import Sandbox
from bot.settings import BotSettings
from bot.slack.app import SlackApp
from bot.slack.composition import Foundation
from bot.slack.connection.connect import Connection, Receiver
from bot.slack.connection.http_mode import EVENTS_PATH, HttpReceiver
from bot.slack.connection.recording import Recording
from bot.slack.connection.socket_mode import SocketModeReceiver
from bot.slack.connection.web_client import SlackClient
from bot.slack.connection.workspaces import OneWorkspace
from bot.slack.house_rules import HouseRules
from bot.slack.readiness import Handbook
from bot.store import JobStore, Stores, migrate, open_engine
from bot.web import WebServer
from ingest import PUBLIC, Audiences, IndexStoreError, StoredChunk
from tests.outcomes import abstention, answer, passage

Answer = Callable[[Question, Audiences], Outcome]
Search = Callable[[Question, int], SearchResults]


def knows_remote_work(question: Question, _audiences: Audiences) -> Outcome:
    """Answer questions that mention remote work, and no other."""
    asked = question.text.lower()
    return answer() if "télétravail" in asked or "remote" in asked else abstention()


def finds_remote_work(question: Question, limit: int) -> SearchResults:
    """Find one passage for terms about remote work, and none for others."""
    found = (SearchResult(passage()),) if "télétravail" in question.text.lower() else ()
    return SearchResults(question.text, "hybrid", found[:limit])


@dataclass
class ScriptedHandbook:
    """A handbook that answers and searches by functions of the test's choice."""

    answer: Answer = knows_remote_work
    find: Search = finds_remote_work

    readable: bool = True
    pages: tuple[StoredChunk, ...] = ()

    def chunks(self, chunk_ids: Sequence[str], audiences: Audiences) -> list[StoredChunk]:
        pages = {chunk.chunk_id: chunk for chunk in self.pages}
        return [pages[c] for c in chunk_ids if c in pages and self.readable]

    def search(
        self, question: Question, limit: int, audiences: Audiences = PUBLIC
    ) -> SearchResults:
        return self.find(question, limit)

    def may_read(self, chunk_ids: Collection[str], audiences: Audiences) -> bool:
        return self.readable

    def vectors(self, texts: Sequence[str]) -> None:
        return None

    def explain(self, question: Question, audiences: Audiences) -> Explanation:
        raise IndexStoreError("nothing is indexed")

    def close(self) -> None:
        pass


def settings_in(folder: Path) -> BotSettings:
    """Settings of a handbook whose sources are described in that folder, without an encoder."""
    return BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{folder / 'manuel.db'}",
        handbook_config=folder / "handbook.toml",
        embedding_model="none",
        reindex_cron="",
    )


@asynccontextmanager
async def running(
    sandbox: Sandbox,
    folder: Path,
    answer: Answer = knows_remote_work,
    *,
    handbook: Handbook | None = None,
    lease_s: float = 2.0,
    stop_limit_s: float = 10.0,
    answer_workers: int = 2,
    search: Search = finds_remote_work,
    question_log_days: int = 90,
    maintenance: Maintenance | None = None,
    admins: frozenset[str] = frozenset(),
    admin_groups: frozenset[str] = frozenset(),
    metrics: Metrics | None = None,
    connection: Connection | None = None,
    rules: HouseRules | None = None,
    alerted: Callable[[Incidents], None] = lambda incidents: None,
    recording: Recording | None = None,
) -> AsyncIterator[JobStore]:
    """Run the app against a stand-in until the block ends; yields its queue.

    The manifest of the stand-in says how: in Socket Mode or in HTTP mode.
    """
    engine = open_engine(f"sqlite:///{folder / 'manuel.db'}")
    migrate(engine)
    stores = Stores.on(engine, question_log_days=question_log_days, job_lease_s=lease_s)
    receiver: Receiver
    if connection is not None:
        receiver = connection.receiver
    elif sandbox.world.manifest.socket_mode:
        receiver = SocketModeReceiver(sandbox.world.app_token)
    else:
        receiver = HttpReceiver(sandbox.world.signing_secret)
    foundation = Foundation(
        api_url=sandbox.api_url,
        connection=connection or _connection(sandbox, receiver),
        stores=stores,
        handbook=handbook or ScriptedHandbook(answer, search),
        maintenance=maintenance or Maintenance(settings_in(folder)),
        metrics=metrics or Metrics(),
        admins=admins,
        admin_groups=admin_groups,
        answer_workers=answer_workers,
        rules=rules or HouseRules(),
        recording=recording,
    )
    app = SlackApp(foundation)
    alerted(app.model_alerts)
    web = WebServer("127.0.0.1", 0, [*app.routes, *app.metrics_routes])
    await web.start()
    sandbox.http.request_url = f"http://127.0.0.1:{web.port}{EVENTS_PATH}"
    stop = asyncio.Event()
    task = asyncio.create_task(app.run(stop, stop_limit_s=stop_limit_s))
    connected = asyncio.create_task(_receiving(receiver))
    await asyncio.wait({task, connected}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if task.done():
            task.result()
        await connected
        yield stores.jobs
    finally:
        connected.cancel()
        stop.set()
        await task
        await web.stop()
        engine.dispose()


@asynccontextmanager
async def serving(sandbox: Sandbox, folder: Path, **options: Any) -> AsyncIterator[None]:
    """Run the app on the index that was built in a folder."""
    with open_engine_room(settings_in(folder)) as handbook:
        async with running(sandbox, folder, handbook=handbook, **options):
            yield


def _connection(sandbox: Sandbox, receiver: Receiver) -> Connection:
    client = SlackClient(Metrics(), base_url=sandbox.api_url, retry_handlers=[])
    workspace = OneWorkspace(client, sandbox.workspace().bot_token)
    return Connection(receiver, workspace, routes=tuple(receiver.routes))


async def _receiving(receiver: Receiver) -> None:
    async with asyncio.timeout(10):
        while not await receiver.is_receiving():
            await asyncio.sleep(0.01)
