"""Whether a sentence makes a limit of a date that its quote only names. Pure.

« La prime est versée le 5 mars » does not say that it is paid before or from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.grounding.facts import MONTH

_DATE = (
    rf"(?:\d{{1,2}}(?:er|st|nd|rd|th)? (?:of |de )?(?:{MONTH})\b"
    rf"|(?:{MONTH})\.? (?:the )?\d{{1,2}}\b|\d{{4}}-\d\d-\d\d)"
)
_SIDES = (
    r"avant|before|prior to|by|until|till|jusqu'au?|au plus tard|no later than|d'ici"
    r"|apres|after|a partir d[eu]|a compter d[eu]|depuis|since|from|starting"
)
_BOUNDED = re.compile(rf"\b(?:{_SIDES})(?: (?:le|the|du|au|on|of))* {_DATE}")
_SAID_SO = re.compile(
    rf"\b(?:{_SIDES}|to|through|des|du|au|between|entre|-)(?: \w+){{0,2}} {_DATE}"
    r"|\b(?:avant|before|apres|after|until|jusqu\w*|plus tard|later|latest|limit\w*|deadline|due"
    r"|echeance|delais?|start\w*|beg[iu]n\w*|began|commenc\w*|debut\w*|ouv\w*|open\w*|clos\w*"
    r"|clot\w*|fins?|fini\w*|end\w*|expir\w*|termin\w*|ferm\w*|cess\w*|vala\w*|valid\w*"
    r"|vigueur|effect\w*|effet|appl\w*|within|periode?s?|chang\w*|remplac\w*|replac\w*)\b"
)
"""Words that make a limit of a date, before it or elsewhere: « La date limite est le 5 mars »."""


def added_limits(mine: str, theirs: str) -> Iterator[str]:
    """Yield what a sentence makes of a date that its quote does not.

    Args:
        mine: The sentence, folded.
        theirs: The quoted sentences, folded; in the same language or another.
    """
    bounded = _BOUNDED.search(mine)
    if bounded and not _SAID_SO.search(theirs):
        yield f"makes a limit of a date: “{bounded[0]}”"
