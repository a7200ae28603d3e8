"""Takes the pictures of the sandbox that docs/ and the README show: python -m tests.screenshots."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PIL import Image

from bot.sandbox.demo import environment
from bot.sandbox.pages import FolderPages
from bot.sandbox.process import Explainer, ServingApp
from bot.sandbox.server import SandboxServer
from bot.sandbox.trial import PAGES, ROOT, URL_PREFIX, furnish
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.server import PageServer
from tests.browsing import async_api, headless_browser, opened

FOLDER = ROOT / "docs" / "images"
COLOURS = 240
"""Enough for a page without photographs, at a third of the size."""

CONNECTED_S = 120.0
FRENCH = "@Manuel combien de jours de télétravail par semaine ?"
ENGLISH = "@Manuel how many days a year can I work from another country?"
UNKNOWN = "@Manuel quel est le mot de passe du wifi du bureau de Tokyo ?"


@asynccontextmanager
async def _address(folder: Path) -> AsyncIterator[str]:
    settings = environment(folder)
    subprocess.run([sys.executable, "-m", "bot", "ingest"], env=settings, cwd=ROOT, check=True)
    async with SandboxServer() as sandbox:
        served = settings | sandbox.environment | {"OWNERS_CHANNEL": furnish(sandbox)}
        explainer = Explainer(settings, ROOT)
        async with ServingApp(served, ROOT, folder / "app.log") as app:
            await sandbox.wait_for_connection(CONNECTED_S)
            beside = Beside(FolderPages(URL_PREFIX, PAGES), app, explainer)
            async with PageServer(sandbox, beside) as page:
                yield page.address


async def _take(page: async_api.Page, name: str) -> None:
    await page.mouse.move(600, 60)
    await page.wait_for_timeout(400)
    path = FOLDER / f"{name}.png"
    await page.screenshot(path=path)
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


async def _write(page: async_api.Page, text: str) -> None:
    box = page.locator(".main .composer textarea")
    await box.fill(text)
    await box.press("Enter")


async def _ask(page: async_api.Page, question: str) -> async_api.Locator:
    count = await page.locator(".main .message").count()
    await _write(page, question)
    await page.locator(".main .message").nth(count).locator(".replies").click()
    await page.locator(".side .message").nth(1).wait_for()
    return page.locator(".side")


async def _behind(page: async_api.Page) -> None:
    answer = page.locator(".side .message").nth(1)
    await answer.hover()
    await answer.locator(".menu > button").click()
    await page.locator("[role=menuitem]").nth(1).click()
    await page.locator(".limits").first.wait_for()


async def _french(browser: async_api.Browser, address: str) -> None:
    async with opened(browser, address) as page:
        thread = await _ask(page, UNKNOWN)
        thread = await _ask(page, FRENCH)
        await _take(page, "conversation-fr")
        await thread.locator(".feedback").nth(1).click()
        await page.get_by_role("dialog").wait_for()
        await _take(page, "modal-fr")
        await page.keyboard.press("Escape")
        await page.get_by_role("dialog").wait_for(state="detached")
        await _behind(page)
        await page.locator(".side .tabs button").nth(2).click()
        await page.locator(".verdict").wait_for()
        await _take(page, "why-fr")
        await _write(page, "/handbook télétravail")
        await page.locator(".ephemeral").wait_for()
        await page.locator(".side .close").click()
        await _take(page, "search-fr")
    async with opened(browser, address, width=390, height=760, dark=True) as page:
        await page.get_by_role("button", name="general").click()
        await page.locator(".replies").last.click()
        await page.locator(".side .message").nth(1).wait_for()
        await _take(page, "phone-dark-fr")


async def _english(browser: async_api.Browser, address: str) -> None:
    async with opened(browser, address, as_name="James Carter") as page:
        thread = await _ask(page, ENGLISH)
        await thread.locator(".body a").first.click()
        await page.locator(".target").wait_for()
        await _take(page, "source-en")
        await page.locator(".main .replies").last.click()
        await _behind(page)
        await _take(page, "blocks-en")
        await page.locator(".side .tabs button").nth(1).click()
        await page.locator(".exchange").wait_for()
        await _take(page, "exchange-en")
        await page.get_by_role("button", name="Trouble").click()
        await page.locator(".trouble").wait_for()
        await _take(page, "trouble-en")
        await page.locator(".side .close").click()
        await page.locator(".sidebar [aria-label='app connected']").click()
        await page.locator(".prompt").nth(2).click()
        await page.locator(".agent .message").nth(1).wait_for()
        await _take(page, "agent-en")
    async with opened(browser, address, as_name="Priya Shah", dark=True) as page:
        await page.locator(".sidebar [aria-label='app connected']").click()
        await page.get_by_role("button", name="Home").click()
        await page.locator(".home .block").first.wait_for()
        await _take(page, "home-admin-dark-en")
        await page.get_by_role("button", name="general").click()
        await _write(page, "/handbook reindex")
        await page.locator(".ephemeral").last.wait_for()
        await page.wait_for_timeout(3000)
        await _take(page, "reindex-dark-en")


async def main() -> None:
    """Take every picture."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with headless_browser() as browser, _address(Path(folder)) as address:
            await _french(browser, address)
            await _english(browser, address)


if __name__ == "__main__":
    asyncio.run(main())
