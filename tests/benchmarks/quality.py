"""Measures answers on labelled questions and writes the tables of docs/quality.md.

`python -m tests.benchmarks.quality --shared ../shared [--corpora okp4 etalab …] [--sets piaf …]`.
Each handbook has its own index in the work folder, kept from run to run: only what changed is
encoded again. `--resume` also keeps the figures that were measured at the same commit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bot.answering.calibration import area_under_curve
from bot.answering.support_model import DEFAULT_MODEL
from bot.app import build_answerer
from bot.evaluation import (
    COLUMNS,
    EvaluationReport,
    LabelledQuestion,
    QuestionScore,
    Tally,
    evaluate,
    read_questions,
    tally,
)
from ingest import run_ingest
from tests.benchmarks.figures import draw_curves, interval, operating_points
from tests.benchmarks.public_sets import (
    PUBLIC_SETS,
    index_settings,
    read_public_questions,
    write_pages,
)

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
PICTURE = ROOT / "docs" / "images" / "right-against-false-answers.svg"
UNJUDGED = (
    "Which passage answers a question of nomiracl is not released: AUROC is of all answerable"
    " questions against the others."
)
START, END = "<!-- figures: start -->", "<!-- figures: end -->"

console = Console(stderr=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--corpora", nargs="*", choices=tuple(CORPORA), default=tuple(CORPORA))
    parser.add_argument("--sets", nargs="*", choices=tuple(PUBLIC_SETS), default=tuple(PUBLIC_SETS))
    parser.add_argument("--work", type=Path, default=ROOT / "data" / "quality")
    parser.add_argument("--resume", action="store_true", help="keep figures of the same commit")
    options = parser.parse_args(arguments)
    if not options.shared.is_dir():
        console.print(f"the question sets are not in {options.shared}: name their folder, --shared")
        return 1
    bench = _Bench(options.shared, options.work, resume=options.resume)
    handbooks = {name: bench.measure_handbook(name) for name in options.corpora}
    public = {name: bench.measure_public(name) for name in options.sets}
    write_figures(DOCUMENT, render(handbooks, public))
    scores = {name: report.scores for name, report in handbooks.items()}
    every = {"all handbooks": [score for own in scores.values() for score in own]}
    draw_curves(every | scores, threshold=DEFAULT_MODEL.answer_threshold, path=PICTURE)
    return 0


class _Bench:
    """Indexes what is asked about, asks, and keeps the scores in the work folder."""

    def __init__(self, shared: Path, work: Path, *, resume: bool) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self._shared = shared
        self._work = work
        self._resume = resume

    def measure_handbook(self, name: str) -> EvaluationReport:
        questions = read_questions(self._shared / "questions" / f"{name}.jsonl")
        return self._measure(name, self._shared / "corpora" / CORPORA[name], questions)

    def measure_public(self, name: str) -> EvaluationReport:
        public_set = PUBLIC_SETS[name]
        pages = self._work / "pages" / name
        write_pages(self._shared, public_set, pages)
        return self._measure(name, pages, read_public_questions(self._shared, public_set))

    def _measure(
        self, name: str, folder: Path, questions: Sequence[LabelledQuestion]
    ) -> EvaluationReport:
        kept = self._work / f"{name}.scores.json"
        if self._resume and kept.exists():
            record = json.loads(kept.read_text(encoding="utf-8"))
            if record["commit"] == _commit():
                return EvaluationReport(tuple(QuestionScore(**s) for s in record["scores"]))
        settings = index_settings(name, self._work)
        console.print(f"{name}: indexing")
        (ingested,) = run_ingest(settings, specs=(f"folder:{folder}",))
        console.print(
            f"{name}: {ingested.chunks} chunks, {ingested.embeddings_computed} encoded,"
            f" {ingested.seconds:.0f} s"
        )
        with build_answerer(settings) as answerer, Progress(console=console, transient=True) as bar:
            task = bar.add_task(name, total=len(questions))
            report = evaluate(questions, answerer, progress=lambda: bar.advance(task))
        record = {"commit": _commit(), "scores": [asdict(score) for score in report.scores]}
        kept.write_text(json.dumps(record), encoding="utf-8")
        return report


def render(
    handbooks: Mapping[str, EvaluationReport], public: Mapping[str, EvaluationReport]
) -> str:
    """Return the tables as Markdown."""
    scores = [score for report in handbooks.values() for score in report.scores]
    head = (
        f"Measured {datetime.now(UTC):%Y-%m-%d} at commit {_commit()}, n = {len(scores)}, by"
        f" `python -m tests.benchmarks.quality --corpora {' '.join(handbooks)}"
        f" --sets {' '.join(public)}`. Shares in percent, [95 % bootstrap interval]."
    )
    by_kind = {
        kind: [score for score in scores if score.kind == kind]
        for kind in EvaluationReport(tuple(scores)).by_kind()
    }
    by_handbook = {name: report.scores for name, report in handbooks.items()}
    parts = [
        head,
        "### By handbook",
        _table("handbook", {**by_handbook, "all": scores}),
        "### By kind of question",
        _table("kind", {**by_kind, "all": scores}),
        "### Right answers against false ones, by threshold",
        f"![Right answers against false ones](images/{PICTURE.name})",
        _curve(scores),
    ]
    if public:
        parts += ["### Public sets", _public_table(public)]
    return "\n\n".join(parts)


def write_figures(document: Path, figures: str) -> None:
    """Replace what stands between the markers of the document."""
    text = document.read_text(encoding="utf-8")
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    document.write_text(f"{before}{START}\n\n{figures}\n\n{END}{after}", encoding="utf-8")


def _table(first: str, rows: Mapping[str, Sequence[QuestionScore]]) -> str:
    names = ("n", *COLUMNS, "right if answered", "words", "ms p50", "ms p95")
    fields = (*COLUMNS.values(), "right_when_answering")
    lines = [_line((first, *names)), _line("---" for _ in range(len(names) + 1))]
    for name, scores in rows.items():
        total = tally(scores)
        shares = [interval(scores, _figure(field)) for field in fields]
        words = "·" if total.words is None else f"{total.words:.0f}"
        times = (f"{total.ms_p50:.0f}", f"{total.ms_p95:.0f}")
        lines.append(_line((name, total.n, *(share or "·" for share in shares), words, *times)))
    return "\n".join(lines)


def _figure(field: str) -> Callable[[Tally], float | None]:
    return attrgetter(field)


def _curve(scores: Sequence[QuestionScore]) -> str:
    lines = [
        _line(("false answers", "threshold", "correct", "right if answered")),
        _line("---" for _ in range(4)),
    ]
    for point in operating_points(scores):
        lines.append(
            _line(
                (
                    f"<= {point.allowed:.0%}",
                    f"{point.threshold:.2f}",
                    _percent(point.correct),
                    _percent(point.right_when_answering),
                )
            )
        )
    return "\n".join(lines) if len(lines) > 2 else "No unanswerable question here."


def _public_table(public: Mapping[str, EvaluationReport]) -> str:
    names = ("set", "answerable", "found@1", "found@5", "no abstention", "words", "correct")
    names += ("unanswerable", "false", "AUROC", "correct at <= 5 / 10 / 20 % false")
    lines = [_line(names), _line("---" for _ in names)]
    for name, report in public.items():
        total, scores = report.total, report.scores
        judged = not PUBLIC_SETS[name].candidates
        # Whether showing the draft is right: what a threshold has to tell apart.
        told = [s for s in scores if not judged or s.correct_if_shown or not s.answerable]
        area = area_under_curve([s.answerable for s in told], [s.confidence for s in told])
        others = total.n - total.answerable
        points = " / ".join(_percent(point.correct) for point in operating_points(scores)[:3])
        figures = ("found_at_1", "found_at_5", "correct_if_shown")
        lines.append(
            _line(
                (
                    name,
                    total.answerable,
                    *(interval(scores, _figure(f)) if judged else "·" for f in figures),
                    "·" if total.words is None else f"{total.words:.0f}",
                    interval(scores, _figure("correct")) if judged else "·",
                    others,
                    interval(scores, _figure("false_answers")) or "·",
                    f"{area:.2f}" if others else "·",
                    (points if judged else "") or "·",
                )
            )
        )
    if any(PUBLIC_SETS[name].candidates for name in public):
        lines += ["", UNJUDGED]
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
