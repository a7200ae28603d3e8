"""Measures answers on the hand-made questions and writes the tables of docs/quality.md.

`python -m tests.benchmarks.quality --shared ../shared [--corpora okp4 etalab …]`. Each handbook has
its own index under `data/quality`, kept from run to run: only what changed is encoded again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bot.app import build_answerer
from bot.evaluation import (
    COLUMNS,
    EvaluationReport,
    QuestionScore,
    Tally,
    evaluate,
    read_questions,
    tally,
)
from bot.settings import BotSettings
from ingest import run_ingest

CORPORA = {
    "okp4": "okp4-team-wiki",
    "etalab": "etalab-guides",
    "civicactions": "civicactions-guidebook",
    "syntec": "syntec-convention",
    "tts": "tts-handbook",
    "travail": "travail-emploi",
    "gitlab": "gitlab-handbook",
}
"""Question file -> folder of its handbook, small ones first."""

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "quality.md"
START, END = "<!-- figures: start -->", "<!-- figures: end -->"

console = Console(stderr=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--corpora", nargs="*", choices=tuple(CORPORA), default=tuple(CORPORA))
    parser.add_argument("--work", type=Path, default=ROOT / "data" / "quality")
    options = parser.parse_args(arguments)
    if not options.shared.is_dir():
        console.print(f"the question sets are not in {options.shared}: name their folder, --shared")
        return 1
    options.work.mkdir(parents=True, exist_ok=True)
    reports = {name: measure(name, options.shared, options.work) for name in options.corpora}
    write_figures(DOCUMENT, render(reports))
    return 0


def measure(name: str, shared: Path, work: Path) -> EvaluationReport:
    """Bring one index up to date and ask its questions."""
    settings = BotSettings(
        database_url=f"sqlite:///{work / name}.db", handbook_config=work / "absent.toml"
    )
    console.print(f"{name}: indexing")
    (report,) = run_ingest(settings, specs=(f"folder:{shared / 'corpora' / CORPORA[name]}",))
    console.print(
        f"{name}: {report.chunks} chunks, {report.embeddings_computed} encoded,"
        f" {report.seconds:.0f} s"
    )
    questions = read_questions(shared / "questions" / f"{name}.jsonl")
    with build_answerer(settings) as answerer, Progress(console=console, transient=True) as bar:
        task = bar.add_task(name, total=len(questions))
        return evaluate(questions, answerer, progress=lambda: bar.advance(task))


def render(reports: Mapping[str, EvaluationReport]) -> str:
    """Return the tables as Markdown."""
    scores = [score for report in reports.values() for score in report.scores]
    head = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} at commit {_commit()}, n = {len(scores)},"
        f" by `python -m tests.benchmarks.quality --corpora {' '.join(reports)}`."
    )
    by_corpus = {name: report.total for name, report in reports.items()}
    by_kind = EvaluationReport(tuple(scores)).by_kind()
    every = {"all": tally(scores)}
    return "\n\n".join(
        (
            head,
            "### By handbook",
            _table("handbook", {**by_corpus, **every}),
            "### By kind of question",
            _table("kind", {**by_kind, **every}),
            "### Right answers against false ones, by threshold",
            _curve(scores),
        )
    )


def write_figures(document: Path, figures: str) -> None:
    """Replace what stands between the markers of the document."""
    text = document.read_text(encoding="utf-8")
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    document.write_text(f"{before}{START}\n\n{figures}\n\n{END}{after}", encoding="utf-8")


def _table(first: str, rows: Mapping[str, Tally]) -> str:
    names = ("n", *COLUMNS, "right if answered", "words", "ms p50", "ms p95")
    lines = [_line((first, *names)), _line("---" for _ in range(len(names) + 1))]
    for name, figures in rows.items():
        shares = [getattr(figures, field) for field in COLUMNS.values()]
        lines.append(
            _line(
                (
                    name,
                    figures.n,
                    *(_percent(share) for share in (*shares, figures.right_when_answering)),
                    "·" if figures.words is None else f"{figures.words:.0f}",
                    f"{figures.ms_p50:.0f}",
                    f"{figures.ms_p95:.0f}",
                )
            )
        )
    return "\n".join(lines)


def _curve(scores: Sequence[QuestionScore]) -> str:
    """Return what each threshold would give; hard rules stay as they are (confidence 0)."""
    answerable = [s for s in scores if s.answerable]
    others = [s for s in scores if not s.answerable]
    if not answerable or not others:
        return "No unanswerable question here."
    lines = [
        _line(("false answers", "threshold", "correct", "right if answered")),
        _line("---" for _ in range(4)),
    ]
    ranked = sorted((s.confidence for s in others), reverse=True)
    for allowed in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5):
        threshold = ranked[min(int(allowed * len(ranked)), len(ranked) - 1)]
        shown = [s for s in answerable if s.confidence > threshold]
        right = sum(s.correct_if_shown for s in shown)
        lines.append(
            _line(
                (
                    f"<= {allowed:.0%}",
                    f"{threshold:.2f}",
                    _percent(right / len(answerable)),
                    _percent(right / len(shown) if shown else None),
                )
            )
        )
    return "\n".join(lines)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _percent(share: float | None) -> str:
    return "·" if share is None else f"{100 * share:.0f}"


def _commit() -> str:
    done = subprocess.run(
        ("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
