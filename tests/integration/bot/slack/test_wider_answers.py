"""In a channel the answer is everybody's; whoever may read more gets it alone, on a button."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import pytest

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.house_rules import HouseRules
from bot.slack.wording import FRENCH
from ingest import AudienceConfig, Audiences
from tests.outcomes import abstention, answer, claim, passage
from tests.slack_running import ScriptedHandbook, running

SECRET = passage("La prime est de 500 €.", chunk_id="secret", page="primes.md", title="Primes")
PUBLIC_PAGE = passage("Les primes sont versées en juin.", chunk_id="public", page="paie.md")


class Handbook(ScriptedHandbook):
    """Says how much the bonus is to the management, and when it is paid to everybody."""

    def __init__(self, *, secret: bool = True) -> None:
        super().__init__(self._say)
        self.secret = secret
        self.asked: list[Question] = []

    def _say(self, question: Question, audiences: Audiences) -> Outcome:
        self.asked.append(question)
        if "prime" not in question.text:
            return abstention()
        known = self.secret and "direction" in audiences
        return answer(claim(of=SECRET if known else PUBLIC_PAGE))

    def may_read(self, chunk_ids: Collection[str], audiences: Audiences) -> bool:
        return "secret" not in chunk_ids or "direction" in audiences


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


def rules(sandbox: Sandbox) -> HouseRules:
    camille = sandbox.workspace().user("camille").user_id
    return HouseRules(audiences={"direction": AudienceConfig(users=frozenset({camille}))})


async def quiet(sandbox: Sandbox) -> None:
    await sandbox.settled()
    await asyncio.sleep(0.7)


async def test_the_thread_shows_what_all_may_read_and_the_asker_alone_is_offered_more(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    handbook = Handbook()
    async with running(sandbox, tmp_path, handbook=handbook, rules=rules(sandbox)):
        root = sandbox.say("camille", "general", "@Manuel bonjour, une question ?")
        await sandbox.wait_for_reply(root)
        sandbox.say("camille", "general", "@Manuel et la prime ?", thread_ts=root.ts)
        reply = await sandbox.wait_for_reply(root, count=2)
        offer = await sandbox.wait_for_ephemeral("camille", FRENCH.wider_offer)
        sandbox.click("camille", offer, "wider_answer")
        wider = await sandbox.wait_for_ephemeral("camille", "500")
        await quiet(sandbox)

    assert "en juin" in reply.text
    assert "500" not in str([message.text for message in sandbox.messages("general")])
    assert "wider" not in str(reply.blocks)
    assert offer.thread_ts == root.ts
    assert "share_answer" not in str(wider.blocks)
    assert handbook.asked[-1] == Question("et la prime ?", ("bonjour, une question ?",))
    assert sandbox.ephemerals("james") == []


@pytest.mark.parametrize(("who", "secret"), [("james", True), ("camille", False)])
async def test_whoever_would_see_no_more_is_offered_nothing(
    sandbox: Sandbox, tmp_path: Path, who: str, secret: bool
) -> None:
    handbook = Handbook(secret=secret)
    async with running(sandbox, tmp_path, handbook=handbook, rules=rules(sandbox)):
        asked = sandbox.say(who, "general", "@Manuel la prime ?")
        await sandbox.wait_for_reply(asked, "en juin")
        await quiet(sandbox)

    assert sandbox.ephemerals(who) == []


async def test_a_direct_message_says_all_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path, handbook=Handbook(), rules=rules(sandbox)):
        asked = sandbox.direct_message("camille", "la prime ?")
        await sandbox.wait_for_reply(asked, "500")
        await quiet(sandbox)

    assert sandbox.ephemerals("camille") == []


async def test_an_offer_that_slack_refuses_harms_no_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.fault("chat.postEphemeral", "error", error="user_not_in_channel")
    async with running(sandbox, tmp_path, handbook=Handbook(), rules=rules(sandbox)):
        asked = sandbox.say("camille", "general", "@Manuel la prime ?")
        await sandbox.wait_for_reply(asked, "en juin")
        await sandbox.wait_for_call("chat.postEphemeral")
        await quiet(sandbox)

    assert len(sandbox.replies(asked)) == 1
