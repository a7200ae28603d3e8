"""From a question to weighted words."""

from __future__ import annotations

import math

import pytest

from bot.records import Question
from bot.retrieval.query import (
    MAX_QUESTION_CHARS,
    MOST_MEANINGS,
    QueryBuilder,
    clean_text,
    is_follow_up,
    standalone_text,
)
from ingest import QueryWord
from tests.fakes import FakeEmbedder, FakeIndexReader, FakeTokenEmbedder, stored_chunk


def reader() -> FakeIndexReader:
    return FakeIndexReader(
        [
            stored_chunk("a", "Les congés payés sont posés à l'avance."),
            stored_chunk("b", "Les congés sans solde."),
            stored_chunk("c", "Le badge visiteur."),
        ]
    )


def test_a_rare_word_weighs_more_than_a_common_one():
    query = QueryBuilder(reader()).build(Question("congés badge"))
    common, rare = query.words
    assert common.idf == pytest.approx(max(0.01, math.log(1.5 / 2.5)))
    assert rare.idf == pytest.approx(math.log(2.5 / 1.5))


def test_an_unknown_word_weighs_most_and_alone_is_respelled():
    asked: list[str] = []

    def respell(word: QueryWord) -> tuple[QueryWord, ...]:
        asked.append(word.folded)
        return (QueryWord("badge", "badge", ("badg",)),)

    query = QueryBuilder(reader(), respell=respell).build(Question("congés bagde"))
    known, unknown = query.words
    assert asked == ["bagde"]
    assert known.known
    assert not unknown.known
    assert unknown.idf == pytest.approx(math.log(4))
    assert [form.folded for form in unknown.word.alternatives] == ["badge"]


def test_the_ideal_score_grows_with_unknown_words():
    builder = QueryBuilder(reader())
    plain = builder.build(Question("badge")).ideal_bm25
    assert builder.build(Question("badge zyglotron")).ideal_bm25 > plain > 0


@pytest.mark.parametrize(
    "text",
    ["et pour les stagiaires ?", "and in Canada?", "What about contractors who work part time?"],
)
def test_a_follow_up_carries_the_subject_of_the_question_before(text):
    question = Question(text, ("Combien de jours de télétravail ?",))
    assert standalone_text(question) == f"Combien de jours de télétravail ? {text}"


def test_a_follow_up_to_a_follow_up_reaches_back_to_the_subject():
    question = Question("et à Lyon ?", ("Quel est le plafond des hôtels ?", "et à Paris ?"))
    assert standalone_text(question) == "Quel est le plafond des hôtels ? et à Paris ? et à Lyon ?"


def test_a_new_subject_in_the_same_thread_stands_alone():
    text = "Quelle est la procédure pour demander un nouvel ordinateur portable au support ?"
    assert not is_follow_up(text)
    assert standalone_text(Question(text, ("Combien de RTT ?",))) == text


def test_what_no_encoder_takes_is_dropped():
    assert clean_text("a\x00b \ud800 c\n\n d") == "a b ? c d"
    assert len(clean_text("é" * 20_000)) == MAX_QUESTION_CHARS


def test_the_encoder_reads_what_the_handbook_says_an_acronym_means():
    handbook = FakeIndexReader([stored_chunk("a", "Paid time off (PTO) is unlimited.")])
    builder = QueryBuilder(handbook, acronyms={"SMA": "silly meeting agenda"})

    def encoded(text: str) -> str:
        return builder.build(Question(text)).encoded

    assert encoded("How much pto? PTO!") == "How much pto (Paid time off)? PTO!"
    assert encoded("Who writes the SMA?") == "Who writes the SMA (silly meeting agenda)?"
    assert encoded("How does paid time off (PTO) work?") == "How does paid time off (PTO) work?"
    assert encoded("Comment poser des RTT ?").startswith("Comment poser des RTT (réduction du")
    assert encoded("Do we have RTT?") == "Do we have RTT?"


def test_the_company_s_own_meaning_comes_before_the_handbook_s():
    handbook = FakeIndexReader([stored_chunk("a", "Paid time off (PTO) is unlimited.")])
    builder = QueryBuilder(handbook, acronyms={"PTO": "power take-off"})
    query = builder.build(Question("PTO"))
    assert query.encoded == "PTO (power take-off)"
    assert query.text == "PTO"


def test_small_letters_stand_for_the_company_s_own_meaning_too():
    handbook = FakeIndexReader([stored_chunk("a", "Paid time off (PTO) is unlimited.")])
    builder = QueryBuilder(handbook, acronyms={"PTO": "power take-off"})
    assert builder.build(Question("pto")).encoded == "pto (power take-off)"
    assert builder.build(Question("mes rtt")).encoded.startswith("mes rtt (réduction du")


def test_ordinary_words_and_addresses_are_not_taken_for_acronyms():
    page = "Information technology (IT) and the Community Edition (CE), community events (CES)."
    builder = QueryBuilder(FakeIndexReader([stored_chunk("a", page)]))
    for text in (
        "CAN I DO IT?",
        "EST-CE QUE CES JOURS COMPTENT ?",
        "Who reads it@example.com or https://x.org/IT or x.org/IT/help?",
        "Is it IT-related?",
        "Who pays IT&T.com?",
    ):
        assert builder.build(Question(text)).encoded == text
    assert builder.build(Question("Who is IT?")).encoded == "Who is IT (Information technology)?"


def test_a_question_of_acronyms_alone_stays_readable():
    acronyms = {f"A{letter}B": f"meaning {letter}" for letter in "CDEFGHIJKL"}
    text = " ".join(acronyms)
    encoded = QueryBuilder(FakeIndexReader(), acronyms=acronyms).build(Question(text)).encoded
    assert encoded.count("(meaning") == MOST_MEANINGS
    assert encoded.endswith("AKB ALB")


def test_a_plural_has_the_meaning_of_its_acronym():
    builder = QueryBuilder(FakeIndexReader(), acronyms={"MR": "merge request"})
    assert builder.build(Question("Who merges MRs?")).encoded == "Who merges MRs (merge request)?"


def test_the_meaning_reaches_the_encoder():
    query = QueryBuilder(FakeIndexReader(), acronyms={"MR": "merge request"}).build(Question("MR"))
    plain, with_tokens = FakeEmbedder(), FakeTokenEmbedder()
    query.with_vector(plain)
    query.with_vector(with_tokens)
    assert plain.queries == with_tokens.embedded == ["MR (merge request)"]


def test_what_restricted_pages_say_an_acronym_means_is_not_used():
    handbook = FakeIndexReader(
        [stored_chunk("a", "Plan de départs volontaires (PDV).")],
        audiences={"a": frozenset({"managers"})},
    )
    assert QueryBuilder(handbook).build(Question("PDV ?")).encoded == "PDV ?"
