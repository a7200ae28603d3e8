"""Kinds of answers, asked for and found."""

from __future__ import annotations

import pytest

from bot.question_types import (
    AnswerType,
    asked_types,
    asked_units,
    held_types,
    held_units,
    type_share,
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Combien de temps dure la période d'essai ?", AnswerType.DURATION),
        ("How far in advance must I ask?", AnswerType.DURATION),
        ("Quel est le plafond pour un hôtel ?", AnswerType.MONEY),
        ("How much is the meal allowance?", AnswerType.MONEY),
        ("Quel pourcentage de la mutuelle est pris en charge ?", AnswerType.PERCENT),
        ("Quand est versée la prime ?", AnswerType.DATE),
        ("What time is the daily stand-up?", AnswerType.TIME),
        ("Combien de badges puis-je avoir ?", AnswerType.COUNT),
        ("Qui valide mes congés ?", AnswerType.PERSON),
        ("Who approves travel?", AnswerType.PERSON),
        ("À quelle adresse mail écrire ?", AnswerType.CONTACT),
        ("Puis-je télétravailler à l'étranger ?", AnswerType.YES_NO),
        ("Do I need a receipt?", AnswerType.YES_NO),
        ("Comment déclarer un arrêt maladie ?", AnswerType.HOW_TO),
        ("Quels documents dois-je fournir ?", AnswerType.LIST),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(question, kind):
    assert kind in asked_types(question)


def test_how_many_weeks_is_a_duration_and_not_a_count():
    assert AnswerType.COUNT not in asked_types("Combien de semaines de congés ?")


def test_keywords_ask_for_no_kind():
    assert asked_types("badge visiteur") == frozenset()
    assert type_share(frozenset(), "20 euros") is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sous cinq (5) jours ouvrés", AnswerType.DURATION),
        ("within 48 hours", AnswerType.DURATION),
        ("1 500 € par an", AnswerType.MONEY),
        ("up to $75 a day", AnswerType.MONEY),
        ("pris en charge à 60 %", AnswerType.PERCENT),
        ("le 15 mars", AnswerType.DATE),
        ("à 14h15", AnswerType.TIME),
        ("at 3 pm", AnswerType.TIME),
        ("écrire à rh@exemple.fr", AnswerType.CONTACT),
        ("votre responsable", AnswerType.PERSON),
    ],
)
def test_the_kind_of_answer_is_found_in_a_text(text, kind):
    assert kind in held_types(text)


def test_a_plain_sentence_holds_no_number():
    held = held_types("Le badge visiteur se retire à l'accueil")
    assert not held & {AnswerType.MONEY, AnswerType.PERCENT, AnswerType.TIME, AnswerType.DURATION}


@pytest.mark.parametrize(
    ("question", "text", "answered"),
    [
        ("Combien de semaines de congés ?", "Cinq semaines de congés.", True),
        ("Combien de semaines de congés ?", "25 jours de congés.", False),
        ("How many months is the trial?", "The trial lasts three (3) months.", True),
    ],
)
def test_the_unit_a_question_counts_in_is_looked_for(question, text, answered):
    assert asked_units(question)
    assert bool(asked_units(question) & held_units(text)) is answered


@pytest.mark.parametrize(
    "text", ["1" * 20_000, "1 " * 10_000, "a." * 10_000, "a-" * 50_000, "+1 " * 7_000]
)
def test_a_page_of_figures_is_read_to_its_end(text):
    assert AnswerType.DURATION in held_types(f"{text} within 3 days")
