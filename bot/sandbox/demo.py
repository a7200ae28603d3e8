"""`make demo` and `manuel sandbox`: the real app, the stand-in for Slack, and its page."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bot.sandbox.control import Sandbox
from bot.sandbox.pages import FolderPages
from bot.sandbox.process import ServingApp
from bot.sandbox.server import SandboxServer
from bot.sandbox.terminal import QUOTE_BAR, author, draw
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.server import PageServer
from bot.sandbox.workspace import Message

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy" if (ROOT / "deploy").is_dir() else Path(__file__).with_name("deploy")
"""The sample handbook: of the checkout, or the copy in an installed package."""

CONFIG = DEPLOY / "sample-handbook.toml"
PAGES = DEPLOY / "sample-handbook"
URL_PREFIX = "https://handbook.example.com/"
"""What the links of pages start with, in the sample's configuration and in that of a folder."""

DATA = ROOT / "data"
"""Where the demo keeps its index and the app's log, unless another folder is given."""

PORT = 8791
"""Where the page is, unless it is taken."""

START_S = 120.0
ANSWER_S = 60.0

ABSTENTION = "je ne sais pas"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing somebody asks in the demo.

    Attributes:
        what: Shown above it.
        who: Name of the person.
        text: What they type.
        where: Name of a channel; empty for a direct message with the app.
        command: A slash command to use instead of a message.
        answered: True where an answer is due, False where an abstention is, None for anything.
    """

    what: str
    who: str
    text: str
    where: str = "general"
    command: str = ""
    answered: bool | None = True


CONVERSATION = (
    Turn(
        "A mention in a channel, in French",
        "camille",
        "@Manuel combien de jours de télétravail par semaine ?",
    ),
    Turn(
        "A mention in English, about a page written in French",
        "james",
        "@Manuel how do I print a document?",
    ),
    Turn(
        "A question the handbook does not answer",
        "camille",
        "@Manuel quel est le mot de passe du wifi du bureau de Tokyo ?",
        answered=False,
    ),
    Turn(
        "A direct message",
        "amina",
        "Quel est le plafond pour une nuit d'hôtel à Lyon ?",
        where="",
    ),
    Turn("A search that only Camille sees", "camille", "congés", command="/handbook"),
)


class DemoFailed(Exception):  # noqa: N818 - reads as what happened
    """The demo could not go on; its text says why."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried.

    Attributes:
        name: Shown to whoever starts it.
        environment: Settings of the app, the stand-in's aside.
        pages: Folder of the handbook's pages.
        folder: Where the app starts.
        log: Gets the app's log.
    """

    name: str
    environment: dict[str, str]
    pages: Path
    folder: Path
    log: Path


def main(folder: Path = DATA) -> int:
    """Run the demo; returns its exit status.

    Args:
        folder: Gets the index (`demo.db`), kept for the next time, and the app's log (`demo.log`).
    """
    trial = Trial("the sample handbook", environment(folder), PAGES, ROOT, folder / "demo.log")
    return _try(trial, folder, port=0, conversation=CONVERSATION)


def try_folder(pages: Path | None, *, folder: Path = Path("data"), port: int = PORT) -> int:
    """Run `manuel sandbox`; returns its exit status.

    Args:
        pages: Folder of a handbook; default: the sample.
        folder: Gets the index, kept for the next time, and the app's log.
        port: Where to serve the page.
    """
    if pages is None:
        settings = _kept_settings(folder / "demo.db", CONFIG)
        trial = Trial("the sample handbook", settings, PAGES, Path.cwd(), folder / "sandbox.log")
    else:
        pages = pages.resolve()
        stem = f"sandbox-{hashlib.sha256(str(pages).encode()).hexdigest()[:8]}"
        folder.mkdir(parents=True, exist_ok=True)
        config = folder / f"{stem}.toml"
        config.write_text(_config(pages), encoding="utf-8")
        settings = _kept_settings(folder / f"{stem}.db", config)
        trial = Trial(str(pages), settings, pages, Path.cwd(), folder / "sandbox.log")
    return _try(trial, folder, port=port, conversation=())


def environment(folder: Path) -> dict[str, str]:
    """Return the settings of the demo: everything on this machine, nothing from outside."""
    return _kept_settings(folder / "demo.db", CONFIG) | {
        "EMBEDDING_MODEL": "bundled",
        "ANSWER_MODEL": "",
    }


def _kept_settings(database: Path, config: Path) -> dict[str, str]:
    """Return a copy of the environment with an index of its own and no schedule."""
    return dict(os.environ) | {
        "DATABASE_URL": f"sqlite:///{database.resolve()}",
        "HANDBOOK_CONFIG": str(config.resolve()),
        "REINDEX_CRON": "",
        "PYTHONUNBUFFERED": "1",
    }


def _config(pages: Path) -> str:
    """Return the handbook.toml of a folder; JSON's strings are TOML's, too."""
    values = {"name": pages.name.replace(":", "-") or "pages", "type": "folder"}
    values |= {"path": str(pages), "url": URL_PREFIX + "{path}"}
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items())
    return "\n".join(["[[sources]]", *lines, ""])


def _try(trial: Trial, folder: Path, *, port: int, conversation: tuple[Turn, ...]) -> int:
    console = Console(highlight=False)
    console.print(Text(f"Manuel: {trial.name}, the real app, a stand-in for Slack", "bold"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _index(trial, console)
        return asyncio.run(_run(trial, console, port, conversation))
    except DemoFailed as failure:
        console.print(Text(str(failure), "red"))
        return 1
    except KeyboardInterrupt:
        return 0


def _index(trial: Trial, console: Console) -> None:
    """Bring the index of the handbook up to date."""
    console.print(Text("Indexing the handbook (manuel ingest)…", "dim"))
    command = [sys.executable, "-m", "bot", "ingest"]
    done = subprocess.run(  # noqa: S603 - our own command
        command, env=trial.environment, cwd=trial.folder, check=False
    )
    if done.returncode != 0:
        raise DemoFailed("the handbook could not be indexed")


def furnish(sandbox: Sandbox) -> None:
    """Add the people and the channel that show what differs between people."""
    sandbox.add_user(
        "priya", real_name="Priya Shah", role="admin", locale="en-US", tz="Europe/London"
    )
    sandbox.add_user("lea", real_name="Léa Moreau", role="guest")
    general = sandbox.workspace().channel("general")
    general.members += [sandbox.workspace().user(name).user_id for name in ("priya", "lea")]
    sandbox.add_channel("projet-halvenne", members=["camille", "james", "amina"], with_bot=False)


async def _run(trial: Trial, console: Console, port: int, conversation: tuple[Turn, ...]) -> int:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    has_terminal = sys.stdin.isatty() and console.is_terminal
    async with SandboxServer() as sandbox:
        furnish(sandbox)
        settings = trial.environment | sandbox.environment
        async with ServingApp(settings, trial.folder, trial.log) as app:
            await _connected(sandbox, app, trial, console)
            failures = await play(sandbox, console, conversation)
            if failures:
                console.print(Text(f"the app's log: {_shown(trial.log)}", "dim"))
            if has_terminal or not conversation:
                beside = Beside(FolderPages(URL_PREFIX, trial.pages), app)
                async with AsyncExitStack() as stack:
                    page = PageServer(sandbox, beside, port)
                    await _open_page(stack, page, port)
                    _announce(page, console)
                    await (_talk(sandbox, console) if has_terminal else asyncio.Event().wait())
    for problem in sandbox.problems:
        console.print(Text(f"the stand-in objects: {problem}", "red"))
    return 1 if failures or sandbox.problems else 0


async def _open_page(stack: AsyncExitStack, page: PageServer, port: int) -> None:
    """Serve the page until the stack is left.

    Raises:
        DemoFailed: If the port is taken.
    """
    try:
        await stack.enter_async_context(page)
    except OSError as error:
        raise DemoFailed(f"port {port} is taken; choose another one with --port") from error


def _announce(page: PageServer, console: Console) -> None:
    console.print()
    console.rule(Text("In your browser", "bold"), align="left", style="dim")
    # Never wrapped: a terminal would open half an address.
    console.print(Text(page.address, "bold underline"), soft_wrap=True)
    console.print(Text("Only this machine can open it. Ctrl-C ends.", "dim"))


async def _connected(sandbox: Sandbox, app: ServingApp, trial: Trial, console: Console) -> None:
    """Wait until the app is connected.

    Raises:
        DemoFailed: If it ends instead, or takes too long.
    """
    ended = asyncio.ensure_future(app.ended())
    connected = asyncio.ensure_future(sandbox.wait_for_connection(START_S))
    console.print(Text(f"Starting the app (manuel serve; its log: {_shown(trial.log)})…", "dim"))
    with console.status("starting…"):
        await asyncio.wait({ended, connected}, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if connected.done() and connected.exception() is None:
        return
    connected.cancel()
    raise DemoFailed(f"the app did not connect; the end of its log:\n{app.last_words()}")


async def play(
    sandbox: Sandbox, console: Console, conversation: tuple[Turn, ...] = CONVERSATION
) -> list[Turn]:
    """Play a conversation, print it, and return the turns whose reply was not the one due."""
    failed = []
    for number, turn in enumerate(conversation, start=1):
        console.print()
        console.rule(Text(f"{number}. {turn.what}", "bold"), align="left", style="dim")
        if not await _take(sandbox, console, turn):
            failed.append(turn)
    return failed


async def _take(sandbox: Sandbox, console: Console, turn: Turn) -> bool:
    """Play one turn; returns whether the reply was the one due."""
    started = time.monotonic()
    shown_before = len(sandbox.ephemerals(turn.who))
    if turn.command:
        _print_command(sandbox, console, turn)
        sandbox.slash(turn.who, turn.where, turn.command, turn.text)
    elif turn.where:
        said = sandbox.say(turn.who, turn.where, turn.text)
        _print_message(sandbox, console, said)
    else:
        said = sandbox.direct_message(turn.who, turn.text)
        _print_message(sandbox, console, said)
    try:
        with console.status("Manuel is looking…"):
            if turn.command:
                count = shown_before + 1
                reply = await sandbox.wait_for_ephemeral(turn.who, count=count, timeout_s=ANSWER_S)
            else:
                reply = await sandbox.wait_for_reply(said, timeout_s=ANSWER_S)
    except TimeoutError:
        console.print(Text(f"no reply within {ANSWER_S:.0f} s", "red"))
        return False
    _print_message(sandbox, console, reply, indent=4, took_s=time.monotonic() - started)
    answered = not reply.text.startswith(ABSTENTION)
    if turn.answered in (None, answered):
        return True
    due = "an answer" if turn.answered else f"« {ABSTENTION} »"
    console.print(Text(f"    expected {due}", "red"))
    return False


async def _talk(sandbox: Sandbox, console: Console) -> None:
    """Let the person at the terminal ask, until they end the input or press Ctrl-C."""
    console.print(Text("You can ask here, too.", "dim"))
    async for line in _lines(lambda: console.print("[bold]Camille>[/bold] ", end="")):
        if question := line.strip():
            await _take(sandbox, console, Turn("", "camille", f"@Manuel {question}", answered=None))


async def _lines(prompt: Callable[[], None]) -> AsyncIterator[str]:
    """Yield what is typed, a line at a time, without a thread that Ctrl-C could not end."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Queue[str] = asyncio.Queue()
    loop.add_reader(sys.stdin, lambda: typed.put_nowait(sys.stdin.readline()))
    try:
        while True:
            prompt()
            line = await typed.get()
            if not line:
                return
            yield line
    finally:
        loop.remove_reader(sys.stdin)


def _print_command(sandbox: Sandbox, console: Console, turn: Turn) -> None:
    name = sandbox.workspace().user(turn.who).real_name
    console.print(Text.assemble((name, "bold"), (f"  #{turn.where}", "dim")))
    console.print(Text(f"  {turn.command} {turn.text}"))


def _print_message(
    sandbox: Sandbox,
    console: Console,
    message: Message,
    *,
    indent: int = 0,
    took_s: float | None = None,
) -> None:
    workspace = sandbox.workspace()
    channel = workspace.channels[message.channel_id]
    where = "direct message" if channel.is_im else f"#{channel.name}"
    notes = [where, "only visible to you" if message.visible_to else ""]
    if message.thread_ts and message.thread_ts != message.ts:
        notes.append("in thread")
    if took_s is not None:
        notes.append(f"{took_s:.1f} s")
    note = " · ".join(note for note in notes if note)
    heading = Text.assemble(author(workspace, message), (f"  {note}", "dim"))
    _print_indented(console, heading, indent)
    for line in draw(workspace, message):
        _print_indented(console, line, indent + 2)


def _print_indented(console: Console, line: Text, indent: int) -> None:
    """Print a line, wrapped under itself; a quote keeps its bar on every line."""
    bar = QUOTE_BAR if line.plain.startswith(QUOTE_BAR) else ""
    body = line[len(bar) :]
    for part in body.wrap(console, max(20, console.width - indent - len(bar))):
        part.rstrip()
        console.print(Text.assemble(" " * indent, (bar, "dim"), part), soft_wrap=True)


def _shown(path: Path) -> Path:
    return Path(os.path.relpath(path))


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
