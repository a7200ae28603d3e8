"""Promises about the project itself: who imports whom, and documents that match the code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli import app
from bot.settings import BotSettings

ROOT = Path(__file__).resolve().parents[3]


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _modules(*packages: str) -> list[Path]:
    found = [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]
    assert found
    return found


def _importers(library: str) -> set[str]:
    return {
        path.relative_to(ROOT).as_posix()
        for path in _modules("bot", "ingest")
        if any(name == library or name.startswith(f"{library}.") for name in _imports(path))
    }


def test_ingest_never_imports_bot():
    offenders = {
        p.name for p in _modules("ingest") if any(n.split(".")[0] == "bot" for n in _imports(p))
    }
    assert offenders == set()


def test_bot_enters_ingest_by_its_doorway_only():
    import ingest

    allowed = {"ingest"} | {f"ingest.{name}" for name in ingest.__all__}
    offenders = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in _modules("bot")
        for name in _imports(path)
        if name.split(".")[0] == "ingest" and name not in allowed
    }
    assert offenders == set()


def test_everything_the_doorway_promises_exists():
    import ingest

    assert [name for name in ingest.__all__ if not hasattr(ingest, name)] == []


def test_only_the_command_that_is_for_it_imports_the_stand_in():
    offenders = {path for path in _importers("bot.sandbox") if not path.startswith("bot/sandbox/")}
    assert offenders == {"bot/cli.py"}


def test_production_never_loads_the_stand_in():
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in _modules("bot", "ingest")
        if "sandbox" not in path.parts
        and path.stem != "__main__"
        and "migrations" not in path.parts
    ]
    program = f"import {', '.join(names)}, sys; print([m for m in sys.modules if 'sandbox' in m])"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize(
    ("library", "places"),
    [
        ("slack_bolt", ("bot/slack/",)),
        ("slack_sdk", ("bot/slack/",)),
        ("openai", ("bot/answering/llm.py", "ingest/embedding/openai_compatible.py")),
        ("apscheduler", ("ingest/schedule.py",)),
        (
            "sentence_transformers",
            ("ingest/embedding/sentence_transformer.py", "bot/cross_encoder.py"),
        ),
        ("onnxruntime", ("ingest/embedding/",)),
        ("uvicorn", ("bot/web.py",)),
        ("starlette", ("bot/web.py", "bot/observability.py", "bot/slack/")),
        ("cryptography", ("bot/encryption.py",)),
        ("prometheus_client", ("bot/metrics.py",)),
        ("alembic", ("ingest/index/", "bot/store/")),
    ],
)
def test_a_library_is_imported_where_its_adapter_lives_and_nowhere_else(library, places):
    offenders = {path for path in _importers(library) if not path.startswith(places)}
    assert offenders == set()


def _example_variables() -> dict[str, str]:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    return dict(re.findall(r"^(?:# ?)?([A-Z][A-Z0-9_]+)=(.*)$", text, flags=re.MULTILINE))


def test_env_example_lists_exactly_the_settings_with_their_defaults():
    expected = {}
    for name, field in BotSettings.model_fields.items():
        expected[name.upper()] = "" if field.default is None else str(field.default)
    assert _example_variables() == expected


def test_every_setting_is_described():
    assert [n for n, field in BotSettings.model_fields.items() if not field.description] == []


def _commands() -> set[str]:
    commands = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
    return commands | {group.name for group in app.registered_groups if group.name}


def _documents() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_documents_mention_only_commands_that_exist():
    unknown = {
        (path.name, command)
        for path in _documents()
        for command in re.findall(
            r"(?:^|[`$ ])manuel ([a-z][a-z-]*)", path.read_text(encoding="utf-8")
        )
        if command not in _commands()
    }
    assert unknown == set()


def test_readme_shows_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in sorted(_commands()) if f"manuel {name}" not in readme] == []


def test_documents_mention_only_make_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))
    mentioned = {
        (path.name, target)
        for path in _documents()
        for target in re.findall(
            r"(?:^|`)make ([a-z][a-z-]*)", path.read_text(encoding="utf-8"), re.M
        )
    }
    assert {(name, target) for name, target in mentioned if target not in targets} == set()


def test_documents_link_only_to_files_that_exist():
    broken = {
        (path.relative_to(ROOT).as_posix(), target)
        for path in _documents()
        for target in re.findall(
            r"\]\((?!https?:|mailto:|#)([^)#\s]+)", path.read_text(encoding="utf-8")
        )
        if not (path.parent / target).exists()
    }
    assert broken == set()
