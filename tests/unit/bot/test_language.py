"""French or English, told from a few words."""

import pytest

from bot.language import french_or_english


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Combien de jours de congés pour un mariage ?", "fr"),
        ("J'ai 1 an d'ancienneté, et after ?", "fr"),
        ("qui valide mes notes de frais", "fr"),
        ("How many days off do I get for a wedding?", "en"),
        ("Why can't I book a company car?", "en"),
        ("où voir https://guide.example/what-to-do-when-you-are-ill", "fr"),
    ],
)
def test_the_words_of_a_language_tell_it(text, language):
    assert french_or_english(text) == language


@pytest.mark.parametrize("text", ["", "badge", "budget formation 2026", "AI policy", "☎ 112"])
def test_words_of_both_languages_tell_nothing(text):
    assert french_or_english(text) == "und"
