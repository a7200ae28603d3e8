"""« je ne sais pas » with the subject close: a button shows where to look, to whoever presses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot.records import Abstention, Outcome, Passage, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.house_rules import HouseRules
from bot.slack.wording import ENGLISH, FRENCH
from ingest import PUBLIC, AudienceConfig, Audiences, IndexNotBuiltError, StoredChunk
from tests.outcomes import abstention, passage
from tests.slack_running import ScriptedHandbook, running

PASSAGES = tuple(
    passage(
        f"Texte {n}.", chunk_id=f"c{n}", page=page, title=title, url=f"https://guide.example/{n}"
    )
    for n, (page, title) in enumerate(
        [
            ("coffre.md", "Le coffre"),
            ("coffre.md", "Le coffre"),
            ("acces.md", "Accès <!channel>"),
            ("badge.md", "Badges"),
            ("cles.md", "Clés"),
        ]
    )
)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


def handbook(*passages: Passage, close: bool = True) -> ScriptedHandbook:
    def unknown(_question: Question, _audiences: Audiences) -> Outcome:
        found: Abstention = abstention()
        return replace(found, subject_close=close, passages=passages)

    return ScriptedHandbook(unknown, pages=tuple(p.chunk for p in passages))


async def asked(sandbox: Sandbox) -> Message:
    question = sandbox.say("camille", "general", "@Manuel quel est le code du coffre ?")
    return await sandbox.wait_for_reply(question)


async def test_the_abstention_names_no_page_and_the_button_shows_three_to_whoever_presses(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path, handbook=handbook(*PASSAGES)):
        reply = await asked(sandbox)
        sandbox.click("james", reply, "close_pages")
        shown = await sandbox.wait_for_ephemeral("james")

    assert reply.text == f"je ne sais pas\n\n{FRENCH.try_next}"
    assert "coffre.md" not in str(reply.blocks)
    assert "guide.example" not in str(reply.blocks)
    assert shown.text.startswith(ENGLISH.close_pages_intro)
    for wanted in ("Le coffre", "Accès", "Badges", "https://guide.example/0"):
        assert wanted in shown.text
    assert shown.text.count("Le coffre") == 1
    assert "Clés" not in shown.text
    assert ENGLISH.sources not in shown.text
    assert "<!" not in shown.text
    assert shown.thread_ts == reply.thread_ts
    assert sandbox.ephemerals("camille") == []
    assert len(sandbox.messages("general")) == 2


async def test_pages_that_not_everybody_may_read_any_more_are_not_shown(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    known = handbook(*PASSAGES)
    async with running(sandbox, tmp_path, handbook=known):
        reply = await asked(sandbox)
        known.readable = False
        sandbox.click("camille", reply, "close_pages")
        shown = await sandbox.wait_for_ephemeral("camille")

    assert shown.text == FRENCH.close_pages_gone


async def test_the_pages_are_those_of_the_channel_whatever_more_the_person_may_read(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    seen: list[Audiences] = []

    class Noting(ScriptedHandbook):
        def chunks(self, chunk_ids: Sequence[str], audiences: Audiences) -> list[StoredChunk]:
            seen.append(audiences)
            return super().chunks(chunk_ids, audiences)

    workspace = sandbox.workspace()
    rules = HouseRules(
        audiences={
            "direction": AudienceConfig(users=frozenset({workspace.user("camille").user_id})),
            "tous": AudienceConfig(channels=frozenset({workspace.channel("general").channel_id})),
        }
    )
    known = handbook(*PASSAGES)
    noting = Noting(known.answer, pages=known.pages)
    async with running(sandbox, tmp_path, handbook=noting, rules=rules):
        reply = await asked(sandbox)
        sandbox.click("camille", reply, "close_pages")
        await sandbox.wait_for_ephemeral("camille", "Badges")

    assert seen == [PUBLIC | {"tous"}]


async def test_a_guest_who_presses_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.add_user("gaston", role="guest")
    async with running(sandbox, tmp_path, handbook=handbook(*PASSAGES)):
        reply = await asked(sandbox)
        sandbox.click("gaston", reply, "close_pages")
        shown = await sandbox.wait_for_ephemeral("gaston")

    assert shown.text == FRENCH.not_for_guests


async def test_without_a_question_log_the_pages_are_shown_all_the_same(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path, handbook=handbook(*PASSAGES), question_log_days=0):
        reply = await asked(sandbox)
        sandbox.click("camille", reply, "close_pages")
        await sandbox.wait_for_ephemeral("camille", "Badges")


async def test_a_private_abstention_has_the_button_too(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path, handbook=handbook(*PASSAGES)):
        sandbox.slash("camille", "general", "/handbook", "ask quel est le code du coffre ?")
        reply = await sandbox.wait_for_ephemeral("camille", "je ne sais pas")
        sandbox.click("camille", reply, "close_pages")
        await sandbox.wait_for_ephemeral("camille", FRENCH.close_pages_intro)


async def test_a_subject_that_is_not_close_gets_no_button(sandbox: Sandbox, tmp_path: Path) -> None:
    async with running(sandbox, tmp_path, handbook=handbook(*PASSAGES, close=False)):
        reply = await asked(sandbox)

    assert "close_pages" not in str(reply.blocks)


async def test_an_outage_while_pressing_is_said_to_be_one(sandbox: Sandbox, tmp_path: Path) -> None:
    class Down(ScriptedHandbook):
        def chunks(self, *_: object) -> list[object]:  # type: ignore[override]
            raise IndexNotBuiltError("gone")

    known = handbook(*PASSAGES)
    async with running(sandbox, tmp_path, handbook=Down(known.answer)):
        reply = await asked(sandbox)
        sandbox.click("camille", reply, "close_pages")
        shown = await sandbox.wait_for_ephemeral("camille")

    assert shown.text == FRENCH.outage
