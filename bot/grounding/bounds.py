"""Tells a least from a most beside a number, in French and in English. Pure."""

from __future__ import annotations

import re
from enum import StrEnum


class Bound(StrEnum):
    """Which side of a number is meant."""

    MOST = "at most"
    LEAST = "at least"


_LINK = r" (?:de |d'|a |the |les |un |une |of |about |environ |total |fixee?s? |set |at )*$"
_MOST_BEFORE = re.compile(
    r"(?:jusqu'a|up to|at most|(?:no|not) (?:more|longer|later|greater) than|pas plus de|au plus"
    r"|(?:au |un |a )?maxim(?:um|ale?)(?: de| of)?|max\.?|plafonne\w* a|capped at|limite\w* a"
    r"|limited to|dans la limite de|moins de|less than|fewer than|(?:not |n\w* )?exceed(?:ing)?"
    r"|(?:pas |ne |sans )(?:\w+ )?(?:exceder|depasser|excede|depasse)"
    r"|n(?:e |')(?:depass|exced)\w+ pas"
    r"|within|dans (?:les|un delai de)|sous|inferieure?s? (?:ou egale?s? )?a|below|under)" + _LINK
)
_MOST_AFTER = re.compile(
    r"^ ?\(?(?:\w+ ){0,2}(?:(?:au |at )?max(?:imum|\b)|au plus|at most|or (?:less|fewer)"
    r"|ou moins)"
)
_LEAST_BEFORE = re.compile(
    r"(?:au moins|at least|(?:no|not) (?:less|fewer) than|pas moins de"
    r"|(?:au |un |a )?minim(?:um|ale?)(?: de| of)?|min\.?|plus de|more than"
    r"|superieure?s? (?:ou egale?s? )?a|exceeds?|depass\w+|exced\w+|above|over|beyond"
    r"|au[- ]dela)" + _LINK
)
_LEAST_AFTER = re.compile(
    r"^ ?\(?(?:\w+ ){0,2}(?:(?:au |at )?min(?:imum|\b)|au moins|at least"
    r"|or (?:more|longer)|ou plus|et plus)"
)
_HAS_BEFORE = re.compile(r"\b(?:avez|avons|a|ont|as|dispos\w+ d[e'u]|have|has|get) (?:de )?$")
_TO_AFTER = re.compile(r"^ ?(?:pour|afin|to) ")
"""« vous avez 2 jours pour répondre » sets a most, as « répondre sous 2 jours » does."""
_REACH = 48
_MOST_WORD = re.compile(
    r"\b(?:max\w*|plafon\w*|limit\w*|ceiling|caps?|capped|up to|jusqu'a|at most|au plus"
    r"|delais?|deadline|within|no more|no later|pas plus|(?:exced|depass|exceed)\w*"
    r"|moins de|less than|fewer than|under|below|sous|dans les)\b"
)
_LEAST_WORD = re.compile(
    r"\b(?:min\w*|plancher|floor|seuil|threshold|at least|au moins|plus de|more than|ou plus"
    r"|or more|over|above|beyond|au[- ]dela|superieure?s? (?:ou egale?s? )?a|a partir de"
    r"|pas moins)\b"
)


def bound_around(before: str, after: str) -> Bound | None:
    """Return the bound that the words around a number set, or None.

    Args:
        before: Folded text that ends where the number starts.
        after: Folded text that starts where the number and its unit end.
    """
    near = f"{before[-_REACH:].rstrip()} "
    if _MOST_BEFORE.search(near) or _MOST_AFTER.match(after):
        return Bound.MOST
    if _HAS_BEFORE.search(near) and _TO_AFTER.match(after):
        return Bound.MOST
    if _LEAST_BEFORE.search(near) or _LEAST_AFTER.match(after):
        return Bound.LEAST
    return None


def limit_words(bound: Bound, folded: str) -> int:
    """Count the words of a text that speak of this kind of limit (plafond, minimum…)."""
    return len((_MOST_WORD if bound is Bound.MOST else _LEAST_WORD).findall(folded))
