"""The language of pages and of questions."""

import pytest

from ingest.language import UNKNOWN, detect_language, detect_question_language

FRENCH = "Les salariés ont droit à vingt-cinq jours de congés payés par an, à poser avant fin mai. "
ENGLISH = "Employees are entitled to twenty-five days of paid leave a year, taken before May. "
GERMAN = "Die Mitarbeiter haben Anspruch auf fünfundzwanzig Tage bezahlten Urlaub im Jahr. "


@pytest.mark.parametrize(
    ("text", "hint", "language"),
    [
        (FRENCH, None, "fr"),
        (ENGLISH, None, "en"),
        (GERMAN, None, "de"),
        ("RTT", None, UNKNOWN),
        ("RTT", "fr-FR", "fr"),
        ("RTT", "en_CA.UTF-8", "en"),
        ("RTT", "Français", "fr"),
        ("RTT", "n'importe quoi", UNKNOWN),
        (FRENCH, "en", "en"),
        (FRENCH * 6, "en", "fr"),
        (ENGLISH * 40 + FRENCH * 4, "en", "en"),
        ("| 12 | 13 |\n" * 50, "fr", "fr"),
        ("| 12 | 13 |\n" * 50, None, UNKNOWN),
        ("", None, UNKNOWN),
    ],
)
def test_a_page_is_in_the_language_it_says_unless_a_long_text_contradicts_it(
    text: str, hint: str | None, language: str
) -> None:
    assert detect_language(text, hint) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Combien de jours de congés ?", "fr"),
        ("combien de jours de conges", "fr"),
        ("teletravail", "fr"),
        ("c koi le code wifi", "fr"),
        ("How many days off do I get?", "en"),
        ("remote work policy", "en"),
        ("parental leave", "en"),
        ("Wie lange ist die Kündigungsfrist in der Probezeit?", "de"),
        ("¿Cuántos días de vacaciones tengo?", "es"),
        ("42", "fr"),
        ("", "fr"),
        ("🙂 ???", "fr"),
    ],
)
def test_a_question_is_in_french_or_english_unless_clearly_in_another_language(
    question: str, language: str
) -> None:
    assert detect_question_language(question) == language
