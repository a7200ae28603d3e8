"""`make demo`: a short conversation with the real app, through the stand-in for Slack."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bot.sandbox.control import Sandbox
from bot.sandbox.terminal import QUOTE_BAR, author, draw
from bot.sandbox.trial import CONFIG, PAGES, ROOT, Trial, open_page, own_settings, run, shown
from bot.sandbox.web.ports import Beside
from bot.sandbox.web.server import PageServer
from bot.sandbox.workspace import Message

DATA = ROOT / "data"
"""Where the demo keeps its index and the app's log, unless another folder is given."""

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


def main(folder: Path = DATA) -> int:
    """Run the demo; returns its exit status.

    Args:
        folder: Gets the index (`demo.db`), kept for the next time, and the app's log (`demo.log`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "demo.log"

    async def show(console: Console, sandbox: Sandbox, beside: Beside) -> int:
        failures = await play(sandbox, console)
        if failures:
            console.print(Text(f"the app's log: {shown(log)}", "dim"))
        if sys.stdin.isatty() and console.is_terminal:
            async with AsyncExitStack() as stack:
                await open_page(stack, console, PageServer(sandbox, beside))
                await _talk(sandbox, console)
        for problem in sandbox.problems:
            console.print(Text(f"the stand-in objects: {problem}", "red"))
        return 1 if failures or sandbox.problems else 0

    return run(Trial("the sample handbook", environment(folder), PAGES, ROOT, log), show)


def environment(folder: Path) -> dict[str, str]:
    """Return the settings of the demo: everything on this machine, nothing from outside."""
    return own_settings(folder / "demo.db", CONFIG) | {
        "EMBEDDING_MODEL": "bundled",
        "ANSWER_MODEL": "",
    }


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


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
