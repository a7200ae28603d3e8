"""The bundled encoder against sentence-transformers (torch, float32) on the same weights.

    python tests/benchmarks/bench_encoders.py [--json | --markdown]

Each engine lives in its own process and they take turns, so that other work on the machine slows
both. Ratios are what matters; seconds belong to the machine.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # run as a script, by the documented command

from ingest.embedding.base import Embedder  # noqa: E402 - after the path is set

T = TypeVar("T")

TIMED = {"query": "query_ms", "long": "long_per_s", "mixed": "mixed_per_s"}
"""What is timed, and the figure it adds to."""

BUNDLED, TORCH = "bundled", "sentence-transformers"
ROUNDS = 4
QUERIES, LONG_PASSAGES, MIXED, RANKED = 40, 16, 48, 240
LONG_WORDS = 125
"""About 200 tokens of French or English in this vocabulary."""


@dataclass(frozen=True)
class Texts:
    """What is encoded: questions, passages of 200 tokens, of any length, and a small index."""

    queries: list[str]
    long: list[str]
    mixed: list[str]
    ranked: list[str]


@dataclass
class Figures:
    """What one engine took, one value a round (query_ms: one a query)."""

    load_s: float = 0.0
    query_ms: list[float] = field(default_factory=list)
    long_per_s: list[float] = field(default_factory=list)
    mixed_per_s: list[float] = field(default_factory=list)
    rss_query_mb: float = 0.0
    rss_peak_mb: float = 0.0


class Engine:
    """An embedder in a process of its own, told what to do line by line."""

    def __init__(self, name: str, texts: Path, model: Path) -> None:
        command = [sys.executable, __file__, "--engine", name, str(texts), str(model)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.figures = Figures()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def ask(self, what: str) -> dict[str, Any]:
        """Have something done and return what the process says of it."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the engine has no pipes")
        stdin.write(f"{what}\n")
        stdin.flush()
        reply: dict[str, Any] = json.loads(stdout.readline())
        return reply


def main() -> int:
    """Measure, then print a table, JSON or Markdown."""
    if sys.argv[1:2] == ["--engine"]:
        return _serve(*sys.argv[2:])
    if sys.argv[1:2] == ["--unpack"]:
        from tests.unpacked_e5 import unpack_e5

        unpack_e5(Path(sys.argv[2]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true")
    form.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if not options.shared.is_dir():
        sys.stderr.write(f"no handbooks in {options.shared}: nothing to encode\n")
        return 2
    result = _measure(read_texts(options.shared))
    if options.json:
        sys.stdout.write(json.dumps(result, indent=1) + "\n")
    else:
        sys.stdout.write(_markdown(result))
    return 0


def read_texts(shared: Path) -> Texts:
    """Take questions, and paragraphs of every handbook at even distances."""
    questions = [
        json.loads(line)["question"]
        for file in sorted((shared / "questions").glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()
    ]
    pages = sorted((shared / "corpora").rglob("*.md"))
    words = [page.read_text("utf-8", "replace").split() for page in _spread(pages, 400)]
    long = [" ".join(page[50 : 50 + LONG_WORDS]) for page in words if len(page) > 50 + LONG_WORDS]
    sizes = (12, 30, 60, 90, 120, 160)
    mixed = [" ".join(page[: sizes[i % len(sizes)]]) for i, page in enumerate(words)]
    return Texts(
        queries=_spread(questions, QUERIES),
        long=_spread(long, LONG_PASSAGES),
        mixed=_spread(mixed, MIXED),
        ranked=_spread([text[:400] for text in long], RANKED),
    )


def _spread(values: Sequence[T], count: int) -> list[T]:
    """Return `count` of the values at even distances, or all when there are fewer."""
    count = min(count, len(values))
    return [values[round(i * (len(values) - 1) / max(count - 1, 1))] for i in range(count)]


def _measure(texts: Texts) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        file = Path(scratch) / "texts.json"
        file.write_text(json.dumps(vars(texts)), encoding="utf-8")
        model = Path(scratch) / "multilingual-e5-small"
        sys.stderr.write("unpacking the weights for sentence-transformers…\n")
        subprocess.run([sys.executable, __file__, "--unpack", str(model)], cwd=ROOT, check=True)
        engines = {
            name: stack.enter_context(Engine(name, file, model)) for name in (BUNDLED, TORCH)
        }
        _load(engines)
        _take_turns(engines)
        overlap = _overlap(engines, Path(scratch))
        for engine in engines.values():
            engine.figures.rss_peak_mb = engine.ask("memory")["peak_mb"]
    figures = {name: engine.figures for name, engine in engines.items()}
    return {
        "texts": {name: len(values) for name, values in vars(texts).items()},
        "rounds": ROUNDS,
        "engines": {name: _summary(each) for name, each in figures.items()},
        "bundled_against_torch": {
            "query_speed": _ratio(figures[TORCH].query_ms, figures[BUNDLED].query_ms),
            "long_passages": _ratio(figures[BUNDLED].long_per_s, figures[TORCH].long_per_s),
            "mixed_ingest": _ratio(figures[BUNDLED].mixed_per_s, figures[TORCH].mixed_per_s),
            "top_10_overlap": overlap,
        },
    }


def _load(engines: Mapping[str, Engine]) -> None:
    for name, engine in engines.items():
        sys.stderr.write(f"loading {name}…\n")
        engine.figures.load_s = engine.ask("load")["seconds"]
        engine.figures.rss_query_mb = engine.ask("memory")["now_mb"]


def _take_turns(engines: Mapping[str, Engine]) -> None:
    turns = [(what, name) for _ in range(ROUNDS) for what in TIMED for name in engines]
    for what, name in track(turns, "encoding", console=Console(stderr=True)):
        figures, reply = engines[name].figures, engines[name].ask(what)
        getattr(figures, TIMED[what]).extend(reply["values"])


def _overlap(engines: Mapping[str, Engine], scratch: Path) -> float:
    """Return the share of each question's ten best passages that both engines agree on."""
    best = {}
    for name, engine in engines.items():
        sys.stderr.write(f"ranking with {name}…\n")
        target = scratch / f"{name}.npy"
        engine.ask(f"rank {target}")
        best[name] = np.load(target)
    shared = [
        len(set(ours) & set(theirs)) / len(theirs)
        for ours, theirs in zip(best[BUNDLED].tolist(), best[TORCH].tolist(), strict=True)
    ]
    return float(np.mean(shared))


def _ratio(numerators: Sequence[float], denominators: Sequence[float]) -> float:
    return median(numerators) / median(denominators)


def _summary(figures: Figures) -> dict[str, float]:
    return {
        "load_s": figures.load_s,
        "query_ms_p50": float(np.quantile(figures.query_ms, 0.5)),
        "query_ms_p95": float(np.quantile(figures.query_ms, 0.95)),
        "long_per_s": median(figures.long_per_s),
        "mixed_per_s": median(figures.mixed_per_s),
        "rss_query_mb": figures.rss_query_mb,
        "rss_peak_mb": figures.rss_peak_mb,
    }


def _markdown(result: dict[str, Any]) -> str:
    lines = [
        "| engine | load s | query ms p50 / p95 | passages/s at 200 tokens | passages/s, mixed |"
        " MB at query / peak |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {e['load_s']:.1f} | {e['query_ms_p50']:.1f} / {e['query_ms_p95']:.1f} |"
        f" {e['long_per_s']:.1f} | {e['mixed_per_s']:.1f} |"
        f" {e['rss_query_mb']:.0f} / {e['rss_peak_mb']:.0f} |"
        for name, e in result["engines"].items()
    ]
    against = result["bundled_against_torch"]
    lines.append(
        f"\nBundled against torch float32: questions {against['query_speed']:.2f}x, passages of"
        f" 200 tokens {against['long_passages']:.2f}x, mixed ingest"
        f" {against['mixed_ingest']:.2f}x; {against['top_10_overlap']:.3f} of the ten best"
        f" passages are the same ({result['texts']['queries']} questions,"
        f" {result['texts']['ranked']} passages, medians of {result['rounds']} rounds)."
    )
    return "\n".join(lines) + "\n"


# What runs in the process of one engine.


def _serve(name: str, texts_file: str, model: str) -> int:
    texts = Texts(**json.loads(Path(texts_file).read_text("utf-8")))
    started = time.perf_counter()
    embedder = _open(name, model)
    for line in sys.stdin:
        what, _, argument = line.strip().partition(" ")
        reply: dict[str, Any] = {}
        if what == "load":
            embedder.embed_query(texts.queries[0])
            reply["seconds"] = time.perf_counter() - started
        elif what == "memory":
            reply = _memory()
        elif what == "rank":
            np.save(argument, _ten_best(embedder, texts))
        else:
            reply["values"] = _timed(embedder, what, texts)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
    return 0


def _open(name: str, model: str) -> Embedder:
    if name == BUNDLED:
        from ingest.embedding.bundled import BundledEmbedder

        return BundledEmbedder()
    from ingest.embedding.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(model)


def _timed(embedder: Embedder, what: str, texts: Texts) -> list[float]:
    if what == "query":
        return [1000 * _seconds(embedder.embed_query, query) for query in texts.queries]
    passages = texts.long if what == "long" else texts.mixed
    return [len(passages) / _seconds(embedder.embed_passages, passages)]


def _seconds(encode: Callable[[Any], object], argument: object) -> float:
    started = time.perf_counter()
    encode(argument)
    return time.perf_counter() - started


def _ten_best(embedder: Embedder, texts: Texts) -> NDArray[np.int64]:
    passages = embedder.embed_passages(texts.ranked)
    queries = np.stack([embedder.embed_query(query) for query in texts.queries])
    return np.argsort(-(queries @ passages.T), axis=1, kind="stable")[:, :10]


def _memory() -> dict[str, float]:
    """Return the resident memory of this process, now and at its peak (Linux)."""
    status = Path("/proc/self/status").read_text("utf-8")
    kilobytes = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", status, flags=re.MULTILINE))
    return {"now_mb": int(kilobytes["VmRSS"]) / 1024, "peak_mb": int(kilobytes["VmHWM"]) / 1024}


if __name__ == "__main__":
    sys.exit(main())
