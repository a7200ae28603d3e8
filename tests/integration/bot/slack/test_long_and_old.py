"""Answers at the edge of what Slack takes, and pages at the edge of what is still new."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.records import Claim, Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.house_rules import HouseRules
from bot.slack.wording import FRENCH
from ingest import Audiences
from tests.outcomes import answer, claim, passage
from tests.slack_running import ScriptedHandbook, running

HEADER = "| Ville | Nuit |"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


def always(*claims: Claim, generator: str = "extractive") -> ScriptedHandbook:
    def given(_question: Question, _audiences: Audiences) -> Outcome:
        return answer(*claims, generator=generator)

    return ScriptedHandbook(given)


async def asked(sandbox: Sandbox) -> Message:
    return await sandbox.wait_for_reply(sandbox.say("camille", "general", "@Manuel alors ?"))


@pytest.mark.parametrize("generator", ["extractive", "modele"])
@pytest.mark.parametrize(("claims", "length"), [(1, 12_001), (1, 45_000), (60, 400)])
async def test_an_answer_longer_than_slack_takes_is_one_message_of_which_slack_takes_all(
    sandbox: Sandbox, tmp_path: Path, generator: str, claims: int, length: int
) -> None:
    said = [f"{n} " + "é&<x> " * (length // 6) for n in range(claims)]
    quotes = [
        claim(text, of=passage(text, chunk_id=str(n), page=f"{n}.md"))
        for n, text in enumerate(said)
    ]
    async with running(sandbox, tmp_path, handbook=always(*quotes, generator=generator)):
        reply = await asked(sandbox)

    assert reply.blocks
    assert len(sandbox.calls("chat.postMessage")) == 1
    assert "feedback" in str(reply.blocks)
    assert FRENCH.sources in reply.text


async def test_a_table_is_taken_by_slack_as_one(sandbox: Sandbox, tmp_path: Path) -> None:
    rows = "| Paris | 150 € |\n| Lyon | |"
    of = passage(f"{HEADER}\n| --- | --- |\n{rows}")
    async with running(sandbox, tmp_path, handbook=always(claim(rows, of=of, lead_in=HEADER))):
        reply = await asked(sandbox)

    [table] = [block for block in reply.blocks if block["type"] == "table"]
    assert [[cell["text"] for cell in row] for row in table["rows"]][1] == ["Paris", "150 €"]


async def test_where_slack_refuses_the_table_its_rows_are_posted_as_text(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.fault("chat.postMessage", "error", error="invalid_blocks")
    rows = "| Paris | 150 € |\n| Lyon | 120 € |"
    of = passage(f"{HEADER}\n| --- | --- |\n{rows}")
    async with running(sandbox, tmp_path, handbook=always(claim(rows, of=of, lead_in=HEADER))):
        reply = await asked(sandbox)

    assert "table" not in [block["type"] for block in reply.blocks]
    assert "Paris | 150 €" in json.dumps(reply.blocks, ensure_ascii=False)


@pytest.mark.parametrize(("age", "marked"), [(29, False), (31, True)])
async def test_a_page_older_than_the_company_wants_is_marked(
    sandbox: Sandbox, tmp_path: Path, age: int, marked: bool
) -> None:
    changed = datetime.now(UTC) - timedelta(days=age)
    handbook = always(claim(of=passage(modified_at=changed)))
    rules = HouseRules(stale_after_days=30)
    async with running(sandbox, tmp_path, handbook=handbook, rules=rules):
        reply = await asked(sandbox)

    assert (FRENCH.stale in reply.text) is marked
