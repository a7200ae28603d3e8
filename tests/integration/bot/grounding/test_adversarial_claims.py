"""The gate against claims made by rule over real passages, in French and English.

`pytest -s tests/integration/bot/grounding/test_adversarial_claims.py` prints the table that stands
in docs/grounding.md.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from bot.grounding.verifier import verify
from bot.records import Draft
from tests.integration.bot.grounding.claim_cases import Case, attacks, faithful, read_places

NEVER_PASS = (
    "number", "date", "id", "retrieved", "stitched", "injected", "instruction", "currency", "empty",
)  # fmt: skip


@pytest.fixture(scope="module")
def places(shared_dir: Path):
    return read_places(shared_dir / "corpora")


def shown(case: Case) -> bool:
    draft = Draft((case.claim,), "fr", 1.0)
    return bool(verify(draft, case.passages, question=case.question).claims)


def tally(cases: Iterable[Case]) -> dict[str, tuple[int, int]]:
    """Return, by kind, how many claims were shown, of how many."""
    total, passed = Counter[str](), Counter[str]()
    for case in cases:
        total[case.kind] += 1
        passed[case.kind] += shown(case)
    table = {kind: (passed[kind], total[kind]) for kind in total}
    sys.stdout.write("\n" + "".join(f"| {k} | {s} | {n} |\n" for k, (s, n) in table.items()))
    return table


def test_attacks_are_caught(places):
    table = tally(attacks(places))
    cases = sum(n for _, n in table.values())
    missed = {kind: f"{s} of {n}" for kind, (s, n) in table.items() if s}
    assert cases >= 300
    assert sum(s for s, _ in table.values()) <= 0.01 * cases, missed
    assert [k for k in missed if any(word in k for word in NEVER_PASS)] == []


def test_faithful_claims_are_shown(places):
    table = tally(faithful(places))
    cases = sum(n for _, n in table.values())
    dropped = {kind: f"{n - s} of {n}" for kind, (s, n) in table.items() if s < n}
    assert cases >= 300
    assert sum(n - s for s, n in table.values()) <= 0.03 * cases, dropped


def test_a_flood_of_claims_is_cut(places):
    case = next(iter(faithful(places[:200])))
    verification = verify(Draft((case.claim,) * 10_000, "fr", 1.0), case.passages)
    assert len(verification.claims) <= 1
    assert len(verification.claims) + len(verification.rejected) == 10_000
