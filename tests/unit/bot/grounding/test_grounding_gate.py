"""The gate, against drafts that try to say more than their passage."""

from __future__ import annotations

import pytest

from bot.grounding.verifier import facts, verify
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


def test_white_space_does_not_matter():
    assert passes("Oui, 4 jours.", quote="Le mariage\n  donne droit à 4\u00a0jours.")


@pytest.mark.parametrize(
    "quote",
    [
        "Le mariage donne droit à 5 jours.",
        "Le mariage donne droit à 4 jours. Le badge coûte 20 euros.",  # stitched across passages
        "Le mariage donne droit … deux semaines avant.",  # stitched inside one
        "le mariage donne droit à 4 jours.",  # not verbatim
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


@pytest.mark.parametrize(
    "sentence",
    [
        "Le mariage donne droit à quatre jours.",
        "Il faut prévenir 2 semaines avant.",
        "Le montant est de 1500 € par an.",
        "Le montant est de 1\u202f500\u00a0€ par an.",
        "C'est versé le 15 mars 2026.",
        "Écrire à RH@exemple.fr.",
        "Voir https://exemple.fr/conges.",
    ],
)
def test_a_fact_said_in_another_form_passes(sentence):
    assert passes(sentence)


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12,5 % en 2026", {"12,5", "2026"}),
        ("de 9h30 à 18 h", {"9h30", "18"}),
        ("24h/24", {"24h/24"}),
        ("01/02/2026", {"01/02/2026"}),
        ("une journée", set()),
        ("1.500,00 euros", {"1500,00"}),
    ],
)
def test_facts_are_normalised(text, expected):
    assert facts(text) == expected
