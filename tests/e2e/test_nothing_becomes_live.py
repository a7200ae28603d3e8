"""Markup in a question, a page, a title or a model's words never notifies or links anybody."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.app import EngineRoom, open_engine_room
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.settings import BotSettings
from bot.slack.house_rules import HouseRules
from ingest import run_ingest
from tests.live_markup import live_markup
from tests.scripted_server import Scripted, scripted_server
from tests.slack_running import running

NASTY = "<!channel> <@U0SBX000005> <https://evil.example|ici> <!subteam^S1> <!here>"
SENTENCE = (
    "Un jour de congé <!channel> <https://evil.example|ici> est accordé pour un déménagement."
)
PAGE = r"""# Congés \<!everyone>

## Déménagement \<@U0SBX000005>

Un jour de congé \<!channel> \<https://evil.example|ici> est accordé pour un déménagement.

## Événements

| Motif \<!subteam^S1> | Jours de congé |
| --- | --- |
| Mariage \<!here> | quatre jours |
| Naissance | trois jours |
"""
HOSTS = ("https://intranet.example/", "https://exemple.slack.com/archives/")
QUESTION = "combien de jours de congé pour un déménagement ?"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> BotSettings:
    folder = tmp_path_factory.mktemp("handbook")
    (folder / "pages").mkdir()
    (folder / "pages" / "conges.md").write_text(PAGE, encoding="utf-8")
    (folder / "handbook.toml").write_text(
        '[[sources]]\nname = "guide"\ntype = "folder"\npath = "pages"\n'
        'url = "https://intranet.example/{path_without_extension}"\n',
        encoding="utf-8",
    )
    settings = BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{folder / 'manuel.db'}",
        handbook_config=folder / "handbook.toml",
    )
    run_ingest(settings)
    return settings


@pytest.fixture(scope="module")
def handbook(settings: BotSettings) -> Iterator[EngineRoom]:
    room = open_engine_room(settings)
    yield room
    room.close()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        sandbox.add_channel("guide", members=["amina"])
        yield sandbox
        assert sandbox.problems == []
        assert live_markup(sandbox, hosts=HOSTS) == []


def owners(sandbox: Sandbox) -> HouseRules:
    return HouseRules(owners_channel=sandbox.workspace().channel("guide").channel_id)


def test_the_finder_finds_what_is_live() -> None:
    sandbox = Sandbox()
    workspace = sandbox.workspace()
    link = {"type": "link", "url": "https://evil.example"}
    everybody = {"type": "broadcast", "range": "channel"}
    section = {"type": "rich_text_section", "elements": [link, everybody]}
    workspace.post(
        workspace.channel("general"),
        workspace.bot.user_id,
        "<!channel> &lt;!here&gt;",
        bot=workspace.bot,
        blocks=[{"type": "rich_text", "elements": [section]}],
    )

    assert live_markup(sandbox, hosts=HOSTS) == [
        "<!channel>",
        "https://evil.example",
        str(everybody),
    ]


async def test_of_a_page_and_its_title(
    sandbox: Sandbox, tmp_path: Path, handbook: EngineRoom
) -> None:
    async with running(sandbox, tmp_path, handbook=handbook):
        asked = sandbox.say("camille", "general", f"@Manuel {QUESTION}")
        reply = await sandbox.wait_for_reply(asked)
        sandbox.slash("camille", "general", "/handbook", "search congé mariage naissance")
        hits = await sandbox.wait_for_ephemeral("camille")
        message = sandbox.say("james", "general", QUESTION)
        sandbox.shortcut("camille", message, "ask_about_message")
        await sandbox.wait_until(lambda: "accordé" in str(sandbox.modal("camille")))

    assert "Un jour de congé &lt;!channel&gt;" in reply.text
    assert "Congés &lt;!everyone&gt;" in reply.text
    assert "Déménagement &lt;@U0SBX000005&gt;" in reply.text
    assert "&lt;!here&gt;" in hits.text


async def test_of_a_question(sandbox: Sandbox, tmp_path: Path, handbook: EngineRoom) -> None:
    unknown = f"qui a gagné la coupe du monde 1998 @channel @James {NASTY} ?"
    async with running(sandbox, tmp_path, handbook=handbook, rules=owners(sandbox)):
        asked = sandbox.say("camille", "general", f"@Manuel {unknown}")
        reply = await sandbox.wait_for_reply(asked, "je ne sais pas")
        sandbox.click("camille", reply, "ask_human")
        request = await sandbox.wait_for_message("guide")

        sandbox.slash("camille", "general", "/handbook", f"ask {QUESTION} @channel {NASTY}")
        answer = await sandbox.wait_for_ephemeral("camille", "accordé")
        sandbox.click("camille", answer, "share_answer")
        shared = await sandbox.wait_for_message("general", lambda m: "accordé" in m.text)

        sandbox.slash("camille", "general", "/handbook", f"zzzzqx {NASTY}")
        hits = await sandbox.wait_for_ephemeral("camille", "zzzzqx")

        message = sandbox.say("james", "general", f"{QUESTION} @channel {NASTY}")
        sandbox.shortcut("camille", message, "ask_about_message")
        await sandbox.wait_until(lambda: "accordé" in str(sandbox.modal("camille")))

    for said in (request.text, shared.text, hits.text):
        assert "&lt;!channel&gt;" in said


async def test_of_a_model(sandbox: Sandbox, tmp_path: Path, settings: BotSettings) -> None:
    def written(body: Any) -> Scripted:
        prompt = body["messages"][-1]["content"]
        [evidence] = set(re.findall(r'"evidence_id": "(\w+)"', prompt)[:1])
        claim = {
            "sentence": SENTENCE,
            "passage_id": evidence,
            "quote": SENTENCE,
        }
        content = json.dumps({"language": "fr", "claims": [claim]})
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return Scripted(
            body={
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [choice],
            }
        )

    with scripted_server(written) as model:
        values = settings.model_copy(
            update={"answer_model": "<!channel>-modele", "openai_base_url": model.url}
        )
        room = open_engine_room(values)
        async with running(sandbox, tmp_path, handbook=room):
            asked = sandbox.say("camille", "general", f"@Manuel {QUESTION}")
            reply = await sandbox.wait_for_reply(asked, timeout_s=20)
        room.close()

    assert model.requests
    assert "Un jour de congé &lt;!channel&gt;" in reply.text
    assert "&lt;!channel&gt;-modele" in reply.text
