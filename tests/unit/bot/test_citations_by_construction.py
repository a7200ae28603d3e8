"""A citation exists only where its quote does, and knows the heading above it."""

from __future__ import annotations

import dataclasses

import pytest

from bot.records import Abstention, Citation, GroundedAnswer, Passage, QuoteNotFoundError
from ingest import UnitKind
from tests.fakes import stored_chunk

CHUNK = stored_chunk(
    "c1",
    "Ouvert à tous.",
    (UnitKind.HEADING, "Chiens"),
    "Interdits par le bail.",
    (UnitKind.HEADING, "Vélos"),
    (UnitKind.ITEM, "- au sous-sol", "À ranger :"),
    heading=("Bureau",),
)
PASSAGE = Passage(CHUNK, rank=1, score=1.0)


def test_a_quote_is_found_whatever_its_white_space():
    assert Citation(PASSAGE, "Interdits\n par  le bail.").quote


@pytest.mark.parametrize(
    ("quote", "lead_in"),
    [("Autorisés par le bail.", ""), ("", ""), (" ", ""), ("Interdits par le bail.", "Sauf :")],
)
def test_a_citation_of_what_is_not_there_cannot_be_made(quote, lead_in):
    with pytest.raises(QuoteNotFoundError):
        Citation(PASSAGE, quote, lead_in)


def test_the_line_that_introduces_a_quote_is_verbatim_too():
    assert Citation(PASSAGE, "- au sous-sol", "À ranger :").lead_in


@pytest.mark.parametrize(
    ("quote", "heading"),
    [
        ("Ouvert à tous.", "Bureau"),
        ("Interdits par le bail.", "Bureau › Chiens"),
        ("par le bail", "Bureau › Chiens"),
        ("- au sous-sol", "Bureau › Vélos"),
        ("Interdits par le bail. Vélos - au sous-sol", "Bureau › Chiens"),
    ],
)
def test_the_heading_is_the_nearest_one_above_the_quote(quote, heading):
    assert Citation(PASSAGE, quote).heading == heading


def test_an_abstention_has_no_place_for_a_citation():
    assert not {f.name for f in dataclasses.fields(Abstention)} & {"claims", "citations"}


def test_an_answer_without_claims_cannot_be_made():
    with pytest.raises(ValueError, match="abstention"):
        GroundedAnswer((), "fr", 0.5, "extractive")
