"""Turns the bytes of a text file into text, or says why it cannot."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final

from charset_normalizer import from_bytes

from ingest.errors import PageParseError

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{1,40})""", re.I)
_DETECTION_BYTES: Final = 65_536
_MAX_CHAOS: Final = 0.2
"""Share of implausible characters (charset-normalizer's measure) above which it is a guess."""
_MIN_COHERENCE: Final = 0.2
"""Share of the letters' frequencies that fit a language (charset-normalizer's measure)."""
_WESTERN: Final = "cp1252"
_WESTERN_CHARACTERS: Final = frozenset(
    "àâäçéèêëîïôöùûüÿñæœÀÂÄÇÉÈÊËÎÏÔÖÙÛÜŸÑÆŒß€£°§«»’‘“”–—…•ªº²³·\xa0"
)

# C0 and C1 controls but tab and line feed, non-characters, zero-width and soft hyphens: invisible,
# and each would keep a word from being found or a quote from matching.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff]"
)
_LINE_BREAKS: Final = re.compile("\r\n?|[\x0c\x85\u2028\u2029]")


def decode(content: bytes, *, html: bool = False) -> str:
    """Return the text, NFC, with line feeds as breaks and without invisible characters.

    A byte order mark decides; then UTF-8 if it is valid; then the charset that an HTML page
    declares; then charset-normalizer, when it is sure enough.

    Raises:
        PageParseError: If it is binary or in no encoding that can be told.
    """
    return clean(_decode(content, html=html))


def clean(text: str) -> str:
    """Normalise to NFC and line feeds, and drop characters that nobody sees."""
    text = unicodedata.normalize("NFC", text)
    return _INVISIBLE.sub("", _LINE_BREAKS.sub("\n", text))


def _decode(content: bytes, *, html: bool) -> str:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            return _strictly(content[len(bom) :], encoding)
    if b"\x00" in content:
        raise PageParseError("binary content under the name of a text file")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        declared = _DECLARED.search(content[:2048]) if html else None
    if declared is not None:
        try:
            return content.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass  # a wrong declaration says nothing: fall back on detection
    return _detect(content)


def _strictly(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise PageParseError(f"starts as {encoding} but is not valid {encoding}") from error


def _detect(content: bytes) -> str:
    best = from_bytes(content[:_DETECTION_BYTES]).best()
    if best is not None and best.chaos <= _MAX_CHAOS and best.coherence >= _MIN_COHERENCE:
        return _strictly(content, best.encoding)
    text = content.decode(_WESTERN, "replace")  # too short to tell: what Windows writes here?
    if all(character.isascii() or character in _WESTERN_CHARACTERS for character in text):
        return text
    raise PageParseError("cannot tell its encoding; save it as UTF-8")
