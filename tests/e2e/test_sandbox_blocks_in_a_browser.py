"""Every block and element that Slack has, drawn by the page in a real browser."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bot.sandbox.blocks import BLOCKS, ELEMENTS, Surface, as_kept, block_problems
from bot.sandbox.control import Sandbox
from bot.sandbox.methods import views
from bot.sandbox.server import SandboxServer
from bot.sandbox.web.server import PageServer
from bot.sandbox.workspace import Json
from tests.browsing import async_api, headless_browser, opened

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def rich(*parts: Json) -> Json:
    return {"type": "rich_text", "elements": list(parts)}


def words(kind: str, *elements: Json) -> Json:
    return {"type": kind, "elements": list(elements)}


def text(content: str, **style: bool) -> Json:
    return {"type": "text", "text": content} | ({"style": style} if style else {})


def button(action_id: str, label: str, **more: Any) -> Json:
    return {"type": "button", "action_id": action_id, "text": plain(label), "value": "1"} | more


OPTIONS = [{"text": plain(f"Option {n}"), "value": f"o{n}"} for n in (1, 2, 3)]
CONFIRM = {
    "title": plain("Sure?"),
    "text": plain("It cannot be undone."),
    "confirm": plain("Do it"),
    "deny": plain("Leave it"),
}
IMAGE = {"type": "image", "image_url": "https://example.com/x.png", "alt_text": "An image"}
IN_ACTIONS = [
    button("plain", "Plain"),
    button("asks", "Asks first", confirm=CONFIRM),
    {"type": "overflow", "action_id": "overflow", "options": OPTIONS},
    {
        "type": "static_select",
        "action_id": "select",
        "placeholder": plain("One"),
        "options": OPTIONS,
    },
    {"type": "users_select", "action_id": "users", "placeholder": plain("Person")},
    {"type": "conversations_select", "action_id": "places", "placeholder": plain("Place")},
    {"type": "channels_select", "action_id": "channels", "placeholder": plain("Channel")},
    {"type": "datepicker", "action_id": "date"},
    {"type": "timepicker", "action_id": "time"},
    {"type": "datetimepicker", "action_id": "moment"},
    {"type": "checkboxes", "action_id": "checks", "options": OPTIONS},
    {"type": "radio_buttons", "action_id": "radios", "options": OPTIONS},
    {"type": "multi_static_select", "action_id": "several", "options": OPTIONS},
]
IN_INPUTS = [
    {"type": "plain_text_input", "action_id": "a", "multiline": True},
    {"type": "rich_text_input", "action_id": "a"},
    {"type": "number_input", "action_id": "a", "is_decimal_allowed": False},
    {"type": "email_text_input", "action_id": "a"},
    {"type": "url_text_input", "action_id": "a"},
    {"type": "multi_users_select", "action_id": "a"},
    {"type": "multi_channels_select", "action_id": "a"},
    {"type": "multi_conversations_select", "action_id": "a"},
]
CELLS = [[{"type": "raw_text", "text": cell} for cell in row] for row in ("ab", "cd")]
TASKS = [
    {"type": "task_card", "task_id": status, "title": f"Task {status}", "status": status}
    for status in ("pending", "in_progress", "complete", "error")
]
CARD = {"type": "card", "title": mrkdwn("*A card*"), "body": mrkdwn("Its body")}
MESSAGE: list[Json] = [
    {"type": "header", "text": plain("A header")},
    {
        "type": "section",
        "text": mrkdwn("*bold* _italic_ ~struck~ `code`"),
        "accessory": button("b", "B"),
    },
    {"type": "section", "fields": [mrkdwn("A *field*")], "accessory": IMAGE},
    {"type": "divider"},
    {"type": "context", "elements": [IMAGE, mrkdwn("A *context*")]},
    {"type": "actions", "elements": IN_ACTIONS},
    {
        "type": "markdown",
        "text": "# A title\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n- *one*\n- **two**",
    },
    rich(
        words(
            "rich_text_section",
            text("styled", bold=True, italic=True),
            {"type": "link", "url": "https://example.com/", "text": "A link"},
            {"type": "user", "user_id": "U1"},
            {"type": "usergroup", "usergroup_id": "S1"},
            {"type": "channel", "channel_id": "C1"},
            {"type": "broadcast", "range": "here"},
            {"type": "emoji", "name": "wave"},
            {"type": "date", "timestamp": 1_700_000_000, "format": "{date_short}"},
            {"type": "color", "value": "#123456"},
        ),
        words("rich_text_list", words("rich_text_section", text("item"))) | {"style": "ordered"},
        words("rich_text_quote", text("quoted")),
        words("rich_text_preformatted", text("kept as is")),
    ),
    {"type": "table", "rows": CELLS},
    {"type": "data_table", "caption": "Data", "rows": CELLS},
    {"type": "plan", "title": "A plan", "tasks": TASKS},
    TASKS[2],
    CARD,
    {"type": "carousel", "elements": [CARD, CARD]},
    {
        "type": "container",
        "title": plain("A container"),
        "child_blocks": [{"type": "section", "text": plain("Inside")}],
    },
    IMAGE | {"title": plain("Titled")},
    {
        "type": "data_visualization",
        "title": "A chart",
        "chart": {"type": "pie", "segments": [{"label": "fr", "value": 3}]},
    },
    {
        "type": "video",
        "title": plain("A video"),
        "alt_text": "A video",
        "video_url": "https://example.com/v",
        "thumbnail_url": "https://example.com/v.png",
    },
    {"type": "file", "external_id": "A file", "source": "remote"},
    {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "action_id": "feedback",
                "positive_button": {"text": plain("Good"), "value": "up"},
                "negative_button": {"text": plain("Bad"), "value": "down"},
            },
            {"type": "icon_button", "action_id": "icon", "icon": "trash", "text": plain("Remove")},
        ],
    },
    {"type": "input", "label": plain("Written in a message"), "element": IN_INPUTS[0]},
]
MODAL: list[Json] = [
    {"type": "alert", "level": "warning", "text": plain("An alert")},
    *(
        {
            "type": "input",
            "label": plain(element["type"]),
            "hint": plain("A hint"),
            "element": element,
        }
        for element in IN_INPUTS
    ),
]
NOT_OFFERED = {"external_select", "multi_external_select", "workflow_button"}
"""Elements that need options of the app or a workflow; the page says that it lacks the former."""


@dataclass(frozen=True)
class World:
    """A stand-in without an app, the page's address and the one browser."""

    sandbox: Sandbox
    address: str
    browser: async_api.Browser


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with (
        headless_browser() as browser,
        SandboxServer() as sandbox,
        PageServer(sandbox) as page,
    ):
        yield World(sandbox, page.address, browser)


def post(world: World, blocks: list[Json], words: str = "") -> None:
    workspace = world.sandbox.workspace()
    channel = workspace.channel("general")
    workspace.post(channel, workspace.bot.user_id, words, blocks=as_kept(blocks), bot=workspace.bot)


def kinds_in(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(kinds_in, node))
    if not isinstance(node, dict):
        return set()
    own = {node["type"]} if isinstance(node.get("type"), str) else set()
    return own.union(*map(kinds_in, node.values()))


async def test_samples_are_complete_and_such_as_slack_accepts():
    assert block_problems(MESSAGE, Surface.MESSAGE) == []
    assert block_problems(MODAL, Surface.MODAL) == []
    drawn = kinds_in(MESSAGE) | kinds_in(MODAL)
    assert set(BLOCKS) - drawn == set()
    assert set(ELEMENTS) - drawn - NOT_OFFERED == set()


async def test_every_block_of_a_message_is_drawn(world: World):
    post(world, MESSAGE)
    async with opened(world.browser, world.address) as page:
        message = page.locator(".message").last
        await message.get_by_text("A header").wait_for()
        assert await message.locator(".unknown").all_inner_texts() == []
        assert await message.locator(".block").count() == len(MESSAGE) + 1  # one in a container
        for block in await message.locator(".block:not(.block-divider)").all():
            assert (await block.inner_text()).strip()
        assert await message.locator("strong").first.inner_text() == "bold"


async def test_lines_of_a_text_stay_lines_wherever_it_stands(world: World):
    lines = text("one line\nand another")
    kinds = ("rich_text_section", "rich_text_quote", "rich_text_preformatted")
    item = words("rich_text_list", words("rich_text_section", lines)) | {"style": "bullet"}
    post(world, [rich(*(words(kind, lines) for kind in kinds), item)])
    async with opened(world.browser, world.address) as page:
        block = page.locator(".message").last.locator(".block")
        await block.locator("li").wait_for()
        assert (await block.inner_text()).count("one line\nand another") == len(kinds) + 1


def blocks_in(node: Any) -> Iterator[list[Json]]:
    """Yield every list of blocks in a payload."""
    if isinstance(node, list):
        for child in node:
            yield from blocks_in(child)
    elif isinstance(node, dict):
        if isinstance(node.get("blocks"), list) and node["blocks"]:
            yield node["blocks"]
        for child in node.values():
            yield from blocks_in(child)


async def test_every_block_of_the_recorded_payloads_is_drawn(world: World, shared_dir: Path):
    folder = shared_dir / "slack-payloads"
    files = [f for f in folder.rglob("*.json") if "shapes" not in f.parts]
    found = [blocks for f in files for blocks in blocks_in(json.loads(f.read_text("utf-8")))]
    assert len(found) > 20
    for number, blocks in enumerate(found):
        post(world, [*blocks, {"type": "section", "text": plain(f"sample {number}")}])
    async with opened(world.browser, world.address) as page:
        await page.get_by_text(f"sample {len(found) - 1}", exact=True).wait_for()
        told = await page.locator(".message .unknown").all_inner_texts()
        drawn = page.locator(".message", has_text="sample ").locator(".block:not(.block-divider)")
        shown = [words.strip() for words in await drawn.all_inner_texts()]
    assert len(shown) >= sum(len(blocks) + 1 for blocks in found)
    assert all(shown)
    assert {words for words in told if not any(kind in words for kind in NOT_OFFERED)} == set()


async def test_every_input_of_a_modal_is_drawn_and_an_empty_one_is_not_sent(world: World):
    workspace = world.sandbox.workspace()
    camille = workspace.user("camille").user_id
    content = {"type": "modal", "title": plain("All"), "submit": plain("Send"), "blocks": MODAL}
    workspace.modals[camille] = [views.new_view(workspace, camille, content)]
    async with opened(world.browser, world.address) as page:
        modal = page.get_by_role("dialog", name="All")
        await modal.get_by_role("button", name="Send").click()
        await modal.locator(".field-error").last.wait_for()
        assert await modal.locator(".field-error").count() == len(IN_INPUTS)
        assert await modal.locator(".unknown").count() == 0
        await modal.get_by_role("button", name="Fermer", exact=True).last.click()
        await modal.wait_for(state="detached")
    assert world.sandbox.deliveries() == []
    assert world.sandbox.modal("camille") is None


async def test_unknown_block_is_an_error_to_be_seen(world: World):
    post(world, [{"type": "hologram"}, {"type": "actions", "elements": [{"type": "knob"}]}])
    async with opened(world.browser, world.address) as page:
        message = page.locator(".message").last
        await message.get_by_text("bloc inconnu « hologram »").wait_for()
        await message.get_by_text("élément inconnu « knob »").wait_for()


async def test_nothing_is_taken_for_html_and_only_web_addresses_become_links(world: World):
    evil = "<img src=x onerror=alert(1)><script>alert(1)</script>"
    escaped = evil.replace("<", "&lt;").replace(">", "&gt;")
    post(
        world,
        [
            {"type": "section", "text": mrkdwn(f"{escaped} <javascript:alert(1)|click>")},
            {
                "type": "markdown",
                "text": f"{evil}\n\n[go](javascript:alert(1)) [data](data:text/html,x)",
            },
            rich(
                words(
                    "rich_text_section", {"type": "link", "url": "javascript:alert(1)"}, text(evil)
                )
            ),
        ],
    )
    async with opened(world.browser, world.address) as page:
        message = page.locator(".message").last
        await message.get_by_text("onerror").first.wait_for()
        assert await message.locator(".body img, .body script, .body a").count() == 0
        assert (await message.inner_text()).count("<script>") == 3


async def test_press_that_asks_first_is_sent_only_when_agreed(world: World):
    post(world, MESSAGE)
    async with opened(world.browser, world.address) as page:
        message = page.locator(".message").last
        before = len(world.sandbox.deliveries())
        await message.get_by_role("button", name="Asks first").click()
        await page.get_by_role("button", name="Leave it").click()
        assert len(world.sandbox.deliveries()) == before
        await message.get_by_role("button", name="Asks first").click()
        await page.get_by_role("button", name="Do it").click()
        await world.sandbox.wait_until(lambda: len(world.sandbox.deliveries()) > before)
    [action] = world.sandbox.deliveries()[-1].payload["actions"]
    assert action["action_id"] == "asks"


async def test_message_that_grows_is_shown_as_it_grows(world: World):
    workspace = world.sandbox.workspace()
    channel = workspace.channel("general")
    async with opened(world.browser, world.address) as page:
        message = workspace.post(channel, workspace.bot.user_id, "", bot=workspace.bot)
        message.streaming_state = "in_progress"
        for text_so_far in ("First words", "First words, then more"):
            message.blocks = [{"type": "markdown", "text": text_so_far}]
            world.sandbox.world.changes.publish("message_changed", ts=message.ts)
            await page.locator(".streaming").get_by_text(text_so_far, exact=True).wait_for()
        message.streaming_state = "completed"
        world.sandbox.world.changes.publish("message_changed", ts=message.ts)
        await page.locator(".streaming").wait_for(state="detached")
