"""The Home tab in the stand-in: what a member sees and does there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from bot.maintenance import Maintenance
from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message, View
from bot.slack.wording import ENGLISH, FRENCH
from bot.store import FeedbackStore, open_engine
from bot.store.tables import questions
from ingest import Audiences, IndexStoreError, open_reader
from tests.outcomes import answer, claim, passage
from tests.slack_running import ScriptedHandbook, running, settings_in


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two sources, one of them for managers, described in handbook.toml and synced."""
    for name, text in {"guide": "Le télétravail.", "managers": "Les salaires."}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(f"# Page\n\n{text}\n", encoding="utf-8")
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "guide"\npath = "guide"\n\n'
        '[[sources]]\nname = "primes"\npath = "managers"\naudience = "managers"\n',
        encoding="utf-8",
    )
    Maintenance(settings_in(tmp_path)).sync([], progress=lambda _: None)
    return tmp_path


def texts(view: View | None) -> str:
    """Everything that can be read in a view."""

    def walk(node: Any) -> list[str]:
        if isinstance(node, list):
            return [text for child in node for text in walk(child)]
        if not isinstance(node, dict):
            return []
        own = [node["text"]] if isinstance(node.get("text"), str) else []
        return own + [t for key, v in node.items() if key != "placeholder" for t in walk(v)]

    return "\n".join(walk(view.content["blocks"])) if view else ""


async def opened(sandbox: Sandbox, who: str) -> View:
    """Open somebody's Home tab and return it once it is published."""
    before = sandbox.home(who)
    shown = before.hash if before else ""
    sandbox.open_home(who)

    def found() -> View | None:
        view = sandbox.home(who)
        return view if view and view.hash != shown else None

    return await sandbox.wait_until(found)


async def home_showing(sandbox: Sandbox, who: str, text: str) -> View:
    """Return somebody's Home tab once it shows a text."""

    def found() -> View | None:
        view = sandbox.home(who)
        return view if view and text in texts(view) else None

    return await sandbox.wait_until(found)


async def modal(
    sandbox: Sandbox, who: str, shows: Callable[[str], bool] = lambda text: bool(text)
) -> View:
    """Return somebody's modal once it shows what is waited for."""

    def found() -> View | None:
        view = sandbox.modal(who)
        return view if view and shows(texts(view)) else None

    return await sandbox.wait_until(found)


def typed(view: View, action_id: str, text: str) -> dict[str, Any]:
    """The state of a view in whose box somebody typed."""
    [block] = [
        b for b in view.content["blocks"] if b.get("element", {}).get("action_id") == action_id
    ]
    return {block["block_id"]: {action_id: {"type": "plain_text_input", "value": text}}}


async def ask(sandbox: Sandbox, who: str, question: str) -> View:
    view = sandbox.home(who) or await opened(sandbox, who)
    sandbox.click_in_view(who, "home_ask_button", state=typed(view, "home_ask", question))
    return await modal(sandbox, who, lambda text: "je ne sais pas" in text or "[1]" in text)


async def test_a_question_typed_at_home_is_answered_in_a_modal(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        shown = await ask(sandbox, "james", "combien de jours de télétravail ?")

    assert shown.content["title"]["text"] == ENGLISH.home_answer_title
    assert "combien de jours de télétravail ?" in texts(shown)
    assert "Deux jours de télétravail par semaine." in texts(shown)
    assert ENGLISH.sources in texts(shown)
    assert sandbox.messages("general") == []


async def test_pressing_enter_in_the_box_asks_too(sandbox: Sandbox, folder: Path) -> None:
    async with running(sandbox, folder):
        await opened(sandbox, "camille")
        sandbox.click_in_view("camille", "home_ask", "le télétravail ?")
        await modal(sandbox, "camille", lambda text: "[1]" in text)


async def test_an_abstention_in_a_modal_names_no_page(sandbox: Sandbox, folder: Path) -> None:
    async with running(sandbox, folder):
        shown = await ask(sandbox, "camille", "quel est le code du coffre ?")

    assert "je ne sais pas" in texts(shown)
    assert FRENCH.try_next in texts(shown)
    assert "Cuisine" not in texts(shown)


async def test_the_modal_says_at_once_that_the_handbook_is_being_searched(
    sandbox: Sandbox, folder: Path
) -> None:
    go_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slowly(question: Question, _: Audiences) -> Outcome:
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(20)
        return answer()

    async with running(sandbox, folder, slowly):
        view = await opened(sandbox, "camille")
        sandbox.click_in_view(
            "camille", "home_ask_button", state=typed(view, "home_ask", "le télétravail ?")
        )
        await modal(sandbox, "camille", lambda text: FRENCH.searching in text)
        go_on.set()
        await modal(sandbox, "camille", lambda text: "[1]" in text)


async def direct_messages(sandbox: Sandbox, who: str) -> list[Message]:
    """Return what the app has written to somebody, once it has."""
    workspace = sandbox.workspace()
    direct = workspace.direct(workspace.user(who).user_id)
    return await sandbox.wait_until(
        lambda: [m for m in direct.messages.values() if m.bot is not None] or None
    )


async def test_an_answer_whose_modal_was_closed_comes_as_a_direct_message(
    sandbox: Sandbox, folder: Path
) -> None:
    go_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slowly(question: Question, _: Audiences) -> Outcome:
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(20)
        return answer()

    async with running(sandbox, folder, slowly):
        view = await opened(sandbox, "camille")
        state = typed(view, "home_ask", "le télétravail ?")
        sandbox.click_in_view("camille", "home_ask_button", state=state)
        await modal(sandbox, "camille", lambda text: FRENCH.searching in text)
        sandbox.close_modal("camille")
        go_on.set()
        [message] = await direct_messages(sandbox, "camille")

    assert message.text.startswith(FRENCH.home_question.format(question="le télétravail ?"))
    assert "Deux jours" in message.text


async def test_an_answer_whose_modal_could_not_be_opened_comes_as_a_direct_message(
    sandbox: Sandbox, folder: Path
) -> None:
    sandbox.fault("views.open", "error", error="expired_trigger_id")
    async with running(sandbox, folder):
        view = await opened(sandbox, "camille")
        state = typed(view, "home_ask", "le télétravail ?")
        sandbox.click_in_view("camille", "home_ask_button", state=state)
        [message] = await direct_messages(sandbox, "camille")

    assert "Deux jours" in message.text


async def test_a_modal_is_answered_although_slack_asks_to_slow_down(
    sandbox: Sandbox, folder: Path
) -> None:
    sandbox.fault("views.update", "ratelimited", times=1, seconds=1)
    async with running(sandbox, folder):
        await ask(sandbox, "camille", "le télétravail ?")

    assert len(sandbox.calls("views.update")) == 2


async def test_an_outage_in_a_modal_is_an_outage(sandbox: Sandbox, folder: Path) -> None:
    def down(question: Question, _: Audiences) -> Outcome:
        raise IndexStoreError("the disk is gone")

    async with running(sandbox, folder, down):
        view = await opened(sandbox, "camille")
        sandbox.click_in_view("camille", "home_ask_button", state=typed(view, "home_ask", "RTT ?"))
        shown = await modal(sandbox, "camille", lambda text: FRENCH.outage in text)

    assert "disk" not in texts(shown)


@pytest.mark.parametrize("box", ["home_ask", "home_search"])
async def test_an_empty_box_explains_itself(sandbox: Sandbox, folder: Path, box: str) -> None:
    async with running(sandbox, folder):
        await opened(sandbox, "camille")
        sandbox.click_in_view("camille", f"{box}_button", state={})
        await modal(sandbox, "camille", lambda text: FRENCH.home_empty in text)


async def test_words_typed_at_home_are_looked_for(sandbox: Sandbox, folder: Path) -> None:
    async with running(sandbox, folder):
        view = await opened(sandbox, "camille")
        sandbox.click_in_view(
            "camille", "home_search_button", state=typed(view, "home_search", "télétravail")
        )
        heading = FRENCH.hits.format(terms="télétravail")
        shown = await modal(sandbox, "camille", lambda text: heading in text)

    assert "Télétravail › Rythme" in texts(shown)


async def test_my_latest_questions_stand_at_home_and_can_be_asked_again(
    sandbox: Sandbox, folder: Path
) -> None:
    sandbox.add_user("tomo", locale="en-US", tz="Asia/Tokyo")
    async with running(sandbox, folder):
        before = await opened(sandbox, "tomo")
        assert ENGLISH.home_recent not in texts(before)
        await ask(sandbox, "tomo", "le télétravail ?")
        sandbox.close_modal("tomo")
        await ask(sandbox, "tomo", "quel est le code du coffre ?")
        sandbox.close_modal("tomo")
        after = await home_showing(sandbox, "tomo", "quel est le code du coffre ?")
        engine = open_engine(settings_in(folder).database_url)
        with engine.begin() as connection:
            asked_at = connection.scalars(select(questions.c.asked_at)).all()
        engine.dispose()

        shown = texts(after)
        assert ENGLISH.home_recent in shown
        assert shown.index("code du coffre") < shown.index("le télétravail ?")
        assert ENGLISH.home_answered in shown
        assert ENGLISH.home_unanswered in shown
        tokyo = ZoneInfo("Asia/Tokyo")
        assert all(f"{datetime.fromtimestamp(at, tokyo):%H:%M}" in shown for at in asked_at)

        sandbox.click_in_view("tomo", "home_again", "le télétravail ?")
        await modal(sandbox, "tomo", lambda text: "[1]" in text)
        assert "coffre" not in texts(await opened(sandbox, "james"))


async def test_the_tab_follows_a_question_and_its_box_is_empty_again(
    sandbox: Sandbox, folder: Path
) -> None:
    def box(view: View) -> str:
        return str(view.content["blocks"][2]["block_id"])

    async with running(sandbox, folder):
        before = box(await opened(sandbox, "camille"))
        await ask(sandbox, "camille", "le télétravail ?")
        after = await home_showing(sandbox, "camille", "le télétravail ?")

    assert box(after) != before


async def test_no_questions_are_shown_where_their_words_are_not_kept(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder, question_log_days=0):
        await ask(sandbox, "camille", "le télétravail ?")
        await sandbox.wait_for_call("views.publish", count=2)
        after = await opened(sandbox, "camille")

    assert FRENCH.home_recent not in texts(after)


async def test_the_favourites_are_pages_that_everybody_may_read(
    sandbox: Sandbox, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.home.tab.KEEP_USES_S", 0.0)
    secret = passage("Télétravail des chefs.", chunk_id="c2", page="chefs.md", title="Chefs")

    def cites_both(question: Question, _: Audiences) -> Outcome:
        return answer(claim(), claim(of=secret))

    handbook = ScriptedHandbook(cites_both, pages=(passage().chunk,))
    async with running(sandbox, folder, handbook=handbook):
        shown = await ask(sandbox, "camille", "le télétravail ?")
        sandbox.click_in_view("camille", "home_thumb_up")
        await modal(sandbox, "camille", lambda text: FRENCH.feedback_thanks in text)
        home = await opened(sandbox, "james")
        engine = open_engine(settings_in(folder).database_url)
        [given] = FeedbackStore(engine).export()
        engine.dispose()

    assert "Deux jours" in texts(shown)
    assert given["verdict"] == "up"
    assert "Télétravail" in texts(home)
    assert ENGLISH.home_favourite.format(useful=1, cited=1) in texts(home)
    assert "Chefs" not in texts(home)


async def test_a_thumb_down_asks_why_on_top_of_the_answer(sandbox: Sandbox, folder: Path) -> None:
    async with running(sandbox, folder):
        answered = await ask(sandbox, "james", "le télétravail ?")
        sandbox.click_in_view("james", "home_thumb_down")
        asking = await modal(sandbox, "james", lambda text: ENGLISH.feedback_reasons in text)
        reason = {"text": {"type": "plain_text", "text": "…"}, "value": "outdated"}
        sandbox.submit(
            "james",
            {
                "reasons": {"reasons": {"type": "checkboxes", "selected_options": [reason]}},
                "comment": {"comment": {"type": "plain_text_input", "value": "C'est trois."}},
            },
        )
        below = await modal(sandbox, "james", lambda text: ENGLISH.feedback_thanks in text)
        engine = open_engine(settings_in(folder).database_url)

        async with asyncio.timeout(10):
            while not (given := FeedbackStore(engine).export()[0])["comment"]:
                await asyncio.sleep(0.02)
        engine.dispose()

    assert asking.previous_view_id == answered.view_id
    assert below.view_id == answered.view_id
    assert "Deux jours" in texts(below)
    assert (given["verdict"], given["reasons"]) == ("down", ["outdated"])
    assert given["question"] == "le télétravail ?"


async def test_home_tells_how_fresh_the_handbook_is_and_hides_restricted_sources(
    sandbox: Sandbox, folder: Path
) -> None:
    with open_reader(settings_in(folder)) as reader:
        moments = [source.last_success_at for source in reader.status().sources]
    oldest = min(moment for moment in moments if moment)
    async with running(sandbox, folder):
        member = texts(await opened(sandbox, "james"))
        owner = texts(await opened(sandbox, "amina"))

    london = oldest.astimezone(ZoneInfo("Europe/London"))
    moment = f"{ENGLISH.format_date(london)} at {london:%H:%M}"
    assert ENGLISH.home_last_sync.format(moment=moment, pages=2) in member
    assert "guide: 1 pages" in member
    assert "primes" not in member
    assert "primes : 1 pages" in owner


async def test_home_is_shown_while_the_index_cannot_be_read(sandbox: Sandbox, folder: Path) -> None:
    class Down(Maintenance):
        def state(self) -> Any:
            raise IndexStoreError("the disk is gone")

    async with running(sandbox, folder, maintenance=Down(settings_in(folder))):
        home = texts(await opened(sandbox, "camille"))

    assert FRENCH.home_ask in home
    assert FRENCH.home_state_unknown in home


async def test_a_tab_that_was_published_meanwhile_is_published_anew(
    sandbox: Sandbox, folder: Path
) -> None:
    async with running(sandbox, folder):
        shown = (await opened(sandbox, "camille")).hash
        sandbox.fault("views.publish", "error", error="hash_conflict")
        sandbox.open_home("camille")
        await sandbox.wait_for_call("views.publish", count=3)
        second, third = sandbox.calls("views.publish")[1:]

    assert second.arguments["hash"] == shown
    assert "hash" not in third.arguments
    home = sandbox.home("camille")
    assert home is not None
    assert FRENCH.home_ask in texts(home)


async def test_the_messages_tab_publishes_nothing(sandbox: Sandbox, folder: Path) -> None:
    async with running(sandbox, folder):
        sandbox.open_home("camille", "messages")
        await sandbox.settled()

    assert sandbox.calls("views.publish") == []


async def test_nothing_that_somebody_typed_is_live_at_home(sandbox: Sandbox, folder: Path) -> None:
    nasty = "<!channel> <@U0> <https://evil.example|ici> *gras* &amp;"
    async with running(sandbox, folder):
        await ask(sandbox, "camille", nasty)
        home = await home_showing(sandbox, "camille", "evil.example")

    carrying = [b for b in home.content["blocks"] if "evil.example" in str(b.get("text"))]
    assert [b["text"]["type"] for b in carrying] == ["plain_text"]


async def test_guests_see_why_they_are_not_served(sandbox: Sandbox, folder: Path) -> None:
    sandbox.add_user("gilles", role="guest")
    async with running(sandbox, folder):
        home = await opened(sandbox, "gilles")

    assert texts(home) == FRENCH.not_for_guests
