"""Restricted pages in Slack: who gets to see them, where, and who never does."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.app import EngineRoom, open_engine_room
from bot.metrics import Metrics
from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.settings import BotSettings
from bot.slack.house_rules import HouseRules
from ingest import AudienceConfig, Audiences
from ingest.app import run_ingest
from tests.outcomes import answer, claim
from tests.slack_running import running, settings_in

QUESTION = "Quel est le montant de la prime Zorglub ?"
SECRET = "12 345 euros"
ANSWER = "La prime Zorglub des directeurs est de 12 345 euros."


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox


@pytest.fixture
def settings(tmp_path: Path) -> BotSettings:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "prime.md").write_text(
        f"---\naudience: rh\n---\n# Prime Zorglub\n\n## Montant\n\n{ANSWER}\n", encoding="utf-8"
    )
    for number in range(6):
        (pages / f"page-{number}.md").write_text(
            f"# Page {number}\n\nLa page {number} parle des horaires de bureau.\n", encoding="utf-8"
        )
    (tmp_path / "handbook.toml").write_text('[[sources]]\nname = "h"\npath = "pages"\n')
    settings = settings_in(tmp_path)
    run_ingest(settings)
    return settings


@pytest.fixture
def room(settings: BotSettings) -> Iterator[EngineRoom]:
    with open_engine_room(settings) as room:
        yield room


@asynccontextmanager
async def restricted(
    sandbox: Sandbox, room: EngineRoom, folder: Path, *, metrics: Metrics | None = None
) -> AsyncIterator[None]:
    """Run the app with camille in the group of `rh`, and its channel `general`."""
    group = sandbox.add_group("equipe-rh", ["camille"])
    channel = sandbox.add_channel("rh-prive", members=["camille", "james"])
    rules = HouseRules(
        audiences={
            "rh": AudienceConfig(
                user_groups=frozenset({group.group_id}),
                channels=frozenset({channel.channel_id}),
            )
        }
    )
    async with running(sandbox, folder, handbook=room, rules=rules, metrics=metrics):
        yield


async def privately(sandbox: Sandbox, who: str, text: str, channel: str = "general") -> str:
    before = len(sandbox.ephemerals(who))
    sandbox.slash(who, channel, "/handbook", text)
    told = before + (2 if text.startswith("ask") else 1)
    reply = await sandbox.wait_for_ephemeral(who, count=told)
    return json.dumps([reply.text, reply.blocks], ensure_ascii=False)


async def test_a_search_shows_restricted_pages_to_their_readers_alone(sandbox, room, tmp_path):
    async with restricted(sandbox, room, tmp_path):
        inside = await privately(sandbox, "camille", "search prime zorglub")
        outside = await privately(sandbox, "james", "search prime zorglub")
        in_channel = await privately(sandbox, "james", "search prime zorglub", "rh-prive")

    assert SECRET in inside
    assert SECRET not in outside
    assert "prime.md" not in outside
    assert "Montant" not in outside
    assert SECRET in in_channel


async def test_of_a_search_only_what_everybody_there_may_read_is_shared(sandbox, room, tmp_path):
    async with restricted(sandbox, room, tmp_path):
        sandbox.slash("camille", "general", "/handbook", "search montant zorglub")
        alone = await sandbox.wait_for_ephemeral("camille", SECRET)
        sandbox.slash("camille", "general", "/handbook", "search zorglub horaires bureau")
        mixed = await sandbox.wait_for_ephemeral("camille", "horaires")
        sandbox.click("camille", mixed, "share_answer")
        shared = await sandbox.wait_for_message("general")
        sandbox.slash("james", "rh-prive", "/handbook", "search montant zorglub")
        inside = await sandbox.wait_for_ephemeral("james", SECRET)
    assert SECRET in mixed.text
    assert "share_answer" not in str(alone.blocks)
    assert "horaires" in shared.text
    assert SECRET not in json.dumps([shared.text, shared.blocks], ensure_ascii=False)
    assert "share_answer" in str(inside.blocks)


async def test_a_private_answer_uses_what_the_asker_may_read(sandbox, room, tmp_path, monkeypatch):
    seen = spying(monkeypatch, room)
    async with restricted(sandbox, room, tmp_path):
        await privately(sandbox, "camille", f"ask {QUESTION}")
        outside = await privately(sandbox, "james", f"ask {QUESTION}")

    assert distinct(seen) == [["everyone", "rh"], ["everyone"]]
    assert SECRET not in outside


async def test_a_visible_answer_uses_what_everybody_there_may_read(
    sandbox, room, tmp_path, monkeypatch
):
    seen = spying(monkeypatch, room)
    async with restricted(sandbox, room, tmp_path):
        for channel in ("general", "rh-prive"):
            root = sandbox.say("camille", channel, f"@Manuel {QUESTION}")
            await sandbox.wait_for_reply(root)

    assert distinct(seen) == [["everyone"], ["everyone", "rh"]]
    shown = json.dumps([m.text for m in sandbox.messages("general")], ensure_ascii=False)
    assert SECRET not in shown


async def test_a_direct_message_is_read_by_one_person(sandbox, room, tmp_path, monkeypatch):
    seen = spying(monkeypatch, room)
    async with restricted(sandbox, room, tmp_path):
        for who in ("camille", "james"):
            root = sandbox.direct_message(who, QUESTION)
            await sandbox.wait_for_reply(root)

    assert distinct(seen) == [["everyone", "rh"], ["everyone"]]


async def test_an_answer_from_restricted_pages_cannot_be_shared_where_others_are(
    sandbox, room, tmp_path, monkeypatch
):
    certain(monkeypatch, room)
    async with restricted(sandbox, room, tmp_path):
        in_general = await privately(sandbox, "camille", f"ask {QUESTION}")
        among_readers = await privately(sandbox, "camille", f"ask {QUESTION}", "rh-prive")

    assert SECRET in in_general
    assert "share_answer" not in in_general
    assert SECRET in among_readers
    assert "share_answer" in among_readers


async def test_it_cannot_be_shared_with_a_colleague_in_a_direct_message_either(
    sandbox, room, tmp_path, monkeypatch
):
    certain(monkeypatch, room)
    workspace = sandbox.workspace()
    pair = workspace.direct(*(workspace.user(who).user_id for who in ("camille", "james")))
    async with restricted(sandbox, room, tmp_path):
        alone = await privately(sandbox, "camille", f"ask {QUESTION}", pair.channel_id)

    assert SECRET in alone
    assert "share_answer" not in alone


async def test_close_pages_logs_and_metrics_tell_nothing_of_them(sandbox, room, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    metrics = Metrics()
    async with restricted(sandbox, room, tmp_path, metrics=metrics):
        await privately(sandbox, "camille", f"ask {QUESTION}")
        root = sandbox.say("james", "general", f"@Manuel {QUESTION}")
        reply = await sandbox.wait_for_reply(root)
        exposed = metrics.render().decode()

    told = json.dumps([reply.text, reply.blocks], ensure_ascii=False) + exposed
    for word in (SECRET, "prime.md", "directeurs", "Montant"):
        assert word not in told
    assert SECRET not in caplog.text
    assert "directeurs" not in caplog.text


def spying(monkeypatch: pytest.MonkeyPatch, room: EngineRoom) -> list[frozenset[str]]:
    """Notes the audiences of each question, without those of the workspace."""
    seen: list[frozenset[str]] = []
    whole = room.answer

    def noting(question: Question, audiences: Audiences) -> Outcome:
        seen.append(frozenset(name for name in audiences if "/" not in name))
        return whole(question, audiences)

    monkeypatch.setattr(room, "answer", noting)
    return seen


def distinct(seen: list[frozenset[str]]) -> list[list[str]]:
    """Each set once, in the order of its first question: on a busy machine one is asked again."""
    return [sorted(audiences) for audiences in dict.fromkeys(seen)]


def certain(monkeypatch: pytest.MonkeyPatch, room: EngineRoom) -> None:
    """Lets the answerer be sure of the best passage: what is shared is what matters here."""

    def answering(question: Question, audiences: Audiences) -> Outcome:
        [best] = room.search(question, 1, audiences).results
        return answer(claim(ANSWER, of=best.passage))

    monkeypatch.setattr(room, "answer", answering)
