"""`manuel`: runs the command line and turns errors into one clear line and an exit status."""

from __future__ import annotations

import sys
import traceback

from typer import Abort
from typer.exceptions import TyperException

from ingest import ConfigurationError, HandbookError

EXIT_FAILED = 1
EXIT_WRONG_USE = 2
EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line; never returns."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command.

    Returns:
        0 when it worked, 1 when the work failed, 2 for wrong use or configuration.
    """
    debug = "--debug" in arguments
    # Imported here so that `manuel --help` does not wait for the whole program.
    from bot.cli import app

    try:
        result = app(args=[a for a in arguments if a != "--debug"], standalone_mode=False)
    except TyperException as error:
        return _report(error, EXIT_WRONG_USE, debug=debug)
    except ConfigurationError as error:
        return _report(error, EXIT_WRONG_USE, debug=debug)
    except HandbookError as error:
        return _report(error, EXIT_FAILED, debug=debug)
    except BrokenPipeError:
        return EXIT_FAILED
    except (Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the outermost rim: nobody else can report it
        return _report(error, EXIT_FAILED, debug=debug, unexpected=True)
    return result if isinstance(result, int) else 0


def _report(error: Exception, status: int, *, debug: bool, unexpected: bool = False) -> int:
    if debug:
        traceback.print_exception(error)
    text = " ".join(str(error).split()) or type(error).__name__
    if unexpected:
        text = f"unexpected {type(error).__name__}: {text} (run again with --debug for the details)"
    sys.stderr.write(f"manuel: {text}\n")
    return status


if __name__ == "__main__":
    main()
