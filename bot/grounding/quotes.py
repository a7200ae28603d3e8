"""Finds a quote in a text, up to white space, case and the kind of quotation marks. Pure."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

Span = tuple[int, int]

_SAME = str.maketrans(
    {
        **dict.fromkeys("’‘ʼ′`´＇", "'"),
        **dict.fromkeys("“”„«»″", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
    }
)
_EDGES = " \"'.…"
_CACHED_TEXTS = 64


def locate(quote: str, text: str) -> list[Span]:
    """Return every place where a quote stands in a text, as offsets, in order.

    What differs in white space, in case, in the kind of apostrophe, quotation mark or dash, or by
    characters of the text that are not visible, is the same. A quote that has invisible
    characters of its own is not.

    Args:
        quote: As a model copied it; quotation marks and dots at its ends do not count.
        text: Of the page.
    """
    comparable, offsets = _comparable(text)
    wanted = _plain(quote).strip(_EDGES)
    spans: list[Span] = []
    start = comparable.find(wanted) if wanted else -1
    while start != -1:
        end = start + len(wanted)
        if _whole_words(comparable, start, end):
            spans.append((offsets[start], offsets[end - 1] + 1))
        start = comparable.find(wanted, start + 1)
    return spans


def _plain(text: str) -> str:
    return " ".join(text.translate(_SAME).casefold().split())


@lru_cache(maxsize=_CACHED_TEXTS)
def _comparable(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the text to compare with, and the offset of each of its characters in the original."""
    characters: list[str] = []
    offsets: list[int] = []
    for offset, character in enumerate(text):
        if character.isspace():
            written = "" if characters and characters[-1] == " " else " "
        elif unicodedata.category(character) == "Cf":
            written = ""
        else:
            written = character.translate(_SAME).casefold()
        characters.extend(written)
        offsets.extend([offset] * len(written))
    return "".join(characters), tuple(offsets)


def _whole_words(text: str, start: int, end: int) -> bool:
    """Tell whether no word is cut at either end: `5 jours` is not a quote of `25 jours`."""
    before, after = text[start - 1 : start], text[end : end + 1]
    cut_before = before.isalnum() and text[start].isalnum()
    return not cut_before and not (after.isalnum() and text[end - 1].isalnum())
