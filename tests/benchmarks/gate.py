"""Measures the gate on every sample of claims, and prints the table of docs/grounding.md."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from bot.grounding.closeness import encoder_closeness
from bot.grounding.wording import Closeness
from bot.settings import BotSettings
from ingest import open_embedder
from tests.integration.bot.grounding.claim_cases import attacks, faithful, read_places
from tests.integration.bot.grounding.free_hand import ATTACKS, FAITHFUL
from tests.integration.bot.grounding.gate_run import Tally, free_hand_cases, hand_cases, run
from tests.integration.bot.grounding.hand_written import SAME_LANGUAGE

SAMPLES = (0, 1, 2, 3)


def main() -> None:
    """Print two Markdown tables: attacks refused and faithful claims dropped, by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    corpora = parser.parse_args().shared / "corpora"
    samples = [read_places(corpora, sample=sample) for sample in SAMPLES]
    console = Console(width=200, highlight=False)
    closeness = _closeness()
    attacked = [run(attacks(sample), closeness=closeness) for sample in samples]
    freely = [("written freely", *attack[1:]) for attack in ATTACKS]
    attacked.append(run(free_hand_cases(corpora, freely), closeness=closeness))
    _print(console, "attack", "refused", _total(attacked))
    console.print()
    everywhere = [place for sample in samples for place in sample]
    kept = [run(faithful(sample), closeness=closeness) for sample in samples]
    by_hand = run(hand_cases("by hand", SAME_LANGUAGE, everywhere), closeness=closeness)
    freely = [("written freely", *claim) for claim in FAITHFUL]
    free = run(free_hand_cases(corpora, freely), closeness=closeness)
    _print(console, "faithful claim", "dropped", _total([*kept, by_hand, free]))


def _closeness() -> Closeness | None:
    """Compare with the bundled encoder, as production does; without one where there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = BotSettings(
            _env_file=None, database_url=f"sqlite:///{scratch}/unused.db", embedding_model="bundled"
        )
        embedder = open_embedder(settings)
    return encoder_closeness(embedder) if embedder else None


Figures = Mapping[str, tuple[int, int]]
"""Kind -> claims, and how many were refused."""


def _total(runs: list[dict[str, Tally]]) -> Figures:
    kinds = dict.fromkeys(kind for tallies in runs for kind in tallies)
    return {
        kind: (
            sum(tallies[kind].n for tallies in runs if kind in tallies),
            sum(len(tallies[kind].refused) for tallies in runs if kind in tallies),
        )
        for kind in kinds
    }


def _print(console: Console, what: str, outcome: str, figures: Figures) -> None:
    console.print(f"| {what} | n | {outcome} | % |")
    console.print("|---|---:|---:|---:|")
    n, refused = (sum(column) for column in zip(*figures.values(), strict=True))
    for kind, (count, stopped) in (*figures.items(), ("**all**", (n, refused))):
        console.print(f"| {kind} | {count} | {stopped} | {100 * stopped / count:.1f} |")


if __name__ == "__main__":
    main()
