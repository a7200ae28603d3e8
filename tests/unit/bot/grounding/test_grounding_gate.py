"""The gate, against drafts that try to say more than their passage."""

from __future__ import annotations

import re

import pytest

from bot.grounding.verifier import verify
from bot.records import Draft, DraftClaim, Passage
from tests.fakes import UnitKind, stored_chunk

LEAVE = stored_chunk(
    "leave",
    "Le mariage donne droit à 4 jours.",
    "Il faut prévenir deux semaines avant.",
    "Le montant est de 1 500 € par an, versé le 15 mars 2026.",
    "Écrire à rh@exemple.fr ou voir https://exemple.fr/conges.",
    page="leave.md",
)
BADGE = stored_chunk("badge", "Le badge coûte 20 euros.", page="badge.md")
TABLE = stored_chunk(
    "table", (UnitKind.ROW, "| Paris | 150 € |", "| Ville | Plafond |"), page="table.md"
)
PASSAGES = [Passage(chunk, rank=i, score=1.0) for i, chunk in enumerate((LEAVE, BADGE, TABLE), 1)]


def check(sentence: str, *, quote: str = "Le mariage donne droit à 4 jours.", chunk: str = "leave"):
    draft = Draft((DraftClaim(sentence, chunk, quote),), "fr", 1.0)
    return verify(draft, PASSAGES)


def passes(sentence: str, **claim: str) -> bool:
    return len(check(sentence, **claim).claims) == 1


def test_a_verbatim_sentence_passes_with_its_citation():
    result = check("Le mariage donne droit à 4 jours.")
    assert result.claims[0].citation.passage.chunk.chunk_id == "leave"
    assert result.rejected == ()


@pytest.mark.parametrize(
    "quote",
    [
        "Le mariage\n  donne droit à 4\u00a0jours.",
        "le mariage donne droit",
        "« 4 jours »",
        "4 jours.",
    ],
)
def test_a_quote_is_shown_in_the_characters_of_its_page(quote):
    claims = check("Oui, 4 jours.", quote=quote).claims
    assert claims[0].citation.quote.strip() in LEAVE.text or "\n" in quote


def test_a_quote_that_cuts_a_number_is_dropped():
    assert not passes("Le badge coûte 0 euros.", quote="0 euros", chunk="badge")


@pytest.mark.parametrize(
    "quote",
    [
        "Le mariage donne droit à 5 jours.",
        "Le mariage donne droit à 4 jours. Le badge coûte 20 euros.",  # stitched across passages
        "Le mariage donne droit … deux semaines avant.",  # stitched inside one
        "Le mariаge donne droit à 4 jours.",  # Cyrillic а
        "Le mariage donne\u200b droit à 4 jours.",
        "",
        " ",
        "4",
    ],
)
def test_a_quote_that_does_not_stand_in_the_passage_is_dropped(quote):
    result = check("Le mariage donne droit à des jours.", quote=quote)
    assert result.claims == ()
    assert len(result.rejected) == 1


def test_a_true_quote_under_the_wrong_passage_is_dropped():
    assert not passes("Le badge coûte 20 euros.", quote="Le badge coûte 20 euros.", chunk="leave")


def test_a_passage_that_was_not_retrieved_is_dropped():
    result = check("Le mariage donne droit à 4 jours.", chunk="invented")
    assert "not retrieved" in result.rejected[0].reason


@pytest.mark.parametrize(
    "sentence",
    [
        "Le mariage donne droit à 5 jours.",
        "Le mariage donne droit à cinq jours.",
        "Il faut prévenir 3 semaines avant.",
        "Le montant est de 1 600 € par an.",
        "Le montant est de 150 € par an.",
        "C'est versé le 16 mars 2026.",
        "C'est versé en 2025.",
        "Écrire à paie@exemple.fr.",
        "Voir https://exemple.fr/autre.",
        "Voir www.exemple.com.",
        "Le mariage donne droit à 4O jours.",  # letter O
        "Le mariage donne droit à 4\u200b0 jours.",  # zero-width inside 40
        "Le mariage donne droit à ４０ jours.",  # full-width 40
        "Le mariage donne droit à ٥ jours.",  # Arabic-Indic 5
        "Le badge coûte 20 euros.",  # number of another passage
        "",
    ],
)
def test_a_fact_that_the_passage_does_not_hold_drops_the_claim(sentence):
    assert not passes(sentence)


NOTICE = "Il faut prévenir deux semaines avant."
AMOUNT = "Le montant est de 1 500 € par an, versé le 15 mars 2026."
CONTACT = "Écrire à rh@exemple.fr ou voir https://exemple.fr/conges."


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Le mariage donne droit à quatre jours.", "droit à 4 jours"),
        ("Il faut prévenir 2 semaines avant.", NOTICE),
        ("Le montant est de 1500 € par an.", AMOUNT),
        ("Le montant est de 1\u202f500\u00a0€ par an.", "1 500 €"),
        ("Le montant est de 1,500 euros par an.", AMOUNT),
        ("Le montant de EUR 1500 est versé le 2026-03-15.", AMOUNT),
        ("C'est versé le 15 mars 2026.", "versé le 15 mars"),
        ("Écrire à RH@exemple.fr.", CONTACT),
        ("Voir exemple.fr/conges.", CONTACT),
    ],
)
def test_a_fact_said_in_another_form_passes(sentence, quote):
    assert check(sentence, quote=quote).rejected == ()


@pytest.mark.parametrize(
    ("sentence", "quote", "reason"),
    [
        ("Le mariage donne droit à 4 semaines.", "droit à 4 jours", "4 semaines"),
        ("Le montant est de 1 500 $ par an.", AMOUNT, "1 500 \\$"),
        ("Le montant de 1 500 € est versé le 15 avril 2026.", AMOUNT, "15 avril 2026"),
        ("Le mariage ne donne pas droit à 4 jours.", "droit à 4 jours", "denies"),
        ("Le mariage donne droit à 4 jours.", NOTICE, "4 jours"),  # said elsewhere in the passage
        ("Le mariage donne droit à au moins 4 jours.", "droit à 4 jours", "at least"),
        ("Alain donne droit à Marie pour 4 jours.", "droit à 4 jours", "Marie"),
        ("Le chien mange volontiers des croquettes.", "droit à 4 jours", "0% of its words"),
        ("<!channel> Le mariage donne droit à 4 jours", "droit à 4 jours", "markup"),
        ("Le m\u0430riage donne droit à 4 jours", "droit à 4 jours", "U\\+0430"),
        ("Le mari\u200bage donne droit à 4 jours", "droit à 4 jours", "U\\+200B"),
        ("Oui.", "droit à 4 jours", "nothing that can be checked"),
    ],
)
def test_a_refused_claim_says_what_is_wrong(sentence, quote, reason):
    (rejected,) = check(sentence, quote=quote).rejected
    assert re.search(reason, rejected.reason)


def test_a_sentence_in_another_language_than_the_question_is_dropped():
    claim = DraftClaim("Voici: le mariage donne droit à 4 jours.", "leave", "droit à 4 jours")
    draft = Draft((claim,), "fr", 1.0)
    assert verify(draft, PASSAGES, question="How many days for a wedding?").claims == ()
    assert verify(draft, PASSAGES, question="Combien de jours pour un mariage ?").claims


def test_a_translation_is_compared_by_the_encoder_and_on_its_facts():
    def verdict(sentence: str, cosine: float | None) -> int:
        draft = Draft(
            (DraftClaim(sentence, "leave", "Le mariage donne droit à 4 jours."),), "en", 1
        )
        return len(verify(draft, PASSAGES, closeness=lambda one, other: cosine).claims)

    assert verdict("A wedding gives the right to four days of leave.", 0.95) == 1
    assert verdict("A wedding gives the right to four days of leave.", None) == 0
    assert verdict("A wedding gives the right to four days of leave.", 0.5) == 0
    assert verdict("A wedding gives the right to five days of leave.", 0.95) == 0
    assert verdict("A wedding does not give the right to four days of leave.", 0.95) == 0


def test_a_row_is_shown_under_its_header():
    claim = DraftClaim(
        "| Ville | Plafond |\n| Paris | 150 € |",
        "table",
        "| Paris | 150 € |",
        "| Ville | Plafond |",
    )
    result = verify(Draft((claim,), "fr", 1.0), PASSAGES)
    assert result.claims[0].citation.lead_in == "| Ville | Plafond |"


def test_an_invented_header_drops_the_row():
    claim = DraftClaim(
        "| Ville | Prime |\n| Paris | 150 € |", "table", "| Paris | 150 € |", "| Ville | Prime |"
    )
    assert verify(Draft((claim,), "fr", 1.0), PASSAGES).claims == ()


def test_one_bad_claim_leaves_the_others():
    good = DraftClaim("Le badge coûte 20 euros.", "badge", "Le badge coûte 20 euros.")
    bad = DraftClaim("Le badge coûte 30 euros.", "badge", "Le badge coûte 20 euros.")
    result = verify(Draft((bad, good), "fr", 1.0), PASSAGES)
    assert [claim.sentence for claim in result.claims] == ["Le badge coûte 20 euros."]
    assert "30" in result.rejected[0].reason


def test_claims_past_the_twentieth_are_refused_unread():
    claims = tuple(
        DraftClaim(f"Le mariage donne droit à {n} jours.", "leave", "droit à 4 jours")
        for n in range(10_000)
    )
    result = verify(Draft(claims, "fr", 1.0), PASSAGES)
    assert [claim.sentence for claim in result.claims] == ["Le mariage donne droit à 4 jours."]
    assert result.rejected[-1].reason == "one claim too many"
    assert len(result.rejected) == 9_999


def test_a_repeated_claim_is_said_once():
    claim = DraftClaim("Le badge coûte 20 euros.", "badge", "Le badge coûte 20 euros.")
    assert len(verify(Draft((claim, claim), "fr", 1.0), PASSAGES).claims) == 1
