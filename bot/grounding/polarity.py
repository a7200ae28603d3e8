"""Catches sentences that say the opposite of their quote, or leave out its exception. Pure.

Works on the words that turn a meaning round, in French and in English: negations, words that
forbid, exceptions, and pairs of opposites. It does not understand sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.grounding.dated import added_limits
from bot.grounding.opposites import OPPOSITES
from ingest import fold

Stems = Callable[[str], frozenset[str]]
"""Gives the stems of the content words of a text."""

_NEUTRAL = re.compile(
    r"\b(?:not only|non seulement|pas seulement|but not limited to"
    r"|(?:do not|don't|n'|ne) ?hesit\w*(?: pas)?"
    r"|(?:no|not|pas) (?:later|more|less|longer|fewer|plus|moins)(?: tard)?(?: than| de| que)?"
    r"|(?:ne |n'|do not |don't )?(?:oubli\w+|forget)(?: pas)?|whether or not|sans doute|no\.? ?\d+"
    r"|n(?:e |')\w+ (?:pas |jamais )?(?:exceder|depasser)"
    r"|(?:can|may|must|should|shall|will)(?: ?not)? exceed|(?:ou|or) (?:non|not|pas)"
    r"|(?:not |ne )?(?:exceed\w*|depass\w+|exced\w+)(?: pas)?|et non|n'importe|pas a pas)\b"
)
_ONLY = re.compile(r"\bn(?:e |')(?:(?!pas |jamais |plus |aucun)\S+ ){1,4}?qu(?:e |')")
_NOT = re.compile(
    r"\b(?:pas|jamais|aucune?s?|nullement|rien|ni|non|sans|not|cannot|never|no|none|nor|neither"
    r"|without|nothing|nobody|no one|a defaut|faute de|en l'absence|in the absence)\b"
    r"|\bpersonne n(?:e |')|n't\b|\bn(?:e |')(?:\S+ ){1,3}?plus\b"
)
_AGAINST = re.compile(
    r"\b(?:interdi\w*|prohib\w*|forbid\w*|impossib\w*|exclu[est]\w*|exclude[sd]?|illegal\w*"
    r"|illicite\w*"
    r"|unlawful\w*|refus\w*|denied|denies|ineligib\w*|unable|dispense\w*|exempt\w*|unpaid|facultati\w*"
    r"|optional\w*|inutile\w*|unnecessary|unauthori[sz]ed|disallow\w*|incompatible\w*)\b"
)
_EXCEPTION = re.compile(
    r"\b(?:sauf|excepte\w*|hormis|a l'exception|a moins que?|except\w*|unless|other than|excluding"
    r"|sous reserve|a (?:la )?condition|provided that|subject to|only if|uniquement si)\b"
)
_CLAUSE = re.compile(
    r"[.;:!?\n()|]|, |,? (?:mais|but|however|toutefois|cependant|tandis que|whereas)\b"
)
_CHANGE = re.compile(
    r"\b(?:chang\w*|modifi\w*|evolu\w*|remplac\w*|replac\w*|supprim\w*|abrog\w*|remov\w*|fin"
    r"|cess\w*|termin\w*|expir\w*|end(?:s|ed)?|retired|deprecated|discontinued|obsolete\w*)\b"
)
"""What has changed or ended is no longer so."""
_NO_LONGER = re.compile(r"\bn(?:e |')(?:\S+ ){1,3}?plus\b|\bno longer\b|\bn't\b.*\bany ?more\b")
_RATHER = re.compile(r"\b(?:rather than|instead of|plutot que|au lieu d[e'u])\b")
"""« A plutôt que B » says « A, pas B »."""
_NON = re.compile(r"\bnon-(?=[a-z])")
_LONG_WORD = re.compile(r"\b[a-z]{5,}\b")
_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "mis", "non")
_ASIDE = re.compile(r"\(([^()]*)\)")
_ONLY_WORDS = re.compile(
    r"\b(?:only|solely|exclusive(?:ly|ment)|seul(?:e|s|es|ement)?|uniquement|rien que"
    r"|reserve\w*|limit\w*|restrict\w*|restrein\w*)\b"
)
_ALWAYS_WORDS = re.compile(
    r"\b(?:always|toujours|systematique\w*|every|each|chaque|all|any|tou(?:t|s|te|tes)"
    r"|sans condition|in any case|automati\w*)\b"
)
_ALWAYS_ADDED = re.compile(r"\b(?:always|toujours|systematique(?:ment)?|sans condition)\b")
_CONTRACTED = re.compile(r"n't\b")
_SENTENCE = re.compile(r"(?<!\.\.)[.;!?\n|](?:\s(?!\))|$)")
_ANSWER_WORD = re.compile(r"^\W*(?:oui|non|yes|no)\b[\s,.:;!—-]+")


@dataclass(frozen=True, slots=True)
class _Clause:
    """What a clause is about, and how it says it.

    Attributes:
        loosely: Whether it denies something beside what it says (rather than…).
        no_longer: Whether it says that something is so no longer.
        changed: Whether it says that something changed or ended.
    """

    stems: frozenset[str]
    negated: bool
    loosely: bool = False
    no_longer: bool = False
    changed: bool = False


def contradictions(sentence: str, said: str, *, stems: Stems | None) -> tuple[str, ...]:
    """Return why a sentence seems to turn its quote round; empty when it does not.

    Args:
        sentence: Of the claim.
        said: The quoted sentences, whole.
        stems: Of content words, comparable between the two texts; None when they are in different
            languages: then only what holds for all of `said` is judged.
    """
    mine, theirs = _ANSWER_WORD.sub("", fold(sentence)), fold(said)
    mine, theirs = _NON.sub("non ", mine), _NON.sub("non ", theirs)
    reasons = [
        f"says the other of {name}"
        for name, one, other in OPPOSITES
        if _swapped(mine, theirs, one, other) or _swapped(mine, theirs, other, one)
    ]
    reasons.extend(_prefixed(mine, theirs))
    reasons.extend(_widened(mine, theirs))
    reasons.extend(added_limits(mine, theirs))
    if stems is None:
        reasons.extend(_negation_across(mine, theirs))
    else:
        reasons.extend(_negation(_clauses(mine, stems), _clauses(theirs, stems)))
        reasons.extend(_exception(mine, theirs, stems))
    return tuple(reasons)


def _swapped(mine: str, theirs: str, side: re.Pattern[str], other: re.Pattern[str]) -> bool:
    """Tell whether words of one side have come where words of the other stood."""
    gained = len(side.findall(mine)) > len(side.findall(theirs))
    return gained and len(other.findall(mine)) < len(other.findall(theirs))


def _is_negated(clause: str) -> bool:
    """Tell whether a clause is negative, two negations making a positive."""
    plain = _ONLY.sub(" ", _NEUTRAL.sub(" ", clause))
    return bool(_NOT.search(plain)) != bool(_AGAINST.search(plain))


def _clauses(folded: str, stems: Stems) -> list[_Clause]:
    """Split a text into its clauses; what stands in brackets is one of its own."""
    texts = (_ASIDE.sub(" ", folded), *_ASIDE.findall(folded))
    parts = (p for text in texts for p in _CLAUSE.split(text) if p and p.strip())
    return [
        _Clause(
            stems(_CONTRACTED.sub(" not", p)),
            _is_negated(p),
            loosely=bool(_RATHER.search(p)),
            no_longer=bool(_NO_LONGER.search(p)),
            changed=bool(_CHANGE.search(p)),
        )
        for p in parts
    ]


_MOST_OF_A_CLAUSE = 0.6
_LITTLE = 0.2
"""Shares of content words: enough to be about the same thing, too little to mention it."""


def _negation(mine: Sequence[_Clause], theirs: Sequence[_Clause]) -> list[str]:
    """Compare each clause with the one of the other text that it shares most words with."""
    reasons = []
    # A negation in other words than the quote's may be meant for any clause beside it.
    elsewhere = any(c.negated and not any(c.stems & o.stems for o in theirs) for c in mine)
    for clause in mine:
        if not clause.stems:
            continue
        best = max((_likeness(clause, other) for other in theirs), default=0.0)
        closest = [other for other in theirs if _likeness(clause, other) == best]
        if clause.negated and not any(
            other.negated or (clause.no_longer and other.changed)
            for other in (closest if best else theirs)
        ):
            reasons.append("denies what the quote says")
        elif clause.negated or clause.loosely or elsewhere:
            continue
        elif best and all(other.negated for other in closest):
            smaller = min(len(clause.stems), *(len(other.stems) for other in closest))
            shared = max(len(clause.stems & other.stems) for other in closest)
            if shared >= _MOST_OF_A_CLAUSE * smaller:
                reasons.append("leaves out a negation of the quote")
    if _affirms(mine, theirs):
        reasons.append("says what the quote denies")
    return reasons


_FEW_WORDS = 3


def _affirms(mine: Sequence[_Clause], theirs: Sequence[_Clause]) -> bool:
    """Tell whether a short clause of the quote is said without its negation.

    A short one says little besides what it denies; in a long one the same words say much else.
    """
    said = frozenset().union(*(c.stems for c in theirs if not c.negated))
    denied = frozenset().union(*(c.stems for c in mine if c.negated))
    affirmed = [c.stems for c in mine if not c.negated and not c.loosely]
    return any(
        other.negated
        and 0 < len(other.stems) <= _FEW_WORDS
        and not other.stems & said
        and not other.stems & denied
        and any(other.stems <= stems for stems in affirmed)
        for other in theirs
    )


def _prefixed(mine: str, theirs: str) -> Iterator[str]:
    """Find a word that has won or lost a prefix that denies it (unclassified, irrégulier)."""
    said, known = set(_LONG_WORD.findall(mine)), set(_LONG_WORD.findall(theirs))
    for word in said - known:
        if any(f"{prefix}{word}" in known for prefix in _PREFIXES):
            yield f"has “{word}” where the quote denies it"
        if any(word == f"{prefix}{other}" for prefix in _PREFIXES for other in known):
            yield f"has “{word}” where the quote says the other"


def _widened(mine: str, theirs: str) -> Iterator[str]:
    """Find a rule that is made to hold always, or only for some."""
    if _ALWAYS_ADDED.search(mine) and not _ALWAYS_WORDS.search(theirs):
        yield "makes it hold always"
    if _is_restricted(mine) and not (_is_restricted(theirs) or _NOT.search(theirs)):
        yield "makes it hold only for some"


def _is_restricted(text: str) -> bool:
    return bool(_ONLY.search(text) or _ONLY_WORDS.search(text))


def _likeness(one: _Clause, other: _Clause) -> float:
    """Return the share of the words of both that they have in common (Jaccard)."""
    together = one.stems | other.stems
    return len(one.stems & other.stems) / len(together) if together else 0.0


def _negation_across(mine: str, theirs: str) -> list[str]:
    if _is_negated(mine) and not (_NOT.search(theirs) or _AGAINST.search(theirs)):
        return ["denies what the quote says"]
    units = [part for part in _SENTENCE.split(theirs) if part.strip()]
    everywhere = bool(units) and all(_is_negated(part) for part in units)
    if everywhere and not (_NOT.search(mine) or _AGAINST.search(mine) or _EXCEPTION.search(mine)):
        return ["leaves out a negation of the quote"]
    return []


def _exception(mine: str, theirs: str, stems: Stems) -> list[str]:
    """Tell whether a sentence repeats a rule and is silent about its exception."""
    told = [stems(part) for part in _SENTENCE.split(mine)]
    missing = len(_EXCEPTION.findall(theirs)) - len(_EXCEPTION.findall(mine))
    if missing <= 0:
        return []
    words = stems(mine)
    for part in _SENTENCE.split(theirs):
        for found in _EXCEPTION.finditer(part):
            rule, exception = stems(part[: found.start()]), stems(part[found.end() :])
            kept = len(words & exception - rule)
            repeats = any(t and len(t & rule) >= _MOST_OF_A_CLAUSE * len(t) for t in told)
            if repeats and kept <= _LITTLE * len(exception - rule):
                return [f"leaves out the exception ({found.group()} …)"]
    return []
