"""The language of pages."""

import pytest

from ingest.language import UNKNOWN, detect_language

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
