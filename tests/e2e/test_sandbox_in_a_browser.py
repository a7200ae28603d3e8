"""`manuel sandbox` as a person meets it: a real browser, the real app, the sample handbook."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from rich.console import Console

from bot.sandbox.control import Sandbox
from bot.sandbox.demo import environment
from bot.sandbox.trial import PAGES, ROOT, Trial, index, running
from bot.sandbox.web import switches
from bot.sandbox.web.server import PageServer
from bot.sandbox.workspace import Session, SessionStatus
from bot.store import JobState, JobStore, open_engine
from tests.browsing import async_api, become, headless_browser, opened, violations

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

CONNECTED_S = 60.0
QUESTION = "@Manuel combien de jours de télétravail par semaine ?"
ENGLISH = "@Manuel how many days a year can I work from another country?"


@dataclass(frozen=True)
class World:
    """The stand-in with the app connected, the page's address and the one browser."""

    sandbox: Sandbox
    address: str
    browser: async_api.Browser
    database_url: str


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    folder, console = tmp_path_factory.mktemp("sandbox"), Console(quiet=True)
    # Keywords alone are quick to index, and enough for these questions.
    settings = environment(folder) | {"EMBEDDING_MODEL": "none"}
    trial = Trial("the sample", settings, PAGES, ROOT, folder / "app.log")
    async with headless_browser() as browser:
        index(trial, console)
        async with (
            running(trial, console) as (sandbox, beside),
            PageServer(sandbox, beside) as page,
        ):
            yield World(sandbox, page.address, browser, settings["DATABASE_URL"])


async def write(page: async_api.Page, text: str, *, pane: str = ".main") -> None:
    box = page.locator(f"{pane} .composer textarea")
    await box.fill(text)
    await box.press("Enter")


async def ask_in_channel(page: async_api.Page, question: str) -> async_api.Locator:
    """Ask in the open channel and return the thread that the answer is in."""
    count = await page.locator(".main .message").count()
    await write(page, question)
    asked = page.locator(".main .message").nth(count)
    await asked.locator(".replies").click()
    thread = page.locator(".side")
    await thread.locator(".message").nth(1).wait_for()
    return thread


async def connected_anew(world: World, page: async_api.Page, trouble: str) -> None:
    """Let something happen after which the app connects once more, and wait for that."""
    connections = world.sandbox.socket_mode.connections
    before = connections[0].number
    await page.get_by_role("button", name="Pannes").click()
    await page.get_by_role("button", name=trouble).click()
    await world.sandbox.wait_until(
        lambda: any(c.number > before for c in connections), timeout_s=CONNECTED_S
    )
    await page.get_by_role("img", name="application connectée", exact=True).wait_for()


async def turn(page: async_api.Page, switch: str, *, on: bool) -> None:
    """Turn a switch, and wait until it is turned."""
    await page.get_by_role("button", name="Pannes").click()
    found = page.get_by_role("switch", name=switch)
    await found.set_checked(on)
    await page.locator(".switch input[aria-busy=true]").wait_for(
        state="detached", timeout=CONNECTED_S * 1000
    )
    assert await found.is_checked() is on


async def open_inspector(page: async_api.Page, message: async_api.Locator) -> None:
    """Show what is behind a message."""
    await message.hover()
    await message.get_by_role("button", name="Autres actions").click()
    await page.get_by_role("menuitem", name="Ce qu’il y a derrière").click()
    await page.locator(".limits").first.wait_for()


async def test_question_in_a_channel_is_answered_in_its_thread_and_so_is_a_follow_up(world: World):
    async with opened(world.browser, world.address) as page:
        thread = await ask_in_channel(page, QUESTION)
        await thread.get_by_text("deux jours par semaine").first.wait_for()
        await thread.get_by_text("Sources", exact=True).wait_for()
        await write(page, "@Manuel et pour les stagiaires ?", pane=".side")
        await thread.locator(".message").nth(3).wait_for()
        assert "stagiaires" in (await thread.locator(".message").nth(3).inner_text()).lower()
        await page.locator(".main .replies", has_text="3 réponses").wait_for()
    assert world.sandbox.problems == []


async def test_source_opens_beside_the_conversation_at_what_was_cited(world: World):
    async with opened(world.browser, world.address, as_name="James Carter") as page:
        thread = await ask_in_channel(page, ENGLISH)
        await thread.get_by_role("link", name=re.compile("Remote work")).first.click()
        source = page.get_by_role("region", name="Page of the handbook")
        await source.get_by_text("Up to 20 days a year").wait_for()
        assert await source.locator(".target").inner_text() == "Working from another country"


async def test_thumbs_down_opens_a_modal_whose_answer_reaches_the_app(world: World):
    async with opened(world.browser, world.address) as page:
        thread = await ask_in_channel(page, QUESTION)
        await thread.locator(".feedback").nth(1).click()
        modal = page.get_by_role("dialog", name="Votre avis")
        await modal.get_by_label("Il manque quelque chose").check()
        await modal.get_by_label(re.compile("Commentaire")).fill("Le nombre de jours par mois ?")
        await modal.get_by_role("button", name="Envoyer").click()
        await modal.wait_for(state="detached")
        await thread.get_by_text("Merci, c'est noté.").wait_for()
        assert await thread.get_by_text("Visible par vous seul(e)").count() == 1
    sent = [d.payload for d in world.sandbox.deliveries() if d.payload["type"] == "view_submission"]
    assert "Le nombre de jours par mois ?" in str(sent[-1]["view"]["state"])


async def test_private_answer_is_for_one_person_until_it_is_shared(world: World):
    async with (
        opened(world.browser, world.address) as camille,
        opened(world.browser, world.address, as_name="James Carter") as james,
    ):
        before = await james.locator(".main .message").count()
        await write(camille, "/handbook ask combien de jours de télétravail par semaine ?")
        private = camille.locator(".main .message.ephemeral")
        await private.get_by_role("button", name="Partager").click()
        shared = james.locator(".main .message").nth(before)
        await shared.get_by_text("deux jours par semaine").first.wait_for()
        assert await james.locator(".main .ephemeral").count() == 0


async def test_search_shows_passages_to_the_one_who_searches(world: World):
    async with opened(world.browser, world.address) as page:
        await page.locator(".main .composer textarea").fill("/ha")
        await page.get_by_role("option", name="/handbook").wait_for()
        await page.keyboard.press("Tab")
        await page.keyboard.type("congés")
        await page.keyboard.press("Enter")
        found = page.locator(".main .message.ephemeral", has_text="« congés »")
        await found.wait_for()
        await found.get_by_role("button", name="Masquer le message").click()
        await found.wait_for(state="detached")


async def test_only_admins_can_read_the_handbook_again(world: World):
    async with opened(world.browser, world.address) as page:
        await write(page, "/handbook reindex")
        await page.get_by_text("réservée aux administrateurs").wait_for()
        await become(page, "Amina Benali")
        await write(page, "/handbook reindex")
        await page.get_by_text(re.compile("0 ajoutée|0 page")).first.wait_for()


async def test_each_person_sees_slack_in_their_language_and_their_place(world: World):
    async with opened(world.browser, world.address) as page:
        await page.get_by_role("button", name="atelier").click()
        assert await page.locator("html").get_attribute("lang") == "fr"
        await page.get_by_text("Manuel n’est pas dans ce canal").wait_for()
        await become(page, "Priya Shah")
        await page.get_by_role("heading", name="Channels").wait_for()
        assert await page.get_by_role("button", name="atelier").count() == 0
        assert await page.locator("html").get_attribute("lang") == "en"


async def test_message_shortcut_answers_in_a_modal(world: World):
    async with opened(world.browser, world.address) as page:
        count = await page.locator(".main .message").count()
        await write(page, "combien de jours de télétravail par semaine ?")
        message = page.locator(".main .message").nth(count)
        await message.hover()
        await message.locator(".menu > button").click()
        await page.get_by_role("menuitem", name=re.compile("Demander au guide")).click()
        modal = page.get_by_role("dialog")
        await modal.get_by_text("deux jours par semaine").first.wait_for()
        await page.keyboard.press("Escape")
        await modal.wait_for(state="detached")


async def test_question_for_humans_reaches_their_channel(world: World):
    async with opened(world.browser, world.address) as page:
        thread = await ask_in_channel(
            page, "@Manuel quel est le mot de passe du wifi du bureau de Tokyo ?"
        )
        await thread.get_by_text("je ne sais pas", exact=True).wait_for()
        await thread.get_by_role("button", name="Demander à quelqu'un").click()
        await page.get_by_role("dialog").get_by_role("button", name="Envoyer").click()
        await become(page, "Amina Benali")
        await page.get_by_role("button", name="questions-du-guide").click()
        await page.locator(".main .message", has_text="wifi du bureau de Tokyo").wait_for()


async def test_agent_pane_offers_prompts_and_answers_in_a_chat(world: World):
    async with opened(world.browser, world.address, as_name="Priya Shah") as page:
        await page.get_by_role("button", name=re.compile("^Manuel")).click()
        await page.locator(".prompt").first.click()
        await page.locator(".agent .message").nth(1).wait_for()
        await page.get_by_role("button", name="New chat").click()
        await page.locator(".prompt").first.wait_for()


async def test_stop_reaches_the_app(world: World):
    workspace = world.sandbox.workspace()
    root = world.sandbox.say("james", "general", "une question qui dure")
    workspace.sessions[(root.channel_id, root.ts)] = Session(
        root.channel_id, root.ts, SessionStatus.PROCESSING
    )
    world.sandbox.say("james", "general", "et encore", root.ts)
    async with opened(world.browser, world.address) as page:
        await page.locator(".message", has_text="une question qui dure").locator(".replies").click()
        await page.locator(".side .session").get_by_role("button", name="Arrêter").click()
        await page.locator(".side .session").wait_for(state="detached")
    [stopped] = world.sandbox.deliveries("agent_session_stopped")
    assert stopped.event["thread_ts"] == root.ts


async def test_home_tab_is_the_one_of_the_person(world: World):
    async with opened(world.browser, world.address) as page:
        await page.get_by_role("button", name=re.compile("^Manuel")).click()
        await page.get_by_role("button", name="Accueil").click()
        await page.locator(".home .block").first.wait_for()
    assert world.sandbox.home("camille") is not None


async def test_app_may_restart_while_the_page_is_open(world: World):
    async with opened(world.browser, world.address) as page:
        await page.evaluate("window.untouched = true")
        await connected_anew(world, page, "Redémarrer l’application")
        await page.get_by_role("button", name="Fermer").click()
        thread = await ask_in_channel(page, QUESTION)
        await thread.get_by_text("deux jours par semaine").first.wait_for()
        assert await page.evaluate("window.untouched") is True


@pytest.mark.parametrize(
    ("switch", "status"),
    [("Slack répond 429 à chaque envoi", 429), ("Slack répond 500 à chaque envoi", 500)],
)
async def test_answer_comes_once_slack_takes_posts_again(world: World, switch: str, status: int):
    async with opened(world.browser, world.address) as page:
        await turn(page, switch, on=True)
        count = await page.locator(".main .message").count()
        await write(page, QUESTION)
        await world.sandbox.wait_until(
            lambda: [c for c in world.sandbox.calls() if c.status == status], timeout_s=20
        )
        assert await page.locator(".main .message").nth(count).locator(".replies").count() == 0
        await turn(page, switch, on=False)
        await page.locator(".main .message").nth(count).locator(".replies").wait_for()


async def nothing_waits(world: World) -> None:
    """Wait until the app has nothing left to answer or to post."""
    engine = open_engine(world.database_url)
    try:
        async with asyncio.timeout(CONNECTED_S):
            while set(JobStore(engine).counts()) - {JobState.DONE, JobState.FAILED}:
                await asyncio.sleep(0.1)
    finally:
        engine.dispose()


async def test_answer_whose_confirmation_is_lost_is_looked_for_and_not_repeated(world: World):
    looked = len(world.sandbox.calls("conversations.replies"))
    async with opened(world.browser, world.address) as page:
        await turn(page, "Les envois arrivent, mais la réponse", on=True)
        await page.get_by_role("button", name=re.compile("^Manuel")).click()
        pane = page.locator(".agent")
        await pane.locator(".composer textarea").fill(QUESTION.removeprefix("@Manuel "))
        await page.keyboard.press("Enter")
        await pane.get_by_text("deux jours par semaine").first.wait_for()
        await nothing_waits(world)
        await turn(page, "Les envois arrivent, mais la réponse", on=False)
        assert await pane.locator(".feedback").count() == 2  # one answer: useful or not
    assert len(world.sandbox.calls("conversations.replies")) > looked


async def test_slow_slack_delays_an_answer_and_repeats_nothing(world: World):
    async with opened(world.browser, world.address) as page:
        await turn(page, "Chaque appel prend 2 s de plus", on=True)
        posts = len(world.sandbox.calls("chat.postMessage"))
        thread = await ask_in_channel(page, QUESTION)
        await thread.get_by_text("deux jours par semaine").first.wait_for()
        await nothing_waits(world)
        await turn(page, "Chaque appel prend 2 s de plus", on=False)
        await page.locator(".main .replies").last.click()
        await thread.get_by_text("1 réponse", exact=True).wait_for()
    [post] = world.sandbox.calls("chat.postMessage")[posts:]
    assert post.at - post.received_at >= switches.SLOW_S


async def test_answers_go_on_after_the_socket_was_cut(world: World):
    async with opened(world.browser, world.address) as page:
        await connected_anew(world, page, "Couper la connexion sans un mot")
        await page.get_by_role("button", name="Fermer").click()
        thread = await ask_in_channel(page, QUESTION)
        await thread.get_by_text("deux jours par semaine").first.wait_for()


async def test_command_that_misses_its_three_seconds_is_told_and_a_question_is_not_lost(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(switches, "FROZEN_S", 10.0)  # for the slowest of machines to type
    async with opened(world.browser, world.address) as page:
        count = await page.locator(".main .message").count()
        await page.get_by_role("button", name="Pannes").click()
        await page.get_by_role("button", name="Figer l’application").click()
        await write(page, "/handbook congés")
        await write(page, QUESTION)
        await page.locator(".toast", has_text="operation_timeout").wait_for()
        await page.locator(".main .message").nth(count).locator(".replies").wait_for()
    assert [m.text for m in world.sandbox.ephemerals("camille") if "« congés »" in m.text]


async def test_what_is_behind_an_answer_is_shown_with_its_limits_and_calls(world: World):
    async with opened(world.browser, world.address) as page:
        thread = await ask_in_channel(page, QUESTION)
        await open_inspector(page, thread.locator(".message").nth(1))
        await page.get_by_text(re.compile(r"\d+ / 50$")).wait_for()
        await page.get_by_role("button", name="Événements et appels").click()
        entries = page.locator(".exchange li")
        names = await entries.locator(".name").all_inner_texts()
        times = await entries.locator(".at").all_inner_texts()
        await page.get_by_role("button", name="Pourquoi cette réponse").click()
        await page.get_by_text("Réponse donnée").wait_for()
        assert "télétravail" in await page.locator(".why .bars").inner_text()
        best = page.locator(".why .found").first
        assert "#1" in await best.locator(".stages").inner_text()
        assert await best.locator(".bar").count() > 1
        assert await page.locator(".why .sentences .yes").count() > 0
        assert "Départ" in await page.locator(".why .signals").inner_text()
    assert names[0] == "app_mention"
    assert {"chat.postMessage", "chat.startStream"} & set(names)
    assert all(re.match(r"\+[\d.]+ ms · en [\d.]+ ms", shown) for shown in times)


async def test_private_answer_says_why_it_is_one(world: World):
    async with opened(world.browser, world.address) as page:
        before = await page.locator(".main .message.ephemeral").count()
        await write(page, "/handbook ask combien de jours de télétravail par semaine ?")
        # After the word that the app is looking.
        answer = page.locator(".main .message.ephemeral").nth(before + 1)
        await answer.locator(".feedback").first.wait_for()
        await open_inspector(page, answer)
        await page.get_by_role("button", name="Événements et appels").click()
        names = await page.locator(".exchange .name").all_inner_texts()
        await page.get_by_role("button", name="Pourquoi cette réponse").click()
        await page.get_by_text("Réponse donnée").wait_for()
        assert "télétravail" in await page.locator(".why .bars").inner_text()
    assert names[0] == "/handbook"
    assert "response_url" in names


async def test_modal_shows_what_is_behind_itself(world: World):
    async with opened(world.browser, world.address) as page:
        count = await page.locator(".main .message").count()
        await write(page, "combien de jours de télétravail par semaine ?")
        message = page.locator(".main .message").nth(count)
        await message.hover()
        await message.locator(".menu > button").click()
        await page.get_by_role("menuitem", name=re.compile("Demander au guide")).click()
        modal = page.get_by_role("dialog")
        await modal.get_by_text("deux jours par semaine").first.wait_for()
        await modal.get_by_role("button", name="Ce qu’il y a derrière").click()
        await modal.get_by_text(re.compile(r"\d+ / 100$")).wait_for()
        await modal.get_by_role("button", name="Événements et appels").click()
        names = await modal.locator(".exchange .name").all_inner_texts()
        await modal.get_by_role("button", name="Pourquoi cette réponse").click()
        await modal.get_by_text("Réponse donnée").wait_for()
        await page.keyboard.press("Escape")
        await modal.wait_for(state="detached")
    assert {"message_action", "views.open", "views.update"} <= set(names)


async def test_keyboard_alone_is_enough_to_ask_and_read(world: World):
    async with opened(world.browser, world.address) as page:
        await page.locator(".main .composer textarea").wait_for()
        count = await page.locator(".main .message").count()
        await page.keyboard.type("@man")
        await page.keyboard.press("Tab")
        await page.keyboard.type("combien de jours de télétravail par semaine ?")
        await page.keyboard.press("Enter")
        replies = page.locator(".main .message").nth(count).locator(".replies")
        await replies.wait_for()
        for _ in range(30):
            await page.keyboard.press("Shift+Tab")
            if await replies.evaluate("element => element === document.activeElement"):
                break
        await page.keyboard.press("Enter")
        await page.locator(".side .message").nth(1).wait_for()


async def test_one_pane_at_a_time_on_a_phone(world: World):
    async with opened(world.browser, world.address, width=390, height=760) as page:
        await page.get_by_role("button", name="general").click()
        box = await page.locator(".main .composer textarea").bounding_box()
        assert box is not None
        assert box["height"] > 20  # a line of text: it was hidden while the page was made
        thread = await ask_in_channel(page, QUESTION)
        assert not await page.locator(".main").is_visible()
        overflow = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert await page.evaluate(overflow) is False
        await thread.get_by_role("button", name="Retour").click()
        await page.locator(".main").get_by_role("button", name="Retour").click()
        assert await page.locator(".sidebar").is_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_axe_objects_to_nothing_in_any_view(world: World, dark: bool):
    found = {}
    async with opened(world.browser, world.address, dark=dark, for_axe=True) as page:
        side = page.locator(".side")

        async def look(view: str) -> None:
            found[view] = await violations(page)

        await page.get_by_role("button", name="atelier").click()
        await look("nothing said yet")
        await page.get_by_role("button", name="general").click()
        thread = await ask_in_channel(page, QUESTION)
        await look("thread")
        await open_inspector(page, thread.locator(".message").nth(1))
        await look("blocks")
        await page.get_by_role("button", name="Événements et appels").click()
        await page.locator(".exchange").wait_for()
        await look("exchange")
        await page.get_by_role("button", name="Pourquoi cette réponse").click()
        await page.locator(".verdict").wait_for()
        await look("why")
        await page.locator(".main .replies").last.click()
        await side.locator(".body a").first.click()
        await side.locator(".md-heading").first.wait_for()
        await look("source")
        await page.locator(".main .replies").last.click()
        await side.locator(".feedback").nth(1).click()
        modal = page.get_by_role("dialog")
        await modal.wait_for()
        await look("modal")
        await modal.get_by_role("button", name="Ce qu’il y a derrière").click()
        await modal.locator(".limits").first.wait_for()
        await look("modal, inspected")
        await page.keyboard.press("Escape")
        await modal.wait_for(state="detached")
        await page.get_by_role("button", name="Pannes").click()
        await look("trouble")
        await page.get_by_role("button", name=re.compile("^Manuel")).click()
        await page.locator(".prompt").first.wait_for()
        await look("agent")
        await page.get_by_role("button", name="Accueil").click()
        await page.locator(".home .block").first.wait_for()
        await look("home")
        await page.get_by_role("button", name="À propos").click()
        await look("about")
        await become(page, "Léa Moreau")
        await page.get_by_role("button", name=re.compile("^Manuel")).click()
        await page.locator(".plain-direct").wait_for()
        await look("direct messages of a guest")
    assert {view: words for view, words in found.items() if words} == {}


# With a model; these tests come last, since the app starts again for them.


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def written(world: World) -> AsyncIterator[World]:
    """The same world, in which the pretend model writes the answers."""
    async with opened(world.browser, world.address) as page:
        await page.get_by_role("button", name="Pannes").click()
        slow = page.get_by_role("switch", name="Le modèle prend 20 s de plus")
        assert await slow.is_disabled()
        await page.get_by_text("Aucun modèle n’écrit les réponses").first.wait_for()
        await turn(page, "Un faux modèle écrit les réponses", on=True)
        assert await slow.is_enabled()
    yield world


async def test_slow_model_shows_its_status_until_it_is_stopped(written: World):
    async with opened(written.browser, written.address) as page:
        await turn(page, "Le modèle prend 20 s de plus", on=True)
        await page.get_by_role("button", name=re.compile("^Manuel")).click()
        await page.locator(".agent .composer textarea").fill(QUESTION.removeprefix("@Manuel "))
        await page.keyboard.press("Enter")
        await page.locator(".session").get_by_text("Manuel").wait_for()
        await page.locator(".session").get_by_role("button", name="Arrêter").click()
        await page.locator(".agent").get_by_text("Arrêté, comme demandé").wait_for()
        await page.locator(".session").wait_for(state="detached")
        await turn(page, "Le modèle prend 20 s de plus", on=False)
    assert written.sandbox.problems == []


async def test_answer_of_a_model_is_streamed_without_what_it_invented(written: World):
    before = len(written.sandbox.calls("chat.appendStream"))
    async with opened(written.browser, written.address) as page:
        thread = await ask_in_channel(page, QUESTION)
        await thread.get_by_text("Rédigé par pretend-model").wait_for()
        answer = thread.locator(".message").nth(1)
        assert "987" not in await answer.inner_text()
        await open_inspector(page, answer)
        await page.get_by_role("button", name="Pourquoi cette réponse").click()
        refused = page.locator(".why .sentences .no").first
        await refused.wait_for()
        assert "987 654" in await refused.inner_text()
    assert len(written.sandbox.calls("chat.appendStream")) > before


@pytest.mark.parametrize(
    ("switch", "method", "error"),
    [
        ("Les flux expirent", "chat.appendStream", "message_not_in_streaming_state"),
        ("Slack répond 429 aux nouveaux flux", "chat.startStream", "ratelimited"),
    ],
)
async def test_answer_whose_stream_fails_is_whole_and_alone(
    written: World, switch: str, method: str, error: str
):
    async with opened(written.browser, written.address) as page:
        await turn(page, switch, on=True)
        thread = await ask_in_channel(page, QUESTION)
        await thread.get_by_text("Sources", exact=True).wait_for()
        await turn(page, switch, on=False)
        await page.locator(".main .replies").last.click()
        await thread.get_by_text("1 réponse", exact=True).wait_for()
        assert await page.locator(".streaming").count() == 0
    refused = [call.answer["error"] for call in written.sandbox.calls(method) if not call.ok]
    assert error in refused
