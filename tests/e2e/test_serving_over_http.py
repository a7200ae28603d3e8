"""`manuel serve` as a process of its own, in HTTP mode, and its health in Socket Mode."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from cryptography.fernet import Fernet

from bot.sandbox.control import Sandbox
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer

ROOT = Path(__file__).resolve().parents[2]
HTTP_MANIFEST = Manifest.read(DEFAULT_PATH.with_name("manifest.http.json"))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer(manifest=HTTP_MANIFEST) as sandbox:
        yield sandbox
        assert sandbox.problems == []


async def get(port: int, path: str) -> tuple[int, str]:
    """Return status and text; (0, "") when nobody listens."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}{path}") as response,
        ):
            return response.status, await response.text()
    except aiohttp.ClientConnectionError:
        return 0, ""


async def checks(port: int) -> dict[str, str]:
    _, text = await get(port, "/healthz")
    return json.loads(text)["checks"] if text else {}


@asynccontextmanager
async def serving(
    sandbox: Sandbox,
    folder: Path,
    *,
    answer_seconds: float = 0.0,
    mode: str = "http",
    without: tuple[str, ...] = (),
    **more: str,
) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """Run the scripted app until the block ends; yields the process and its port."""
    port = free_port()
    environment = {
        **os.environ,
        **sandbox.environment,
        "SLACK_MODE": mode,
        "HTTP_PORT": str(port),
        "DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}",
        "HANDBOOK_CONFIG": str(folder / "handbook.toml"),
        "ANSWER_SECONDS": str(answer_seconds),
        "JOB_LEASE_S": "1",
        "REINDEX_CRON": "",
        "EMBEDDING_MODEL": "none",
        **more,
    }
    for name in (*without, *(["SLACK_APP_TOKEN"] if mode == "http" else [])):
        del environment[name]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.e2e.scripted_serve", cwd=ROOT, env=environment
    )
    try:
        async with asyncio.timeout(60):
            while (await checks(port)).get("slack") != "ok":
                assert process.returncode is None, "the app ended before it was ready"
                await asyncio.sleep(0.1)
        sandbox.http.request_url = f"http://127.0.0.1:{port}/slack/events"
        yield process, port
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def test_every_surface_works_over_signed_requests(sandbox: Sandbox, tmp_path: Path) -> None:
    metrics_port = free_port()
    address = f"127.0.0.1:{metrics_port}"
    async with serving(sandbox, tmp_path, METRICS_ADDRESS=address) as (process, port):
        mention = sandbox.say("camille", "general", "@Manuel combien de télétravail ?")
        reply = await sandbox.wait_for_reply(mention)
        assert "Deux jours" in reply.text

        direct = sandbox.direct_message("james", "How much remote work?")
        assert "Deux jours" in (await sandbox.wait_for_reply(direct)).text

        asked = sandbox.slash("camille", "general", "/handbook", "ask le télétravail ?")
        private = await sandbox.wait_for_ephemeral("camille", "Deux jours")
        sandbox.click("camille", private, "share_answer")
        await sandbox.wait_for_message("general", lambda m: m.thread_ts is None)
        assert (await asked.settled()).response is not None

        [thumbs] = [b for b in reply.blocks if b["type"] == "context_actions"]
        down = thumbs["elements"][0]["negative_button"]["value"]
        sandbox.click("camille", reply, "feedback", down)
        await sandbox.wait_until(lambda: sandbox.modal("camille"))
        sandbox.submit("camille")
        await sandbox.wait_for_ephemeral("camille", "noté")

        await sandbox.settled()
        assert {d.state.value for d in sandbox.deliveries()} == {"acknowledged"}
        assert (await get(port, "/metrics"))[0] == 404
        _, metrics = await get(metrics_port, "/metrics")
        assert 'manuel_slack_requests_total{kind="view_submission",retried="no"} 1.0' in metrics
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0


async def test_stopping_politely_and_being_killed_lose_and_double_nothing(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    asked = []
    sandbox.http.retry_after_s = (0.5, 2.0, 5.0)
    for kill in (False, True):
        async with serving(sandbox, tmp_path, answer_seconds=0.1) as (process, _):
            asked += [
                sandbox.say("camille", "general", f"@Manuel télétravail {kill} {n} ?")
                for n in range(12)
            ]
            await sandbox.wait_for_reply(asked[-10])
            process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            await process.wait()
    sandbox.workspace().granted |= {"channels:history"}
    async with serving(sandbox, tmp_path):
        for question in asked:
            await sandbox.wait_for_reply(question, timeout_s=60)
        await sandbox.settled()
        await asyncio.sleep(1)

    assert [len(sandbox.replies(question)) for question in asked] == [1] * len(asked)


# slack_sdk 3.48 still uses what aiohttp 3.14 deprecates.
@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")
async def test_a_workspace_that_installs_the_app_is_answered_also_after_a_restart(
    tmp_path: Path,
) -> None:
    manifest = Manifest.read(DEFAULT_PATH.with_name("manifest.oauth.json"))
    async with SandboxServer(manifest=manifest) as sandbox, aiohttp.ClientSession() as session:
        workspace = sandbox.workspace()
        workspace.installed = False
        settings = {
            "SLACK_CLIENT_ID": sandbox.world.client_id,
            "SLACK_CLIENT_SECRET": sandbox.world.client_secret,
            "ALLOWED_WORKSPACES": workspace.team_id,
            "TOKEN_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
            "PUBLIC_URL": "https://manuel.example.com",
        }
        async with serving(sandbox, tmp_path, without=("SLACK_BOT_TOKEN",), **settings) as (
            _,
            port,
        ):
            address = f"http://127.0.0.1:{port}"
            async with session.get(f"{address}/slack/install", allow_redirects=False) as start:
                cookie = start.headers["Set-Cookie"].split(";")[0]
            async with session.get(start.headers["Location"], allow_redirects=False) as agreed:
                way = urlsplit(agreed.headers["Location"])
            back = f"{address}{way.path}?{way.query}"
            async with session.get(back, headers={"Cookie": cookie}) as done:
                assert done.status == 200, await done.text()
            asked = sandbox.say("camille", "general", "@Manuel combien de télétravail ?")
            assert "Deux jours" in (await sandbox.wait_for_reply(asked)).text
        async with serving(sandbox, tmp_path, without=("SLACK_BOT_TOKEN",), **settings):
            asked = sandbox.say("camille", "general", "@Manuel encore le télétravail ?")
            assert "Deux jours" in (await sandbox.wait_for_reply(asked)).text
        assert sandbox.problems == []


async def test_in_socket_mode_health_and_metrics_are_served_where_ports_are_set(
    tmp_path: Path,
) -> None:
    async with SandboxServer() as sandbox:
        metrics_port = free_port()
        address = f"127.0.0.1:{metrics_port}"
        async with serving(sandbox, tmp_path, mode="socket", METRICS_ADDRESS=address) as (_, port):
            assert (await checks(port))["workers"] == "ok"
            assert (await get(port, "/metrics"))[0] == 404
            assert (await get(metrics_port, "/metrics"))[0] == 200
            assert (await get(metrics_port, "/healthz"))[0] == 404
            assert (await get(port, "/slack/events"))[0] == 404

            sandbox.fault("apps.connections.open", "server_error", times=None)
            await sandbox.drop_connections()
            async with asyncio.timeout(60):
                while (await checks(port))["slack"] == "ok":
                    await asyncio.sleep(0.2)
            sandbox.web_api.faults.clear()
            async with asyncio.timeout(60):
                while (await checks(port))["slack"] != "ok":
                    await asyncio.sleep(0.2)
        assert (await get(port, "/healthz/live"))[0] == 0


async def test_without_a_signing_secret_http_mode_does_not_start(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    environment = {**os.environ, **sandbox.environment, "SLACK_MODE": "http"}
    environment |= {"SLACK_SIGNING_SECRET": "", "DATABASE_URL": f"sqlite:///{tmp_path}/m.db"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bot",
        "serve",
        cwd=ROOT,
        env=environment,
        stderr=asyncio.subprocess.PIPE,
    )
    _, stderr = await process.communicate()
    assert process.returncode == 2
    assert b"SLACK_SIGNING_SECRET" in stderr
