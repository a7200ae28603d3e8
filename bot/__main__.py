"""`manuel`: runs the command line."""

from __future__ import annotations

import sys

from bot.cli import app
from ingest import run_command_line


def main() -> None:
    """Run the command line; never returns."""
    sys.exit(run_command_line(app, sys.argv[1:], name="manuel"))


if __name__ == "__main__":
    main()
