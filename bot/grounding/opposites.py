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
            r" prealablement, preced\w*",
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
            r"inclu\w*, compri\w*, includ\w*, covered, couvert\w*, even, meme",
            r"exclu[est]\w*, non compris\w*, exclud\w*, hors, sauf, except\w*, hormis,"
            r" a l'exception",
        ),
        (
            "more/less",
            r"augment\w*, increas\w*, hausse, raise\w*, major\w*",
            r"diminu\w*, decreas\w*, baisse\w*, redui\w*, reduc\w*, minor\w*, minimi\w*,"
            r" elimin\w*",
        ),
        (
            "more/less, as it compares",
            r"more, (?<!au )plus (?!de\b|que\b|tard)\w+",
            r"less, fewer, (?<!au )moins (?!de\b|que\b)\w+",
        ),
        ("higher/lower", r"higher, highest", r"lower, lowest"),
        ("faster/slower", r"faster, fastest, rapide\w*", r"slower, slowest, lent\w*"),
        ("longer/shorter", r"longer, longest, longue?s?", r"shorter, shortest, courte?s?"),
        ("better/worse", r"better, best, meilleure?s?", r"worse, worst, pires?"),
        ("larger/smaller", r"larger, largest, bigger, biggest", r"smaller, smallest"),
        ("free/paid", r"gratuit\w*, free, without charge", r"payant\w*, paying, charged"),
        ("first/last", r"premiere?s?, first, debut, beginning", r"derniere?s?, last, fin"),
        (
            "inside/outside",
            r"inside, interieur\w*, interne\w*, internal\w*",
            r"outside, exterieur\w*, externe\w*, external\w*",
        ),
        (
            "begin/end",
            r"commenc\w*, debut\w*, demarr\w*, start\w*, begin\w*, began, begun, entre en vigueur,"
            r" ouvr\w*, open\w*",
            r"fin, finit, finissent, termin\w*, cess\w*, expir\w*, ends?, ended, ending, finish\w*,"
            r" ferm\w*, clos\w*",
        ),
        ("accept/refuse", r"accept\w*, approuv\w*, approv\w*", r"refus\w*, reject\w*, rejet\w*"),
        (
            "father/mother",
            r"peres?, fathers?, paternit\w*, paternel\w*, paternal",
            r"meres?, mothers?, maternit\w*, maternel\w*, maternal",
        ),
        (
            "employer/employee",
            r"employeurs?, employers?",
            r"salaries?, salariees?, employes?, employees?, collaborateurs?",
        ),
        (
            "buyer/seller",
            r"acheteurs?, acquereurs?, buyers?, clients?, customers?",
            r"vendeurs?, sellers?, fournisseurs?, suppliers?, vendors?",
        ),
        ("owner/tenant", r"proprietaires?, bailleurs?, landlords?", r"locataires?, tenants?"),
        ("gross/net", r"bruts?, brutes?, gross", r"nets?, nettes?"),
        (
            "full time/part time",
            r"temps plein, temps complet, full[- ]time",
            r"temps partiel, mi-temps, part[- ]time",
        ),
        (
            "permanent/temporary",
            r"indeterminee?s?, cdi, permanente?s?",
            r"determinee?s?, cdd, temporar\w*, temporaires?",
        ),
    )
)
"""Name, one side, the other side."""
