"""What a misspelt word may have meant."""

import pytest

from ingest.analysis import analyze_query
from ingest.spelling import Respeller, SpellingIndex, damerau_levenshtein, is_known

VOCABULARY = {
    "remboursement": 30,
    "remboursements": 4,
    "rembours": 34,
    "vacances": 12,
    "vacation": 8,
    "location": 5,
    "conge": 50,
    "conges": 60,
    "frais": 20,
    "3.80": 2,
}


@pytest.mark.parametrize(
    ("left", "right", "distance"),
    [
        ("conges", "conges", 0),
        ("conges", "conge", 1),
        ("conges", "congses", 1),
        ("conges", "comges", 1),
        ("conges", "cognes", 1),
        ("conges", "cogens", 2),
        ("conges", "cones", 1),
        ("vacation", "vcaatoni", None),
        ("ab", "abcd", 2),
        ("", "ab", 2),
        ("abc", "xyz", None),
    ],
)
def test_distance_counts_edits_and_swaps_up_to_its_limit(left, right, distance):
    assert damerau_levenshtein(left, right, at_most=2) == distance
    assert damerau_levenshtein(right, left, at_most=2) == distance


def test_the_nearest_words_come_first_and_then_the_most_frequent():
    index = SpellingIndex(VOCABULARY)
    assert index.nearest("remboursemnt") == ["remboursement", "remboursements"]
    assert index.nearest("congs") == ["conges", "conge"]
    assert index.nearest("vacatoin") == ["vacation"]


def test_short_words_get_one_error_and_long_words_two():
    index = SpellingIndex(VOCABULARY)
    assert index.nearest("frias") == ["frais"]
    assert index.nearest("friss") == []
    assert index.nearest("vacnacse") == ["vacances"]


@pytest.mark.parametrize("word", ["", "rtt", "3.8", "conge2", "zzzzzzzz"])
def test_short_words_numbers_and_strange_words_have_no_alternative(word):
    assert SpellingIndex(VOCABULARY).nearest(word) == []


def test_an_empty_vocabulary_has_no_word_to_offer():
    assert SpellingIndex({}).nearest("conges") == []


def test_a_word_is_left_alone_when_some_form_of_it_is_indexed():
    respell = Respeller(lambda: VOCABULARY)
    (known,) = analyze_query("remboursé").words
    assert is_known(known, VOCABULARY)
    assert respell(known) == ()


def test_an_unknown_word_gets_alternatives_with_their_stems():
    (unknown,) = analyze_query("remboursemment").words
    first, second = Respeller(lambda: VOCABULARY)(unknown)
    assert (first.folded, second.folded) == ("remboursement", "remboursements")
    assert "rembours" in first.stems


def test_the_vocabulary_of_a_new_generation_is_used():
    vocabularies = iter([{"frais": 1}, {"conges": 1}])
    respell = Respeller(lambda: next(vocabularies))
    (unknown,) = analyze_query("comges").words
    assert respell(unknown) == ()
    assert [form.folded for form in respell(unknown)] == ["conges"]
