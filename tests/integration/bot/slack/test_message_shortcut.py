"""The shortcut on somebody's message: a modal at once, the answer in it, and Share."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message, View
from bot.slack.wording import ENGLISH, FRENCH
from ingest import Audiences, IndexNotBuiltError
from tests.outcomes import answer, claim, passage
from tests.slack_running import ScriptedHandbook, knows_remote_work, running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


def shown(view: View | None) -> str:
    return json.dumps(view.content["blocks"], ensure_ascii=False) if view else ""


async def modal(sandbox: Sandbox, who: str, text: str) -> View:
    found = await sandbox.wait_until(
        lambda: view if text in shown(view := sandbox.modal(who)) else None
    )
    assert found is not None
    return found


async def used(sandbox: Sandbox, who: str, message: Message) -> None:
    await sandbox.shortcut(who, message, "ask_about_message").settled()


async def test_the_modal_opens_at_once_and_is_filled_with_the_answer(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    go_on = threading.Event()

    def slow(question: Question, audiences: Audiences) -> Outcome:
        go_on.wait(10)
        return knows_remote_work(question, audiences)

    message = sandbox.say("james", "general", "on a droit à combien de *télétravail* ?")
    async with running(sandbox, tmp_path, slow):
        await used(sandbox, "camille", message)
        await modal(sandbox, "camille", FRENCH.searching)
        go_on.set()
        view = await modal(sandbox, "camille", "Deux jours de télétravail par semaine.")

    assert "https://guide.example/teletravail#rythme" in shown(view)
    assert "on a droit à combien" in shown(view)
    assert len(sandbox.messages("general")) == 1
    assert sandbox.notices("camille") == []


async def test_share_posts_the_answer_once_in_the_thread_of_the_message(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    root = sandbox.say("james", "general", "bonjour <!channel>")
    message = sandbox.say("james", "general", "le télétravail ?", thread_ts=root.ts)
    async with running(sandbox, tmp_path):
        await used(sandbox, "camille", message)
        await modal(sandbox, "camille", "share_in_thread")
        sandbox.click_in_view("camille", "share_in_thread")
        sandbox.click_in_view("camille", "share_in_thread")
        shared = await sandbox.wait_for_reply(root)
        await sandbox.settled()
        await asyncio.sleep(0.3)
        view = sandbox.modal("camille")

    assert sandbox.replies(root) == [shared]
    camille = sandbox.workspace().user("camille").user_id
    assert {"type": "user", "user_id": camille} in shared.blocks[0]["elements"][0]["elements"]
    assert FRENCH.shared_about in shared.text
    assert "Deux jours" in shared.text
    assert '"share_in_thread"' not in shown(view)


async def test_what_not_everybody_may_read_any_more_is_not_shared(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    handbook = ScriptedHandbook()
    message = sandbox.say("james", "general", "le télétravail ?")
    async with running(sandbox, tmp_path, handbook=handbook):
        await used(sandbox, "camille", message)
        await modal(sandbox, "camille", "share_in_thread")
        handbook.readable = False
        sandbox.click_in_view("camille", "share_in_thread")
        await modal(sandbox, "camille", FRENCH.share_changed)

    assert sandbox.replies(message) == []


async def test_where_the_app_is_not_a_member_it_answers_and_shares(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.add_channel("ailleurs", with_bot=False, private=True)
    message = sandbox.say("james", "ailleurs", "le télétravail ?")
    async with running(sandbox, tmp_path):
        await used(sandbox, "james", message)
        await modal(sandbox, "james", ENGLISH.share_in_thread)
        sandbox.click_in_view("james", "share_in_thread")
        await sandbox.wait_for_reply(message, "Deux jours")


async def test_an_abstention_has_nothing_to_share_and_names_no_page(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    message = sandbox.say("james", "general", "quel est le code du coffre ?")
    async with running(sandbox, tmp_path):
        await used(sandbox, "camille", message)
        view = await modal(sandbox, "camille", "je ne sais pas")

    assert "share_in_thread" not in shown(view)
    assert "Cuisine" not in shown(view)


async def test_a_table_is_text_in_a_modal_which_takes_no_tables(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    header, rows = "| Ville | Nuit |", "| Paris | 150 € |\n| Lyon | 120 € |"
    of = passage(f"{header}\n| --- | --- |\n{rows}")

    def tabular(_question: Question, _audiences: Audiences) -> Outcome:
        return answer(claim(rows, of=of, lead_in=header))

    message = sandbox.say("james", "general", "les hôtels ?")
    async with running(sandbox, tmp_path, tabular):
        await used(sandbox, "camille", message)
        await modal(sandbox, "camille", "Paris | 150 €")


async def test_what_goes_wrong_is_said_in_the_modal(
    sandbox: Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(question: Question, _audiences: Audiences) -> Outcome:
        if "coffre" in question.text:
            raise KeyError(question.text)
        raise IndexNotBuiltError("no index")

    outage = sandbox.say("james", "general", "le télétravail ?")
    failure = sandbox.say("james", "general", "le coffre ?")
    wordless = sandbox.say("james", "general", "@Manuel")
    async with running(sandbox, tmp_path, broken):
        for message, words in (
            (outage, FRENCH.outage),
            (failure, FRENCH.failure),
            (wordless, FRENCH.about_nothing),
        ):
            await used(sandbox, "camille", message)
            await modal(sandbox, "camille", words)

    assert "coffre" not in caplog.text


async def test_a_modal_closed_meanwhile_does_no_harm(sandbox: Sandbox, tmp_path: Path) -> None:
    go_on = threading.Event()

    def slow(question: Question, audiences: Audiences) -> Outcome:
        go_on.wait(10)
        return knows_remote_work(question, audiences)

    message = sandbox.say("james", "general", "le télétravail ?")
    async with running(sandbox, tmp_path, slow):
        await used(sandbox, "camille", message)
        await modal(sandbox, "camille", FRENCH.searching)
        sandbox.close_modal("camille")
        go_on.set()
        await sandbox.wait_for_call("views.update")

    assert sandbox.modal("camille") is None


async def test_a_modal_that_slack_was_too_busy_to_fill_is_filled_later(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    message = sandbox.say("james", "general", "le télétravail ?")
    sandbox.fault("views.update", "server_error")
    async with running(sandbox, tmp_path):
        await used(sandbox, "camille", message)
        await modal(sandbox, "camille", "Deux jours de télétravail par semaine.")

    assert sandbox.messages(sandbox.workspace().direct(camille_id(sandbox)).channel_id) == []


def camille_id(sandbox: Sandbox) -> str:
    return sandbox.workspace().user("camille").user_id
