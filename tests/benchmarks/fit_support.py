"""Fits the support check on public question sets and prints numbers for `support_model.py`.

`python -m tests.benchmarks.fit_support --shared ../shared [--check okp4 etalab …]`. The sets of
`--check` (hand-made ones, indexed by `tests.benchmarks.quality`) take no part in the weights: they
choose the threshold, and show what it gives.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import track

from bot.answering.answerer import Answerer
from bot.answering.calibration import (
    Observation,
    area_under_curve,
    choose_threshold,
    fit_logistic,
)
from bot.answering.support import hard_rules
from bot.app import build_answerer
from bot.evaluation import LabelledQuestion, answers, read_questions
from ingest import run_ingest
from tests.benchmarks.public_sets import (
    PUBLIC_SETS,
    index_settings,
    read_public_questions,
    write_pages,
)

ROOT = Path(__file__).resolve().parents[2]
SIGNALS = (
    "unit_cosine",
    "cosine",
    "typed_gap",
    "margin",
    "entity_missing",
    "same_language",
)
MAX_FALSE = 0.2
PENALTY = 3.0

console = Console()


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, default=ROOT / "data" / "quality")
    parser.add_argument("--sets", nargs="*", default=("piaf", "clapnq"))
    parser.add_argument("--check", nargs="*", default=())
    options = parser.parse_args(arguments)
    public = {name: observe_public(name, options.shared, options.work) for name in options.sets}
    checked = {
        name: observe(
            read_questions(options.shared / "questions" / f"{name}.jsonl"), name, options.work
        )
        for name in options.check
    }
    for name, held_out in public.items():
        others = {other: seen for other, seen in public.items() if other != name}
        if others:
            report(f"{name}, fitted on the others", held_out, probabilities(others, held_out))
    groups = [name for name, seen in public.items() for _ in seen]
    fit = fit_logistic(_all(public), SIGNALS, groups=groups, penalty=PENALTY)
    console.print(f"intercept={fit.intercept:.3f}")
    console.print({name: round(weight, 3) for name, weight in fit.weights.items()})
    if checked:
        seen = _all(checked)
        report("hand-made sets", seen, [fit.probability(o.signals) for o in seen])
    return 0


def observe_public(name: str, shared: Path, work: Path) -> list[Observation]:
    """Index a public set and watch its questions."""
    pages = work / "pages" / name
    write_pages(shared, PUBLIC_SETS[name], pages)
    run_ingest(index_settings(name, work), specs=(f"folder:{pages}",))
    return observe(read_public_questions(shared, PUBLIC_SETS[name]), name, work)


def observe(questions: Sequence[LabelledQuestion], name: str, work: Path) -> list[Observation]:
    """Ask questions on an index and keep what the support check saw."""
    with build_answerer(index_settings(name, work)) as answerer:
        return [
            _observation(labelled, answerer)
            for labelled in track(questions, description=name, console=console, transient=True)
        ]


def probabilities(
    training: Mapping[str, Sequence[Observation]], held_out: Sequence[Observation]
) -> list[float]:
    """Fit on some sets and judge another."""
    groups = [name for name, seen in training.items() for _ in seen]
    fit = fit_logistic(_all(training), SIGNALS, groups=groups, penalty=PENALTY)
    return [fit.probability(observation.signals) for observation in held_out]


def report(title: str, seen: Sequence[Observation], judged: Sequence[float]) -> None:
    """Print how well probabilities tell right answers from unanswerable questions."""
    kept = [(o, p) for o, p in zip(seen, judged, strict=True) if o.right or not o.answerable]
    area = area_under_curve([o.right for o, _ in kept], [p for _, p in kept])
    threshold = choose_threshold(seen, judged, max_false=MAX_FALSE)
    shown = [o for o, p in zip(seen, judged, strict=True) if p >= threshold and not o.vetoed]
    answerable = sum(o.answerable for o in seen)
    right = sum(o.right for o in shown) / answerable
    console.print(
        f"{title}: n={len(seen)}, AUROC {area:.2f}; threshold {threshold:.3f} gives"
        f" {right:.0%} correct at {MAX_FALSE:.0%} false answers"
    )


def _observation(labelled: LabelledQuestion, answerer: Answerer) -> Observation:
    examination = answerer.examine(labelled.question)
    claims = examination.verification.claims
    return Observation(
        signals=examination.decision.signals,
        right=labelled.answerable and answers(labelled, claims),
        answerable=labelled.answerable,
        vetoed=bool(hard_rules(examination.retrieval.query, claims)),
    )


def _all(sets: Mapping[str, Sequence[Observation]]) -> list[Observation]:
    return [observation for seen in sets.values() for observation in seen]


if __name__ == "__main__":
    sys.exit(main())
