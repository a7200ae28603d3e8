"""The bot's own words are those of whoever reads, whatever language they ask in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.wording import ENGLISH, FRENCH
from tests.slack_running import running

FRENCH_QUESTION = "combien de jours de télétravail ?"
ENGLISH_QUESTION = "how many days of remote work are there?"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        sandbox.add_user("jonas", locale="de-DE", tz="Europe/Berlin")
        yield sandbox
        assert sandbox.problems == []


async def test_words_follow_the_locale_and_quotes_stay_as_they_are(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        in_english = await sandbox.wait_for_reply(sandbox.direct_message("james", FRENCH_QUESTION))
        in_french = await sandbox.wait_for_reply(
            sandbox.direct_message("camille", ENGLISH_QUESTION)
        )

    assert ENGLISH.quoted in in_english.text
    assert FRENCH.quoted in in_french.text
    for reply in (in_english, in_french):
        assert "Deux jours de télétravail par semaine. [1]" in reply.text


async def test_an_abstention_is_the_fixed_words_and_what_stands_around_them_is_the_readers(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        asked = sandbox.direct_message("james", "quel est le code du coffre ?")
        reply = await sandbox.wait_for_reply(asked)

    assert reply.text == f"je ne sais pas\n\n{ENGLISH.try_next}"


@pytest.mark.parametrize(
    ("question", "said"), [(FRENCH_QUESTION, FRENCH.quoted), (ENGLISH_QUESTION, ENGLISH.quoted)]
)
async def test_a_locale_that_we_do_not_speak_leaves_the_choice_to_the_question(
    sandbox: Sandbox, tmp_path: Path, question: str, said: str
) -> None:
    async with running(sandbox, tmp_path):
        reply = await sandbox.wait_for_reply(sandbox.direct_message("jonas", question))

    assert said in reply.text


@pytest.mark.parametrize("kind", ["ratelimited", "server_error", "drop_before", "error"])
async def test_people_whom_slack_does_not_describe_are_answered_all_the_same(
    sandbox: Sandbox, tmp_path: Path, kind: str
) -> None:
    sandbox.fault("users.info", kind, times=None)
    async with running(sandbox, tmp_path):
        reply = await sandbox.wait_for_reply(sandbox.direct_message("james", FRENCH_QUESTION))

    assert FRENCH.quoted in reply.text


async def test_people_are_asked_about_once_for_many_questions(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    async with running(sandbox, tmp_path):
        for _ in range(3):
            await sandbox.wait_for_reply(sandbox.direct_message("james", FRENCH_QUESTION))

    assert len(sandbox.calls("users.info")) == 1


async def test_an_answer_moved_to_a_direct_message_says_so_in_the_readers_language(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.fault("chat.postMessage", "error", error="restricted_action_thread_locked")
    async with running(sandbox, tmp_path):
        sandbox.say("james", "general", f"@Manuel {FRENCH_QUESTION}")
        moved = await sandbox.wait_for_call("chat.postMessage", count=2)

    assert moved.arguments["text"].startswith(ENGLISH.moved_here)
