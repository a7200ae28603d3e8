"""What the handbook does not say is asked of humans, and their answer comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Channel, Message
from bot.slack.house_rules import HouseRules
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import JobState, forget_user, open_engine
from tests.slack_running import running

QUESTION = "quel est le code <!channel> du coffre ?"
LIVE = ("<!", "<https", "<http")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def owners(sandbox: Sandbox) -> Channel:
    return sandbox.add_channel("guide", members=["amina"], private=True)


def rules(owners: Channel) -> HouseRules:
    return HouseRules(owners_channel=owners.channel_id)


async def abstained(sandbox: Sandbox) -> Message:
    asked = sandbox.say("camille", "general", f"@Manuel {QUESTION}")
    return await sandbox.wait_for_reply(asked)


def direct_messages(sandbox: Sandbox, who: str) -> list[Message]:
    direct = sandbox.workspace().direct(sandbox.workspace().user(who).user_id)
    return [message for message in direct.messages.values() if message.bot]


async def told(sandbox: Sandbox, who: str, count: int = 1) -> Message:
    def found() -> Message | None:
        messages = direct_messages(sandbox, who)
        return messages[count - 1] if len(messages) >= count else None

    return await sandbox.wait_until(found)


@pytest.mark.parametrize("who", ["gaston", "etienne"])
async def test_guests_and_strangers_pass_nothing_on(
    sandbox: Sandbox, tmp_path: Path, owners: Channel, who: str
) -> None:
    sandbox.add_user("gaston", role="guest")
    sandbox.add_user("etienne").team_id = "T0ELSEWHERE"
    async with running(sandbox, tmp_path, rules=rules(owners)):
        reply = await abstained(sandbox)
        sandbox.click(who, reply, "ask_human")
        await sandbox.wait_for_ephemeral(who, FRENCH.not_for_guests)
        assert sandbox.messages("guide") == []

        sandbox.click("camille", reply, "ask_human")
        await sandbox.wait_for_message("guide")


async def test_a_question_is_passed_on_once_and_answered_with_the_button(
    sandbox: Sandbox, tmp_path: Path, owners: Channel
) -> None:
    async with running(sandbox, tmp_path, rules=rules(owners)):
        reply = await abstained(sandbox)
        sandbox.click("james", reply, "ask_human")
        await sandbox.wait_for_ephemeral("james", ENGLISH.human_sent)
        sandbox.click("camille", reply, "ask_human")
        await sandbox.wait_for_ephemeral("camille", FRENCH.human_sent_already)
        request = await sandbox.wait_for_message("guide")

        sandbox.click("amina", request, "human_give_answer")
        await sandbox.wait_until(lambda: sandbox.modal("amina"))
        answer = "Demandez à Paul <!here> <https://evil.example|ici>"
        sandbox.submit("amina", {"human_answer": {"human_answer": {"value": answer}}})
        to_asker, to_presser = await told(sandbox, "camille"), await told(sandbox, "james")
        note = await sandbox.wait_for_reply(request)
        await asyncio.sleep(0.3)

        assert len(sandbox.messages("guide")) == 2
        assert len(direct_messages(sandbox, "camille")) == 1
    amina = sandbox.workspace().user("amina").user_id
    assert "code &lt;!channel&gt; du coffre ?" in request.text
    assert sandbox.workspace().permalink(reply) in str(request.blocks)
    assert to_asker.text.startswith(f"<@{amina}> {FRENCH.human_answered}")
    assert to_presser.text.startswith(f"<@{amina}> {ENGLISH.human_answered}")
    assert {"type": "user", "user_id": amina} in to_asker.blocks[0]["elements"][0]["elements"]
    assert "Demandez à Paul" in note.text
    for message in (request, to_asker, to_presser, note):
        assert not [token for token in LIVE if token in message.text]
        assert "broadcast" not in json.dumps(message.blocks)


async def test_a_private_question_is_passed_on_without_a_link(
    sandbox: Sandbox, tmp_path: Path, owners: Channel
) -> None:
    async with running(sandbox, tmp_path, rules=rules(owners), question_log_days=0):
        sandbox.slash("camille", "general", "/handbook", "ask le code du coffre ?")
        reply = await sandbox.wait_for_ephemeral("camille", "je ne sais pas")
        sandbox.click("camille", reply, "ask_human")
        request = await sandbox.wait_for_message("guide")

        sandbox.click("amina", request, "human_give_answer")
        await sandbox.wait_until(lambda: sandbox.modal("amina"))
        sandbox.submit("amina", {"human_answer": {"human_answer": {"value": "1234"}}})
        answer = await told(sandbox, "camille")

    assert "le code du coffre ?" in request.text
    assert "slack.com" not in str(request.blocks)
    assert "1234" in answer.text


async def test_without_an_owners_channel_there_is_no_such_button(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        reply = await abstained(sandbox)

    assert "ask_human" not in str(reply.blocks)


async def test_when_the_channel_is_closed_to_us_whoever_pressed_is_told(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    outside = sandbox.add_channel("dehors", with_bot=False)
    async with running(sandbox, tmp_path, rules=rules(outside)):
        reply = await abstained(sandbox)
        sandbox.click("camille", reply, "ask_human")
        answer = await told(sandbox, "camille")

    assert answer.text == FRENCH.human_failed
    assert sandbox.messages("dehors") == []


async def test_a_delayed_post_is_made_up_for(
    sandbox: Sandbox, tmp_path: Path, owners: Channel
) -> None:
    async with running(sandbox, tmp_path, rules=rules(owners)):
        reply = await abstained(sandbox)
        sandbox.fault("chat.postMessage", "ratelimited", times=2, seconds=1)
        sandbox.click("camille", reply, "ask_human")
        await sandbox.wait_for_message("guide", timeout_s=20)


async def test_an_answer_in_the_thread_is_told_where_the_app_hears_of_it(tmp_path: Path) -> None:
    content = json.loads(DEFAULT_PATH.read_text(encoding="utf-8"))
    content["settings"]["event_subscriptions"]["bot_events"].append("message.groups")
    async with SandboxServer(manifest=Manifest.parse(content)) as sandbox:
        sandbox.workspace().granted |= {"groups:history"}
        owners = sandbox.add_channel("guide", members=["amina", "camille"], private=True)
        async with running(sandbox, tmp_path, rules=rules(owners)) as store:
            reply = await abstained(sandbox)
            sandbox.click("camille", reply, "ask_human")
            request = await sandbox.wait_for_message("guide")
            async with asyncio.timeout(10):
                while store.counts() != {JobState.DONE: 2}:
                    await asyncio.sleep(0.02)
            sandbox.say("amina", "guide", "bonjour à tous")
            sandbox.say("camille", "guide", "merci d'avance", thread_ts=request.ts)
            given = sandbox.say("amina", "guide", "C'est *1234*", thread_ts=request.ts)
            answer = await told(sandbox, "camille")
            [delivery] = [d for d in sandbox.deliveries("message") if d.event.get("ts") == given.ts]
            await sandbox.redeliver(delivery).settled()
            await sandbox.wait_until(lambda: given.reactions or None)
            await asyncio.sleep(0.3)

            assert len(direct_messages(sandbox, "camille")) == 1
        assert "C'est *1234*" in answer.text
        assert sandbox.problems == []


async def test_an_answer_that_was_no_help_can_be_passed_on_too(
    sandbox: Sandbox, tmp_path: Path, owners: Channel
) -> None:
    async with running(sandbox, tmp_path, rules=rules(owners)):
        asked = sandbox.say("camille", "general", "@Manuel le télétravail des stagiaires ?")
        reply = await sandbox.wait_for_reply(asked, "Deux jours")
        sandbox.click("james", reply, "feedback", value=_down(reply))
        await sandbox.wait_until(lambda: sandbox.modal("james"))
        sandbox.submit("james", {})
        thanks = await sandbox.wait_for_ephemeral("james", ENGLISH.feedback_thanks)
        sandbox.click("james", thanks, "ask_human")
        request = await sandbox.wait_for_message("guide")
        sandbox.click("camille", reply, "feedback")
        useful = await sandbox.wait_for_ephemeral("camille", FRENCH.feedback_thanks)

    assert "le télétravail des stagiaires ?" in request.text
    assert "ask_human" not in str(useful.blocks)


def _down(reply: Message) -> str:
    [row] = [block for block in reply.blocks if block["type"] == "context_actions"]
    value: str = row["elements"][0]["negative_button"]["value"]
    return value


async def test_who_is_forgotten_is_not_written_to_any_more(
    sandbox: Sandbox, tmp_path: Path, owners: Channel
) -> None:
    async with running(sandbox, tmp_path, rules=rules(owners)):
        reply = await abstained(sandbox)
        sandbox.click("camille", reply, "ask_human")
        request = await sandbox.wait_for_message("guide")
        engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
        camille = sandbox.workspace().user("camille").user_id
        await asyncio.to_thread(forget_user, engine, camille)
        sandbox.click("amina", request, "human_give_answer")
        await sandbox.wait_until(lambda: sandbox.modal("amina"))
        sandbox.submit("amina", {"human_answer": {"human_answer": {"value": "1234"}}})
        await sandbox.settled()
        await asyncio.sleep(0.5)
        with engine.connect() as connection:
            kept = connection.exec_driver_sql("select * from bot_jobs").all()
        engine.dispose()

    assert direct_messages(sandbox, "camille") == []
    assert camille not in str(kept)
