"""Cuts pages into the short pieces a reader reads, as sentences, lists and tables. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ingest import fold
from ingest.sentences import split_sentences

WINDOW_WORDS = 70
"""Somewhat more than an answer quotes: an answer is judged with the sentences beside it."""

_MIN_SENTENCES_OF_A_LIST = 3
_LONGEST = 40
"""Words from which a sentence is cut: whatever is in reach of an answer finds room beside it."""


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive sentences of a text.

    Attributes:
        span: Characters of `text` that were asked for; None when nothing was.
    """

    text: str
    span: tuple[int, int] | None = None


def sentences(text: str) -> list[str]:
    """Return the sentences, items and rows of a text, without surrounding space, long ones cut."""
    parts = (text[start:end].split() for start, end in split_sentences(text))
    return [
        " ".join(words[start : start + _LONGEST])
        for words in parts
        for start in range(0, len(words), _LONGEST)
    ]


def window_around(
    parts: list[str], centre: int, rng: random.Random, *, words: int = WINDOW_WORDS
) -> Window:
    """Grow a window from one sentence, to either side by chance; its span is that sentence."""
    start = end = centre
    count = len(parts[centre].split())
    while True:
        sides = [i for i in (start - 1, end + 1) if 0 <= i < len(parts)]
        sides = [i for i in sides if count + len(parts[i].split()) <= words]
        if not sides:
            break
        side = rng.choice(sides)
        count += len(parts[side].split())
        start, end = min(start, side), max(end, side)
    before = "\n".join(parts[start:centre])
    offset = len(before) + bool(before)
    return Window("\n".join(parts[start : end + 1]), (offset, offset + len(parts[centre])))


def closest(parts: list[str], wanted: str) -> int:
    """Return the sentence that holds the largest share of some words, the earliest of equals."""
    words = stems(wanted)
    shares = [len(words & stems(part)) / (1 + len(stems(part)) ** 0.5) for part in parts]
    return max(range(len(parts)), key=lambda i: (shares[i], -i))


def stems(text: str) -> frozenset[str]:
    """Return the words of a text cut to six letters: enough to compare two texts by rule."""
    words = "".join(c if c.isalnum() else " " for c in fold(text)).split()
    return frozenset(word[:6] for word in words if len(word) > 2 or word.isdigit())


def as_list(window: Window) -> Window | None:
    """Write a window as a list, None when it is too short to be one."""
    return _prefixed(window, "- ", "")


def as_table(window: Window, rng: random.Random) -> Window | None:
    """Write a window as the rows of a table, None when it is too short to be one."""
    return _prefixed(window, f"| {rng.randint(1, 20)} | ", " |")


def _prefixed(window: Window, before: str, after: str) -> Window | None:
    lines = window.text.split("\n")
    if len(lines) < _MIN_SENTENCES_OF_A_LIST:
        return None
    span, offset = window.span, 0
    written, moved = [], None
    for line in lines:
        if span and offset <= span[0] < offset + len(line) + 1:
            at = sum(len(earlier) + 1 for earlier in written) + len(before)
            moved = (at + span[0] - offset, at + min(span[1] - offset, len(line)))
        written.append(f"{before}{line}{after}")
        offset += len(line) + 1
    return Window("\n".join(written), moved)
