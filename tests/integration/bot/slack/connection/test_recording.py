"""A recording of what Slack sends keeps its shape, and nothing that belongs to anybody."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.connection import recording as module
from bot.slack.connection.recording import Recording
from tests.slack_running import running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_what_was_said_and_who_said_it_is_not_in_a_recording_but_its_shape_is(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    path = tmp_path / "recording.jsonl"
    sandbox.fault("agents.sessions.setStatus", "error", error="feature_disabled")
    async with running(sandbox, tmp_path, recording=Recording(path)):
        asked = sandbox.say("camille", "general", "@Manuel télétravail pour hunter2 ?")
        await sandbox.wait_for_reply(asked)
        sandbox.slash("camille", "general", "/handbook", "help")
        await sandbox.wait_for_ephemeral("camille", "/handbook")
        await sandbox.settled()
    text = path.read_text(encoding="utf-8")
    workspace = sandbox.workspace()
    secrets = ("hunter2", "télétravail", "Deux jours", "Camille", workspace.bot_token, "http")
    ids = (workspace.team_id, asked.user_id, asked.channel_id, workspace.bot.user_id)
    assert [secret for secret in (*secrets, *ids) if secret in text] == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    recorded = lines(path)
    [mention] = [
        line["request"]["event"]
        for line in recorded
        if line.get("request", {}).get("type") == "event_callback"
        and line["request"]["event"]["type"] == "app_mention"
    ]
    [sent] = sandbox.deliveries("app_mention")
    assert mention.keys() == sent.event.keys()
    [post] = [line for line in recorded if line.get("method") == "chat.postMessage"]
    assert post["call"]["channel"] == mention["channel"] == post["answer"]["channel"]
    assert post["call"]["thread_ts"] == mention["ts"] == asked.ts
    assert post["answer"]["ok"] is True
    assert [block["type"] for block in post["call"]["blocks"]][-1] == "context_actions"
    refused = [line["answer"].get("error") for line in recorded if "answer" in line]
    assert "feature_disabled" in refused
    assert any("command" in line.get("request", {}) for line in recorded)


def test_a_recording_ends_at_its_size_and_where_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    path = tmp_path / "recording.jsonl"
    recording = Recording(path)
    for _ in range(50):
        recording.request({"type": "event_callback"})
    Recording(tmp_path / "no" / "folder").request({"type": "event_callback"})

    assert 0 < len(lines(path)) < 5
    assert not (tmp_path / "no").exists()
