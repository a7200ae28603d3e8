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
    r"(?:\d[\d\s.,]{0,20}|deux|two|trois|three|quatre|four|cinq|five|six|sept|seven|huit|eight|neuf|nine"
    r"|dix|ten|onze|eleven|douze|twelve|quinze|fifteen|vingt|twenty|trente|thirty|quarante|forty"
    r"|cinquante|fifty|soixante|sixty|cent|hundred|mille|thousand)"
)
_AMOUNT = rf"(?:{_NUMBER}|une?|one|an?|demi[- ]?|half an?|couple of|several|plusieurs|quelques)"
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

_ASK = r"(?:^|[,;:.?!(]\s*|\bet |\band |\bor |\bou )"
"""Where the asking part of a question starts."""

_ASKED: dict[AnswerType, str] = {
    AnswerType.DURATION: (
        r"combien de temps|duree|\bdelai|sous combien|combien (?:a l'avance|avant)"
        r"|\bpreavis"
        rf"|(?:combien|nombre) d[e'] ?(?:{_ANY_UNIT})\b|how many (?:\w+ )?(?:{_ANY_UNIT})\b"
        r"|how long (?!\w+ code)|how (?:quickly|soon|fast|late|often|regularly|frequently)"
        r"|how (?:far|much) (?:ahead|notice|time|in advance)|\bdeadline|notice period|within how"
        r"|tous les combien|quelle frequence|how old|quel age|quelle anciennete"
    ),
    AnswerType.MONEY: (
        r"combien (?:\w+ ){0,4}(?:cout|gagn|pa(?:ie|ye|yer)|rembours|touch|d'argent|d'euros|verse)"
        r"|quel(?:le)? (?:\w+ ){0,3}(?:montant|prix|tarif|plafond|salaire|budget|cout|indemnite"
        r"|prime"
        r"|somme|remuneration|gratification|amende)|\bmontant|how much (?:money|do|does|is|are"
        r"|was|can"
        r"|could|will|would|should|may|per|a|for)\b|what (?:\w+ )?(?:price|cost|salary|stipend"
        r"|per diem"
        r"|budget|bonus|allowance|fine|amount)|\bplafond|\btarif|\bprix\b|combien ca coute"
        r"|(?:il est|etait) a combien|what (?:do|does) \w+ (?:pay|cost)"
    ),
    AnswerType.PERCENT: (
        r"pourcentage|quel (?:est le )?taux|quelle (?:part|fraction|proportion)|percent|what rate"
        r"|(?:what|which) (?:\w+ )?(?:share|fraction|proportion)|pour cent|%"
    ),
    AnswerType.DATE: (
        rf"{_ASK}(?:quand|when)\b|(?:c'est|depuis|jusqu'a|pour|est-ce) quand|quand est-ce"
        r"|\bwhen (?:do|does|did|is|are|can|will|should|must|am)\b|(?:by|until|since|till) when"
        r"|quel(?:le)?s? (?:est la )?(?:date|jour|annee|mois)s?\b|date limite"
        r"|(?:what|which) (?:\w+ )?(?:date|day|month|year)\b|last day|\bcutoff\b|\bdeadline"
    ),
    AnswerType.TIME: (
        r"quelle heure|\bhoraires?\b|what time|(?:what|which|opening) hours"
        r"|\bcutoff\b"
    ),
    AnswerType.COUNT: (
        r"\bcombien\b|how many|how much|\bnombre d|number of|minimum|maximum"
        r"|\bmax\b"
    ),
    AnswerType.PERSON: (
        rf"{_ASK}qui\b(?! dit)|\b(?:a|avec|par|chez|de|pour) qui\b|{_ASK}who(?:m|se)?\b"
        rf"|\bqui est-ce"
        r"|\b(?:to|with|from|by) whom\b|\bwho (?:do|does|should|can|is|has|to|must)\b"
        r"|quel(?:le)? (?:personne|equipe|service|responsable|interlocuteur)"
        r"|(?:which|what) (?:team|person|role|department)"
    ),
    AnswerType.CONTACT: (
        r"(?:quel(?:le)?|what|which)(?:'s| is| est)? (?:\w+ ){0,3}(?:e-?mail|mail|courriel|adresse"
        r"|address|channel|canal|numero|number|hotline|telephone|phone)\b|(?:qui"
        r"|comment) (?:contacter"
        r"|joindre)|how (?:do|can) i (?:contact|reach)|who (?:do|should|can) i (?:contact|email"
        r"|call)"
    ),
    AnswerType.LINK: r"\b(?:quel|le) lien\b|\burl\b|(?:what|which) (?:link|url|website)|quel site",
    AnswerType.YES_NO: (
        rf"{_ASK}(?:est-ce qu|peut-on|puis-je|dois-je|faut-il|peux-tu|ai-je|a-t-on|est-il|est-on"
        r"|suis-je|y a-t-il|on peut|je peux|j'ai le droit|can|do|does|did|is|are|am|must|should|may"
        r"|could|would|will|has|have)\b|ai-je le droit|a-t-on le droit|est-il possible"
        r"|c'est autorise"
    ),
    AnswerType.HOW_TO: (
        r"\bcomment\b|\bcmt\b|\bhow (?:do|to|can|should|would)\b|\bsteps?\b|\betapes?\b|\bprocedure"
        r"|\bdemarche|que (?:dois-je|faut-il) faire|what (?:do|should) i do|marche a suivre"
    ),
    AnswerType.LIST: (
        r"\bquel(?:le)?s\b|lesquel(?:le)?s|which \w+s\b|what (?:are|kinds?|types?)"
        r"|what \w+s (?:are|do"
        r"|can|should|must)|\bliste|\blist\b|\bexemples?\b|\bexamples?\b"
    ),
}

_DURATION_HELD = (
    rf"\b{_AMOUNT}[\s)(\-/]*(?:\w+[\s-]+)?(?:{_ANY_UNIT})\b|\d ?(?:h|j|min|d)\b"
    r"|\b(?:weekly|monthly|daily|annually|yearly|hebdomadaire|mensuel|annuel|quotidien|trimestr"
    r"|quarterly|immediate|sans delai)|(?:chaque|every|each|tous les|toutes les) \w+"
    r"|\b(?:twice|once|\d ?x|fois)\b"
)

_HELD: dict[AnswerType, str] = {
    AnswerType.DURATION: _DURATION_HELD,
    AnswerType.MONEY: (
        r"[€$£]\s?\d|\d[\d\s.,]{0,20}\s?(?:k|m)?\s?(?:€|\$|£|euros?\b|eur\b|dollars?\b|usd\b|cents?\b)"
        r"|\d\s?%|\b(?:eur|usd|gbp)\s?\d"
    ),
    AnswerType.PERCENT: (
        r"\d\s?%|\bpour ?cent\b|\bpercent\b|\bmoitie\b|\bhalf\b|\btiers\b|\bthirds?\b|\bquarts?\b"
        r"|\d/\d"
    ),
    # What is asked with "when" is often told as a period: "after 90 days".
    AnswerType.DATE: (
        rf"\b(?:{_MONTHS})\b|\b(?:{_WEEKDAYS})\b|\b\d{{1,2}}[/.-]\d{{1,2}}(?:[/.-]\d{{2,4}})?\b"
        r"|\b(?:19|20)\d\d\b|\b\d{1,2}(?:st|nd|rd|th|er)\b|\ble \d{1,2}\b|\bpremier jour|first day"
        rf"|{_DURATION_HELD}"
    ),
    AnswerType.TIME: (
        r"\b\d{1,2}\s?(?:h|:)\s?\d{0,2}\b|\b\d{1,2}\s?(?:am|pm|a\.m|p\.m)\b|\bmidi\b|\bnoon\b"
    ),
    AnswerType.COUNT: rf"\b{_NUMBER}\b|\d|\b(?:twice|once|aucune?|no limit|illimite)\b",
    AnswerType.PERSON: (
        r"[\w.+-]{1,64}@[\w-]|@\w+|\b(?:managers?|responsables?|directeurs?|directrices?|directors?"
        r"|equipes?"
        r"|teams?|services?|employeurs?|employers?|salaries?|employees?|medecin|inspect\w+"
        r"|officers?"
        r"|leads?|supervisors?|rh|hr|ceo|cto|cfo|coo|president\w*|head of|chef|comite|committee"
        r"|department|ministere|referents?|owners?|coordinat\w+|administrat\w+|staff|people)\b"
    ),
    AnswerType.CONTACT: (
        r"[\w.+-]{1,64}@[\w-]|(?<!\w)[#@][a-z][\w-]+|\b(?:\+?\d[\s.]?){9,}|\bslack\b|\be-?mail"
        r"|\bcourriel"
        r"|\bform\b|\bformulaire\b|https?://|\w\.(?:com|org|fr|gov|io|net)\b"
    ),
    AnswerType.LINK: r"https?://|\bwww\.|\w\.(?:com|org|fr|gov|io|net)\b",
    AnswerType.YES_NO: (
        r"\b(?:oui|non|yes|no|peu(?:t|vent|x)|pouvez|doit|doivent|devez|dois|can|cannot|can't"
        r"|may|must"
        r"|should|not|never|jamais|interdit\w*|autoris\w*|obligatoires?|possible|required|allowed"
        r"|prohibited|ne|n'|permitted|optional|facultati\w+|eligible|encourag\w+|sauf|unless|only"
        r"|uniquement|exclu\w*|includ\w+)\b"
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
    if found & {AnswerType.DURATION, AnswerType.DATE, AnswerType.PERSON, AnswerType.COUNT}:
        # "When can I…", "how long do we…": the auxiliary verb asks for no yes or no.
        found -= {AnswerType.YES_NO, AnswerType.HOW_TO}
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
    name: re.compile(rf"\b{_AMOUNT}[\s)(\-/]*(?:\w+[\s-]+){{0,2}}?(?:{forms})\b|\d ?(?:{forms})\b")
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
