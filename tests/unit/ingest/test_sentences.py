"""Sentences are cut where a reader would cut them, in French and in English."""

import pytest

from ingest.sentences import split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Voir M. Dupont et Mme Martin.",
        "L'art. L. 3141-3 du Code du travail s'applique.",
        "Un avantage (p. ex. un ticket) est prévu.",
        "Par ex. Paris ou Lyon.",
        "Cela coûte env. 20 € par mois.",
        "Comptez 2.5 jours, soit 1.234,56 € au total.",
        "Adressez-vous à J.-P. Martin ou à A. B. Durand.",
        "Lisez https://exemple.fr/rh.html?a=1.2 avant de partir.",
        "Il a dit : « Venez. Restez. » et il est parti.",
        "Le forfait (voir p. 3. Il est détaillé.) est annuel.",
        "Cass. soc., 10 septembre 2025, n° 23-22.732",
        "Use a tool, e.g. Slack, i.e. our chat.",
        "GitLab Inc. Benefits are described here.",
        "The U.S. Government pays per diem.",
        "Open at 9 a.m. every day.",
        "See No. 5 and Fig. 2 for details.",
        "Ask Dr. Smith or Mr. Jones.",
        "Des frais (transport, repas, etc.) sont remboursés.",
        "1. Ouvrir l'outil",
        "Pourquoi pas ? dit-elle.",
        "Il hésite… puis accepte.",
        "Écrire à rh@exemple.fr ou au 01.23.45.67.89.",
        "art. 12 et art. 13",
    ],
)
def test_one_sentence_stays_whole(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Vous avez 25 jours.", "Posez-les avant mai."),
        ("Qui y a droit ?", "Tous les salariés !"),
        ("Le délai est de 48 h.", "Il court dès demain."),
        ("Prévoir des pièces, RIB, carte, etc.", "Le dossier est étudié."),
        ("« Venez. »", "Il est venu."),
        ("(Voir la note.)", "Elle est courte."),
        ("We pay for flights in the U.S.", "The rest is up to you."),
        ("Tell me.", "We listen."),
        ("The answer is no.", "Ask again."),
        ("He said “Come in.”", "She did."),
        ("Le prix est de 20 €.", "2 jours suffisent."),
        ("Attendez…", "Puis recommencez."),
        ("Voir l'annexe B.", "Elle est à jour."),
        ("Fini.", "« Encore » dit-il."),
    ],
)
def test_two_sentences_are_cut_between_them(first: str, second: str) -> None:
    assert sentences(f"{first} {second}") == [first, second]


def test_a_line_break_cuts_only_when_the_next_line_opens_something() -> None:
    assert sentences("Service RH\n12 rue des Lilas\net la suite\n- un point") == [
        "Service RH", "12 rue des Lilas\net la suite", "- un point",
    ]  # fmt: skip


def test_a_line_that_was_wrapped_goes_on_even_before_a_capital() -> None:
    wrapped = "You should have access after your first paycheck. You’ll receive a\nWelcome email."
    assert sentences(wrapped)[1] == "You’ll receive a\nWelcome email."


def test_a_number_alone_is_not_a_sentence() -> None:
    assert sentences("1. Lire. 2. Signer.") == ["1. Lire.", "2. Signer."]


def test_blank_text_has_no_sentence() -> None:
    assert split_sentences(" \n ") == []
