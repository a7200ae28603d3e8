"""The server of the sandbox's page: who may talk to it, what it lets them do and see."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import Attempt, Delivery
from bot.sandbox.methods import views
from bot.sandbox.pages import FolderPages
from bot.sandbox.server import SandboxServer
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.questions import asked_for_message, asked_for_view
from bot.sandbox.web.server import STATIC, PageServer
from bot.sandbox.workspace import Message

ROOT = Path(__file__).resolve().parents[4]
PREFIX = "https://handbook.example.com/"
MORE = {
    "type": "button",
    "action_id": "more",
    "value": "answer-1",
    "text": {"type": "plain_text", "text": "More"},
}


@dataclass(frozen=True)
class World:
    """A stand-in without an app, its page's address, and a client."""

    sandbox: Sandbox
    address: str
    client: aiohttp.ClientSession

    def user(self, name: str) -> str:
        return self.sandbox.workspace().user(name).user_id

    async def act(self, action: str, as_name: str, **fields: object) -> tuple[int, dict]:
        body = {"as": self.user(as_name), **fields}
        async with self.client.post(f"{self.address}api/act/{action}", json=body) as answer:
            return answer.status, await answer.json()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "congés.md").write_text("# Congés", encoding="utf-8")
    (tmp_path / "pages" / "page.html").write_text("<script>1</script>", encoding="utf-8")
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (tmp_path / "pages" / "out.md").symlink_to(tmp_path / "secret.md")
    beside = Beside(FolderPages(PREFIX, tmp_path / "pages"))
    async with (
        SandboxServer() as sandbox,
        PageServer(sandbox, beside) as page,
        aiohttp.ClientSession() as client,
    ):
        yield World(sandbox, page.address, client)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example.com"},
        {"Host": "evil.example.com:80"},
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_strangers_pages_and_names_are_refused(world: World, headers: dict[str, str]):
    for path in ("", "api/world", "page.js"):
        async with world.client.get(world.address + path, headers=headers) as answer:
            assert answer.status == 403


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/api/world", "/page.js", "/é/"])
async def test_nothing_is_served_without_the_token(world: World, path: str):
    root = world.address.rsplit("/", 2)[0]
    async with world.client.get(root + path) as answer:
        assert answer.status == 403
        assert "Exemple" not in await answer.text()


async def test_page_and_its_parts_are_served_with_a_policy_that_lets_nothing_else_in(world: World):
    async with world.client.get(world.address) as answer:
        assert answer.status == 200
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        page = await answer.text()
    for name in ("page.js", "index.css", "icon.svg"):
        assert name in page
        async with world.client.get(world.address + name) as answer:
            assert answer.status == 200


async def test_person_sees_their_own_messages_and_nobody_elses(world: World):
    sandbox = world.sandbox
    workspace = sandbox.workspace()
    sandbox.add_channel("secret", members=["james"])
    sandbox.say("james", "secret", "confidentiel")
    sandbox.direct_message("james", "à toi seul")
    general = workspace.channel("general")
    james = world.user("james")
    workspace.post(
        general, workspace.bot.user_id, "pour james", bot=workspace.bot, visible_to=james
    )
    seen = {}
    for name in ("camille", "james"):
        address = f"{world.address}api/live?as={world.user(name)}"
        async with world.client.get(address) as stream:
            line = await stream.content.readline()
        seen[name] = line.decode().removeprefix("data: ")
    for words in ("confidentiel", "à toi seul", "pour james"):
        words_json = json.dumps(words)[1:-1]
        assert words_json in seen["james"]
        assert words_json not in seen["camille"]


async def test_person_acts_as_themselves_only_where_they_are(world: World):
    sandbox = world.sandbox
    secret = sandbox.add_channel("secret", members=["james"])
    own = sandbox.say("james", "general", "à moi")
    general = own.channel_id
    status, answer = await world.act("say", "camille", channel=secret.channel_id, text="coucou")
    assert (status, answer) == (400, {"error": "not in this conversation"})
    for action in ("edit", "delete"):
        status, _ = await world.act(action, "camille", channel=general, ts=own.ts, text="autre")
        assert status == 400
    assert own.text == "à moi"
    assert not own.deleted
    status, _ = await world.act("uninstall", "camille")
    assert status == 400
    assert sandbox.workspace().installed


async def test_what_is_said_arrives(world: World):
    general = world.sandbox.workspace().channel("general").channel_id
    status, _ = await world.act("say", "camille", channel=general, text="bonjour @james")
    assert status == 200
    [said] = world.sandbox.messages("general")
    assert said.text == f"bonjour <@{world.user('james')}>"


async def test_command_without_an_app_is_lost_and_the_person_is_told(world: World):
    general = world.sandbox.workspace().channel("general").channel_id
    status, answer = await world.act(
        "slash", "camille", channel=general, command="/handbook", text="congés"
    )
    assert (status, answer) == (200, {"state": "lost"})
    await world.sandbox.wait_until(lambda: world.sandbox.notices("camille"))
    assert world.sandbox.notices("camille") == ["dispatch_failed"]


@pytest.mark.parametrize(
    "url",
    [
        f"{PREFIX}../secret.md",
        f"{PREFIX}%2e%2e/secret.md",
        f"{PREFIX}out.md",
        f"{PREFIX}/etc/passwd",
        f"{PREFIX}nowhere",
        f"{PREFIX}a%00b",
        "https://elsewhere.example.com/congés",
        "file:///etc/passwd",
    ],
)
async def test_only_pages_of_the_handbook_can_be_opened(world: World, url: str):
    async with world.client.get(f"{world.address}api/source", params={"url": url}) as answer:
        assert answer.status == 400


@pytest.mark.parametrize("link", ["congés", "cong%C3%A9s.md", "congés#droits"])
async def test_page_behind_a_link_is_served_as_text(world: World, link: str):
    asked = {"url": PREFIX + link}
    async with world.client.get(f"{world.address}api/source", params=asked) as answer:
        assert answer.status == 200
        assert answer.content_type == "text/plain"
        assert await answer.text() == "# Congés"


async def test_markup_of_a_page_never_runs(world: World):
    asked = {"url": PREFIX + "page.html"}
    async with world.client.get(f"{world.address}api/source", params=asked) as answer:
        assert answer.content_type == "text/plain"
        assert answer.headers["Content-Security-Policy"] == "sandbox"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_switch_stays_until_it_is_turned_off(world: World):
    async def turn(on: bool) -> None:
        body = {"name": "rate_limited", "on": on}
        async with world.client.post(f"{world.address}api/switch", json=body) as answer:
            assert answer.status == 200

    async def post_status() -> int:
        workspace = world.sandbox.workspace()
        body = {"channel": workspace.channel("general").channel_id, "text": "bonjour"}
        headers = {"Authorization": f"Bearer {workspace.bot_token}"}
        address = f"{world.sandbox.api_url}chat.postMessage"
        async with world.client.post(address, json=body, headers=headers) as answer:
            return answer.status

    await turn(True)
    assert [await post_status(), await post_status()] == [429, 429]
    await turn(False)
    assert await post_status() == 200


async def test_behind_a_message_are_its_limits(world: World):
    said = world.sandbox.say("camille", "general", "bonjour")
    asked = {"channel": said.channel_id, "ts": said.ts}
    async with world.client.get(f"{world.address}api/behind", params=asked) as answer:
        behind = await answer.json()
    limits = {limit["what"]: (limit["used"], limit["most"]) for limit in behind["limits"]}
    assert limits["text"] == (7, 4000)
    assert limits["blocks"] == (1, 50)
    assert behind["json"]["blocks"] == said.blocks


async def test_question_is_found_behind_what_a_command_a_shortcut_or_a_press_answers(world: World):
    sandbox = world.sandbox
    workspace = sandbox.workspace()
    general, camille = workspace.channel("general"), world.user("camille")

    def posted(delivery: Delivery) -> Message:
        token = str(delivery.payload["response_url"]).rpartition("/")[2]
        return workspace.post(
            general,
            workspace.bot.user_id,
            "réponse",
            blocks=[{"type": "actions", "elements": [MORE]}],
            bot=workspace.bot,
            visible_to=camille,
            response_token=token,
        )

    answer = posted(sandbox.slash("camille", "general", "/handbook", "ask quel badge < 3 ?"))
    search = posted(sandbox.slash("camille", "general", "/handbook", "badge"))
    pressed = posted(sandbox.click("camille", answer, MORE["action_id"]))
    said = sandbox.say("camille", "general", "@Manuel où est l'accueil ?")
    about = posted(sandbox.shortcut("camille", said, "ask_about_message"))
    assert asked_for_message(sandbox, answer) == ["quel badge < 3 ?"]
    assert asked_for_message(sandbox, search) == []
    assert asked_for_message(sandbox, pressed) == ["quel badge < 3 ?"]
    assert asked_for_message(sandbox, about) == ["où est l'accueil ?"]
    assert asked_for_message(sandbox, said) == []


async def test_question_is_found_behind_a_modal_of_the_home_tab(world: World):
    sandbox = world.sandbox
    workspace, camille = sandbox.workspace(), world.user("camille")
    box = {"type": "plain_text_input", "action_id": "box"}
    label = {"type": "plain_text", "text": "Question"}
    blocks = [
        {"type": "input", "block_id": "b", "label": label, "element": box},
        {"type": "actions", "elements": [MORE | {"action_id": "send", "value": "box"}]},
        {"type": "actions", "elements": [MORE | {"action_id": "again", "value": "quel badge ?"}]},
        {"type": "actions", "elements": [MORE | {"action_id": "find_search", "value": "box"}]},
    ]
    workspace.homes[camille] = views.new_view(
        workspace, camille, {"type": "home", "blocks": blocks}
    )
    state = {"b": {"box": {"type": "plain_text_input", "value": " où est l'accueil ? "}}}
    asked = {}
    for action_id in ("send", "again", "find_search"):
        delivery = sandbox.click_in_view("camille", action_id, state=state)
        content = {"type": "modal", "title": label, "blocks": []}
        modal = views.new_view(workspace, camille, content)
        modal.trigger_id = delivery.payload["trigger_id"]
        asked[action_id] = asked_for_view(sandbox, modal)
    assert asked == {"send": ["où est l'accueil ?"], "again": ["quel badge ?"], "find_search": []}


async def test_behind_a_modal_is_what_opened_it_and_what_was_said_of_it_since(world: World):
    sandbox, text = world.sandbox, {"type": "plain_text", "text": "Avis"}
    delivery = sandbox.slash("camille", "general", "/handbook", "channel")
    opened = {"type": "modal", "title": text, "blocks": []}
    headers = {"Authorization": f"Bearer {sandbox.workspace().bot_token}"}
    delivery.attempts.append(Attempt("e1", 1, sandbox.world.clock.now()))
    body = {"trigger_id": delivery.payload["trigger_id"], "view": opened}
    address = f"{sandbox.api_url}views.open"
    async with world.client.post(address, json=body, headers=headers) as answer:
        view_id = (await answer.json())["view"]["id"]
    async with world.client.get(f"{world.address}api/behind?view={view_id}") as answer:
        behind = await answer.json()
    assert [entry["name"] for entry in behind["exchange"]] == ["/handbook", "views.open"]
    assert all(entry["at_s"] >= 0 for entry in behind["exchange"])
    assert behind["json"]["id"] == view_id
    assert behind["question"] is None


async def test_switches_that_need_a_model_say_so(world: World):
    async with world.client.get(f"{world.address}api/live?as={world.user('camille')}") as stream:
        seen = json.loads((await stream.content.readline()).decode().removeprefix("data: "))
    assert set(seen["need_model"]) == {"slow_model", "expired_stream", "stream_rate_limited"}
    assert set(seen["need_model"]) <= set(seen["switches"])


def test_bundle_is_the_one_that_the_sources_make(tmp_path: Path):
    vite = ROOT / "web" / "node_modules" / ".bin" / "vite"
    if not vite.exists() or shutil.which("node") is None:
        pytest.skip("the tools of the page are not installed (make page)")
    built = tmp_path / "static"
    subprocess.run(
        [str(vite), "build", "--logLevel", "error", "--outDir", str(built), "--emptyOutDir"],
        cwd=ROOT / "web",
        check=True,
    )
    made = {path.name: path.read_bytes() for path in built.iterdir()}
    kept = {path.name: path.read_bytes() for path in STATIC.iterdir()}
    assert made == kept


async def test_other_pages_of_a_browser_cannot_steer_the_stand_in(world: World):
    base = world.sandbox.interactions.base_url
    said = {"user": "camille", "channel": "general", "text": "bonjour"}
    for headers in ({"Origin": "https://evil.example.com"}, {"Host": "evil.example.com"}):
        async with world.client.post(f"{base}/_sandbox/say", json=said, headers=headers) as answer:
            assert answer.status == 403
        async with world.client.get(f"{base}/_sandbox/state", headers=headers) as answer:
            assert answer.status == 403
    assert world.sandbox.messages("general") == []
    async with world.client.post(f"{base}/_sandbox/say", json=said) as answer:
        assert answer.status == 200
