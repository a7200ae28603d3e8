"""Changes one condition of a question, so that what answered it no longer does. Pure."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from ingest import fold

_YEAR = re.compile(r"(?<![\w.,])(?:1[5-9]|20)\d\d(?![\w%])")
_NUMBER = re.compile(r"(?<![\w.,-])\d{1,3}(?![\w.,])")
_NAME = re.compile(
    r"(?<=[\w,;:)»\"'’] )(?:[A-ZÀ-ÖØ-Þ][\w’'-]+)(?: (?:d[eu]s? |of )?[A-ZÀ-ÖØ-Þ][\w’'-]+)*"
)

_STATUS_TEXT = """
    salarié/stagiaire salariés/stagiaires salariée/apprentie employeur/stagiaire cadre/apprenti
    cadres/ouvriers CDI/CDD CDD/intérim père/grand-parent mère/tante femmes/retraités
    maternité/deuil paternité/formation mariage/déménagement naissance/déménagement
    licenciement/rupture démission/mutation retraite/formation préavis/télétravail
    maladie/grossesse jour/nuit dimanche/samedi mensuel/trimestriel semaine/année semaines/mois
    mois/heures jours/années heures/minutes annuel/hebdomadaire minimum/maximum maximum/minimum
    minimale/maximale premier/dernier première/dernière avant/après public/privé privé/public
    mineur/majeur étranger/retraité locataire/propriétaire propriétaire/locataire
    étudiant/retraité enfant/conjoint téléphone/courrier voiture/moto électronique/papier
    national/européen français/espagnol française/italienne France/Belgique augmenter/réduire
    acheter/vendre début/fin création/fermeture ouverture/fermeture first/last last/first
    before/after minimum/maximum maximum/minimum monthly/quarterly weekly/yearly
    employee/contractor employees/interns employer/intern manager/intern full-time/part-time
    part-time/full-time paid/unpaid maternity/bereavement paternity/bereavement sick/parental
    weeks/months months/hours days/years hours/minutes year/week daily/monthly largest/smallest
    smallest/largest highest/lowest oldest/youngest start/end starts/ends began/ended
    opened/closed married/divorced born/buried men/women women/men north/south south/north
    east/west winter/summer summer/winter buy/sell increase/reduce email/fax phone/letter
    male/female king/queen won/lost written/illustrated city/country American/Canadian
    English/Spanish public/private private/public
    """
_STATUS = dict(pair.split("/") for pair in _STATUS_TEXT.split())
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def names_in(question: str) -> list[str]:
    """Return the capitalised names inside a question, its first word excepted."""
    return [match.group() for match in _NAME.finditer(question)]


def changed_condition(
    question: str, text: str, names: Sequence[str], rng: random.Random
) -> str | None:
    """Return the question with one condition changed to one that the text does not name.

    Args:
        question: Answered by the text.
        text: With its headings.
        names: To choose another name from.
        rng: Chooses among what can be changed.

    Returns:
        None when the question has no year, number, name or status that can be changed.
    """
    ways = [_year, _number, _name, _status]
    rng.shuffle(ways)
    for way in ways:
        changed = way(question, fold(text), names, rng)
        if changed is not None:
            return changed
    return None


def _year(question: str, text: str, names: Sequence[str], rng: random.Random) -> str | None:
    return _replaced(_YEAR, question, text, lambda old: str(int(old) + rng.choice(_SHIFTS)))


def _number(question: str, text: str, names: Sequence[str], rng: random.Random) -> str | None:
    return _replaced(_NUMBER, question, text, lambda old: str(int(old) + rng.randint(1, 9)))


def _name(question: str, text: str, names: Sequence[str], rng: random.Random) -> str | None:
    known = [name for name in names_in(question) if fold(name) in text]
    others = [name for name in rng.sample(names, min(8, len(names))) if fold(name) not in text]
    if not known or not others:
        return None
    return question.replace(rng.choice(known), others[0], 1)


def _status(question: str, text: str, names: Sequence[str], rng: random.Random) -> str | None:
    words = [m for m in _WORD.finditer(question) if m.group() in _STATUS]
    words = [m for m in words if fold(_STATUS[m.group()]) not in text]
    if not words:
        return None
    match = rng.choice(words)
    return f"{question[: match.start()]}{_STATUS[match.group()]}{question[match.end() :]}"


_SHIFTS = (-12, -7, -4, -3, -2, -1, 1, 2, 3, 5, 8)


def _replaced(
    pattern: re.Pattern[str], question: str, text: str, change: Callable[[str], str]
) -> str | None:
    for match in pattern.finditer(question):
        other = change(match.group())
        if other not in text:
            return f"{question[: match.start()]}{other}{question[match.end() :]}"
    return None
