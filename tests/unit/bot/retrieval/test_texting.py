"""Questions typed in a hurry, as the encoder gets them."""

import pytest

from bot.retrieval.texting import spelled_out

VOCABULARY = {"heure", "anciennete", "entreprise", "age", "jours", "conges"}


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("cb de jours de congés ??", "combien de jours de congés ??"),
        ("pk pas, (svp) ?", "pourquoi pas, (s'il vous plaît) ?"),
        ("jpeux venir a kelle heure", "je peux venir a quelle heure"),
        ("avec 5 ans danciennete, g droit à quoi", "avec 5 ans d'anciennete, j'ai droit à quoi"),
        ("c paye de lheure ?", "c'est paye de l'heure ?"),
    ],
)
def test_french_abbreviations_are_written_in_full(typed, read):
    assert spelled_out(typed, "fr", VOCABULARY) == read


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("hw many hrs do i wrk a wk?", "how many hours do i work a week?"),
        ("pls tell me w/o delay", "please tell me without delay"),
    ],
)
def test_english_abbreviations_are_written_in_full(typed, read):
    assert spelled_out(typed, "en", VOCABULARY) == read


@pytest.mark.parametrize(
    "typed",
    [
        "la CB de l'entreprise",  # a bank card
        "écrire à pk@guide.example ou sur guide.example/pk",
        "l'âge de la sage-femme",
        "un lheureux",  # what follows the l is not a word of the handbook
    ],
)
def test_what_is_no_abbreviation_stays_as_typed(typed):
    assert spelled_out(typed, "fr", VOCABULARY) == typed


def test_a_word_of_the_handbook_is_not_taken_for_one_without_its_apostrophe():
    assert spelled_out("le lage", "fr", {"lage", "age"}) == "le lage"


def test_abbreviations_tell_the_language_of_a_question_without_any_other_word():
    assert spelled_out("rdv qd ?", "und", VOCABULARY) == "rendez-vous quand ?"


@pytest.mark.parametrize("typed", ["cb hrs", "wk", "badge"])
def test_a_question_whose_language_is_not_told_stays_as_typed(typed):
    assert spelled_out(typed, "und", VOCABULARY) == typed
