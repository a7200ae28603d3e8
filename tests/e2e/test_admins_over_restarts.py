"""What admins decide in Slack, with the real `manuel serve`, outlives its restarts."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.wording import FRENCH

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Settings of a small handbook in two sources, indexed by the command line."""
    pages = {
        "rh/teletravail.md": "# Télétravail\n\nLe télétravail : deux jours par semaine.\n",
        "vie/cantine.md": "# Cantine\n\nLa cantine ouvre à midi.\n",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "rh"\npath = "rh"\n\n[[sources]]\nname = "vie"\npath = "vie"\n',
        encoding="utf-8",
    )
    environment = {
        **os.environ,
        "DATABASE_URL": f"sqlite:///{tmp_path / 'manuel.db'}",
        "HANDBOOK_CONFIG": str(tmp_path / "handbook.toml"),
        "EMBEDDING_MODEL": "none",
        "REINDEX_CRON": "0 5 * * *",
        "TIMEZONE": "Europe/Paris",
        "JOB_LEASE_S": "1",
    }
    subprocess.run(
        [sys.executable, "-m", "bot", "ingest"], cwd=ROOT, env=environment, check=True, timeout=120
    )
    return environment


@asynccontextmanager
async def serving(
    sandbox: Sandbox, environment: dict[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `manuel serve`; unless the body kills it, it is stopped politely."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", cwd=ROOT, env=environment | sandbox.environment
    )
    try:
        await sandbox.wait_for_connection(timeout_s=60)
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def ordered(sandbox: Sandbox, text: str, count: int) -> str:
    sandbox.slash("amina", "general", "/handbook", text)
    return (await sandbox.wait_for_ephemeral("amina", count=count, timeout_s=30)).text


async def test_a_schedule_and_a_pause_outlive_a_kill_and_the_home_tab_tells_them(
    environment: dict[str, str],
) -> None:
    async with SandboxServer() as sandbox:
        async with serving(sandbox, environment) as process:
            set_up = await ordered(sandbox, 'schedule "30 7 * * 1-5"', 1)
            paused = await ordered(sandbox, "schedule pause", 2)
            process.kill()
            await process.wait()
        async with serving(sandbox, environment):
            after = await ordered(sandbox, "schedule", 3)
            sandbox.open_home("amina")
            home = await sandbox.wait_until(lambda: sandbox.home("amina"), timeout_s=30)
        assert sandbox.problems == []

    assert "30 7 * * 1-5" in set_up
    for told in (paused, after):
        assert "30 7 * * 1-5 (heure de Europe/Paris)" in told
        assert FRENCH.state_paused in told
    assert FRENCH.state_paused in str(home.content)
    assert FRENCH.home_resume in str(home.content)
    assert "rh : 1 pages" in str(home.content)
