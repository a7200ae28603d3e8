"""Puts the serving process under load and trouble, and counts what people got.

Used by the test of the suite and by the benchmark that writes docs/reliability.md.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import aiohttp

from bot.sandbox.control import Sandbox
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Message
from bot.slack.connection.http_mode import EVENTS_PATH
from bot.slack.wording import ENGLISH, FRENCH

ROOT = Path(__file__).resolve().parents[1]
CHANNELS = 10
SETTLE_S = 3.0
"""Long enough after the last answer for a second one to show."""
_NOT_ANSWERS = frozenset({FRENCH.outage, FRENCH.failure, ENGLISH.outage, ENGLISH.failure})


@dataclass(frozen=True, slots=True)
class Trial:
    """What happens.

    Attributes:
        mode: How events reach the app.
        mentions: Questions asked, evenly over `seconds`.
        processes: Serving at the same time, on one database; one of them is killed with SIGKILL
            when half of the mentions were made, and started again at once.
        throttled: Share of API calls that are answered 429.
        dropped: Share of API calls whose connection breaks, half of them before and half after the
            call has done its work.
        module: What is run: `bot serve` or a stand-in for it.
        retry_after_s: Slack's waits before it sends an event again; None: the real ones.
    """

    mode: Literal["socket", "http"]
    mentions: int
    people: int
    seconds: float
    processes: int
    throttled: float = 0.05
    dropped: float = 0.02
    module: Sequence[str] = ("bot", "serve")
    retry_after_s: tuple[float, ...] | None = None


@dataclass(slots=True)
class Figures:
    """What came of it.

    Attributes:
        replies: Messages in the thread of each mention.
        not_answers: Replies that admit an outage or a failure.
        ack_ms: Milliseconds until each acknowledgement that came.
        answer_s: Seconds until the first reply to each mention that got one.
        redelivered: Events that were sent more than once.
        down_s: Seconds from the kill until the process served again.
    """

    replies: list[int] = field(default_factory=list)
    not_answers: int = 0
    ack_ms: list[float] = field(default_factory=list)
    answer_s: list[float] = field(default_factory=list)
    redelivered: int = 0
    calls: int = 0
    throttled: int = 0
    dropped: int = 0
    down_s: float = 0.0

    @property
    def answered_once(self) -> int:
        """Mentions with exactly one reply."""
        return sum(count == 1 for count in self.replies)

    @property
    def doubled(self) -> int:
        """Mentions with more than one."""
        return sum(count > 1 for count in self.replies)

    @property
    def unanswered(self) -> int:
        """Mentions with none."""
        return sum(count == 0 for count in self.replies)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share lies (nearest rank); 0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


async def try_out(
    trial: Trial,
    environment: Mapping[str, str],
    questions: Sequence[str],
    *,
    patience_s: float,
) -> Figures:
    """Run a trial against a fresh stand-in.

    Args:
        trial: What happens.
        environment: Settings of the app, but for where Slack is.
        questions: Asked in turn.
        patience_s: How long to wait for the last answer.
    """
    async with SandboxServer(manifest=_manifest(trial)) as sandbox:
        # Optional in the manifest; without it, a post of unknown fate may be repeated.
        sandbox.workspace().granted |= {"channels:history"}
        app = _Processes(trial, sandbox, environment)
        try:
            await app.start()
            figures = await _run(trial, sandbox, app, questions, patience_s)
        finally:
            await app.stop()
        assert sandbox.problems == []
        return figures


def _manifest(trial: Trial) -> Manifest:
    if trial.mode == "socket":
        return Manifest.read()
    return Manifest.read(DEFAULT_PATH.with_name("manifest.http.json"))


async def _run(
    trial: Trial,
    sandbox: Sandbox,
    app: _Processes,
    questions: Sequence[str],
    patience_s: float,
) -> Figures:
    people = [sandbox.add_user(f"personne{n}").name for n in range(trial.people)]
    places = [sandbox.add_channel(f"canal{n}").name for n in range(CHANNELS)]
    faults = (
        sandbox.fault("*", "ratelimited", times=None, share=trial.throttled, seconds=1),
        sandbox.fault("*", "drop_before", times=None, share=trial.dropped / 2),
        sandbox.fault("*", "drop_after", times=None, share=trial.dropped / 2),
    )
    chooser = random.Random(1)  # noqa: S311 - chooses who asks, guards nothing
    asked: list[Message] = []
    restart: asyncio.Task[float] | None = None
    for number in range(trial.mentions):
        if number == trial.mentions // 2:
            restart = asyncio.create_task(app.kill_and_restart())
        text = f"@Manuel {questions[number % len(questions)]}"
        asked.append(sandbox.say(chooser.choice(people), chooser.choice(places), text))
        await asyncio.sleep(trial.seconds / trial.mentions)
    await _answered(sandbox, asked, patience_s)
    figures = _count(sandbox, asked)
    figures.throttled = faults[0].hits
    figures.dropped = faults[1].hits + faults[2].hits
    figures.down_s = await restart if restart is not None else 0.0
    return figures


async def _answered(sandbox: Sandbox, asked: Sequence[Message], patience_s: float) -> None:
    """Wait until every mention has a reply, or patience ends, and then for second ones."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until and not all(_threads(sandbox, asked)):
        await asyncio.sleep(0.2)
    await asyncio.sleep(SETTLE_S)


def _threads(sandbox: Sandbox, asked: Sequence[Message]) -> list[list[Message]]:
    """Return what the app posted below each mention; one pass, for there are many."""
    own = sandbox.workspace().bot
    below: dict[tuple[str, str | None], list[Message]] = {}
    for channel in sandbox.workspace().channels.values():
        for message in channel.messages.values():
            if message.bot == own:
                below.setdefault((channel.channel_id, message.thread_ts), []).append(message)
    return [below.get((m.channel_id, m.ts), []) for m in asked]


def _count(sandbox: Sandbox, asked: Sequence[Message]) -> Figures:
    threads = _threads(sandbox, asked)
    sent = sandbox.deliveries("app_mention")
    attempts = [attempt for delivery in sent for attempt in delivery.attempts]
    by_event = Counter(str(d.payload["event_id"]) for d in sent for _ in d.attempts)
    return Figures(
        replies=[len(thread) for thread in threads],
        not_answers=sum(m.text in _NOT_ANSWERS for thread in threads for m in thread),
        ack_ms=[
            1_000 * (a.acknowledged_at - a.sent_at)
            for a in attempts
            if a.acknowledged_at is not None
        ],
        answer_s=[
            float(thread[0].ts) - float(m.ts)
            for m, thread in zip(asked, threads, strict=True)
            if thread
        ],
        redelivered=sum(times > 1 for times in by_event.values()),
        calls=len(sandbox.calls()),
    )


class _Processes:
    """The serving processes of a trial."""

    def __init__(self, trial: Trial, sandbox: Sandbox, environment: Mapping[str, str]) -> None:
        self._trial = trial
        self._sandbox = sandbox
        self._environment = {**os.environ, **environment, **sandbox.environment}
        self._running: list[asyncio.subprocess.Process] = []
        self._address = ""
        if trial.retry_after_s is not None:
            sandbox.http.retry_after_s = trial.retry_after_s
            sandbox.socket_mode.retry_after_s = trial.retry_after_s
        if trial.mode == "http":
            port = _free_port()
            self._address = f"http://127.0.0.1:{port}"
            self._environment |= {"SLACK_MODE": "http", "HTTP_PORT": str(port)}
            sandbox.http.request_url = f"{self._address}{EVENTS_PATH}"

    async def start(self) -> None:
        for _ in range(self._trial.processes):
            await self._start_one()
        await self._all_serve()

    async def kill_and_restart(self) -> float:
        """Kill one, start it again, and return for how many seconds it did not serve."""
        before = len(self._sandbox.socket_mode.connections)
        began = time.monotonic()
        killed = self._running.pop(0)
        killed.kill()
        await killed.wait()
        while self._trial.mode == "socket" and (
            len(self._sandbox.socket_mode.connections) >= before
        ):
            await asyncio.sleep(0.01)
        await self._start_one()
        await self._all_serve()
        return time.monotonic() - began

    async def stop(self) -> None:
        for process in self._running:
            if process.returncode is None:
                process.terminate()
        await asyncio.gather(*(process.wait() for process in self._running))

    async def _start_one(self) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *self._trial.module, cwd=ROOT, env=self._environment
        )
        self._running.append(process)

    async def _all_serve(self) -> None:
        async with asyncio.timeout(120):
            while not await self._serving():
                assert all(p.returncode is None for p in self._running), "the app ended"
                await asyncio.sleep(0.05)

    async def _serving(self) -> bool:
        if self._trial.mode == "socket":
            return len(self._sandbox.socket_mode.connections) >= self._trial.processes
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"{self._address}/healthz") as response,
            ):
                return (await response.json())["checks"].get("slack") == "ok"
        except aiohttp.ClientError:
            return False


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
