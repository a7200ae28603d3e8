"""Sentences that keep the words of a quote and turn what it says, and others that only seem to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.grounding.verifier import Rule, verify
from bot.language import french_or_english
from bot.records import Draft, DraftClaim, Passage
from tests.fakes import stored_chunk


def refusal(quote: str, sentence: str) -> Rule | None:
    chunk = replace(stored_chunk("c1", quote), language=french_or_english(quote))
    passage = Passage(chunk, rank=1, score=1.0)
    result = verify(Draft((DraftClaim(sentence, "c1", quote),), "fr", 1.0), [passage])
    return result.rejected[0].rule if result.rejected else None


DELAY = "Le dossier est à rendre dans les 30 jours suivant la demande."
HOURS = "Staff may work at most 48 hours each week on the site."
GOOD_NEWS = "Le congé est accordé au père à chaque naissance."
TOOL = "The tool is meant for partners and unclassified information."
BONUS = "La prime est versée le 5 mars 2026."
BOARD = "Contributors join the board when they can, but this is not the expectation."


@pytest.mark.parametrize(
    ("quote", "sentence", "rule"),
    [
        (DELAY, "Le dossier est à rendre dans les 30 jours ouvrés suivant la demande.", Rule.FACTS),
        (DELAY, "Le dossier est à rendre dans les 30 jours précédant la demande.", Rule.OPPOSITES),
        (DELAY, "Le dossier est à rendre chaque mois suivant la demande.", Rule.FACTS),
        (HOURS, "Staff may work at most 48 hours each month on the site.", Rule.FACTS),
        (HOURS, "Staff may work over 48 hours each week on the site.", Rule.FACTS),
        (GOOD_NEWS, "Le congé est accordé à la mère à chaque naissance.", Rule.OPPOSITES),
        (GOOD_NEWS, "Le congé n'est accordé au père qu'à la première naissance.", Rule.OPPOSITES),
        (GOOD_NEWS, "Le congé est accordé au père à chaque naissance, avec une prime du patron.",
         Rule.WORDING),
        ("Le badge est remis au visiteur.", "Le badge est toujours remis au visiteur.",
         Rule.OPPOSITES),
        ("L'aide a pris fin en mars.", "L'aide a débuté en mars.", Rule.OPPOSITES),
        ("Tous, y compris les stagiaires, viennent.", "Tous, sauf les stagiaires, viennent.",
         Rule.OPPOSITES),
        (TOOL, "The tool is meant for partners and classified information.", Rule.OPPOSITES),
        ("A non-standard contract needs a signature.", "A standard contract needs a signature.",
         Rule.OPPOSITES),
        (BOARD, "Contributors are expected to join the board when they can.", Rule.OPPOSITES),
        ("The path is less safe but faster.", "The path is more safe but slower.", Rule.OPPOSITES),
        ("L'article 5 accorde 25 jours de congés.", "L'article accorde 5 jours de congés.",
         Rule.FACTS),
        ("Voir la note 12 : la prime est de 300 €.", "La prime est de 12 €.", Rule.FACTS),
        ("En zone 2, le remboursement est de 75 %.", "Le remboursement est de 2 %.", Rule.FACTS),
        (BONUS, "La prime est versée avant le 5 mars 2026.", Rule.OPPOSITES),
        (BONUS, "La prime est versée à partir du 5 mars 2026.", Rule.OPPOSITES),
        ("The bonus is paid on March 5.", "The bonus is paid until March 5.", Rule.OPPOSITES),
    ],
)  # fmt: skip
def test_a_sentence_that_turns_its_quote_is_refused(quote: str, sentence: str, rule: Rule):
    assert refusal(quote, quote) is None
    assert refusal(quote, sentence) is rule


@pytest.mark.parametrize(
    ("quote", "sentence"),
    [
        ("Vous avez 2 jours pour répondre à la proposition.",
         "La proposition est à répondre dans les 2 jours."),
        ("La participation des parents à la maison des lycéens (MDL) est facultative.",
         "Les parents ne sont pas obligés de participer à la maison des lycéens (MDL)."),
        ("L'aide au permis a pris fin en mars.", "L'aide au permis n'existe plus depuis mars."),
        ("Late work is not the exception, it is part of the job.",
         "Late work is part of the job rather than an exception."),
        ("Le montant ne peut pas dépasser un maximum fixé à 2 fois le salaire.",
         "Le montant est plafonné à 2 fois le salaire."),
        ("The fee in the United Kingdom is €1,500 per month.",
         "The monthly fee in the UK is 1500 euros."),
        ("La date limite de dépôt du dossier est le 5 mars 2026.",
         "Le dépôt du dossier se fait avant le 5 mars 2026."),
        ("The plan takes effect on January 1, 2026.",
         "The plan takes effect from January 1, 2026."),
        ("L'index est à publier au 1er mars.", "L'index est à publier avant le 1er mars."),
        ("Seul le juge dit si le lieu correspond ou non au contrat.",
         "C'est le juge seul qui dit si le lieu correspond au contrat."),
    ],
)  # fmt: skip
def test_a_sentence_that_says_the_same_in_another_way_passes(quote: str, sentence: str):
    assert refusal(quote, sentence) is None
