"""Words of opposite sense that turn a rule round when one stands for the other. Data.

Forms are folded and may be patterns; both languages stand on the same side.
"""

from __future__ import annotations

import re
from typing import Final


def _words(forms: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(' '.join(form.split()) for form in forms.split(','))})\b")


OPPOSITES: Final = tuple(
    (name, _words(one), _words(other))
    for name, one, other in (
        (
            "before/after",
            r"avant, before, au plus tard, no later than, d'ici, until, jusqu'au, prior, prealable,"
            r" prealablement, precede\w*",
            r"apres, after, a compter, a partir, suivant\w*, following, since, depuis, issue, once,"
            r" une fois",
        ),
        (
            "most/least",
            r"max\w*, au plus, at most, jusqu'a, up to, no more than, pas plus, plafon\w*,"
            r" limit\w*, moins de, less than, fewer than, under",
            r"min\w*, au moins, at least, no less than, pas moins, plus de, more than,"
            r" superieur\w*, or more, ou plus",
        ),
        (
            "must/may",
            r"doi[st], doivent, devez, devons, must, required?, requires?, obligatoires?,"
            r" obligatoirement, obligation, mandatory, shall, faut, impose\w*, compulsory, tenus?,"
            r" exig\w*, necessaires?, needs?, have to, has to, necessary, imperativ\w*, obliged?",
            r"peu(?:t|x|vent), pouvez, pouvons, may, can, could, might, possib\w+, facultati\w*,"
            r" optional\w*, recommand\w*, recommend\w*, should, conseill\w*, devrai\w*,"
            r" encourag\w*, free to, invit\w*",
        ),
        (
            "always/never",
            r"toujours, always, systematiquement, every, chaque, tou[st]\w*, all, any",
            r"jamais, never, aucun\w*, rarement, rarely, none",
        ),
        ("with/without", r"avec, with", r"sans, without"),
        (
            "included/excluded",
            r"inclu\w*, compri\w*, includ\w*, covered, couvert\w*",
            r"exclu[est]\w*, non compris\w*, exclud\w*, hors",
        ),
        (
            "more/less",
            r"augment\w*, increas\w*, hausse, raise\w*, major\w*",
            r"diminu\w*, decreas\w*, baisse\w*, redui\w*, reduc\w*, minor\w*",
        ),
        ("free/paid", r"gratuit\w*, free, without charge", r"payant\w*, paying, charged"),
        ("first/last", r"premiere?s?, first, debut, beginning", r"derniere?s?, last, fin"),
        (
            "inside/outside",
            r"inside, interieur\w*, interne\w*, internal\w*",
            r"outside, exterieur\w*, externe\w*, external\w*",
        ),
    )
)
"""Name, one side, the other side."""
