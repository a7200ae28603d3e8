"""The serving process ends although a model never answers, and loses no question by it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.wording import FRENCH
from ingest import run_ingest
from tests.scripted_server import Scripted, ScriptedServer, scripted_server
from tests.slack_running import settings_in

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "combien de jours de télétravail par semaine ?"
PAGE = "# Télétravail\n\n## Rythme\n\nLe télétravail est de deux jours par semaine.\n"
EXIT_S = 120.0
"""Far more than a busy machine takes; the model would hold the process for longer."""


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@asynccontextmanager
async def serving(
    sandbox: Sandbox, folder: Path, model: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {
        **os.environ,
        **sandbox.environment,
        "DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}",
        "HANDBOOK_CONFIG": str(folder / "handbook.toml"),
        "EMBEDDING_MODEL": "none",
        "REINDEX_CRON": "",
        "ANSWER_MODEL": "m",
        "ANSWER_TIMEOUT_S": "600",
        "OPENAI_BASE_URL": model,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", cwd=ROOT, env=environment
    )
    try:
        await sandbox.wait_for_connection(timeout_s=60)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def asked_of(model: ScriptedServer, requests: int) -> None:
    async with asyncio.timeout(60):
        while len(model.requests) < requests:
            await asyncio.sleep(0.05)


async def test_a_model_that_never_answers_holds_up_neither_the_process_nor_a_question(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "rythme.md").write_text(PAGE, encoding="utf-8")
    run_ingest(settings_in(tmp_path), specs=(f"folder:{tmp_path / 'pages'}",))
    go_on = threading.Event()

    def never(_body: Any) -> Scripted:
        go_on.wait(5 * EXIT_S)
        return Scripted(503, {})

    with scripted_server(never) as model:
        async with serving(sandbox, tmp_path, model.url) as process:
            stopped = sandbox.direct_message("camille", QUESTION)
            await asked_of(model, 1)
            sandbox.press_stop("camille", stopped)
            said = await sandbox.wait_for_reply(stopped, timeout_s=30)
            assert said.text == FRENCH.stopped

            asked = sandbox.say("camille", "general", f"@Manuel {QUESTION}")
            sandbox.slash("james", "general", "/handbook", f"ask {QUESTION}")
            await asked_of(model, 3)
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(EXIT_S):
                assert await process.wait() == 0
        assert not go_on.is_set()
        assert sandbox.replies(asked) == []

        go_on.set()
        model.script[:] = [Scripted(503, {})]
        async with serving(sandbox, tmp_path, model.url):
            answered = await sandbox.wait_for_reply(asked, timeout_s=60)
            workspace = sandbox.workspace()
            direct = workspace.direct(workspace.user("james").user_id)
            private = await sandbox.wait_until(
                lambda: next((m.text for m in direct.messages.values()), None), timeout_s=60
            )
    assert "deux jours par semaine" in answered.text
    assert "deux jours par semaine" in private
    assert len(sandbox.replies(asked)) == 1
    assert [reply.text for reply in sandbox.replies(stopped)] == [FRENCH.stopped]
