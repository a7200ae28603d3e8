"""The app as processes of their own, beside the stand-in."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from bot.sandbox.workspace import Json

STOP_S = 15.0
LOG_LINES_SHOWN = 15


class ServingApp:
    """Runs `manuel serve` while its `async with` block lasts; yields itself.

    Args:
        environment: Its settings.
        folder: Its working directory.
        log: File that gets its log, emptied first.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path, log: Path) -> None:
        self._environment = dict(environment)
        self._folder = folder
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._changing = asyncio.Lock()

    async def __aenter__(self) -> ServingApp:
        """Start the process."""
        self._log.write_bytes(b"")
        await self._start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the process: kindly, then by force."""
        await self._stop()

    async def restart(self, changes: Mapping[str, str] | None = None) -> None:
        """Stop the app and start it again.

        Args:
            changes: Settings that differ from now on.
        """
        async with self._changing:
            await self._stop()
            self._environment |= changes or {}
            await self._start()

    def freeze(self, seconds: float) -> None:
        """Let the app stand still for a while, as under a load it cannot take."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(signal.SIGSTOP)
        asyncio.get_running_loop().call_later(seconds, _thaw, process)

    async def ended(self) -> None:
        """Wait until the process ends by itself, which it should not."""
        if self._process is not None:
            await self._process.wait()

    def last_words(self) -> str:
        """Return the end of the log."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return "\n".join(lines[-LOG_LINES_SHOWN:])

    async def _start(self) -> None:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "bot",
                "serve",
                env=self._environment,
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )

    async def _stop(self) -> None:
        process = self._process
        if process is None:
            return
        _thaw(process)
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


class Explainer:
    """Asks the app's own command line why a question is answered as it is.

    Args:
        environment: Settings of the app.
        folder: Its working directory.
    """

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = dict(environment)
        self._folder = folder
        self._one_at_a_time = asyncio.Lock()

    def change(self, changes: Mapping[str, str]) -> None:
        """Use other settings from now on."""
        self._environment |= changes

    async def __call__(self, question: str, earlier: tuple[str, ...]) -> Json:
        """Return what `manuel ask --explain --json` prints.

        Raises:
            ValueError: With its last words, when it fails.
        """
        context = [part for asked in earlier for part in ("--context", asked)]
        command = ["-m", "bot", "ask", "--explain", "--json", *context, "--", question]
        async with self._one_at_a_time:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *command,
                env=self._environment,
                cwd=self._folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            printed, complaint = await process.communicate()
        if process.returncode != 0:
            raise ValueError(complaint.decode(errors="replace").strip().rpartition("\n")[2])
        answer: Json = json.loads(printed)
        return answer


class PretendWriter:
    """Lets the pretend model write the answers of the app, and explain them.

    Args:
        app: Starts again each time.
        explainer: Of its answers.
        model: Settings that lead the app to the model, by way of whatever slows it down.
        explained_by: Settings that lead the explainer to it.

    Attributes:
        is_on: Whether it writes them now.
    """

    def __init__(
        self,
        app: ServingApp,
        explainer: Explainer,
        model: Mapping[str, str],
        explained_by: Mapping[str, str],
    ) -> None:
        self.is_on = False
        self._app = app
        self._explainer = explainer
        self._model = model
        self._explained_by = explained_by

    async def turn(self, *, on: bool) -> None:
        """Let it write the answers, or no longer."""
        self._explainer.change(self._explained_by if on else dict.fromkeys(self._explained_by, ""))
        await self._app.restart(self._model if on else dict.fromkeys(self._model, ""))
        self.is_on = on


def _thaw(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)
