"""Measures what people get while Slack throttles, connections break and the process is killed.

`python -m tests.benchmarks.reliability` runs the real `manuel serve` on the sample handbook against
the local stand-in for Slack, and writes docs/reliability.md. It takes some minutes,
and longer with an encoder on a slow machine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tests.reliability import ROOT, Figures, Trial, percentile, try_out

REPORT = ROOT / "docs" / "reliability.md"
PATIENCE_S = 3_600.0
TRIALS = {
    "HTTP mode, one process, killed and restarted": Trial("http", 200, 50, 10.0, processes=1),
    "Socket Mode, two processes, one killed and restarted": Trial(
        "socket", 200, 50, 10.0, processes=2
    ),
}
WANTED_ACK_P99_MS = 500


def main() -> int:
    """Run the trials and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, default=REPORT)
    parser.add_argument("--encoder", default="bundled", help="EMBEDDING_MODEL of the trials")
    options = parser.parse_args()
    lines = (ROOT / "deploy" / "sample-questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    results: dict[str, Figures] = {}
    for name, trial in TRIALS.items():
        with tempfile.TemporaryDirectory() as folder:
            environment = _environment(Path(folder), options.encoder)
            subprocess.run(
                [sys.executable, "-m", "bot", "ingest", "--json"],
                cwd=ROOT,
                env=os.environ | environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
            results[name] = asyncio.run(
                try_out(trial, environment, questions, patience_s=PATIENCE_S)
            )
        sys.stderr.write(f"{name}: {results[name].answered_once} answered once\n")
    options.report.write_text(_report(results, len(questions), options.encoder), encoding="utf-8")
    return 0 if all(f.answered_once == len(f.replies) for f in results.values()) else 1


def _environment(folder: Path, encoder: str) -> dict[str, str]:
    return {
        "EMBEDDING_MODEL": encoder,
        "DATABASE_URL": f"sqlite:///{folder / 'manuel.db'}",
        "HANDBOOK_CONFIG": str(ROOT / "deploy" / "sample-handbook.toml"),
        "REINDEX_CRON": "",
        "ANSWER_MODEL": "",
        "LOG_LEVEL": "ERROR",
    }


def _report(results: dict[str, Figures], questions: int, encoder: str) -> str:
    rows = "\n".join(f"| {label} | {' | '.join(values)} |" for label, values in _rows(results))
    columns = " | ".join(results)
    rule = "|---" * (len(results) + 1) + "|"
    version = platform.python_version()
    return f"""# Reliability

Written by `python -m tests.benchmarks.reliability --encoder {encoder}` on
{datetime.now(UTC):%Y-%m-%d}, commit {_commit()}, {os.cpu_count()} cores, Python {version}. The real
`manuel serve` with its default settings and `EMBEDDING_MODEL={encoder}`, on the sample handbook,
against the local stand-in for Slack.

In each trial 50 people mention the app 200 times in 10 s in 10 channels ({questions} different
questions); 5 % of all API calls are answered 429 and the connection of 2 % breaks, half of those
after the call has done its work; when half of the mentions are made one process is killed with
SIGKILL and started again at once. The app may read the channels (`channels:history`).

| | {columns} |
{rule}
{rows}

How to read it:

- In HTTP mode Slack repeats an event that nobody took: at once, after a minute and after five. What
  was asked while the only process was down is answered when it comes again; that, and the lease of
  what the killed process held (`JOB_LEASE_S`, 30 s), make the slowest answers.
- In Socket Mode Slack has nobody to send to while no process is connected, and repeats nothing it
  could not send: two processes on one database cover for each other.
- Acknowledgements are counted for every delivery that reached a running process, 429s and broken
  connections included. Wanted: p99 below {WANTED_ACK_P99_MS} ms.
- Without `channels:history` a post whose confirmation was lost is repeated, because nobody can look
  whether it stands ([decision 0005](decisions/0005-slack-delivery.md)).
"""


def _rows(results: dict[str, Figures]) -> list[tuple[str, list[str]]]:
    figures = list(results.values())
    return [
        ("mentions", [str(len(f.replies)) for f in figures]),
        ("answered exactly once", [f"**{f.answered_once}**" for f in figures]),
        ("answered twice", [str(f.doubled) for f in figures]),
        ("not answered", [str(f.unanswered) for f in figures]),
        ("replies that admit an outage or a failure", [str(f.not_answers) for f in figures]),
        ("API calls", [str(f.calls) for f in figures]),
        ("of them answered 429 / broken", [f"{f.throttled} / {f.dropped}" for f in figures]),
        ("events that Slack sent again", [str(f.redelivered) for f in figures]),
        ("seconds from the kill until all serve", [f"{f.down_s:.1f}" for f in figures]),
        ("acknowledgement p50, ms", [_ms(f, 0.50) for f in figures]),
        ("acknowledgement p99, ms", [_ms(f, 0.99) for f in figures]),
        ("slowest acknowledgement, ms", [_ms(f, 1.0) for f in figures]),
        ("answer p50, s", [f"{percentile(f.answer_s, 0.5):.1f}" for f in figures]),
        ("slowest answer, s", [f"{max(f.answer_s, default=0):.1f}" for f in figures]),
    ]


def _ms(figures: Figures, share: float) -> str:
    return f"{percentile(figures.ack_ms, share):.0f}"


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
