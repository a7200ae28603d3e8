"""`/handbook`, typed in the stand-in, answered by the real app."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.records import Question
from bot.retrieval.search import SearchResult, SearchResults
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState
from bot.sandbox.server import SandboxServer
from bot.slack.wording import ENGLISH, FRENCH
from ingest import IndexNotBuiltError
from tests.outcomes import passage
from tests.slack_running import ScriptedHandbook, finds_remote_work, running


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.mark.parametrize("text", ["télétravail", "search télétravail", "SEARCH  télétravail"])
async def test_search_shows_hits_to_the_person_alone(sandbox, tmp_path: Path, text):
    async with running(sandbox, tmp_path):
        delivery = sandbox.slash("camille", "general", "/handbook", text)
        shown = await sandbox.wait_for_ephemeral("camille")
    assert delivery.state is DeliveryState.ACKNOWLEDGED
    assert shown.text.startswith("Passages du guide pour « télétravail »")
    assert "Deux jours de télétravail par semaine." in shown.text
    assert sandbox.messages("general") == []
    assert sandbox.ephemerals("james") == []


async def test_search_without_hits_says_so(sandbox, tmp_path: Path):
    async with running(sandbox, tmp_path):
        sandbox.slash("james", "general", "/handbook", "how many hamsters are there")
        shown = await sandbox.wait_for_ephemeral("james")
    assert "No passage of the handbook" in shown.text


@pytest.mark.parametrize("text", ["", "help", "aide", "search", "ask"])
async def test_help_tells_what_the_command_does(sandbox, tmp_path: Path, text):
    async with running(sandbox, tmp_path):
        sandbox.slash("camille", "general", "/handbook", text)
        shown = await sandbox.wait_for_ephemeral("camille")
    assert shown.text == FRENCH.command_help.format(command="/handbook")


async def test_slow_search_is_acknowledged_at_once(sandbox, tmp_path: Path):
    def slow(question: Question, limit: int) -> SearchResults:
        time.sleep(0.3)
        return finds_remote_work(question, limit)

    async with running(sandbox, tmp_path, search=slow):
        delivery = sandbox.slash("camille", "general", "/handbook", "télétravail")
        await delivery.settled()
        assert sandbox.ephemerals("camille") == []
        await sandbox.wait_for_ephemeral("camille")


async def test_outage_is_reported_as_an_outage(sandbox, tmp_path: Path):
    def down(_question: Question, _limit: int) -> SearchResults:
        raise IndexNotBuiltError("no index")

    async with running(sandbox, tmp_path, search=down):
        sandbox.slash("james", "general", "/handbook", "what about the holidays")
        shown = await sandbox.wait_for_ephemeral("james")
    assert shown.text == ENGLISH.outage


async def test_command_works_in_a_direct_message_and_where_the_app_is_not(sandbox, tmp_path: Path):
    sandbox.add_channel("ailleurs", with_bot=False)
    async with running(sandbox, tmp_path):
        sandbox.slash("camille", "ailleurs", "/handbook", "télétravail")
        await sandbox.wait_for_ephemeral("camille", "Passages")
        sandbox.slash("james", "Manuel", "/handbook", "télétravail")
        await sandbox.wait_for_ephemeral("james", "Passages")


def many(question: Question, limit: int) -> SearchResults:
    found = [
        passage(
            f"Passage {n} sur le télétravail.", chunk_id=str(n), title=f"Page {n}", page=f"{n}.md"
        )
        for n in range(1, 8)
    ]
    return SearchResults(question.text, "hybrid", tuple(map(SearchResult, found[:limit])))


async def test_the_next_passages_replace_those_that_were_shown(sandbox, tmp_path: Path):
    async with running(sandbox, tmp_path, search=many):
        sandbox.slash("camille", "general", "/handbook", "télétravail : combien ?")
        first = await sandbox.wait_for_ephemeral("camille", "1. Page 1")
        assert "5. Page 5" in first.text
        assert "Page 6" not in first.text
        sandbox.click("camille", first, "more_hits")
        second = await sandbox.wait_for_ephemeral("camille", "6. Page 6")

    assert sandbox.ephemerals("camille") == [second]
    assert "Passages du guide pour « télétravail : combien ? »" in second.text
    assert "7. Page 7" in second.text
    assert "Page 5" not in second.text
    assert "more_hits" not in str(second.blocks)


async def test_a_page_of_passages_is_shared_once_by_whoever_searched(sandbox, tmp_path: Path):
    async with running(sandbox, tmp_path, search=many):
        sandbox.slash("camille", "general", "/handbook", "télétravail <!channel>")
        first = await sandbox.wait_for_ephemeral("camille", "1. Page 1")
        sandbox.click("camille", first, "more_hits")
        second = await sandbox.wait_for_ephemeral("camille", "6. Page 6")
        sandbox.click("james", second, "share_answer")
        await sandbox.wait_for_ephemeral("james", ENGLISH.share_not_yours)
        assert sandbox.messages("general") == []

        sandbox.click("camille", second, "share_answer")
        shared = await sandbox.wait_for_message("general")
        sandbox.click("camille", second, "share_answer")
        await sandbox.wait_for_ephemeral("camille", FRENCH.share_gone)
        await sandbox.settled()
    assert FRENCH.shared_search in shared.text
    assert "1. Page 6" in shared.text
    assert "Page 5" not in shared.text
    assert "<" not in shared.text
    assert "share_answer" not in str(shared.blocks)
    assert sandbox.messages("general") == [shared]
    assert second not in sandbox.ephemerals("camille")


async def test_passages_that_may_not_be_read_there_any_more_are_not_shared(sandbox, tmp_path: Path):
    handbook = ScriptedHandbook(find=many)
    async with running(sandbox, tmp_path, handbook=handbook):
        sandbox.slash("james", "general", "/handbook", "télétravail")
        shown = await sandbox.wait_for_ephemeral("james", "1. Page 1")
        handbook.readable = False
        sandbox.click("james", shown, "share_answer")
        await sandbox.wait_for_ephemeral("james", ENGLISH.share_changed)
        sandbox.slash("james", "general", "/handbook", "télétravail")
        again = await sandbox.wait_for_ephemeral("james", count=3)
    assert sandbox.messages("general") == []
    assert "share_answer" not in str(again.blocks)


async def test_a_search_that_fails_on_the_next_page_is_an_outage(sandbox, tmp_path: Path):
    def failing(question: Question, limit: int) -> SearchResults:
        if limit > 6:
            raise IndexNotBuiltError("gone")
        return many(question, limit)

    async with running(sandbox, tmp_path, search=failing):
        sandbox.slash("camille", "general", "/handbook", "télétravail")
        first = await sandbox.wait_for_ephemeral("camille")
        sandbox.click("camille", first, "more_hits")
        await sandbox.wait_for_ephemeral("camille", FRENCH.outage)
