"""Runs a command line and turns errors into one clear line and an exit status."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from typer import Abort, Typer
from typer.exceptions import TyperException

from ingest.errors import ConfigurationError, HandbookError

EXIT_FAILED = 1
EXIT_WRONG_USE = 2
EXIT_INTERRUPTED = 130


def run(app: Typer, arguments: Sequence[str], *, name: str) -> int:
    """Run one command.

    Args:
        app: Its commands return an exit status, or None for success.
        arguments: Without the program's name; `--debug` anywhere shows tracebacks.
        name: Starts each line about an error.

    Returns:
        0 when it worked, 1 when the work failed, 2 for wrong use or configuration.
    """
    debug = "--debug" in arguments
    try:
        result = app(args=[a for a in arguments if a != "--debug"], standalone_mode=False)
    except (TyperException, ConfigurationError) as error:
        return _report(error, EXIT_WRONG_USE, name=name, debug=debug)
    except HandbookError as error:
        return _report(error, EXIT_FAILED, name=name, debug=debug)
    except BrokenPipeError:
        return EXIT_FAILED
    except (Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the outermost rim: nobody else can report it
        hint = "" if debug else " (run again with --debug for the details)"
        unexpected = f"unexpected {type(error).__name__}: "
        return _report(error, EXIT_FAILED, name=name, debug=debug, before=unexpected, after=hint)
    return result if isinstance(result, int) else 0


def _report(
    error: Exception, status: int, *, name: str, debug: bool, before: str = "", after: str = ""
) -> int:
    if debug:
        traceback.print_exception(error)
    message = error.format_message() if isinstance(error, TyperException) else str(error)
    text = " ".join(message.split()) or type(error).__name__
    sys.stderr.write(f"{name}: {before}{text}{after}\n")
    return status
