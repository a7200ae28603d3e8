"""Takes the pictures of the sandbox that docs/ and the README show: python -m tests.screenshots.

One for each thing that the browser tests do, to be compared by eye.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from PIL import Image
from rich.console import Console

from bot.sandbox.demo import DATA, environment
from bot.sandbox.trial import PAGES, ROOT, Trial, index, running
from bot.sandbox.web.server import PageServer
from tests.browsing import async_api, become, headless_browser, opened

FOLDER = ROOT / "docs" / "images"
COLOURS = 240
"""Enough for a page without photographs, at a third of the size."""

PATIENCE_MS = 60_000.0
FRENCH = "@Manuel combien de jours de télétravail par semaine ?"
FOLLOW_UP = "@Manuel et pour les stagiaires ?"
ENGLISH = "@Manuel how many days a year can I work from another country?"
UNKNOWN = "@Manuel quel est le mot de passe du wifi du bureau de Tokyo ?"


async def _take(page: async_api.Page, name: str) -> None:
    await page.mouse.move(600, 60)
    await page.wait_for_timeout(400)
    path = FOLDER / f"{name}.png"
    await page.screenshot(path=path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


async def _write(page: async_api.Page, text: str, pane: str = ".main") -> None:
    box = page.locator(f"{pane} .composer textarea")
    await box.fill(text)
    await box.press("Enter")


async def _ask(page: async_api.Page, question: str) -> async_api.Locator:
    count = await page.locator(".main .message").count()
    await _write(page, question)
    await page.locator(".main .message").nth(count).locator(".replies").click()
    thread = page.locator(".side")
    await thread.locator(".message").nth(1).locator(".feedback").first.wait_for()
    return thread


async def _behind(page: async_api.Page, tab: int, shown: str) -> None:
    """Open a tab of what is behind the first answer of the open thread."""
    answer = page.locator(".side .message").nth(1)
    await answer.hover()
    await answer.locator(".menu > button").click()
    await page.locator("[role=menuitem]").nth(1).click()
    await page.locator(".limits").first.wait_for()
    await page.locator(".side .tabs button").nth(tab).click()
    await page.locator(shown).first.wait_for(timeout=PATIENCE_MS)


async def _turn(page: async_api.Page, switch: str, *, on: bool) -> None:
    await page.locator(".sidebar-foot button").click()
    await page.locator(f".switch input[aria-describedby=switch-{switch}]").set_checked(on)
    await page.locator(".switch input[aria-busy=true]").wait_for(
        state="detached", timeout=PATIENCE_MS
    )


async def _french(browser: async_api.Browser, address: str) -> None:
    async with opened(browser, address) as page:
        await page.get_by_role("button", name="atelier").click()
        await _take(page, "beginning-fr")
        await page.get_by_role("button", name="general").click()
        await _ask(page, UNKNOWN)
        thread = await _ask(page, FRENCH)
        await _take(page, "conversation-fr")
        await thread.locator(".feedback").nth(1).click()
        await page.get_by_role("dialog").wait_for()
        await _take(page, "modal-fr")
        await page.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")
        await _write(page, FOLLOW_UP, ".side")
        await thread.locator(".message").nth(3).locator(".feedback").first.wait_for()
        await _take(page, "follow-up-fr")
        await _behind(page, 2, ".verdict")
        await _take(page, "why-fr")
        await _write(page, "/handbook télétravail")
        await page.locator(".ephemeral").wait_for()
        await page.locator(".side .close").click()
        await _take(page, "search-fr")
        await page.get_by_role("button", name="Masquer le message").click()
        count = await page.locator(".main .message").count()
        await _write(page, "/handbook ask quel est le plafond pour une nuit d'hôtel à Lyon ?")
        await page.get_by_role("button", name="Partager").click()
        await page.locator(".main .message", has_text="Camille Durand").nth(count).wait_for()
        await _take(page, "shared-fr")
        await become(page, "Léa Moreau")
        await page.locator(".sidebar li button", has_text="Manuel").click()
        await _write(page, FRENCH.removeprefix("@Manuel "))
        await page.locator(".main .replies").click()
        await page.locator(".side .message").nth(1).wait_for()
        await _take(page, "guest-fr")
    async with opened(browser, address, width=390, height=760, dark=True) as page:
        await page.get_by_role("button", name="general").click()
        await page.locator(".replies").nth(1).click()
        await page.locator(".side .message").nth(1).wait_for()
        await _take(page, "phone-dark-fr")


async def _english(browser: async_api.Browser, address: str) -> None:
    async with opened(browser, address, as_name="James Carter") as page:
        thread = await _ask(page, ENGLISH)
        await thread.locator(".body a").first.click()
        await page.locator(".target").wait_for()
        await _take(page, "source-en")
        await page.locator(".main .replies").last.click()
        await _behind(page, 0, ".limits")
        await _take(page, "blocks-en")
        await page.locator(".sidebar-foot button").click()
        await page.locator(".trouble").wait_for()
        await _take(page, "trouble-en")
        await page.locator(".side .close").click()
        await page.locator(".sidebar li button", has_text="Manuel").click()
        await page.locator(".prompt").nth(2).click()
        await page.locator(".agent .message").nth(1).locator(".feedback").first.wait_for()
        await _take(page, "agent-en")
    async with opened(browser, address, as_name="Priya Shah", dark=True) as page:
        await page.locator(".sidebar li button", has_text="Manuel").click()
        await page.get_by_role("button", name="Home").click()
        await page.locator(".home .block").first.wait_for()
        await _take(page, "home-admin-dark-en")
        await page.get_by_role("button", name="general").click()
        await _write(page, "/handbook reindex")
        await page.locator(".ephemeral", has_text="manuel-halvenne").last.wait_for()
        await _take(page, "reindex-dark-en")


async def _with_a_model(browser: async_api.Browser, address: str) -> None:
    async with opened(browser, address, as_name="James Carter") as page:
        await page.locator(".sidebar-foot button").click()
        await page.locator(".switch input[aria-describedby=switch-pretend_model]").check()
        await page.locator(".main .banner").wait_for()
        await _take(page, "restart-en")
        await page.locator(".switch input[aria-busy=true]").wait_for(
            state="detached", timeout=PATIENCE_MS
        )
        await _ask(page, ENGLISH)
        await _behind(page, 1, ".exchange")
        await _take(page, "exchange-en")
        await page.locator(".side .tabs button").nth(2).click()
        await page.locator(".verdict").wait_for(timeout=PATIENCE_MS)
        await page.locator(".why .sentences").first.scroll_into_view_if_needed()
        await _take(page, "gate-en")
        await _turn(page, "slow_model", on=True)
        await page.locator(".side .close").click()
        await page.locator(".sidebar li button", has_text="Manuel").click()
        await _write(page, ENGLISH.removeprefix("@Manuel "))
        await page.locator(".session").wait_for()
        await _take(page, "working-en")
        await page.get_by_role("button", name="Stop").click()
        await page.locator(".agent .message").nth(1).wait_for()
        await _take(page, "stopped-en")


async def main(folder: Path) -> None:
    """Take every picture.

    Args:
        folder: Holds the index of the demo, made where it is not.
    """
    FOLDER.mkdir(exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(stderr=True)
    trial = Trial("pictures", environment(folder), PAGES, ROOT, folder / "pictures.log")
    index(trial, console)
    async with (
        headless_browser() as browser,
        running(trial, console) as (sandbox, beside),
        PageServer(sandbox, beside) as page,
    ):
        await _french(browser, page.address)
        await _english(browser, page.address)
        await _with_a_model(browser, page.address)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]) if sys.argv[1:] else DATA))
