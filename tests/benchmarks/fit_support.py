"""Fits the support check on question sets and prints numbers for `support_model.py`.

`python -m tests.benchmarks.fit_support --shared ../shared [--sets piaf …] [--handbooks okp4 …]`.
Every set weighs the same. Hand-made ones, indexed by `tests.benchmarks.quality`, are judged by the
fit without them: what is printed for them is held out.
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
    "lift",
    "typed_gap",
    "margin",
    "entity_missing",
    "same_language",
)
DEFAULT_SETS = ("clapnq", "cnil", "piaf", "spf", "cdtn", "mtrag")
THRESHOLDS = (0.4, 0.45, 0.5, 0.55, 0.6)
PENALTY = 3.0

console = Console()


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, default=ROOT / "data" / "quality")
    parser.add_argument("--sets", nargs="*", default=DEFAULT_SETS)
    parser.add_argument("--handbooks", nargs="*", default=())
    options = parser.parse_args(arguments)
    public = {name: observe_public(name, options.shared, options.work) for name in options.sets}
    handbooks = {
        name: observe(
            read_questions(options.shared / "questions" / f"{name}.jsonl"), name, options.work
        )
        for name in options.handbooks
    }
    every = public | handbooks
    judged = {name: probabilities(every, name) for name in every} if len(every) > 1 else {}
    for name, held_out in judged.items():
        report(f"{name}, fitted on the others", every[name], held_out)
    if len(handbooks) > 1:
        pooled = [probability for name in handbooks for probability in judged[name]]
        report("handbooks, each fitted on the others", _all(handbooks), pooled)
    groups = [name for name, seen in every.items() for _ in seen]
    fit = fit_logistic(_all(every), SIGNALS, groups=groups, penalty=PENALTY)
    console.print(f"intercept={fit.intercept:.3f}")
    console.print({name: round(weight, 3) for name, weight in fit.weights.items()})
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


def probabilities(sets: Mapping[str, Sequence[Observation]], held_out: str) -> list[float]:
    """Fit on the other sets and judge this one."""
    training = {name: seen for name, seen in sets.items() if name != held_out}
    groups = [name for name, seen in training.items() for _ in seen]
    fit = fit_logistic(_all(training), SIGNALS, groups=groups, penalty=PENALTY)
    return [fit.probability(observation.signals) for observation in sets[held_out]]


def report(title: str, seen: Sequence[Observation], judged: Sequence[float]) -> None:
    """Print how well probabilities tell right answers from unanswerable questions."""
    kept = [(o, p) for o, p in zip(seen, judged, strict=True) if o.right or not o.answerable]
    area = area_under_curve([o.right for o, _ in kept], [p for _, p in kept])
    console.print(f"{title}: n={len(seen)}, AUROC {area:.2f}")
    answerable = sum(o.answerable for o in seen)
    for threshold in THRESHOLDS:
        shown = [o for o, p in zip(seen, judged, strict=True) if p >= threshold and not o.vetoed]
        false = sum(not o.answerable for o in shown)
        right = sum(o.right for o in shown)
        console.print(
            f"  from {threshold}: {right / max(1, answerable):.0%} correct,"
            f" {false / max(1, len(seen) - answerable):.0%} false answers,"
            f" {right / max(1, len(shown) - false):.0%} right when answering"
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
