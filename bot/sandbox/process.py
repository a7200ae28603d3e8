"""The app as a process of its own, beside the stand-in."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

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
        self._environment = environment
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

    async def restart(self) -> None:
        """Stop the app and start it again."""
        async with self._changing:
            await self._stop()
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
                env=dict(os.environ) | dict(self._environment),
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


def _thaw(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)
