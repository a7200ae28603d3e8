"""Takes a picture of each kind of message, in French and in English, for docs/slack.md.

The real app answers from the sample handbook; its real blocks are drawn by the page of the sandbox
in a headless Chromium. `make screenshots` runs this: python -m tests.message_pictures.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from bot.sandbox.control import Sandbox
from bot.sandbox.demo import environment
from bot.sandbox.pages import FolderPages
from bot.sandbox.process import Explainer, ServingApp
from bot.sandbox.server import SandboxServer
from bot.sandbox.trial import PAGES, ROOT, URL_PREFIX, furnish
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.server import PageServer
from bot.sandbox.workspace import Message
from tests.browsing import async_api, headless_browser, opened

FOLDER = ROOT / "docs" / "images" / "messages"
COLOURS = 128
"""Enough for letters on one background, and small."""
AROUND = 10
INSIDE = -6
"""Of a message: its row goes to the edge of the pane."""
MOST_WIDTH = 800
WIDTH, HEIGHT = 1_280, 1_900
"""Of the window: high, so that nothing has to be scrolled to."""
CONNECTED_S = 120.0


@dataclass(frozen=True, slots=True)
class Reader:
    """Who looks, and what they do.

    Attributes:
        member, admin: Names in full, as the page shows them.
        mention: A question that the handbook answers.
        unknown: One on a subject that it knows, and that it does not answer.
        terms: To search for.
        message: Of somebody who asks colleagues.
    """

    language: str
    member: str
    admin: str
    mention: str
    unknown: str
    terms: str
    message: str


READERS = (
    Reader(
        "fr",
        member="Camille Durand",
        admin="Amina Benali",
        mention="combien de jours de télétravail par semaine ?",
        unknown="quelle marque de fauteuil est remboursée pour le télétravail ?",
        terms="congés",
        message="quelqu'un sait combien de jours de télétravail on a par semaine ?",
    ),
    Reader(
        "en",
        member="James Carter",
        admin="Priya Shah",
        mention="how many days a year can I work from another country?",
        unknown="how much does the company pay for a standing desk at home?",
        terms="remote work",
        message="does anybody know how many days a year I can work from another country?",
    ),
)


@dataclass(frozen=True, slots=True)
class Camera:
    """Takes the pictures of one language, in a page that is open."""

    page: async_api.Page
    language: str

    async def take(self, kind: str, *shown: async_api.Locator, around: int = AROUND) -> None:
        """Take what is shown, from the top of the first to the bottom of the last.

        Args:
            kind: Names the picture.
            shown: In the order of the page.
            around: Pixels left at each side; negative: cut off at the left and the right.
        """
        await self.page.mouse.move(0, 0)
        await self.page.wait_for_timeout(400)
        boxes = [box for part in shown if (box := await part.bounding_box()) is not None]
        left, top = min(b["x"] for b in boxes), min(b["y"] for b in boxes)
        right = max(b["x"] + b["width"] for b in boxes)
        bottom = max(b["y"] + b["height"] for b in boxes)
        clip = {
            "x": left - around,
            "y": top - abs(around),
            "width": min(right - left, MOST_WIDTH) + 2 * around,
            "height": bottom - top + 2 * abs(around),
        }
        path = FOLDER / f"{kind}-{self.language}.png"
        await self.page.screenshot(path=path, clip=clip, animations="disabled", caret="hide")
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)

    async def dialog(self, kind: str, *, until: str = "") -> None:
        """Take the dialog that is open, once it shows what is waited for, and close it."""
        dialog = self.page.get_by_role("dialog")
        await dialog.wait_for()
        if until:
            await dialog.locator(until).first.wait_for()
        await self.take(kind, dialog, around=0)
        await self.page.keyboard.press("Escape")
        await dialog.wait_for(state="detached")


@asynccontextmanager
async def _stage(folder: Path) -> AsyncIterator[tuple[Sandbox, str]]:
    settings = environment(folder)
    subprocess.run([sys.executable, "-m", "bot", "ingest"], env=settings, cwd=ROOT, check=True)
    async with SandboxServer() as sandbox:
        served = settings | sandbox.environment | {"OWNERS_CHANNEL": furnish(sandbox)}
        async with ServingApp(served, ROOT, folder / "app.log") as app:
            await sandbox.wait_for_connection(CONNECTED_S)
            beside = Beside(FolderPages(URL_PREFIX, PAGES), app, Explainer(settings, ROOT))
            async with PageServer(sandbox, beside) as page:
                yield sandbox, page.address


async def _write(page: async_api.Page, text: str) -> None:
    box = page.locator(".main .composer textarea")
    await box.fill(text)
    await box.press("Enter")


async def _private(page: async_api.Page, text: str, until: str) -> async_api.Locator:
    """Use a command, and return what comes of it."""
    await _write(page, text)
    reply = page.locator(".main .message.ephemeral", has=page.locator(until)).last
    await reply.wait_for()
    return reply


async def _ask(page: async_api.Page, question: str) -> async_api.Locator:
    count = await page.locator(".main .message").count()
    await _write(page, f"@Manuel {question}")
    await page.locator(".main .message").nth(count).locator(".replies").click()
    thread = page.locator(".side .message")
    await thread.nth(1).locator(".feedback").first.wait_for()
    return thread


async def _conversation(camera: Camera, reader: Reader) -> None:
    page = camera.page
    thread = await _ask(page, reader.mention)
    await camera.take("mention", thread.first, thread.last, around=INSIDE)
    await thread.last.locator(".feedback").nth(1).click()
    await camera.dialog("modal-feedback")

    thread = await _ask(page, reader.unknown)
    buttons = thread.nth(1).locator(".button")
    await camera.take("abstention", thread.first, thread.nth(1), around=INSIDE)
    before = await thread.count()
    if await buttons.count() > 1:  # the subject is close
        await buttons.first.click()
        await thread.nth(before).wait_for()
        await camera.take("close-pages", thread.nth(before), around=INSIDE)
    await buttons.last.click()
    dialog = page.get_by_role("dialog")
    await dialog.wait_for()
    await camera.take("modal-ask-human", dialog, around=0)
    await dialog.locator("footer .button").last.click()
    await dialog.wait_for(state="detached")
    await page.locator(".side .close").click()

    await camera.take(
        "search", await _private(page, f"/handbook {reader.terms}", "a"), around=INSIDE
    )
    private = await _private(page, f"/handbook ask {reader.mention}", ".feedback")
    await camera.take("private-answer", private, around=INSIDE)
    await camera.take(
        "help", await _private(page, "/handbook help", "text=/handbook"), around=INSIDE
    )

    count = await page.locator(".main .message").count()
    await _write(page, reader.message)
    message = page.locator(".main .message").nth(count)
    await message.hover()
    await message.locator(".menu > button").click()
    await page.locator("[role=menuitem]").first.click()
    await camera.dialog("modal-shortcut", until="a")


async def _home(camera: Camera, reader: Reader) -> None:
    page = camera.page
    await _open_home(page)
    ask, search = page.locator(".home input").first, page.locator(".home input").nth(1)
    await ask.fill(reader.mention)
    await ask.press("Enter")
    await camera.dialog("modal-home-answer", until="a")
    await search.fill(reader.terms)
    await search.press("Enter")
    await camera.dialog("modal-home-search", until="a")
    await page.wait_for_timeout(1_000)
    await camera.take("home-member", page.locator(".home .block").first, _last_block(page))


async def _admin(camera: Camera, sandbox: Sandbox, reader: Reader) -> None:
    page = camera.page
    await _write(page, "/handbook channel")
    await camera.dialog("modal-channel")
    answer = await sandbox.wait_until(lambda: _answered(sandbox, reader.mention))
    link = sandbox.workspace().permalink(answer)
    await camera.take(
        "explain", await _private(page, f"/handbook explain {link}", "li, .block"), around=INSIDE
    )
    await camera.take(
        "status", await _private(page, "/handbook status", "text=manuel-halvenne"), around=INSIDE
    )
    await page.get_by_role("button", name="questions-du-guide").click()
    request = page.locator(".main .message", has_text=reader.unknown).last
    await request.wait_for()
    await camera.take("human-request", request, around=INSIDE)
    await request.locator(".button").first.click()
    await camera.dialog("modal-human-answer")
    sandbox.say("amina", "questions-du-guide", "Je m'en occupe.")
    await _open_home(page)
    await camera.take("home-admin", page.locator(".home .block").first, _last_block(page))


async def _open_home(page: async_api.Page) -> None:
    await page.locator(".sidebar button:has(.presence)").click()
    await page.locator(".tabs button").first.click()
    await page.locator(".home .block").first.wait_for()
    await page.wait_for_timeout(1_500)


def _last_block(page: async_api.Page) -> async_api.Locator:
    return page.locator(".home .block").last


def _answered(sandbox: Sandbox, question: str) -> Message | None:
    asked = [m for m in sandbox.messages("general") if question in m.text]
    replies = [reply for m in asked for reply in sandbox.replies(m)]
    return replies[0] if replies else None


async def main() -> None:
    """Take every picture."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        async with headless_browser() as browser, _stage(Path(folder)) as (sandbox, address):
            size = {"width": WIDTH, "height": HEIGHT}
            for reader in READERS:
                async with opened(browser, address, as_name=reader.member, **size) as page:
                    camera = Camera(page, reader.language)
                    await _conversation(camera, reader)
                    await _home(camera, reader)
                async with opened(browser, address, as_name=reader.admin, **size) as page:
                    await _admin(Camera(page, reader.language), sandbox, reader)


if __name__ == "__main__":
    asyncio.run(main())
