"""What passages are indexed under and what queries look for."""

import pytest

from ingest.analysis import (
    MAX_QUERY_WORDS,
    KeywordQuery,
    SynonymTable,
    analyze_passage,
    analyze_query,
    fold,
    query_word,
)


def words(query: KeywordQuery) -> list[str]:
    return [word.folded for word in query.words]


def found(passage: str, question: str, language: str = "fr") -> bool:
    """Tell whether every word of the question is in the passage in some form."""
    analyzed = analyze_passage(passage, language)
    written, stems = f" {analyzed.folded} ", f" {analyzed.stems} "
    return all(
        any(
            f" {form.folded} " in written or any(f" {stem} " in stems for stem in form.stems)
            for form in (word, *word.alternatives)
        )
        for word in analyze_query(question).words
    )


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Congés PAYÉS", "conges payes"),
        ("œuvre, æther", "oeuvre, aether"),
        ("Straße", "strasse"),
        ("ﬁnance", "finance"),
        ("L’équipe", "l'equipe"),
        ("so\u00adft\u200bware", "software"),
        ("Ångström Łódź", "angstrom lodz"),
        ("नीति", "नीति"),
    ],
)
def test_folding_drops_case_accents_ligatures_and_invisible_characters(written, plain):
    assert fold(written) == plain


@pytest.mark.parametrize(
    "amount",
    [
        "1500",
        "1 500",
        "1\xa0500",
        "1\u202f500",
        "1,500",
        "1.500",
        "1.500,00",
        "1,500.00",
        "1 500,00",
        "1'500",
        "1500€",
        "1 500 €",
        "1500,00 euros",
    ],
)
def test_an_amount_is_found_however_it_is_written(amount):
    assert "1500" in analyze_passage(f"Un montant de {amount} au plus", "fr").folded.split()
    assert "1500" in words(analyze_query(f"montant {amount}"))


def test_a_decimal_is_the_same_with_a_comma_and_with_a_point():
    assert analyze_passage("3,80 €", "fr").folded == analyze_passage("3.80 $", "en").folded
    assert analyze_passage("3,80", "fr").folded == "3.80"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("12%", "12"),
        ("12 %", "12"),
        ("35h", "35 h"),
        ("2h30", "2h30"),
        ("12.05.2024", "12 05 2024"),
        ("2024-05-12", "2024 05 12"),
        ("192.168.1.1", "192 168 1 1"),
        ("0.125", "0.125"),
        ("01 42 34 56 78", "01 42 34 56 78"),
        ("en 2024 500 personnes", "en 2024 500 personnes"),
        ("| 300 | 450 |", "300 450"),
    ],
)
def test_numbers_with_other_meanings_are_not_merged(text, tokens):
    assert analyze_passage(text, "fr").folded == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("l'entreprise d’accord", "entreprise accord"),
        ("qu'on jusqu'à lorsqu'il", "on a il"),
        ("aujourd'hui", "aujourdhui"),
        ("d'aujourd'hui", "aujourdhui"),
        ("chef-d'œuvre", "chef oeuvre chefoeuvre"),
        ("the employee's handbook", "the employee handbook"),
        ("don't", "dont"),
        ("puis-je", "puis"),
        ("a-t-il", "a"),
        ("rendez-vous", "rendez vous rendezvous"),
    ],
)
def test_elisions_possessives_and_clitics_are_removed(text, tokens):
    assert analyze_passage(text, "fr").folded == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("R.T.T.", "rtt"),
        ("les R.T.T", "les rtt"),
        ("C++ et C#", "c++ et c#"),
        ("jean.dupont@exemple.fr", "jean dupont exemple fr"),
        ("https://intra.exemple.fr/note_frais", "https intra exemple fr note frais"),
        ("Slack™", "slack"),
        ("会社規則", "会社 社規 規則"),
        ("한국 정책", "한국 정책"),
        ("🦊 !? \ud800 \x00", ""),
    ],
)
def test_acronyms_symbols_addresses_and_other_scripts(text, tokens):
    assert analyze_passage(text, "fr").folded == tokens


@pytest.mark.parametrize(
    ("passage", "question"),
    [
        ("Le télétravail est possible", "télé-travail"),
        ("Le télé-travail est possible", "télétravail"),
        ("Le télé travail est possible", "télé-travail"),
        ("Envoyez un e-mail", "email"),
        ("Envoyez un email", "e-mail"),
        ("Le harcèlement est interdit", "anti-harcèlement"),
        ("Les congés payés", "conge paye"),
        ("Une indemnité", "indemnites"),
        ("Les CONGÉS", "congé"),
        ("Les salariées", "salarié"),
        ("Jours de R.T.T.", "RTT"),
    ],
)
def test_a_passage_is_found_by_another_spelling_of_the_same_word(passage, question):
    assert found(passage, question)


def test_stems_follow_the_language_of_the_page():
    assert analyze_passage("running", "en").stems == "run"
    assert analyze_passage("running", "fr").stems == "running"
    assert analyze_passage("die Häuser", "de").stems == "die haus"


def test_a_page_in_an_unknown_language_is_stemmed_as_french_and_as_english():
    assert set(analyze_passage("congés running", "und").stems.split()) >= {"cong", "run"}


def test_accents_are_folded_after_stemming():
    # Snowball needs the accent to see the ending: "activite" would keep "activit".
    assert "activ" in analyze_passage("activités", "fr").stems.split()


def test_a_word_with_accents_is_also_indexed_as_it_is_typed_without():
    assert analyze_passage("congés payés", "fr").stems == "cong pai pay"


def test_a_query_word_has_its_french_and_its_english_stem():
    (word,) = analyze_query("policies").words
    assert (word.surface, word.folded) == ("policies", "policies")
    assert word.stems == ("polici", "policy") or set(word.stems) >= {"polici"}


def test_stems_of_more_languages_can_be_asked_for():
    (word,) = analyze_query("Häuser", languages=("fr", "de")).words
    assert "haus" in word.stems


def test_stop_words_politeness_and_single_letters_are_left_out():
    question = "Bonjour, est-ce que je peux avoir le plan B pour les congés svp ? merci"
    assert words(analyze_query(question)) == ["plan", "conges"]
    assert words(analyze_query("Hello, could you please tell me what the dress code is?")) == [
        "dress",
        "code",
    ]


def test_words_that_change_the_meaning_stay():
    assert words(analyze_query("congé sans solde")) == ["conge", "sans", "solde"]


def test_a_query_of_stop_words_alone_keeps_them():
    assert words(analyze_query("what is it")) == ["what", "is", "it"]
    assert words(analyze_query("e")) == ["e"]


def test_a_stop_word_typed_in_capitals_is_an_acronym_unless_everything_is():
    assert words(analyze_query("who is in the IT team")) == ["it", "team"]
    assert words(analyze_query("QUI EST LE MANAGER")) == ["manager"]


def test_a_word_is_kept_once():
    assert words(analyze_query("Congés congés CONGES")) == ["conges"]


@pytest.mark.parametrize("text", ["", "   ", "?!…", "🦊", "\x00", "\ud800\udfff", "- _ / ' \""])
def test_text_without_words_makes_an_empty_query(text):
    assert analyze_query(text).words == ()
    assert query_word(text) is None


def test_a_pasted_page_is_cut_to_a_bounded_query():
    page = " ".join(f"sujet{number}" for number in range(20_000))
    assert len(analyze_query(page).words) == MAX_QUERY_WORDS


def test_a_very_long_token_is_cut_the_same_way_on_both_sides():
    token = "x" * 20_000
    assert found(f"clé {token}", token)


TABLE = SynonymTable.of(
    acronyms={"RH": "ressources humaines", "CE": "comité d'entreprise"},
    groups=[
        ["télétravail", "remote work", "home-office"],
        ["note de frais", "expense report"],
    ],
)


def alternatives(question: str) -> dict[str, set[str]]:
    query = analyze_query(question, synonyms=TABLE)
    return {word.folded: {form.folded for form in word.alternatives} for word in query.words}


def test_an_acronym_stands_for_its_meaning_and_back():
    assert alternatives("qui est RH ?") == {"rh": {"ressources humaines"}}
    assert alternatives("ressources humaines") == {"ressources": {"rh"}, "humaines": {"rh"}}


def test_an_acronym_that_looks_like_a_stop_word_counts_when_the_table_has_it():
    assert alternatives("est-ce que le CE paie ?")["ce"] == {"comite entreprise"}


def test_each_word_of_an_expression_gets_the_other_expressions_of_its_group():
    expected = {"teletravail", "home office", "homeoffice"}
    assert alternatives("remote work policy") == {
        "remote": expected,
        "work": expected,
        "policy": set(),
    }


def test_an_expression_is_recognised_in_the_plural_and_over_stop_words():
    assert alternatives("notes de frais") == {
        "notes": {"expense report"},
        "frais": {"expense report"},
    }


def test_a_phrase_has_the_stems_of_its_words():
    (word,) = analyze_query("RH", synonyms=TABLE).words
    assert word.alternatives[0].stems == ("ressourc humain",)
