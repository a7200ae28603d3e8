"""`python -m bot.sandbox`: the stand-in alone, to try the app against it by hand."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import Annotated

import typer

from bot.sandbox.server import SandboxServer


def main(
    port: Annotated[int, typer.Option(help="Port to listen on; 0: any free one.")] = 8790,
) -> None:
    """Serve a stand-in for Slack on this machine until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(port))


async def _serve(port: int) -> None:
    async with SandboxServer(port) as sandbox:
        for name, value in sandbox.environment.items():
            sys.stdout.write(f"{name}={value}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    typer.run(main)
