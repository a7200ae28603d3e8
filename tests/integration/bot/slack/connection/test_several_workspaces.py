"""Workspaces that install the app by themselves: tokens, rotation, uninstalling, separation."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import pytest
from cryptography.fernet import Fernet
from sqlalchemy import Engine

from bot.app import open_engine_room
from bot.errors import WorkspaceUnavailable
from bot.metrics import Metrics
from bot.records import Outcome, Question
from bot.sandbox.control import Sandbox
from bot.sandbox.delivery import DeliveryState
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Workspace as SandboxWorkspace
from bot.settings import BotSettings
from bot.slack.connection.connect import connect
from bot.slack.connection.diagnosis import diagnose
from bot.slack.connection.installations import Installations
from bot.slack.connection.workspaces import Workspace
from bot.slack.readiness import HandbookWhenReady
from bot.slack.wording import FRENCH, NOT_ALLOWED, NOT_INSTALLED
from bot.store import JobState, JobStore, migrate, open_engine
from ingest import Audiences, ConfigurationError, run_ingest
from tests.slack_running import knows_remote_work, running, settings_in

# slack_sdk 3.48 still uses what aiohttp 3.14 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")

Make = Callable[[Sandbox, Engine], Installations]
KEY = Fernet.generate_key().decode()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """Two workspaces that may have the app and one that may not; none has it yet."""
    manifest = Manifest.read(DEFAULT_PATH.with_name("manifest.oauth.json"))
    async with SandboxServer(manifest=manifest) as sandbox:
        for name in ("Filiale", "Ailleurs"):
            workspace = sandbox.add_workspace(name)
            sandbox.add_user("zoe", team=workspace.team_id, role="admin")
            sandbox.add_channel("general", team=workspace.team_id)
        for workspace in sandbox.world.workspaces.values():
            workspace.installed = False
        yield sandbox
        assert sandbox.problems == []


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


def teams(sandbox: Sandbox) -> list[SandboxWorkspace]:
    return list(sandbox.world.workspaces.values())


def settings(sandbox: Sandbox, **changes: object) -> BotSettings:
    allowed = [workspace.team_id for workspace in teams(sandbox)[:2]]
    values = {
        "slack_mode": "http",
        "slack_api_url": sandbox.api_url,
        "slack_signing_secret": sandbox.world.signing_secret,
        "slack_client_id": sandbox.world.client_id,
        "slack_client_secret": sandbox.world.client_secret,
        "slack_bot_token": None,
        "allowed_workspaces": ", ".join(allowed),
        "token_encryption_keys": KEY,
        "public_url": "https://manuel.example.com",
        **changes,
    }
    return BotSettings(_env_file=None, **values)


@pytest.fixture
def installations_on() -> Iterator[Make]:
    """Make what another process would have."""
    made: list[Installations] = []

    def make(sandbox: Sandbox, engine: Engine) -> Installations:
        workspaces = connect(settings(sandbox), engine, Metrics()).workspaces
        assert isinstance(workspaces, Installations)
        made.append(workspaces)
        return workspaces

    yield make
    for installations in made:
        installations.close()


@dataclass
class Served:
    """The running app, as a browser and a test reach it."""

    store: JobStore
    address: str
    session: aiohttp.ClientSession

    async def get(self, url: str, cookie: str = "") -> aiohttp.ClientResponse:
        headers = {"Cookie": cookie} if cookie else {}
        return await self.session.get(url, headers=headers, allow_redirects=False)

    async def agree(self, team_id: str) -> tuple[str, str]:
        """Set out to install, and agree; returns the way back and the browser's cookie."""
        start = await self.get(f"{self.address}/slack/install?team={team_id}")
        assert start.status == 302
        cookie = start.headers["Set-Cookie"]
        assert "Secure" in cookie
        assert "HttpOnly" in cookie
        back = await self.get(start.headers["Location"])
        assert back.status == 302, await back.text()
        assert back.headers["Location"].startswith("https://manuel.example.com/")
        way = urlsplit(back.headers["Location"])
        return f"{self.address}{way.path}?{way.query}", cookie.split(";")[0]

    async def install(self, team_id: str) -> tuple[int, str]:
        way_back, cookie = await self.agree(team_id)
        answer = await self.get(way_back, cookie)
        return answer.status, await answer.text()


@asynccontextmanager
async def serving(
    sandbox: Sandbox, engine: Engine, folder: Path, **options: object
) -> AsyncIterator[Served]:
    connection = connect(settings(sandbox), engine, Metrics())
    async with (
        aiohttp.ClientSession() as session,
        running(sandbox, folder, connection=connection, **options) as store,  # type: ignore[arg-type]
    ):
        address = sandbox.http.request_url.removesuffix("/slack/events")
        yield Served(store, address, session)


async def test_each_workspace_is_answered_with_its_own_token_and_as_its_own_bot(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first, second, _ = teams(sandbox)
    heard: list[str] = []

    def answer(question: Question, audiences: Audiences) -> Outcome:
        heard.append(question.text)
        return knows_remote_work(question, audiences)

    async with serving(sandbox, engine, tmp_path, answer=answer) as served:
        for workspace in (first, second):
            status, page = await served.install(workspace.team_id)
            assert status == 200, page
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ici ?")
        other = sandbox.say("zoe", "general", "@Manuel le télétravail là ?", team=second.team_id)
        await sandbox.wait_for_reply(asked)
        await sandbox.wait_for_reply(other, team=second.team_id)
        sandbox.slash("zoe", "general", "/handbook", "télétravail", team=second.team_id)
        await sandbox.wait_for_ephemeral("zoe", "Deux jours", team=second.team_id)
        await sandbox.settled()

    assert sorted(heard) == ["le télétravail ici ?", "le télétravail là ?"]
    posts = sandbox.calls("chat.postMessage")
    assert sorted(call.team_id for call in posts) == sorted([first.team_id, second.team_id])
    assert all(call.answer.get("ok") for call in sandbox.calls())


async def test_tokens_lie_encrypted_in_the_database(
    sandbox: Sandbox, engine: Engine, tmp_path: Path, installations_on: Make
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(first.team_id)
        workspace = await installations_on(sandbox, engine).get(first.team_id)
    assert workspace is not None
    assert workspace.bot_token == first.bot_token
    assert first.bot_token not in repr(workspace)
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("manuel.db*"))
    assert first.team_id.encode() in stored
    assert first.bot_token.encode() not in stored
    assert first.refresh_token
    assert first.refresh_token.encode() not in stored


async def test_a_workspace_that_is_not_allowed_is_refused_at_every_door(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    stranger = teams(sandbox)[2]
    async with serving(sandbox, engine, tmp_path) as served:
        assert await served.install(stranger.team_id) == (403, NOT_ALLOWED)
        assert not stranger.installed  # its token is revoked
        stranger.installed = True
        sandbox.say("zoe", "general", "@Manuel le télétravail ?", team=stranger.team_id)
        typed = sandbox.slash("zoe", "general", "/handbook", "x", team=stranger.team_id)
        await sandbox.wait_for_ephemeral("zoe", NOT_INSTALLED, team=stranger.team_id)
        await sandbox.settled()
        assert served.store.counts() == {}
    assert typed.state is DeliveryState.ACKNOWLEDGED
    assert sandbox.calls("chat.postMessage") == []


async def test_the_way_back_is_good_once_and_in_the_browser_that_set_out(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        way_back, cookie = await served.agree(first.team_id)
        assert (await served.get(way_back)).status == 400
        assert (await served.get(way_back, "slack-app-oauth-state=other")).status == 400
        assert (await served.get(way_back, cookie)).status == 200
        assert (await served.get(way_back, cookie)).status == 401
        refused = await served.get(f"{served.address}/slack/oauth_redirect?error=<b>x</b>")
        assert "<b>" not in await refused.text()


async def test_an_installation_that_fails_says_so_and_logs_no_code(
    sandbox: Sandbox,
    engine: Engine,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        for kind, status in (("error", 401), ("drop_before", 503)):
            way_back, cookie = await served.agree(first.team_id)
            sandbox.fault("oauth.v2.access", kind, error="invalid_code")
            assert (await served.get(way_back, cookie)).status == status
            code = dict(parse_qsl(urlsplit(way_back).query))["code"]
            assert code not in caplog.text
        assert rows_of(tmp_path, first.team_id) == set()
        assert (await served.install(first.team_id))[0] == 200


async def test_uninstalling_deletes_everything_of_that_workspace_alone(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first, second, _ = teams(sandbox)
    async with serving(sandbox, engine, tmp_path) as served:
        for workspace, person in ((first, "camille"), (second, "zoe")):
            team = workspace.team_id
            await served.install(team)
            asked = sandbox.say(person, "general", "@Manuel le télétravail ?", team=team)
            reply = await sandbox.wait_for_reply(asked, team=team)
            sandbox.click(person, reply, "feedback", team=team)
            await sandbox.wait_for_ephemeral(person, team=team)
            sandbox.slash(person, "general", "/handbook", "ask le télétravail ?", team=team)
            await sandbox.wait_for_ephemeral(person, "Deux jours", team=team)
        assert rows_of(tmp_path, first.team_id) >= {
            "bot_jobs",
            "bot_questions",
            "bot_feedback",
            "bot_private_answers",
            "slack_bots",
        }
        before = rows_of(tmp_path, second.team_id)
        sandbox.uninstall()
        await sandbox.settled()
        await asyncio.sleep(0.3)

        assert rows_of(tmp_path, first.team_id) == set()
        assert rows_of(tmp_path, second.team_id) == before
        assert {d.state for d in sandbox.deliveries()} == {DeliveryState.ACKNOWLEDGED}


async def test_uninstalling_deletes_everything_although_the_token_cannot_be_used_any_more(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(first.team_id)
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(asked)
        ends_in(tmp_path, -1)
        with closing(sqlite3.connect(tmp_path / "manuel.db")) as connection, connection:
            connection.execute("UPDATE slack_bots SET bot_token = 'sealed by a key that is lost'")
        sandbox.uninstall()
        await sandbox.settled()

        assert rows_of(tmp_path, first.team_id) == set()


async def test_late_word_of_an_uninstallation_leaves_the_new_installation_alone(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(first.team_id)
        sandbox.uninstall()
        await sandbox.settled()
        assert rows_of(tmp_path, first.team_id) == set()
        await asyncio.sleep(1.1)  # Slack's event times are whole seconds
        await served.install(first.team_id)
        [event] = sandbox.deliveries("app_uninstalled")
        await sandbox.redeliver(event).settled()

        assert rows_of(tmp_path, first.team_id) == {"slack_bots"}


async def test_an_admin_of_one_workspace_does_not_run_the_handbook_of_all(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first, second, _ = teams(sandbox)
    operator = first.user("amina").user_id
    async with serving(sandbox, engine, tmp_path, admins=frozenset({operator})) as served:
        await served.install(first.team_id)
        await served.install(second.team_id)
        sandbox.slash("zoe", "general", "/handbook", "status", team=second.team_id)
        await sandbox.wait_for_ephemeral("zoe", FRENCH.admins_only, team=second.team_id)
        sandbox.slash("amina", "general", "/handbook", "status")
        await sandbox.wait_for_ephemeral("amina", FRENCH.state_not_built)


async def test_a_workspace_never_sees_the_pages_of_another(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first, second, _ = teams(sandbox)
    pages = {
        "commun": "# Horaires\n\nLes bureaux ouvrent à huit heures tous les matins.\n",
        "siege": "# Parking du siège\n\nLe parking du siège ferme à vingt heures.\n",
        "filiale": "# Parking de la filiale\n\nLe parking de la filiale ferme à minuit.\n",
    }
    limits = {"siege": first.team_id, "filiale": second.team_id}
    tables = []
    for name, text in pages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(text, encoding="utf-8")
        table = f'[[sources]]\nname = "{name}"\npath = "{name}"\n'
        tables.append(table + (f'workspaces = "{limits[name]}"\n' if name in limits else ""))
    (tmp_path / "handbook.toml").write_text("\n".join(tables), encoding="utf-8")
    own = settings_in(tmp_path)
    await asyncio.to_thread(run_ingest, own)
    handbook = HandbookWhenReady(lambda: open_engine_room(own), Metrics())

    async with serving(sandbox, engine, tmp_path, handbook=handbook) as served:
        for person, workspace, sees, never in (
            ("camille", first, "vingt heures", ("minuit", "filiale")),
            ("zoe", second, "minuit", ("vingt heures", "siège", "siege")),
        ):
            team = workspace.team_id
            await served.install(team)
            shown = []
            asked = sandbox.say(
                person, "general", "@Manuel à quelle heure ferme le parking ?", team=team
            )
            shown.append(await sandbox.wait_for_reply(asked, team=team))
            sandbox.slash(person, "general", "/handbook", "parking ferme", team=team)
            shown.append(await sandbox.wait_for_ephemeral(person, sees, team=team))
            ask = "ask à quelle heure ferme le parking ?"
            sandbox.slash(person, "general", "/handbook", ask, team=team)
            shown.append(await sandbox.wait_for_ephemeral(person, sees, count=2, team=team))
            for message in shown:
                assert sees in message.text
                assert not [w for w in never if w in message.text + str(message.blocks)]
            sandbox.slash(person, "general", "/handbook", "bureaux", team=team)
            await sandbox.wait_for_ephemeral(person, "huit heures", team=team)
            sandbox.open_home(person, team=team)
            view = await sandbox.wait_until(lambda p=person, t=team: sandbox.home(p, team=t))
            assert not [w for w in never if w in str(view.content)]
    handbook.close()


async def test_a_token_near_its_end_is_exchanged_once_however_many_want_it(
    sandbox: Sandbox, engine: Engine, tmp_path: Path, installations_on: Make
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(first.team_id)
        ends_in(tmp_path, 3_600)
        before = first.bot_token
        # As many processes as objects: each has a lock of its own.
        processes = [installations_on(sandbox, engine) for _ in range(4)]
        got = await asyncio.gather(
            *(process.get(first.team_id) for process in processes for _ in range(3))
        )
        assert first.bot_token != before
        assert {w.bot_token for w in got if w} <= {before, first.bot_token}
        for process in processes:
            assert await token_of(process, first.team_id) == first.bot_token
        refreshed = [c for c in sandbox.calls("oauth.v2.access") if "grant_type" in c.arguments]
        assert len(refreshed) == 1
        assert count_of(tmp_path, "slack_bots") == 1

        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_reply(asked)


async def test_while_slack_is_down_a_token_serves_to_its_end_and_then_not_at_all(
    sandbox: Sandbox, engine: Engine, tmp_path: Path, installations_on: Make
) -> None:
    first = teams(sandbox)[0]
    sandbox.http.retry_after_s = (0.1, 2.0, 5.0)
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(first.team_id)
        installations = installations_on(sandbox, engine)
        fault = sandbox.fault("oauth.v2.access", "server_error", times=None)
        ends_in(tmp_path, 60)
        assert await token_of(installations, first.team_id) == first.bot_token
        ends_in(tmp_path, -1)
        with pytest.raises(WorkspaceUnavailable):
            await installations.get(first.team_id)
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await asyncio.sleep(1)
        assert served.store.counts() == {}  # not acknowledged: Slack sends it again
        fault.times = 0
        await sandbox.wait_for_reply(asked, timeout_s=20)
    assert len(sandbox.replies(asked)) == 1


async def test_an_answer_waits_while_its_workspace_cannot_be_acted_in(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(first.team_id)
        sandbox.fault("chat.postMessage", "ratelimited", seconds=2)
        asked = sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_call("chat.postMessage")
        fault = sandbox.fault("oauth.v2.access", "server_error", times=None)
        ends_in(tmp_path, -1)
        await sandbox.wait_until(lambda: fault.hits or None)
        fault.times = 0
        reply = await sandbox.wait_for_reply(asked, timeout_s=20)
        await asyncio.sleep(0.5)
    assert sandbox.replies(asked) == [reply]
    assert "Deux jours" in reply.text


async def test_what_was_under_way_when_a_workspace_left_is_deleted_too(
    sandbox: Sandbox, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.slack.connection.uninstalling.LATE_S", 1.0)
    first = teams(sandbox)[0]
    begun, go_on = threading.Event(), threading.Event()

    def slow(question: Question, audiences: Audiences) -> Outcome:
        begun.set()
        go_on.wait(10)
        return knows_remote_work(question, audiences)

    async with serving(sandbox, engine, tmp_path, answer=slow) as served:
        await served.install(first.team_id)
        sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await asyncio.to_thread(begun.wait, 10)
        sandbox.uninstall()
        await sandbox.settled()
        go_on.set()
        async with asyncio.timeout(5):
            while "bot_questions" not in rows_of(tmp_path, first.team_id):
                await asyncio.sleep(0.02)
        async with asyncio.timeout(5):
            while rows_of(tmp_path, first.team_id):
                await asyncio.sleep(0.1)
    assert sandbox.calls("chat.postMessage") == []


async def test_questions_of_a_workspace_that_has_gone_are_dropped(
    sandbox: Sandbox, engine: Engine, tmp_path: Path, installations_on: Make
) -> None:
    first = teams(sandbox)[0]
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(first.team_id)
        sandbox.fault("chat.postMessage", "ratelimited", seconds=2)
        sandbox.say("camille", "general", "@Manuel le télétravail ?")
        await sandbox.wait_for_call("chat.postMessage")
        await installations_on(sandbox, engine).remove(first.team_id)
        async with asyncio.timeout(10):
            while served.store.counts() != {JobState.FAILED: 1}:
                await asyncio.sleep(0.1)
    assert len(sandbox.calls("chat.postMessage")) == 1


async def test_the_doctor_tells_which_workspaces_still_lack_the_app(
    sandbox: Sandbox, engine: Engine, tmp_path: Path
) -> None:
    chosen = settings(sandbox, database_url=f"sqlite:///{tmp_path / 'manuel.db'}")
    [found] = await asyncio.to_thread(lambda: list(diagnose(chosen)))
    assert not found.ok
    assert "https://manuel.example.com/slack/install" in found.remedy
    async with serving(sandbox, engine, tmp_path) as served:
        await served.install(teams(sandbox)[0].team_id)
    [found] = await asyncio.to_thread(lambda: list(diagnose(chosen)))
    assert found.ok
    assert found.detail == "1 of 2 workspaces have the app"
    fresh = settings(sandbox, database_url=f"sqlite:///{tmp_path / 'fresh.db'}")
    [found] = await asyncio.to_thread(lambda: list(diagnose(fresh)))
    assert not found.ok


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"slack_bot_token": "xoxb-1"}, "SLACK_BOT_TOKEN"),
        ({"slack_client_secret": None}, "SLACK_CLIENT_SECRET"),
        ({"slack_signing_secret": None}, "SLACK_SIGNING_SECRET"),
        ({"allowed_workspaces": " , "}, "ALLOWED_WORKSPACES"),
        ({"token_encryption_keys": None}, "TOKEN_ENCRYPTION_KEYS"),
        ({"token_encryption_keys": "short"}, "TOKEN_ENCRYPTION_KEYS"),
        ({"public_url": "manuel.example.com"}, "PUBLIC_URL"),
    ],
)
async def test_a_setting_that_is_missing_or_wrong_is_named(
    sandbox: Sandbox, engine: Engine, change: dict[str, object], named: str
) -> None:
    with pytest.raises(ConfigurationError, match=named):
        connect(settings(sandbox, **change), engine, Metrics())


async def token_of(installations: Installations, team_id: str) -> str:
    workspace = await installations.get(team_id)
    assert isinstance(workspace, Workspace)
    return workspace.bot_token


def rows_of(folder: Path, team_id: str) -> set[str]:
    """Return the tables that hold something of a workspace."""
    connection = sqlite3.connect(folder / "manuel.db")
    names = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    holding = set()
    for name in names:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
        if "team_id" in columns:
            statement = f"SELECT 1 FROM {name} WHERE team_id = ?"  # noqa: S608 - our own names
            found = connection.execute(statement, (team_id,))
            if found.fetchone():
                holding.add(name)
    connection.close()
    return holding


def count_of(folder: Path, table: str) -> int:
    connection = sqlite3.connect(folder / "manuel.db")
    [(count,)] = connection.execute(f"SELECT count(*) FROM {table}")  # noqa: S608
    connection.close()
    return int(count)


def ends_in(folder: Path, seconds: float) -> None:
    """Let every token end so many seconds from now."""
    ends_at = datetime.fromtimestamp(time.time() + seconds, UTC).replace(tzinfo=None)
    connection = sqlite3.connect(folder / "manuel.db")
    with connection:
        connection.execute(
            "UPDATE slack_bots SET bot_token_expires_at = ?", (ends_at.isoformat(" "),)
        )
    connection.close()
