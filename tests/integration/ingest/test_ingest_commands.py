"""`python -m ingest` as a person and a script meet it: output, errors, exit statuses."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.__main__ import app
from ingest.command_line import run as run_command_line
from ingest.console import progress_bars, reports_to_json
from ingest.logs import OURS
from ingest.progress import ProgressEvent, Stage
from ingest.records import IngestReport, SkippedPage

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    for number in range(3):
        (folder / f"page-{number}.md").write_text(
            f"# Page {number}\n\nLa règle numéro {number} concerne tous les salariés.\n",
            encoding="utf-8",
        )
    return folder


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


Ingest = Callable[..., Done]


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The settings of a new installation, for this process and those it starts."""
    monkeypatch.chdir(tmp_path)
    changes = {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'manuel.db'}",
        "HANDBOOK_CONFIG": "handbook.toml",
        "EMBEDDING_MODEL": "none",
    }
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    return os.environ | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def ingest(environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> Iterator[Ingest]:
    """Runs one command as `python -m ingest` does, in this process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        status = run_command_line(app, arguments, name="ingest")
        captured = capsys.readouterr()
        return Done(status, captured.out, captured.err)

    yield run
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_a_run_prints_its_report_as_json_and_nothing_else(folder, environment):
    done = subprocess.run(
        [sys.executable, "-m", "ingest", "run", "--source", f"folder:{folder}", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    printed = json.loads(done.stdout)
    [report] = printed["reports"]
    assert report.pop("seconds") >= 0
    assert report.pop("chunks") >= 3
    assert report == {
        "source": "handbook",
        "added": 3,
        "updated": 0,
        "unchanged": 0,
        "removed": 0,
        "skipped": [],
        "embeddings": {"computed": 0, "reused": 0},
        "complete": True,
        "blocked_removals": [],
        "problems": [],
        "dry_run": False,
        "pages": {"added": ["page-0.md", "page-1.md", "page-2.md"], "updated": [], "removed": []},
    }
    assert printed["totals"]["added"] == 3


def test_a_run_tells_people_in_lines_without_escape_codes_in_a_pipe(folder, ingest):
    (folder / "image.md").write_bytes(b"\x00\xff\x00")

    done = ingest("run", "--source", f"folder:{folder}")

    assert (done.status, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first.startswith("handbook: 3 added, 0 updated, 0 unchanged, 0 removed, 1 skipped;")
    assert second.startswith("  skipped  image.md: ")
    assert "\x1b" not in done.out


def test_a_dry_run_says_what_it_would_do(folder, ingest):
    done = ingest("run", "--source", f"folder:{folder}", "--dry-run")

    assert done.status == 0
    assert "would be 3 added" in done.out
    assert "  would add  page-1.md" in done.out


def test_a_source_that_fails_gives_status_one_and_says_why(tmp_path, ingest):
    done = ingest("run", "--source", f"folder:{tmp_path / 'nowhere'}")

    assert done.status == 1
    assert "nowhere" in done.out
    assert "unavailable" in done.out


@pytest.mark.parametrize(
    ("arguments", "changes", "named"),
    [
        (("run",), {}, "--source folder:PATH"),
        (("run", "--source", "wiki"), {}, "'wiki'"),
        (("run", "--sauce", "wiki"), {}, "--sauce"),
        (("rnu",), {}, "rnu"),
        (("run",), {"LOG_FORMAT": "xml"}, "LOG_FORMAT"),
        (("run", "--source", "folder:."), {"DATABASE_URL": "oracle://x"}, "DATABASE_URL"),
        (("status",), {"REINDEX_CRON": "often"}, "REINDEX_CRON"),
        (("schedule",), {"REINDEX_CRON": ""}, "REINDEX_CRON"),
        (("schedule",), {"TIMEZONE": "Mars"}, "TIMEZONE"),
    ],
)
def test_wrong_use_gives_status_two_and_one_line_that_names_it(
    ingest, monkeypatch, arguments, changes, named
):
    for name, value in changes.items():
        monkeypatch.setenv(name, value)

    done = ingest(*arguments)

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("ingest: ")
    assert done.err.count("\n") == 1
    assert named in done.err


def test_a_traceback_is_shown_only_when_asked_for(ingest):
    assert "Traceback" not in ingest("run").err
    assert "Traceback" in ingest("--debug", "run").err


def test_status_describes_the_index_its_sources_and_the_schedule(folder, ingest):
    before = json.loads(ingest("status", "--json").out)
    assert (before["index"]["built"], before["sources"]) == (False, [])

    ingest("run", "--source", f"folder:{folder}")
    after = json.loads(ingest("status", "--json").out)

    assert (after["index"]["built"], after["index"]["pages"]) == (True, 3)
    [source] = after["sources"]
    assert (source["name"], source["pages"], source["languages"]) == ("handbook", 3, {"fr": 3})
    assert source["last_report"]["added"] == 3
    assert source["last_run_at"] == source["last_success_at"] is not None
    assert after["schedule"] == {
        "cron": "0 5 * * *",
        "timezone": "Europe/Paris",
        "next_run_at": None,
        "paused": False,
    }
    lines = ingest("status").out
    assert "index     3 pages" in lines
    assert "source    handbook: 3 pages (fr 3)" in lines


def test_the_schedule_runs_until_it_is_told_to_stop(ingest, environment):
    process = subprocess.Popen(
        [sys.executable, "-m", "ingest", "schedule"],
        env=environment | {"LOG_FORMAT": "json"},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert json.loads(process.stderr.readline())["event"] == "schedule started"
        status = json.loads(ingest("status", "--json").out)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()

    assert status["schedule"]["next_run_at"].split("T")[1].startswith("05:00")


def test_totals_add_up_over_sources():
    skipped = (SkippedPage("a.md", "empty"),)
    reports = [
        IngestReport("a", added=("x",), chunks=3, embeddings_computed=2, skipped=skipped),
        IngestReport("b", removed=("y",), chunks=4, embeddings_reused=1, complete=False),
    ]

    totals = reports_to_json(reports)["totals"]

    assert (totals["added"], totals["removed"], totals["chunks"]) == (1, 1, 7)
    assert totals["embeddings"] == {"computed": 2, "reused": 1}
    assert (totals["skipped"], totals["complete"]) == (1, False)


def test_progress_shows_bars_on_a_terminal_and_nothing_in_a_pipe(capsys, monkeypatch):
    event = ProgressEvent("handbook", Stage.PAGES, 1, 3)
    with progress_bars() as progress:
        progress(event)
    assert capsys.readouterr().err == ""

    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bars() as progress:
        progress(event)
    assert "handbook: pages" in capsys.readouterr().err
