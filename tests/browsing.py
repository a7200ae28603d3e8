"""A real headless browser for the page of the sandbox, and the page served beside a stand-in."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

async_api = pytest.importorskip(
    "playwright.async_api", reason="the tests of the page need playwright (pip install -e .[dev])"
)
axe_package = pytest.importorskip("axe_playwright_python")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WAIT_MS = 20_000
AXE = Path(axe_package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


def _installed() -> str | None:
    named = os.environ.get("CHROMIUM")
    found = [shutil.which(name) for name in BROWSERS]
    return named or next((path for path in found if path), None)


@asynccontextmanager
async def headless_browser() -> AsyncIterator[async_api.Browser]:
    """Start one Chromium; skips the test where there is none."""
    async with async_api.async_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        path = _installed() or (str(own) if own.exists() else None)
        if path is None:
            pytest.skip("no Chromium: install the package chromium, or set CHROMIUM to its path")
        # In a container the browser's own sandbox lacks the rights it needs.
        browser = await playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        await browser.close()


@asynccontextmanager
async def opened(
    browser: async_api.Browser,
    address: str,
    *,
    as_name: str = "Camille Durand",
    width: int = 1280,
    height: int = 800,
    dark: bool = False,
    for_axe: bool = False,
) -> AsyncIterator[async_api.Page]:
    """Open the page as somebody; it must neither complain nor ask other machines for anything."""
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        bypass_csp=for_axe,  # axe is put into the page, which its policy rightly forbids
    )
    context.set_default_timeout(WAIT_MS)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
    page.on("request", lambda asked: _note_stranger(asked.url, complaints))
    await page.goto(address)
    # Everything one sees comes at once: without this, a test would count messages too early.
    await page.locator(".layout").wait_for()
    if as_name != "Camille Durand":
        await become(page, as_name)
    yield page
    await context.close()
    assert complaints == []


def _note_stranger(url: str, complaints: list[str]) -> None:
    parts = urlsplit(url)
    if parts.scheme != "data" and parts.hostname != "127.0.0.1":
        complaints.append(f"asked for {url}")


async def become(page: async_api.Page, name: str) -> None:
    """Choose who one is."""
    chooser = page.locator(".person select")
    await chooser.wait_for()
    labels = await chooser.locator("option").all_inner_texts()
    await chooser.select_option(label=next(label for label in labels if label.startswith(name)))
    await page.locator(".person select option:checked", has_text=name).wait_for(state="attached")


async def violations(page: async_api.Page) -> list[str]:
    """Return everything that axe-core objects to in what is shown."""
    await page.evaluate(AXE)
    found = await page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        json.dumps([v["impact"], v["id"], [node["html"][:200] for node in v["nodes"]]])
        for v in found["violations"]
    ]
