"""Makes the pairs that a reader is trained and held out on.

`python -m tests.benchmarks.reader.build --out pairs.jsonl [--handbooks …]`. Pairs whose text occurs
in a handbook of the quality figures are left out; their questions are never opened.
"""

from __future__ import annotations

import argparse
import random
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from ingest import fold
from tests.benchmarks.public_sets import PUBLIC_SETS, SEED, gold_pages, page_name
from tests.benchmarks.quality import CORPORA
from tests.benchmarks.reader.pairs import Pair, write_pairs
from tests.benchmarks.reader.public_pairs import SETS, Maker
from tests.benchmarks.reader.section_pairs import section_pairs
from tests.benchmarks.reader.windows import Window, as_list, as_table

ROOT = Path(__file__).resolve().parents[3]
HANDBOOKS = ("sourcegraph-handbook", "service-public")
"""No hand-made question is about these."""

SHINGLE_WORDS = 10
MAX_SHARED_SHINGLES = 0.1
LIST_SHARE, TABLE_SHARE, CASUAL_SHARE = 0.08, 0.05, 0.15

console = Console(stderr=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make, filter, write and count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--sets", nargs="*", choices=tuple(SETS), default=tuple(SETS))
    parser.add_argument(
        "--handbooks",
        nargs="*",
        choices=HANDBOOKS,
        default=(),
        help="whose headings ask too; with --sets and no name, they alone",
    )
    parser.add_argument("--headings", type=int, default=1_200, help="asked of each, at most")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    pairs = [pair for name in options.sets for pair in pairs_of(name, options.shared)]
    for name in options.handbooks:
        folder = options.shared / "corpora" / name
        rng = random.Random(SEED)  # noqa: S311
        asked = asked_pages(options.shared, name)
        pairs += section_pairs(folder, options.headings, rng, but=asked)
    kept = list(without_handbooks(pairs, options.shared / "corpora"))
    write_pairs(options.out, kept)
    console.print(f"{len(kept)} pairs, {len(pairs) - len(kept)} left out")
    for key, count in sorted(Counter((p.origin, p.kind) for p in kept).items()):
        console.print(*key, count)
    return 0


def asked_pages(shared: Path, handbook: str) -> frozenset[str]:
    """Return the pages of a handbook that a public set of the quality figures asks about."""
    sets = [own for own in PUBLIC_SETS.values() if own.handbook == handbook]
    asked = frozenset().union(*(gold_pages(shared, own) for own in sets))
    folder = shared / "corpora" / handbook
    paths = (path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    return frozenset(path for path in paths if page_name(path) in asked)


def pairs_of(name: str, shared: Path) -> Iterator[Pair]:
    """Make the pairs of one set, some in other shapes: lists, tables, casual questions."""
    folder, make, limit = SETS[name]
    # Sampling for a benchmark: repeatable, nothing to do with security.
    rng = random.Random(SEED)  # noqa: S311
    for pair in make(Maker(folder, shared, limit, rng)):
        yield _reshaped(pair, random.Random(zlib.crc32(pair.group.encode())))  # noqa: S311


def without_handbooks(pairs: Sequence[Pair], corpora: Path) -> Iterator[Pair]:
    """Leave out pairs that share more than a few turns of phrase with a handbook's pages."""
    shingles = [_shingles(pair.text) for pair in pairs]
    wanted = frozenset().union(*shingles)
    found: set[int] = set()
    for folder in CORPORA.values():
        for path in (corpora / folder).rglob("*"):
            if path.suffix in (".md", ".mdx", ".html", ".txt"):
                text = path.read_text(encoding="utf-8", errors="replace")
                found |= wanted & _shingles(text)
    for pair, own in zip(pairs, shingles, strict=True):
        if len(own & found) <= MAX_SHARED_SHINGLES * len(own):
            yield pair


def _shingles(text: str) -> frozenset[int]:
    words = "".join(c if c.isalnum() else " " for c in fold(text)).split()
    return frozenset(
        zlib.crc32(" ".join(words[i : i + SHINGLE_WORDS]).encode())
        for i in range(len(words) - SHINGLE_WORDS + 1)
    )


def _reshaped(pair: Pair, rng: random.Random) -> Pair:
    draw = rng.random()
    window: Window | None = None
    if draw < LIST_SHARE:
        window = as_list(Window(pair.text, pair.span))
    elif draw < LIST_SHARE + TABLE_SHARE:
        window = as_table(Window(pair.text, pair.span), rng)
    if window is not None:
        pair = replace(pair, text=window.text, span=window.span)
    if rng.random() < CASUAL_SHARE:
        pair = replace(pair, question=pair.question.rstrip(" ?.").lower())
    return pair


if __name__ == "__main__":
    sys.exit(main())
