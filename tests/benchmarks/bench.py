"""`make bench`: speed as ratios measured in one run, written to docs/performance.md.

Every figure comes from the real commands in their own processes, on the real handbooks of the
shared data folder. Ratios are what matters: absolute seconds belong to the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.batch import write_line
from bot.evaluation import read_questions
from tests.benchmarks.public_sets import PUBLIC_SETS, read_public_questions

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "performance.md"


def main() -> int:
    """Run the benchmarks and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument(
        "--corpora",
        nargs="+",
        default=("gitlab-handbook", "sourcegraph-handbook", "service-public"),
        help="folders of shared/corpora that make one index; the first one's ingest is timed",
    )
    parser.add_argument("--questions", default="gitlab", help="file of shared/questions")
    parser.add_argument(
        "--index", type=Path, help="an index of these corpora to ask, instead of making one"
    )
    parser.add_argument("--skip-encoders", action="store_true")
    parser.add_argument("--out", type=Path, default=REPORT)
    options = parser.parse_args()
    if options.index and options.out == REPORT:
        parser.error("--index leaves the ingest out: name another --out")
    folders = [options.shared / "corpora" / corpus for corpus in options.corpora]
    if not all(folder.is_dir() for folder in folders):
        _say(f"no such handbooks in {options.shared}: nothing to measure")
        return 2
    questions = options.shared / "questions" / f"{options.questions}.jsonl"
    with tempfile.TemporaryDirectory() as scratch:
        database = options.index.resolve() if options.index else Path(scratch) / "bench.db"
        environment = _environment(database)
        sections = []
        if options.index is None:
            sections.append(_ingest_section(folders[0], environment))
            for folder in folders[1:]:
                _say(f"ingest of {folder.name}; a large one takes a while…")
                _ingest(folder, environment)
        asked = _write_questions(options.shared, questions, Path(scratch) / "questions.jsonl")
        sections.append(_question_section(asked, database, environment))
        sections.append(_fallback_section(questions, environment))
    if not options.skip_encoders:
        sections.append(_encoder_section())
    sections.append(_page_section())
    options.out.write_text(_header() + "\n".join(sections), encoding="utf-8")
    _say(f"written: {options.out}")
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


def _manuel(*arguments: str, environment: dict[str, str]) -> tuple[str, int]:
    """Run a command; return what it printed and the most memory it took, in bytes."""
    command = [sys.executable, "-m", "bot", *arguments]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        out.seek(0)
        return out.read(), usage.ru_maxrss * 1024


def _ingest(folder: Path, environment: dict[str, str]) -> dict[str, Any]:
    printed, _ = _manuel(
        "ingest", "--source", f"folder:{folder}", "--json", environment=environment
    )
    single: dict[str, Any] = json.loads(printed)["reports"][0]
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


def _write_questions(shared: Path, questions: Path, target: Path) -> Path:
    """Write the hand-made questions and those of service-public as one batch."""
    asked = [q.question for q in read_questions(questions)]
    asked += [q.question for q in read_public_questions(shared, PUBLIC_SETS["spf"])]
    with target.open("w", encoding="utf-8") as batch:
        for question in asked:
            write_line({"question": question.text, "context": question.context}, batch)
    return target


def _question_section(questions: Path, database: Path, environment: dict[str, str]) -> str:
    _say("questions, one process, warm…")
    printed, peak_bytes = _manuel("ask", "--batch", str(questions), environment=environment)
    warm = [json.loads(line) for line in printed.splitlines()][1:]
    rows = []
    for step in ("embed", "search", "answer", "total"):
        values = sorted(
            answer["timings_ms"][step] for answer in warm if step in answer["timings_ms"]
        )
        if values:
            rows.append((step, _quantile(values, 0.5), _quantile(values, 0.95)))
    table = "\n".join(f"| {step} | {p50:.0f} | {p95:.0f} |" for step, p50, p95 in rows)
    chunks, codes_bytes = _contents(database)
    return (
        f"## A question on an index of {chunks:,} passages\n\n"
        f"{len(warm)} warm questions in one process, one after the other.\n\n"
        "| step | p50 ms | p95 ms |\n|---|---|---|\n"
        f"{table}\n\n"
        f"The process takes {_megabytes(peak_bytes)} at most; the index"
        f" {_megabytes(database.stat().st_size)} on disk, {_megabytes(codes_bytes)} of them token"
        " states.\n"
    )


def _contents(database: Path) -> tuple[int, int]:
    """Return the passages of an index, and the bytes of their token states."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        (chunks,) = connection.execute("SELECT count(*) FROM chunks").fetchone()
        (codes,) = connection.execute("SELECT sum(length(code)) FROM token_codes").fetchone()
    return chunks, codes or 0


def _megabytes(count: float) -> str:
    return f"{count / 1e6:,.0f} MB"


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
