"""How a reader is compared with the support check."""

import random

from bot.answering.calibration import Observation
from tests.benchmarks.reader.evaluate import (
    areas,
    comparison,
    correct_at,
    held_out,
    window_of,
    windows,
)

TEXT = "Un. Deux mots. Trois mots ici. Et voilà quatre mots."
UNITS = [[0, 3, "sentence", ""], [4, 14, "sentence", ""], [15, 30, "sentence", ""]]
PASSAGE = {
    "chunk_id": "c",
    "title": "Page",
    "headings": ["Section"],
    "text": TEXT,
    "units": UNITS,
    "unit_cosines": [0.1, 0.9, 0.2],
}


def _observed(signal):
    """Two handbooks and a public set whose answerable questions have the signal high."""
    rng = random.Random(4)  # noqa: S311 - repeatable
    observed, seen = [], []
    for name in ("okp4", "etalab", "clapnq"):
        for number in range(30):
            answerable = number % 2 == 0
            kinds = ("nearmiss", "offtopic", "falsepremise")
            kind = "table" if answerable else kinds[number % 3]
            signals = {signal: answerable + rng.random() / 2, "cosine": rng.random()}
            observed.append({"set": name, "kind": kind, "answerable": answerable})
            seen.append(Observation(signals, answerable, answerable))
    return observed, seen


def test_a_window_is_of_whole_units_and_begins_with_its_lead_in():
    passage = {**PASSAGE, "units": [*UNITS[:1], [4, 14, "item", "Voici :"], UNITS[2]]}
    assert window_of(PASSAGE, 1) == TEXT[:30]
    long = {
        **PASSAGE,
        "text": f"{TEXT[:15]}{'mot ' * 80}",
        "units": [*UNITS[:2], [15, 335, "s", ""]],
    }
    assert window_of(long, 1) == "Un. Deux mots."
    assert window_of({**passage, "units": passage["units"][1:2]}, 0) == "Voici :\nDeux mots."


def test_the_best_place_of_each_passage_is_read_and_each_claim():
    record = {
        "question": "Quoi ?",
        "passages": [PASSAGE],
        "claims": [{"chunk_id": "c", "quote": "Trois mots ici."}],
    }
    pairs = list(windows(record, 7))
    assert [(pair.kind, pair.group, pair.heading) for pair in pairs] == [
        ("passage", "7", "Page > Section"),
        ("claim", "7", "Page > Section"),
    ]


def test_a_set_is_never_judged_by_a_fit_that_saw_it():
    observed, seen = _observed("reader")
    turned = [
        Observation(o.signals, not o.right, not o.answerable) if r["set"] == "okp4" else o
        for r, o in zip(observed, seen, strict=True)
    ]
    before, after = (held_out(observed, some, ("reader",)) for some in (seen, turned))
    assert before[:30] == after[:30]
    assert before[30:] != after[30:]


def test_correct_answers_are_counted_at_a_share_of_false_ones():
    seen = [Observation({}, right=True, answerable=True), Observation({}, False, True)]
    seen += [Observation({}, right=False, answerable=False)] * 2
    assert correct_at(seen, [0.9, 0.8, 0.2, 0.95], 0.5) == 0.5
    assert correct_at(seen, [0.9, 0.8, 0.2, 0.95], 0.0) == 0.0


def test_a_reader_that_tells_everything_shows_in_both_tables():
    observed, seen = _observed("reader")
    assert [column.header for column in areas(observed, seen).columns][:4] == [
        "signal",
        "nearmiss",
        "offtopic",
        "falsepremise",
    ]
    rows = comparison(observed, seen)
    points = list(rows.columns[3].cells)
    assert int(points[1]) > int(points[0])
