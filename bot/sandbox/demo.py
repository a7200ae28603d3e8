"""`make demo`: a short conversation with the real app, through the stand-in for Slack."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.terminal import QUOTE_BAR, author, draw
from bot.sandbox.workspace import Message

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "deploy" / "sample-handbook.toml"
DATA = ROOT / "data"
"""Where the demo keeps its index and the app's log, unless another folder is given."""

START_S = 120.0
ANSWER_S = 60.0
STOP_S = 15.0

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


def main(folder: Path = DATA) -> int:
    """Run the demo; returns its exit status.

    Args:
        folder: Gets the index (`demo.db`), kept for the next time, and the app's log (`demo.log`).
    """
    console = Console(highlight=False)
    console.print(Text("Manuel: the sample handbook, the real app, a stand-in for Slack", "bold"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _index(folder, console)
        return asyncio.run(_run(folder, console))
    except DemoFailed as failure:
        console.print(Text(str(failure), "red"))
        return 1
    except KeyboardInterrupt:
        return 0


def environment(folder: Path) -> dict[str, str]:
    """Return the settings of the demo: everything on this machine, nothing from outside."""
    return os.environ | {
        "DATABASE_URL": f"sqlite:///{folder.resolve() / 'demo.db'}",
        "HANDBOOK_CONFIG": str(CONFIG),
        "EMBEDDING_MODEL": "bundled",
        "ANSWER_MODEL": "",
        "REINDEX_CRON": "",
        "PYTHONUNBUFFERED": "1",
    }


def _index(folder: Path, console: Console) -> None:
    """Bring the index of the sample handbook up to date."""
    console.print(Text("Indexing the sample handbook (manuel ingest)…", "dim"))
    command = [sys.executable, "-m", "bot", "ingest"]
    done = subprocess.run(  # noqa: S603 - our own command
        command, env=environment(folder), cwd=ROOT, check=False
    )
    if done.returncode != 0:
        raise DemoFailed("the sample handbook could not be indexed")


async def _run(folder: Path, console: Console) -> int:
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with SandboxServer() as sandbox, _serving(sandbox, folder, console):
        failures = await play(sandbox, console)
        if failures:
            console.print(Text(f"the app's log: {_log(folder)}", "dim"))
        if sys.stdin.isatty() and console.is_terminal:
            await _talk(sandbox, console)
    for problem in sandbox.problems:
        console.print(Text(f"the stand-in objects: {problem}", "red"))
    return 1 if failures or sandbox.problems else 0


@asynccontextmanager
async def _serving(sandbox: Sandbox, folder: Path, console: Console) -> AsyncIterator[None]:
    """Run `manuel serve` against the stand-in while the body runs.

    Raises:
        DemoFailed: If it does not connect.
    """
    with _log(folder).open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "serve",
            env=environment(folder) | sandbox.environment,
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        await _connected(sandbox, process, folder, console)
        yield
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _connected(
    sandbox: Sandbox, process: asyncio.subprocess.Process, folder: Path, console: Console
) -> None:
    ended = asyncio.ensure_future(process.wait())
    connected = asyncio.ensure_future(sandbox.wait_for_connection(START_S))
    console.print(Text(f"Starting the app (manuel serve; its log: {_log(folder)})…", "dim"))
    with console.status("starting…"):
        await asyncio.wait({ended, connected}, return_when=asyncio.FIRST_COMPLETED)
    if connected.done() and connected.exception() is None:
        ended.cancel()
        return
    connected.cancel()
    ended.cancel()
    last = _log(folder).read_text(encoding="utf-8", errors="replace").strip().splitlines()[-15:]
    raise DemoFailed("\n".join(["the app did not connect; the end of its log:", *last]))


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
    console.print()
    console.rule(Text("Your turn", "bold"), align="left", style="dim")
    console.print(Text("Ask anything of the sample handbook; Ctrl-C ends.", "dim"))
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


def _log(folder: Path) -> Path:
    return Path(os.path.relpath(folder / "demo.log"))


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
