"""`make bench`: speed as ratios measured in one run, written to docs/performance.md.

Every figure comes from the real commands in their own processes, on the real handbooks of the
shared data folder. Ratios are what matters: absolute seconds belong to the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "performance.md"


def main() -> int:
    """Run the benchmarks and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--corpus", default="gitlab-handbook", help="folder of shared/corpora")
    parser.add_argument("--questions", default="gitlab", help="file of shared/questions")
    parser.add_argument("--skip-encoders", action="store_true")
    parser.add_argument("--keep", type=Path, help="folder to leave a copy of the index in")
    options = parser.parse_args()
    folder = options.shared / "corpora" / options.corpus
    if not folder.is_dir():
        _say(f"no handbooks in {options.shared}: nothing to measure")
        return 2
    questions = options.shared / "questions" / f"{options.questions}.jsonl"
    with tempfile.TemporaryDirectory() as scratch:
        database = Path(scratch) / "bench.db"
        environment = _environment(database)
        sections = [
            _ingest_section(folder, environment),
            _question_section(questions, environment),
            _fallback_section(questions, environment),
        ]
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(database, options.keep / f"{options.questions}.db")
    if not options.skip_encoders:
        sections.append(_encoder_section())
    sections.append(_page_section())
    REPORT.write_text(_header() + "\n".join(sections), encoding="utf-8")
    _say(f"written: {REPORT.relative_to(ROOT)}")
    return 0


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _environment(database: Path) -> dict[str, str]:
    return os.environ | {
        "DATABASE_URL": f"sqlite:///{database}",
        "HANDBOOK_CONFIG": str(database.with_name("absent.toml")),
        "SLACK_BOT_TOKEN": "",
        "ANSWER_MODEL": "",
    }


def _manuel(*arguments: str, environment: dict[str, str]) -> str:
    command = [sys.executable, "-m", "bot", *arguments]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def _ingest(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    report = json.loads(
        _manuel("ingest", "--source", f"folder:{folder}", "--json", environment=environment)
    )
    single: dict[str, Any] = report["reports"][0]
    return single


def _ingest_section(folder: Path, environment: dict[str, str]) -> str:
    _say(f"first ingest of {folder.name}; a large one takes a while…")
    first = _ingest(folder, environment)
    _say("second ingest, nothing changed…")
    second = _ingest(folder, environment)
    ratio = second["seconds"] / first["seconds"]
    rows = [
        ("first", first),
        ("second, nothing changed", second),
    ]
    table = "\n".join(
        f"| {name} | {r['added']} | {r['unchanged']} | {r['chunks']} |"
        f" {r['embeddings']['computed']} | {r['embeddings']['reused']} | {r['seconds']:.1f} |"
        for name, r in rows
    )
    rate = first["embeddings"]["computed"] / first["seconds"]
    return (
        f"## Ingest of {folder.name}\n\n"
        "| run | added | unchanged | chunks | embedded | reused | seconds |\n"
        "|---|---|---|---|---|---|---|\n"
        f"{table}\n\n"
        f"The second run takes **{ratio:.4f}** of the first. The first embeds {rate:.1f} passages"
        " a second, parsing and writing included.\n"
    )


def _question_section(questions: Path, environment: dict[str, str]) -> str:
    _say("questions, one process, warm…")
    lines = _manuel("ask", "--batch", str(questions), environment=environment).splitlines()
    answers = [json.loads(line) for line in lines]
    warm = answers[1:]
    rows = []
    for step in ("embed", "search", "answer", "total"):
        values = sorted(
            answer["timings_ms"][step] for answer in warm if step in answer["timings_ms"]
        )
        if values:
            rows.append((step, _quantile(values, 0.5), _quantile(values, 0.95)))
    table = "\n".join(f"| {step} | {p50:.0f} | {p95:.0f} |" for step, p50, p95 in rows)
    return (
        f"## A question on that index ({len(warm)} warm questions of {questions.name})\n\n"
        "| step | p50 ms | p95 ms |\n|---|---|---|\n"
        f"{table}\n"
    )


def _fallback_section(questions: Path, environment: dict[str, str]) -> str:
    _say("answers without their model, one process, warm…")
    command = [sys.executable, "-m", "tests.benchmarks.fallback", str(questions)]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return "## Quotes where the model is out of order\n\n" + done.stdout


def _quantile(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, round(share * (len(values) - 1)))]


def _encoder_section() -> str:
    _say("encoders, each in its own process…")
    script = Path(__file__).with_name("bench_encoders.py")
    done = subprocess.run(
        [sys.executable, str(script), "--markdown"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return "## Encoders, same texts, same run\n\n" + done.stdout


def _page_section() -> str:
    _say("the page of the sandbox, in a real browser…")
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.page"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines() if done.returncode == 0 else ["Not measured: no browser here."]
    return f"## From Enter to the answer, in the sandbox's page\n\n{lines[-1]}\n"


def _header() -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()
    return (
        "# Speed\n\n"
        f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}, commit {commit},"
        f" {os.cpu_count()} cores, Python {platform.python_version()}."
        " Compare ratios; seconds depend on the machine.\n\n"
    )


if __name__ == "__main__":
    sys.exit(main())
