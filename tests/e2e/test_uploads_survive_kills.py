"""Killing the serving process while pages are on their way: none is lost, and each is told once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from ingest import open_reader
from tests.slack_running import settings_in

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 90


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@asynccontextmanager
async def serving(sandbox: Sandbox, folder: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    environment = {
        **os.environ,
        **sandbox.environment,
        "DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}",
        "HANDBOOK_CONFIG": str(folder / "handbook.toml"),
        "JOB_LEASE_S": "1",
        "REINDEX_CRON": "",
        "EMBEDDING_MODEL": "none",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.e2e.scripted_serve", cwd=ROOT, env=environment
    )
    try:
        await sandbox.wait_for_connection(timeout_s=PATIENCE_S)
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def killed(sandbox: Sandbox, process: asyncio.subprocess.Process) -> None:
    process.kill()
    await process.wait()
    await sandbox.wait_until(
        lambda: not sandbox.socket_mode.connections or None, timeout_s=PATIENCE_S
    )


async def test_killed_before_and_after_the_file_is_kept_it_is_indexed_by_the_next_process(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    # Not watched: what is indexed here is indexed because it was sent.
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "depot"\ntype = "upload"\npath = "depot"\nwatch_s = 0\n'
        '[[sources]]\nname = "guide"\npath = "pages"\n'
    )
    fault = sandbox.fault("files.info", "delay", seconds=2)
    async with serving(sandbox, tmp_path) as process:
        sent = sandbox.share("amina", {"page.md": b"# Titre\n\nTexte."})
        await sandbox.wait_until(lambda: fault.hits or None, timeout_s=PATIENCE_S)
        await killed(sandbox, process)
    assert not (tmp_path / "depot").exists()

    async with serving(sandbox, tmp_path) as process:
        async with asyncio.timeout(PATIENCE_S):
            while not (tmp_path / "depot" / "page.md").exists():
                await asyncio.sleep(0.02)
        await killed(sandbox, process)

    async with serving(sandbox, tmp_path):
        await sandbox.wait_for_reply(sent, "1 page indexée : page.md", timeout_s=PATIENCE_S)
        # The scripted answers cite a page of the source "guide": while that folder is away nothing
        # is known of it; once the folder is there without it, it is known to be deleted.
        asked = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_for_reply(asked, "Deux jours", timeout_s=PATIENCE_S)
        (tmp_path / "pages").mkdir()
        asked = sandbox.direct_message("camille", "le télétravail ?")
        await sandbox.wait_for_reply(asked, "je ne sais pas", timeout_s=PATIENCE_S)

    assert len(sandbox.replies(sent)) == 1
    with open_reader(settings_in(tmp_path)) as reader:
        assert reader.status().pages == 1
