"""A question beside a piece of a page, and whether the one answers the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pair:
    """One example.

    Attributes:
        origin: Question set it was made from.
        group: Question it was made from: all its pairs are held out together.
        kind: How it was made: `answer`, or the kind of near miss.
        heading: Title and headings above the text; "" for none.
        answered: Whether the text answers the question.
        span: Characters (start, end) of `text` that answer; None where unknown.
    """

    origin: str
    group: str
    kind: str
    question: str
    heading: str
    text: str
    answered: bool
    span: tuple[int, int] | None = None


def write_pairs(path: Path, pairs: Iterable[Pair]) -> None:
    """Write JSON Lines."""
    with path.open("w", encoding="utf-8") as out:
        for pair in pairs:
            out.write(json.dumps(asdict(pair), ensure_ascii=False) + "\n")


def read_pairs(path: Path) -> list[Pair]:
    """Read what `write_pairs` wrote."""
    with path.open(encoding="utf-8") as lines:
        return [_pair(json.loads(line)) for line in lines]


def records(path: Path) -> Iterator[dict[str, object]]:
    """Read JSON Lines."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def _pair(record: dict[str, object]) -> Pair:
    span = record.pop("span")
    return Pair(**record, span=tuple(span) if span else None)  # type: ignore[arg-type]
