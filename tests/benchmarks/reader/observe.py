"""Asks labelled questions on an index and keeps, as JSON Lines, what a reader would read.

`python -m tests.benchmarks.reader.observe --out FILE okp4 clapnq …`. The indexes are those that
`tests.benchmarks.quality` left in the work folder. One line a question: its labels, the signals of
the support check, the passages retrieved and the claims drafted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from bot.answering.answerer import Answerer
from bot.answering.support import hard_rules
from bot.app import build_answerer
from bot.evaluation import LabelledQuestion, answers, read_questions
from bot.records import Claim, Passage
from tests.benchmarks.public_sets import PUBLIC_SETS, index_settings, read_public_questions

ROOT = Path(__file__).resolve().parents[3]
READ_PASSAGES = 6
"""As many as the extractive generator quotes from."""

console = Console(stderr=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Observe and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", help="hand-made or public sets")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--work", type=Path, default=ROOT / "data" / "quality")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    with options.out.open("a", encoding="utf-8") as out:
        for name in options.names:
            for record in observe(name, options.shared, options.work):
                out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
    return 0


def observe(name: str, shared: Path, work: Path) -> Iterator[Mapping[str, Any]]:
    """Ask the questions of one set on its index."""
    with build_answerer(index_settings(name, work)) as answerer:
        for labelled in track(_questions(name, shared), description=name, console=console):
            yield {"set": name, **_record(labelled, answerer)}


def _questions(name: str, shared: Path) -> list[LabelledQuestion]:
    if name in PUBLIC_SETS:
        return read_public_questions(shared, PUBLIC_SETS[name])
    return read_questions(shared / "questions" / f"{name}.jsonl")


def _record(labelled: LabelledQuestion, answerer: Answerer) -> dict[str, Any]:
    examination = answerer.examine(labelled.question)
    claims = examination.verification.claims
    query = examination.retrieval.query
    return {
        "id": labelled.question_id,
        "kind": labelled.kind,
        "question": query.text,
        "answerable": labelled.answerable,
        "right": labelled.answerable and answers(labelled, claims),
        "vetoed": bool(hard_rules(query, claims)),
        "signals": dict(examination.decision.signals),
        "gold": [[gold.page, gold.quote] for gold in labelled.gold],
        "passages": [_passage(p) for p in examination.retrieval.passages[:READ_PASSAGES]],
        "claims": [_claim(claim) for claim in claims],
    }


def _passage(passage: Passage) -> dict[str, Any]:
    chunk = passage.chunk
    return {
        "chunk_id": chunk.chunk_id,
        "page": chunk.page,
        "title": chunk.title,
        "headings": list(chunk.heading_path),
        "text": chunk.text,
        "units": [[unit.start, unit.end, unit.kind.value, unit.context] for unit in chunk.units],
        "cosine": float(passage.signals.get("cosine", 0.0)),
        "interaction": float(passage.signals.get("interaction", 0.0)),
        "unit_cosines": [float(cosine) for cosine in passage.unit_cosines],
    }


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "chunk_id": claim.citation.passage.chunk.chunk_id,
        "quote": claim.citation.quote,
        "sentence": claim.sentence,
    }


if __name__ == "__main__":
    sys.exit(main())
