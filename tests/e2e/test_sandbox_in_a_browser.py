"""`manuel sandbox` as a person meets it: a real browser, the real app, the sample handbook."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from bot.sandbox.control import Sandbox
from bot.sandbox.demo import environment
from bot.sandbox.pages import FolderPages
from bot.sandbox.process import Explainer, ServingApp
from bot.sandbox.server import SandboxServer
from bot.sandbox.trial import PAGES, ROOT, URL_PREFIX, furnish
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.server import PageServer
from bot.sandbox.workspace import Session, SessionStatus
from tests.browsing import async_api, become, grave_violations, headless_browser, opened

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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    async with headless_browser() as browser:
        folder = tmp_path_factory.mktemp("sandbox")
        # Keywords alone are quick to index, and enough for these questions.
        settings = environment(folder) | {"EMBEDDING_MODEL": "none"}
        subprocess.run([sys.executable, "-m", "bot", "ingest"], env=settings, cwd=ROOT, check=True)
        async with SandboxServer() as sandbox:
            served = settings | sandbox.environment | {"OWNERS_CHANNEL": furnish(sandbox)}
            async with ServingApp(served, ROOT, folder / "app.log") as app:
                await sandbox.wait_for_connection(CONNECTED_S)
                beside = Beside(FolderPages(URL_PREFIX, PAGES), app, Explainer(settings, ROOT))
                async with PageServer(sandbox, beside) as page:
                    yield World(sandbox, page.address, browser)


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
        await page.get_by_role("button", name="projet-halvenne").click()
        assert await page.locator("html").get_attribute("lang") == "fr"
        await page.get_by_text("Manuel n’est pas dans ce canal").wait_for()
        await become(page, "Priya Shah")
        await page.get_by_role("heading", name="Channels").wait_for()
        assert await page.get_by_role("button", name="projet-halvenne").count() == 0
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
        connections = world.sandbox.socket_mode.connections
        before = connections[0].number
        await page.get_by_role("button", name="Pannes").click()
        await page.get_by_role("button", name="Redémarrer l’application").click()
        await world.sandbox.wait_until(
            lambda: connections and connections[0].number != before, timeout_s=CONNECTED_S
        )
        await page.get_by_role("img", name="application connectée", exact=True).wait_for()
        await page.get_by_role("button", name="Fermer").click()
        thread = await ask_in_channel(page, QUESTION)
        await thread.get_by_text("deux jours par semaine").first.wait_for()
        assert await page.evaluate("window.untouched") is True


async def test_answer_comes_once_slack_takes_posts_again(world: World):
    async with opened(world.browser, world.address) as page:
        await page.get_by_role("button", name="Pannes").click()
        switch = page.get_by_role("switch", name="Slack répond 429 à chaque envoi")
        await switch.check()
        count = await page.locator(".main .message").count()
        await write(page, QUESTION)
        refused = await world.sandbox.wait_until(
            lambda: [c for c in world.sandbox.calls() if c.status == 429], timeout_s=20
        )
        assert refused[-1].answer["error"] == "ratelimited"
        assert await page.locator(".main .message").nth(count).locator(".replies").count() == 0
        await switch.uncheck()
        await page.locator(".main .message").nth(count).locator(".replies").wait_for()


async def test_what_is_behind_an_answer_is_shown_with_its_limits_and_calls(world: World):
    async with opened(world.browser, world.address) as page:
        thread = await ask_in_channel(page, QUESTION)
        answer = thread.locator(".message").nth(1)
        await answer.hover()
        await answer.get_by_role("button", name="Autres actions").click()
        await page.get_by_role("menuitem", name="Ce qu’il y a derrière").click()
        await page.get_by_text(re.compile(r"\d+ / 50$")).wait_for()
        await page.get_by_role("button", name="Événements et appels").click()
        names = await page.locator(".exchange .name").all_inner_texts()
        await page.get_by_role("button", name="Pourquoi cette réponse").click()
        await page.get_by_text("Réponse donnée").wait_for()
        assert "télétravail" in await page.locator(".why .bars").inner_text()
        assert await page.locator(".why td").count() > 0
    assert names[0] == "app_mention"
    assert {"chat.postMessage", "chat.startStream"} & set(names)


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
        thread = await ask_in_channel(page, QUESTION)
        assert not await page.locator(".main").is_visible()
        overflow = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert await page.evaluate(overflow) is False
        await thread.get_by_role("button", name="Retour").click()
        await page.locator(".main").get_by_role("button", name="Retour").click()
        assert await page.locator(".sidebar").is_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_axe_finds_nothing_serious(world: World, dark: bool):
    found = {}
    async with opened(world.browser, world.address, dark=dark, for_axe=True) as page:
        thread = await ask_in_channel(page, QUESTION)
        found["thread"] = await grave_violations(page)
        await thread.locator(".message").nth(1).hover()
        await thread.locator(".feedback").nth(1).click()
        await page.get_by_role("dialog").wait_for()
        found["modal"] = await grave_violations(page)
        await page.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")
        await page.get_by_role("button", name="Pannes").click()
        found["trouble"] = await grave_violations(page)
        await page.get_by_role("button", name=re.compile("^Manuel")).click()
        await page.locator(".prompt").first.wait_for()
        found["agent"] = await grave_violations(page)
        await page.get_by_role("button", name="Accueil").click()
        await page.locator(".home .block").first.wait_for()
        found["home"] = await grave_violations(page)
    assert {place: words for place, words in found.items() if words} == {}
