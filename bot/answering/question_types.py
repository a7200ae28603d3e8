"""What kind of answer a question asks for, and which kinds a text holds. French and English. Pure.

The patterns are matched on folded text: lower case, no accents.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from ingest import fold


class AnswerType(StrEnum):
    """A kind of answer that can be recognised in a text."""

    DURATION = "duration"
    MONEY = "money"
    PERCENT = "percent"
    DATE = "date"
    TIME = "time"
    COUNT = "count"
    PERSON = "person"
    CONTACT = "contact"
    LINK = "link"
    YES_NO = "yes_no"
    HOW_TO = "how_to"
    LIST = "list"


_NUMBER = (
    r"(?:\d[\d\s.,]*|une?|one|an|deux|two|trois|three|quatre|four|cinq|five|six|sept|seven|huit"
    r"|eight|neuf|nine|dix|ten|onze|eleven|douze|twelve|quinze|fifteen|vingt|twenty|trente|thirty"
    r"|quarante|forty|cinquante|fifty|soixante|sixty|cent|hundred|demi[- ]?|half an?|couple of)"
)
_TIME_UNITS: dict[str, str] = {
    "second": r"secondes?|seconds?",
    "minute": r"minutes?|mins?",
    "hour": r"heures?|hours?|hrs?|h",
    "day": r"jours?|days?|jours? (?:ouvres?|ouvrables?|calendaires?)|journees?",
    "week": r"semaines?|weeks?",
    "month": r"mois|months?",
    "quarter": r"trimestres?|quarters?",
    "year": r"ans?|annees?|years?",
}
_ANY_UNIT = "|".join(_TIME_UNITS.values())
_MONTHS = (
    r"janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
)
_WEEKDAYS = (
    r"lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?"
    r"|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?"
)

_ASKED: dict[AnswerType, str] = {
    AnswerType.DURATION: (
        rf"combien de temps|combien d[e'] ?(?:{_ANY_UNIT})\b|nombre d[e'] ?(?:{_ANY_UNIT})\b"
        rf"|\bduree"
        r"|\bdelai|sous combien|combien (?:a l'avance|avant)|\bpreavis|how long|how (?:quickly"
        r"|soon|fast)"
        rf"|how many (?:\w+ )?(?:{_ANY_UNIT})\b|how (?:far|much) (?:ahead|notice|time|in advance)"
        r"|how far in advance|\bdeadline|notice period|how often|tous les combien"
        r"|a quelle frequence"
        r"|how old|quel age|\bdelay|within how"
    ),
    AnswerType.MONEY: (
        r"combien (?:\w+ ){0,4}(?:cout|gagn|pa(?:ie|ye|yer)|rembours|touch|d'argent|d'euros|verse)"
        r"|quel(?:le)? (?:\w+ ){0,3}(?:montant|prix|tarif|plafond|salaire|budget|cout|indemnite"
        r"|prime"
        r"|somme|remuneration|gratification)|\bmontant|how much(?! (?:time|notice|ahead"
        r"|in advance))"
        r"|\b(?:price|cost|salary|stipend|per diem|budget|bonus|allowance|reimburse)\w*\b"
        r"|\bplafond|\btarif|\bbudget|\bsmic\b|\bprix\b|\bcoute"
    ),
    AnswerType.PERCENT: (
        r"pourcentage|\btaux\b|quelle (?:part|fraction|proportion)|what (?:share|fraction"
        r"|proportion)"
        r"|percent|\brate\b|pour cent|%"
    ),
    AnswerType.DATE: (
        r"\bquand\b|quelle date|quel jour|quels jours|quelle annee|quel mois|\bwhen\b"
        r"|what (?:date|day"
        r"|year|month)|which (?:day|month|year|date)|\bdates?\b|depuis quand|\bdeadline|date limite"
    ),
    AnswerType.TIME: r"quelle heure|\bhoraires?\b|what time|\bwhat hours|which hours|opening hours",
    AnswerType.COUNT: r"\bcombien\b|how many|\bnombre d|number of|\bcb\b",
    AnswerType.PERSON: (
        r"(?:^|[\s'])qui\b(?! (?:est|sont) ce)|\bqui est-ce|\bwho\b|\bwhom\b|\bwhose\b|quel(?:le)?"
        r" (?:personne|equipe|service|responsable|interlocuteur)|(?:which|what) (?:team|person"
        r"|role)"
    ),
    AnswerType.CONTACT: (
        r"\b(?:e-?mails?|mails?|courriels?|adresse|address|telephone|phone|contacter|contact"
        r"|joindre"
        r"|reach|channel|canal|slack|numero|hotline)\b"
    ),
    AnswerType.LINK: (
        r"\b(?:liens?|links?|url|site)\b|ou (?:trouver|puis-je trouver)|where (?:can"
        r"|do) i find"
    ),
    AnswerType.YES_NO: (
        r"^(?:est-ce qu|peut-on|puis-je|dois-je|faut-il|peux-tu|ai-je|a-t-on|est-il|est-on|suis-je"
        r"|y a-t-il|can|do|does|did|is|are|am|must|should|may|could|would|will|has|have)\b"
        r"|\b(?:est-ce qu|peut-on|puis-je|dois-je|faut-il|ai-je le droit|a-t-on le droit"
        r"|j'ai le droit"
        r"|est-il possible|suis-je oblige|am i allowed|can i|do i have to|do i need|is it ok)\b"
    ),
    AnswerType.HOW_TO: (
        r"\bcomment\b|\bhow (?:do|to|can|should|would)\b|\bsteps?\b|\betapes?\b|\bprocedure"
        r"|\bdemarche"
        r"|que (?:dois-je|faut-il) faire|what (?:do|should) i do|marche a suivre"
    ),
    AnswerType.LIST: (
        r"\bquel(?:le)?s\b|lesquel(?:le)?s|which \w+s\b|what (?:are|kinds?|types?)"
        r"|what \w+s (?:are|do|can"
        r"|should|must)|\bliste|\blist\b|\bexemples?\b|\bexamples?\b"
    ),
}

_HELD: dict[AnswerType, str] = {
    AnswerType.DURATION: (
        rf"\b{_NUMBER}[\s)(\-/]*(?:\w+[\s-]+)?(?:{_ANY_UNIT})\b|\b\d+ ?(?:h|j|min)\b"
        r"|\b(?:weekly|monthly|daily|annually|hebdomadaire|mensuel|annuel|quotidien)"
        r"|chaque (?:jour|semaine|mois|annee)|every (?:day|week|month|year)"
    ),
    AnswerType.MONEY: (
        r"[€$£]\s?\d|\d[\d\s.,]*\s?(?:k|m)?\s?(?:€|\$|£|euros?\b|eur\b|dollars?\b|usd\b|cents?\b)"
    ),
    AnswerType.PERCENT: (
        r"\d\s?%|\bpour ?cent\b|\bpercent\b|\bmoitie\b|\bhalf\b|\b(?:deux )?tiers\b"
        r"|\bthird"
    ),
    AnswerType.DATE: (
        rf"\b(?:{_MONTHS})\b|\b(?:{_WEEKDAYS})\b|\b\d{{1,2}}[/.-]\d{{1,2}}(?:[/.-]\d{{2,4}})?\b"
        r"|\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th|er)\b|\ble \d{1,2}\b"
    ),
    AnswerType.TIME: (
        r"\b\d{1,2}\s?(?:h|:)\s?\d{0,2}\b|\b\d{1,2}\s?(?:am|pm|a\.m|p\.m)\b|\bmidi\b"
        r"|\bnoon\b"
    ),
    AnswerType.COUNT: rf"\b{_NUMBER}\b",
    AnswerType.PERSON: (
        r"[\w.+-]+@[\w-]+|@\w+|\b(?:managers?|responsables?|directeurs?|directrices?|directors?"
        r"|equipes?"
        r"|teams?|service|employeurs?|employers?|salaries?|employees?|medecin|inspect\w+"
        r"|officers?|leads?"
        r"|supervisors?|rh|hr|ceo|cto|cfo|coo|president\w*|head of|chef|comite|committee|department"
        r"|referents?|owners?|coordinat\w+|administrat\w+)\b"
    ),
    AnswerType.CONTACT: (
        r"[\w.+-]+@[\w-]+|(?<!\w)[#@][a-z][\w-]+|\b(?:\+?\d[\s.]?){9,}|\bslack\b|\be-?mail"
        r"|\bcourriel"
        r"|\bform\b|\bformulaire\b|https?://"
    ),
    AnswerType.LINK: r"https?://|\bwww\.|\b[\w-]+\.(?:com|org|fr|gov|io|net)\b",
    AnswerType.YES_NO: (
        r"\b(?:oui|non|yes|no|peu(?:t|vent|x)|pouvez|doit|doivent|devez|dois|can|cannot|can't"
        r"|may|must"
        r"|should|not|never|jamais|interdit\w*|autoris\w*|obligatoires?|possible|required|allowed"
        r"|prohibited|ne|n'|permitted|optional|facultati\w+|eligible|encourag\w+|sauf|unless)\b"
    ),
}

_COMPILED_ASKED = {kind: re.compile(pattern) for kind, pattern in _ASKED.items()}
_COMPILED_HELD = {kind: re.compile(pattern) for kind, pattern in _HELD.items()}

CHECKABLE = frozenset(_HELD)
"""Types whose presence in a text can be told."""


def asked_types(question: str) -> frozenset[AnswerType]:
    """Return the kinds of answer a question asks for; empty when none is recognised.

    A question for a duration or an amount is not one for a bare count.
    """
    text = fold(question).strip()
    found = {kind for kind, pattern in _COMPILED_ASKED.items() if pattern.search(text)}
    if found & {AnswerType.DURATION, AnswerType.MONEY, AnswerType.PERCENT}:
        found.discard(AnswerType.COUNT)
    return frozenset(found)


@lru_cache(maxsize=1 << 12)
def held_types(text: str) -> frozenset[AnswerType]:
    """Return the kinds of answer that a text holds."""
    folded = fold(text)
    return frozenset(kind for kind, pattern in _COMPILED_HELD.items() if pattern.search(folded))


def type_share(asked: frozenset[AnswerType], text: str) -> float | None:
    """Return the share of the asked, checkable types that a text holds; None if none is asked."""
    checkable = asked & CHECKABLE
    if not checkable:
        return None
    return len(checkable & held_types(text)) / len(checkable)


_UNIT_ASKED = {
    name: re.compile(
        rf"\b(?:combien d[e'] ?|nombre d[e'] ?|how many |number of )(?:\w+ ){{0,1}}(?:{forms})\b"
    )
    for name, forms in _TIME_UNITS.items()
}
_UNIT_HELD = {
    name: re.compile(rf"\b{_NUMBER}[\s)(\-/]*(?:\w+[\s-]+){{0,2}}?(?:{forms})\b|\d ?(?:{forms})\b")
    for name, forms in _TIME_UNITS.items()
}


def asked_units(question: str) -> frozenset[str]:
    """Return the units of time that a question counts in ("how many weeks": week)."""
    text = fold(question)
    return frozenset(name for name, pattern in _UNIT_ASKED.items() if pattern.search(text))


def held_units(text: str) -> frozenset[str]:
    """Return the units of time that a text gives a number of."""
    folded = fold(text)
    return frozenset(name for name, pattern in _UNIT_HELD.items() if pattern.search(folded))
