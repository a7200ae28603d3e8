"""Commands while the connection is renewed: what waits is answered, what comes is taken."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState
from bot.sandbox.server import SandboxServer
from bot.slack.wording import FRENCH
from ingest import Audiences
from tests.slack_running import knows_remote_work, running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.mark.parametrize("how", ["warning", "refresh_requested", "cut"])
async def test_a_command_that_waits_while_the_connection_is_renewed_is_answered(
    sandbox: Sandbox, tmp_path: Path, how: str
) -> None:
    go_on = threading.Event()

    def slow(question: Question, audiences: Audiences) -> Outcome:
        go_on.wait(20)
        return knows_remote_work(question, audiences)

    async with running(sandbox, tmp_path, slow):
        [before] = sandbox.socket_mode.connections
        waiting = sandbox.slash("camille", "general", "/handbook", "ask le télétravail ?")
        await sandbox.wait_for_ephemeral("camille", FRENCH.searching)
        if how == "cut":
            await sandbox.drop_connections()
        else:
            await sandbox.disconnect(how)
        await sandbox.wait_until(
            lambda: any(c is not before for c in sandbox.socket_mode.connections) or None,
            timeout_s=20,
        )
        meanwhile = sandbox.slash("camille", "general", "/handbook", "télétravail")
        await sandbox.wait_for_ephemeral("camille", FRENCH.hits.format(terms="télétravail"))
        go_on.set()
        await sandbox.wait_for_ephemeral("camille", "Deux jours")

    assert waiting.state is meanwhile.state is DeliveryState.ACKNOWLEDGED
