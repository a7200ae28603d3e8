"""`manuel sandbox`: a handbook, the real app, the stand-in for Slack, and its page."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bot.sandbox.control import Sandbox
from bot.sandbox.model_proxy import ModelProxy
from bot.sandbox.pages import FolderPages
from bot.sandbox.pretend_model import NAME, PretendModel
from bot.sandbox.process import Explainer, PretendWriter, ServingApp
from bot.sandbox.server import SandboxServer
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.server import PageServer

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy" if (ROOT / "deploy").is_dir() else Path(__file__).with_name("deploy")
"""The sample handbook: of the checkout, or the copy in an installed package."""

CONFIG = DEPLOY / "sample-handbook.toml"
PAGES = DEPLOY / "sample-handbook"
URL_PREFIX = "https://handbook.example.com/"
"""What the links of pages start with, in the sample's configuration and in that of a folder."""

PORT = 8791
START_S = 120.0


class TrialFailed(Exception):  # noqa: N818 - reads as what happened
    """The trial could not go on; its text says why."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Attributes:
        name: Shown to whoever starts it.
        environment: Settings of the app, the stand-in's aside.
        pages: Folder of the handbook's pages.
        folder: Where the app starts.
        log: Gets the app's log.
        model_url: Endpoint of the model; empty without one.
    """

    name: str
    environment: dict[str, str]
    pages: Path
    folder: Path
    log: Path
    model_url: str = ""


def try_folder(
    pages: Path | None, *, folder: Path = Path("data"), port: int = PORT, model_url: str = ""
) -> int:
    """Run `manuel sandbox` until Ctrl-C; returns its exit status.

    Args:
        pages: Folder of a handbook; default: the sample.
        folder: Gets the index, kept for the next time, and the app's log.
        port: Where to serve the page.
        model_url: Endpoint of the model, which may then be made slow; empty without one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if pages is None:
        name, pages, config = "the sample handbook", PAGES, CONFIG
        database = folder / "demo.db"
    else:
        pages = pages.resolve()
        name, stem = str(pages), f"sandbox-{hashlib.sha256(str(pages).encode()).hexdigest()[:8]}"
        config, database = folder / f"{stem}.toml", folder / f"{stem}.db"
        config.write_text(_config(pages), encoding="utf-8")
    settings = own_settings(database, config)
    log = folder / "sandbox.log"
    trial = Trial(name, settings, pages, Path.cwd(), log, model_url)

    async def until_stopped(console: Console, sandbox: Sandbox, beside: Beside) -> int:
        async with AsyncExitStack() as stack:
            await open_page(stack, console, PageServer(sandbox, beside, port))
            await asyncio.Event().wait()
        return 0

    return run(trial, until_stopped)


OF_A_REAL_WORKSPACE = (
    "ADMIN_USERS",
    "ADMIN_USER_GROUPS",
    "ALLOWED_WORKSPACES",
    "HTTP_PORT",
    "METRICS_ADDRESS",
    "OWNERS_CHANNEL",
    "SLACK_CLIENT_ID",
    "SLACK_CLIENT_SECRET",
)
"""Settings that mean nothing here, and would name people and channels that do not exist."""


def own_settings(database: Path, config: Path) -> dict[str, str]:
    """Return a copy of the environment with an index of its own and no schedule."""
    # Empty, not absent: what stands in a .env file must not count either.
    return (
        dict(os.environ)
        | dict.fromkeys(OF_A_REAL_WORKSPACE, "")
        | {
            "SLACK_MODE": "socket",
            "DATABASE_URL": f"sqlite:///{database.resolve()}",
            "HANDBOOK_CONFIG": str(config.resolve()),
            "REINDEX_CRON": "",
            "PYTHONUNBUFFERED": "1",
        }
    )


def _config(pages: Path) -> str:
    """Return the handbook.toml of a folder; JSON's strings are TOML's, too."""
    values = {"name": pages.name.replace(":", "-") or "pages", "type": "folder"}
    values |= {"path": str(pages), "url": URL_PREFIX + "{path}"}
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return "\n".join(["[[sources]]", *lines, ""])


def run(trial: Trial, meanwhile: Callable[[Console, Sandbox, Beside], Awaitable[int]]) -> int:
    """Index the handbook, run the app against the stand-in, and `meanwhile` as long as it likes.

    Returns:
        The exit status: what `meanwhile` returned, 1 when something failed, 0 when interrupted.
    """
    console = Console(highlight=False)
    console.print(Text(f"Manuel: {trial.name}, the real app, a stand-in for Slack", "bold"))

    async def all_of_it() -> int:
        task = asyncio.current_task()
        if task is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        async with running(trial, console) as (sandbox, beside):
            return await meanwhile(console, sandbox, beside)

    try:
        index(trial, console)
        return asyncio.run(all_of_it())
    except TrialFailed as failure:
        console.print(Text(str(failure), "red"))
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 0


def index(trial: Trial, console: Console) -> None:
    """Bring the index of the handbook up to date.

    Raises:
        TrialFailed: If that fails; the command has said why.
    """
    console.print(Text("Indexing the handbook (manuel ingest)…", "dim"))
    command = [sys.executable, "-m", "bot", "ingest"]
    done = subprocess.run(  # noqa: S603 - our own command
        command, env=trial.environment, cwd=trial.folder, check=False
    )
    if done.returncode != 0:
        raise TrialFailed("the handbook could not be indexed")


@asynccontextmanager
async def running(trial: Trial, console: Console) -> AsyncIterator[tuple[Sandbox, Beside]]:
    """Run the stand-in with people in it, and the app, connected, while the body runs.

    Raises:
        TrialFailed: If the app does not connect.
    """
    async with AsyncExitStack() as stack:
        settings, pretend = dict(trial.environment), None
        if not trial.model_url:
            pretend = await stack.enter_async_context(PretendModel())
        upstream = trial.model_url or (pretend.base_url if pretend else "")
        proxy = await stack.enter_async_context(ModelProxy(upstream))
        if trial.model_url:
            settings["OPENAI_BASE_URL"] = proxy.base_url
        sandbox = await stack.enter_async_context(SandboxServer())
        settings |= sandbox.environment | {"OWNERS_CHANNEL": furnish(sandbox)}
        app = await stack.enter_async_context(ServingApp(settings, trial.folder, trial.log))
        await _connected(sandbox, app, trial, console)
        explainer = Explainer(trial.environment, trial.folder)
        writer = None
        if pretend is not None:
            to_proxy = _model_settings(proxy.base_url)
            writer = PretendWriter(app, explainer, to_proxy, _model_settings(pretend.base_url))
        pages = FolderPages(URL_PREFIX, trial.pages)
        yield sandbox, Beside(pages, app, explainer, proxy, writer)


def _model_settings(base_url: str) -> dict[str, str]:
    """Return the settings that make the app write with the pretend model."""
    return {"ANSWER_MODEL": NAME, "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": NAME}


def furnish(sandbox: Sandbox) -> str:
    """Add the people and the channels that show what differs between people.

    Returns:
        Id of the channel where humans answer what the handbook does not.
    """
    sandbox.add_user(
        "priya", real_name="Priya Shah", role="admin", locale="en-US", tz="Europe/London"
    )
    sandbox.add_user("lea", real_name="Léa Moreau", role="guest")
    general = sandbox.workspace().channel("general")
    general.members += [sandbox.workspace().user(name).user_id for name in ("priya", "lea")]
    sandbox.add_channel("atelier", members=["camille", "james", "amina"], with_bot=False)
    return sandbox.add_channel("questions-du-guide", members=["amina", "priya"]).channel_id


async def _connected(sandbox: Sandbox, app: ServingApp, trial: Trial, console: Console) -> None:
    """Wait until the app is connected.

    Raises:
        TrialFailed: If it ends instead, or takes too long.
    """
    ended = asyncio.ensure_future(app.ended())
    connected = asyncio.ensure_future(sandbox.wait_for_connection(START_S))
    console.print(Text(f"Starting the app (manuel serve; its log: {shown(trial.log)})…", "dim"))
    with console.status("starting…"):
        await asyncio.wait({ended, connected}, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if connected.done() and connected.exception() is None:
        return
    connected.cancel()
    raise TrialFailed(f"the app did not connect; the end of its log:\n{app.last_words()}")


async def open_page(stack: AsyncExitStack, console: Console, page: PageServer) -> None:
    """Serve the page until the stack is left, and say where it is.

    Raises:
        TrialFailed: If its port is taken.
    """
    try:
        await stack.enter_async_context(page)
    except OSError as error:
        raise TrialFailed(f"{error.strerror}; choose another port with --port") from error
    console.print()
    console.rule(Text("In your browser", "bold"), align="left", style="dim")
    # Never wrapped: a terminal would open half an address.
    console.print(Text(page.address, "bold underline"), soft_wrap=True)
    console.print(Text("Only this machine can open it. Ctrl-C ends.", "dim"))


def shown(path: Path) -> Path:
    """Return a path as short as it can be said from here."""
    return Path(os.path.relpath(path))
