"""What a handbook says its acronyms mean."""

import pytest

from ingest.acronyms import as_typed, defined_acronyms, learn_acronyms


@pytest.mark.parametrize(
    ("text", "defined"),
    [
        ("Ask for paid time off (PTO) early.", ("PTO", "paid time off")),
        (
            "Le comité social et économique (CSE) se réunit.",
            ("CSE", "comité social et économique"),
        ),
        (
            "l’obligation d’emploi des travailleurs handicapés (« OETH »)",
            ("OETH", "obligation d’emploi des travailleurs handicapés"),
        ),
        (
            "Le RGPD (règlement général sur la protection des données) vaut.",
            ("RGPD", "règlement général sur la protection des données"),
        ),
        ("**EAP**: Employee assistance program.", ("EAP", "Employee assistance program")),
        ("- SSoT – single source of truth", ("SSoT", "single source of truth")),
        ("| PEE | plan d'épargne d'entreprise | 2024 |", ("PEE", "plan d'épargne d'entreprise")),
        ("Open a merge request (MRs) for it.", ("MR", "merge request")),
        ("research and development (R&D) costs", ("R&D", "research and development")),
        ("KPIs (key performance indicators)", ("KPI", "key performance indicators")),
        ("Tell the team (ASAP).", None),
        ("Article 4 (A4)", None),
        ("HRB -\nhow rules behave", None),
        ("PSF: please send food to the office", None),
        ("PSF: please send food, all of it", ("PSF", "please send food")),
        ("| JD | Jean Dupont | 2024 |", None),
        ("Une équipe (RH) répond.", None),
        ("We use the best tools (API).", None),
    ],
)
def test_a_meaning_is_believed_where_its_initials_spell_the_acronym(text, defined):
    assert list(defined_acronyms(text)) == ([defined] if defined else [])


def test_the_meaning_given_most_often_counts():
    texts = ["personal time off (PTO)", "paid time off (PTO)", "Paid  time off (PTO)"]
    assert learn_acronyms([*texts, "paid time off (PTO)"])["PTO"] == "paid time off"


def test_an_acronym_typed_in_small_letters_is_known_unless_it_is_a_word():
    texts = [
        "Paid time off (PTO), a corrective action plan (CAP), information technology (IT).",
        "L'aide générale exceptionnelle (AGE) : tenir le cap, et l'âge compte.",
    ]
    typed = {"PTO", "pto", "CAP", "IT", "AGE"}
    assert learn_acronyms(texts).keys() == typed


def test_a_text_without_definitions_teaches_nothing():
    assert learn_acronyms(["Rien (à voir) ici.", ""]) == {}


def test_a_page_of_blank_lines_and_one_of_rules_are_read_to_their_end():
    for attack in ("\n", "| \n", "___\n", "A", "(A", "A (", "AA - ", "Aa "):
        text = attack * (100_000 // len(attack)) + "\nPaid time off (PTO)"
        assert learn_acronyms([text])["PTO"] == "Paid time off"


def test_months_and_days_are_never_acronyms_in_small_letters():
    assert as_typed({"JAN": "Job Accommodation Network", "RTT": "x", "PAS": "y"}) == {
        "JAN": "Job Accommodation Network",
        "RTT": "x",
        "rtt": "x",
        "PAS": "y",
    }
