"""Runs the real Slack app inside a test, with an answering function of the test's choice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.slack.app import SlackApp
from bot.store import JobStore, migrate, open_engine
from ingest import Audiences
from tests.outcomes import abstention, answer

Answer = Callable[[Question, Audiences], Outcome]


def knows_remote_work(question: Question, _audiences: Audiences) -> Outcome:
    """Answer questions that mention remote work, and no other."""
    asked = question.text.lower()
    return answer() if "télétravail" in asked or "remote" in asked else abstention()


@asynccontextmanager
async def running(
    sandbox: Sandbox,
    folder: Path,
    answer: Answer = knows_remote_work,
    *,
    lease_s: float = 2.0,
    stop_limit_s: float = 10.0,
    answer_workers: int = 2,
) -> AsyncIterator[JobStore]:
    """Run the app against a stand-in until the block ends; yields its queue."""
    engine = open_engine(f"sqlite:///{folder / 'manuel.db'}")
    migrate(engine)
    store = JobStore(engine, lease_s=lease_s)
    app = SlackApp(
        api_url=sandbox.api_url,
        bot_token=sandbox.workspace().bot_token,
        app_token=sandbox.world.app_token,
        store=store,
        answer=answer,
        answer_workers=answer_workers,
    )
    stop = asyncio.Event()
    task = asyncio.create_task(app.run(stop, stop_limit_s=stop_limit_s))
    connected = asyncio.create_task(sandbox.wait_for_connection())
    await asyncio.wait({task, connected}, return_when=asyncio.FIRST_COMPLETED)
    try:
        if task.done():
            task.result()
        await connected
        yield store
    finally:
        connected.cancel()
        stop.set()
        await task
        engine.dispose()
