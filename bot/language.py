"""Tells French from English in a question or a sentence."""

from __future__ import annotations

import re
from typing import Final

UNDETERMINED: Final = "und"
"""ISO 639 code of a text that does not tell."""

# Frequent in one of the two languages, hardly ever met in the other: no "an", "but", "car", "on".
_FRENCH_WORDS: Final = frozenset(
    """
    ans après au aucun aussi autre autres aux avant avec avez avoir avons ça ce cela ces cet
    cette ceux chaque chez combien comment congé congés dans de des depuis dois doit donc du elle
    elles en entre est et été étant être eux faire fais fait faut il ils j je jour jours l la le les
    leur leurs lors lui ma mais même mes mois moins mon ne ni nos notre nous où ou par pas
    pendant peut peuvent peux plusieurs pour pourquoi puis puisque qu quand que quel quelle quelles
    quels qui quoi sa sans se sera serait ses si soit sommes sont sous suis sur ta tes toi tous
    tout toute toutes très tu un une vais vers veut veux vos votre vous
    bonjour bonsoir merci salut svp
    """.split()  # noqa: SIM905 - a list of words is easier to read
)
_ENGLISH_WORDS: Final = frozenset(
    """
    about after all am and any are at be because been before being by can cannot could
    did do does doing during each every for from get gets given got had has have he her his how i
    if in into is it its just know like many may might much must my need no not of off one only
    our out over shall she should since so some such than that the their them then there these
    they this those through to under until up us use was we were what when where whether which
    while who whom whose why will with within without work would you your
    hello hi please thanks
    """.split()  # noqa: SIM905
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_ACCENTED: Final = re.compile(r"[àâçèéêëîïôùûœ]")
_ELISION: Final = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’]\w{2,}")
_CONTRACTION: Final = re.compile(r"\b\w+(?:n['’]t|['’](?:re|ve|ll|m|d))\b")
_NOT_PROSE: Final = re.compile(r"https?://\S+|www\.\S+|\S+@\S+")


def french_or_english(text: str) -> str:
    """Return "fr", "en", or "und" when the text's words do not decide."""
    prose = _NOT_PROSE.sub(" ", text.lower())
    words = _WORD.findall(prose)
    french = sum(word in _FRENCH_WORDS for word in words)
    french += sum(bool(_ACCENTED.search(word)) for word in words)
    french += 2 * len(_ELISION.findall(prose))
    english = sum(word in _ENGLISH_WORDS for word in words)
    english += 2 * len(_CONTRACTION.findall(prose))
    if french == english:
        return UNDETERMINED
    return "fr" if french > english else "en"
