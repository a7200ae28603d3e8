"""Makes any text safe to encode, the same way for every encoder. Pure."""

from __future__ import annotations

import unicodedata

MAX_CHARS = 60_000
"""Longer texts are cut before anything else reads them: no encoder here reads more than 512
tokens by default, and a token of ordinary text is shorter than 17 characters."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_UNREADABLE = dict.fromkeys((0, *range(0xD800, 0xE000)), _REPLACEMENT)
"""NUL ends a text in C; lone surrogates have no UTF-8."""


def clean_text(text: str) -> str:
    """Return a text that every tokenizer accepts: NFKC, without NUL or lone surrogates, bounded."""
    return unicodedata.normalize("NFKC", text[:MAX_CHARS].translate(_UNREADABLE))[:MAX_CHARS]
