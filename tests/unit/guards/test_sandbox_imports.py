"""The stand-in knows Slack, not our app: it could not judge what it is made of."""

import ast
import sys
from pathlib import Path

SANDBOX = Path(__file__).resolve().parents[3] / "bot" / "sandbox"


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_stand_in_imports_nothing_of_the_app_and_no_slack_library():
    allowed = ("bot.sandbox", "aiohttp", "rich", "typer")
    wrong = {
        (path.name, name)
        for path in SANDBOX.rglob("*.py")
        for name in imported(path)
        if not name.startswith(allowed) and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert wrong == set()
