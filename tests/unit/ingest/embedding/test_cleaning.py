import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.embedding.cleaning import MAX_CHARS, clean_text


@given(st.text(st.characters(codec=None, exclude_categories=[])))
def test_any_text_becomes_one_that_has_utf8_and_no_nul(text):
    cleaned = clean_text(text)
    assert "\0" not in cleaned
    cleaned.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("e\N{COMBINING ACUTE ACCENT}té", "été"),
        ("\N{LATIN SMALL LIGATURE FI}che n\N{SUPERSCRIPT TWO}", "fiche n2"),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        ("a\ud800b", "a\N{REPLACEMENT CHARACTER}b"),
        ("congés payés", "congés payés"),
    ],
)
def test_text_is_normalised_and_what_cannot_be_encoded_replaced(text, cleaned):
    assert clean_text(text) == cleaned


def test_length_is_bounded_even_where_characters_expand():
    assert len(clean_text("a" * (MAX_CHARS * 2))) == MAX_CHARS
    assert (
        len(clean_text("\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * MAX_CHARS)) == MAX_CHARS
    )
