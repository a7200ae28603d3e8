"""Thumbs below an answer, pressed in the stand-in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.wording import ENGLISH, FRENCH
from tests.slack_running import running

ROOT = Path(__file__).resolve().parents[4]
QUESTION = "@Manuel combien de jours de télétravail ?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


async def answered(sandbox: Sandbox) -> Message:
    asked = sandbox.say("camille", "general", QUESTION)
    return await sandbox.wait_for_reply(asked)


def thumb(message: Message, verdict: str) -> str:
    """Return the value of a thumb below a message."""
    [row] = [block for block in message.blocks if block["type"] == "context_actions"]
    side = {"up": "positive_button", "down": "negative_button"}[verdict]
    return str(row["elements"][0][side]["value"])


def exported(folder: Path, *options: str) -> list[dict[str, Any]]:
    """Return what `manuel feedback export --json` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "bot", "feedback", "export", "--json", *options],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def reasons(*chosen: str, comment: str | None = None) -> dict[str, Any]:
    """Return the state of the modal as Slack sends it."""
    options = [{"value": reason, "text": {"type": "plain_text", "text": "x"}} for reason in chosen]
    return {
        "reasons": {"reasons": {"type": "checkboxes", "selected_options": options}},
        "comment": {"comment": {"type": "plain_text_input", "value": comment}},
    }


async def test_a_thumb_up_is_thanked_for_in_private_and_the_answer_stays(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        reply = await answered(sandbox)
        before = (reply.text, list(reply.blocks))
        sandbox.click("james", reply, "feedback", thumb(reply, "up"))
        thanks = await sandbox.wait_for_ephemeral("james")
        await sandbox.settled()

    assert thanks.text == ENGLISH.feedback_thanks
    assert thanks.thread_ts == reply.thread_ts
    assert (reply.text, reply.blocks) == before
    assert reply.edited is None
    assert sandbox.ephemerals("camille") == []
    [given] = exported(tmp_path)
    assert (given["verdict"], given["reasons"]) == ("up", [])
    assert given["user_id"] == sandbox.workspace().user("james").user_id
    assert given["question"] == "combien de jours de télétravail ?"
    assert given["passages"] == [
        {
            "chunk_id": "c1",
            "source": "guide",
            "page": "teletravail.md",
            "page_version": "v1",
            "cited": True,
        }
    ]


async def test_a_thumb_down_asks_what_is_wrong(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path):
        reply = await answered(sandbox)
        sandbox.click("camille", reply, "feedback", thumb(reply, "down"))
        await sandbox.wait_until(lambda: sandbox.modal("camille"))
        submitted = reasons("outdated", "incomplete", comment=" Trois jours depuis mai. ")
        sandbox.submit("camille", submitted)
        thanks = await sandbox.wait_for_ephemeral("camille")
        await sandbox.wait_until(lambda: sandbox.modal("camille") is None)

    assert thanks.text == FRENCH.feedback_thanks
    [given] = exported(tmp_path)
    assert given["verdict"] == "down"
    assert given["reasons"] == ["outdated", "incomplete"]
    assert given["comment"] == "Trois jours depuis mai."


async def test_a_thumb_down_counts_even_when_the_modal_is_closed_or_cannot_open(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        reply = await answered(sandbox)
        sandbox.click("camille", reply, "feedback", thumb(reply, "down"))
        await sandbox.wait_until(lambda: sandbox.modal("camille"))
        sandbox.close_modal("camille")
        sandbox.fault("views.open", "error", error="internal_error")
        sandbox.click("james", reply, "feedback", thumb(reply, "down"))
        await sandbox.wait_for_ephemeral("james", ENGLISH.feedback_thanks)

    assert [given["verdict"] for given in exported(tmp_path)] == ["down", "down"]


async def test_a_change_of_mind_replaces_what_was_said_before(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        reply = await answered(sandbox)
        sandbox.click("camille", reply, "feedback", thumb(reply, "down"))
        await sandbox.wait_until(lambda: sandbox.modal("camille"))
        sandbox.submit("camille", reasons("wrong"))
        await sandbox.wait_for_ephemeral("camille")
        sandbox.click("camille", reply, "feedback", thumb(reply, "up"))
        await sandbox.wait_for_ephemeral("camille", count=2)

    [given] = exported(tmp_path)
    assert (given["verdict"], given["reasons"], given["comment"]) == ("up", [], "")


async def test_an_abstention_can_be_judged_too_but_a_notice_cannot(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        asked = sandbox.say("camille", "general", "@Manuel le code du coffre ?")
        reply = await sandbox.wait_for_reply(asked)
        sandbox.click("camille", reply, "feedback", thumb(reply, "up"))
        await sandbox.wait_for_ephemeral("camille")
        notice = await sandbox.wait_for_reply(sandbox.say("camille", "general", "@Manuel"))

    [given] = exported(tmp_path)
    assert given["outcome"] == "abstention"
    assert [passage["cited"] for passage in given["passages"]] == [False]
    assert "feedback" not in str(notice.blocks)


async def test_plain_buttons_stand_in_where_feedback_buttons_are_refused(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.fault("chat.postMessage", "error", error="invalid_blocks")
    async with running(sandbox, tmp_path):
        reply = await answered(sandbox)
        assert [b for b in reply.blocks if b["type"] == "context_actions"] == []
        sandbox.click("camille", reply, "feedback_up")
        await sandbox.wait_for_ephemeral("camille", FRENCH.feedback_thanks)

    assert "Deux jours" in str(reply.blocks)
    [given] = exported(tmp_path)
    assert given["verdict"] == "up"


async def test_a_private_answer_and_its_shared_copy_are_judged_as_one_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        sandbox.slash("camille", "general", "/handbook", "ask le télétravail ?")
        reply = await sandbox.wait_for_ephemeral("camille", "Deux jours")
        sandbox.click("camille", reply, "feedback", thumb(reply, "up"))
        await sandbox.wait_for_ephemeral("camille", FRENCH.feedback_thanks)
        sandbox.click("camille", reply, "share_answer")
        shared = await sandbox.wait_for_message("general")
        sandbox.click("james", shared, "feedback", thumb(shared, "up"))
        await sandbox.wait_for_ephemeral("james", ENGLISH.feedback_thanks)

    first, second = exported(tmp_path)
    assert first["question_id"] == second["question_id"]
    assert first["question"] == "le télétravail ?"


async def test_without_a_log_no_words_are_kept_but_the_passages_are(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path, question_log_days=0):
        reply = await answered(sandbox)
        sandbox.click("camille", reply, "feedback", thumb(reply, "up"))
        await sandbox.wait_for_ephemeral("camille")

    [given] = exported(tmp_path)
    assert given["question"] is None
    assert given["passages"][0]["chunk_id"] == "c1"


async def test_feedback_that_cannot_be_kept_is_not_thanked_for(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path) as store:
        reply = await answered(sandbox)
        with store._engine.begin() as connection:
            connection.exec_driver_sql("DROP TABLE bot_feedback")
        sandbox.click("camille", reply, "feedback", thumb(reply, "up"))
        shown = await sandbox.wait_for_ephemeral("camille")

    assert shown.text == FRENCH.feedback_lost
