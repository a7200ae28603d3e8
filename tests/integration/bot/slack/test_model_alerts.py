"""What happens to the model is told in the owners' channel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.answering.breaker import Incidents
from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.house_rules import HouseRules
from ingest import Audiences
from tests.outcomes import answer
from tests.slack_running import running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


class TroubledHandbook:
    """Meets an incident at each question, then answers."""

    def __init__(self) -> None:
        self.heard: list[Incidents] = []

    def __call__(self, question: Question, _audiences: Audiences) -> Outcome:
        (incidents,) = self.heard
        if "panne" in question.text:
            incidents.model_down("the endpoint <!channel> cannot be reached")
        elif "retour" in question.text:
            incidents.model_back(130.0)
        else:
            incidents.budget_spent(5_000)
        return answer()


async def test_owners_are_told_of_outage_return_and_spent_budget(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    owners = sandbox.add_channel("guide", members=["amina"], private=True)
    handbook = TroubledHandbook()
    rules = HouseRules(owners_channel=owners.channel_id)
    async with running(sandbox, tmp_path, handbook, rules=rules, alerted=handbook.heard.append):
        for word, told in (
            ("panne", "&lt;!channel&gt; cannot be reached"),
            ("retour", "après 2 min"),
            ("budget", "5000 jetons"),
        ):
            asked = sandbox.say("camille", "general", f"@Manuel {word} ?")
            await sandbox.wait_for_reply(asked)
            await sandbox.wait_for_message("guide", lambda m, told=told: told in m.text)


async def test_without_an_owners_channel_answers_go_on(sandbox: Sandbox, tmp_path: Path) -> None:
    handbook = TroubledHandbook()
    async with running(sandbox, tmp_path, handbook, alerted=handbook.heard.append):
        asked = sandbox.say("camille", "general", "@Manuel panne ?")
        reply = await sandbox.wait_for_reply(asked)
    assert "cannot be reached" not in reply.text
