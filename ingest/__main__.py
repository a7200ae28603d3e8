"""`python -m ingest`: the index alone, without the bot."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from typing import Annotated

import typer

from ingest.app import read_settings
from ingest.command_line import run as run_command_line
from ingest.console import ingest_command, status_command
from ingest.errors import ConfigurationError
from ingest.logs import configure_logging
from ingest.schedule import IngestScheduler
from ingest.settings import IngestSettings

app = typer.Typer(
    name="ingest",
    help="Keeps the index equal to the handbook.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.callback()
def _options(
    debug: Annotated[  # handled by run_command_line, declared here for --help
        bool, typer.Option("--debug", help="Show a traceback when something fails.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    source: Annotated[
        list[str] | None,
        typer.Option(help="`folder:PATH` or a source's name; may be repeated. Default: all."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change, change nothing.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Read every page again.")] = False,
    allow_removals: Annotated[
        bool,
        typer.Option(
            "--allow-removals", help="Go on with a sync that removes a large part of a source."
        ),
    ] = False,
    json: JsonOption = False,
) -> int:
    """Bring the index up to date with the handbook."""
    return ingest_command(
        read_settings(IngestSettings),
        specs=tuple(source or ()),
        dry_run=dry_run,
        full=full,
        allow_removals=allow_removals,
        as_json=json,
    )


@app.command()
def status(json: JsonOption = False) -> int:
    """Show the index, its sources, their last runs and the schedule."""
    return status_command(read_settings(IngestSettings), as_json=json)


@app.command()
def schedule() -> int:
    """Run the scheduled sync, without the Slack app, until stopped."""
    settings = read_settings(IngestSettings)
    if not settings.reindex_cron.strip():
        raise ConfigurationError(
            "REINDEX_CRON is empty, so there is nothing to run; `0 5 * * *` is every day at 05:00"
        )
    configure_logging(settings.log_format, settings.log_level)
    asyncio.run(_serve_schedule(IngestScheduler(settings)))
    return 0


async def _serve_schedule(scheduler: IngestScheduler) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows: Ctrl-C then ends the process at once
            loop.add_signal_handler(number, stop.set)
    scheduler.start()
    try:
        await stop.wait()
    finally:
        await scheduler.shutdown()


def main() -> None:
    """Run the command line; never returns."""
    sys.exit(run_command_line(app, sys.argv[1:], name="ingest"))


if __name__ == "__main__":
    main()
