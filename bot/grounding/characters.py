"""Characters and markup that a sentence may not bring along: they hide, imitate or act. Pure."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = frozenset(("Cf", "Cc", "Co", "Cs", "Cn"))
_ALLOWED_CONTROLS = "\n\t\r"
_LATIN_END = 0x0250
_ACCENTS = range(0x0300, 0x0370)

_MARKUP = re.compile(
    r"<[!@#/a-zA-Z][^<>]*>"  # Slack tokens (<!channel>, <@U1>, <https://x|y>) and HTML tags
    r"|&(?:#\d+|#x[0-9a-f]+|[a-z]{2,8});"  # entities
    r"|!?\[[^\]]*\]\s*(?:\([^)]*\)|\[[^\]]*\])"  # Markdown links and pictures
    r"|(?<!\w)@(?:channel|here|everyone)\b"
    r"|\b(?:javascript|data|vbscript):\S",
    re.IGNORECASE,
)


def hidden_characters(text: str) -> tuple[str, ...]:
    """Return the invisible, control and unassigned characters of a text, as code points."""
    return tuple(
        f"U+{ord(character):04X}"
        for character in dict.fromkeys(text)
        if unicodedata.category(character) in _INVISIBLE and character not in _ALLOWED_CONTROLS
    )


def foreign_characters(text: str, known: str) -> tuple[str, ...]:
    """Return the letters and digits outside the Latin script that another text does not have.

    They may look like Latin ones (а, ο, ４): a sentence takes them from its passage or not at all.

    Args:
        text: To look at.
        known: Passage and question.
    """
    return tuple(
        f"{character} (U+{ord(character):04X})"
        for character in dict.fromkeys(unicodedata.normalize("NFC", text))
        if ord(character) >= _LATIN_END or ord(character) in _ACCENTS
        if unicodedata.category(character)[0] in "LNM" and character not in known
    )


def live_markup(text: str, known: str) -> tuple[str, ...]:
    """Return the tags, Slack tokens and Markdown links of a text that another does not have."""
    return tuple(m.group() for m in _MARKUP.finditer(text) if m.group() not in known)
