"""What a reader is taught with: windows of pages, and near misses made by rule."""

import json
import random

import pytest

from tests.benchmarks.public_sets import PUBLIC_SETS, read_public_questions
from tests.benchmarks.quality import CORPORA
from tests.benchmarks.reader.build import pairs_of, without_handbooks
from tests.benchmarks.reader.near_misses import changed_condition, names_in
from tests.benchmarks.reader.pairs import Pair, read_pairs, write_pairs
from tests.benchmarks.reader.section_pairs import section_pairs
from tests.benchmarks.reader.windows import (
    Window,
    as_list,
    as_table,
    closest,
    sentences,
    window_around,
)

HEADINGS = ("Durée", "Demande", "Rémunération")
TEXT = "Le siège est à Lyon. Le télétravail est ouvert deux jours. Les cadres ont 218 jours. Fin."


@pytest.fixture
def rng():
    return random.Random(3)  # noqa: S311 - repeatable


@pytest.fixture
def shared(tmp_path):
    """A paragraph with a question, another paragraph, and a handbook."""
    piaf = tmp_path / "benchmarks" / "piaf-fr"
    piaf.mkdir(parents=True)
    documents = [
        {
            "id": "a",
            "title": "Rhône",
            "text": "Le Rhône traverse Lyon. Il prend sa source en Suisse.",
        },
        {
            "id": "b",
            "title": "Loire",
            "text": "La Loire traverse Nantes. Sa source est en Ardèche.",
        },
    ]
    query = {
        "text": "Dans quel pays le Rhône prend-il sa source ?",
        "answerable": True,
        "gold_doc_ids": ["a"],
        "gold_if_full_corpus": ["a"],
        "answers_if_full_corpus": ["Suisse"],
        "answers": ["Suisse"],
        "standalone_guess": True,
    }
    _write(piaf / "queries.jsonl", [{**query, "id": f"q{n}"} for n in range(70)])
    _write(piaf / "corpus.jsonl", documents)
    _write(piaf / "corpus_held_out.jsonl", [])
    (tmp_path / "corpora" / CORPORA["okp4"]).mkdir(parents=True)
    return tmp_path


def _write(path, records):
    path.write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")


def test_a_window_holds_the_sentence_it_grew_from_and_says_where(rng):
    parts = sentences(TEXT)
    window = window_around(parts, 2, rng, words=12)
    assert window.text[slice(*window.span)] == "Les cadres ont 218 jours."
    assert len(window.text.split()) <= 12


def test_a_sentence_that_is_too_long_is_cut_where_words_end():
    parts = sentences("mot " * 90)
    assert [len(part.split()) for part in parts] == [40, 40, 10]


def test_the_closest_sentence_shares_the_words_that_are_looked_for():
    assert closest(sentences(TEXT), "combien de jours de télétravail") == 1


@pytest.mark.parametrize(
    "shape",
    [as_list, lambda window: as_table(window, random.Random(1))],  # noqa: S311 - repeatable
)
def test_the_answer_is_still_found_where_a_text_became_a_list_or_a_table(shape):
    text = "Un début.\nLe milieu répond.\nUne fin."
    start = text.index("milieu")
    shaped = shape(Window(text, (start, start + len("milieu"))))
    assert shaped.text[slice(*shaped.span)] == "milieu"
    assert shaped.text != text


def test_two_lines_are_no_list():
    assert as_list(Window("Un.\nDeux.")) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Quel était le budget en 2019 ?", "Le budget de 2019 était de 3 millions."),
        ("Where did Marie Curie study?", "Marie Curie studied in Paris."),
        ("Quel préavis pour un cadre ?", "Le préavis d'un cadre est de trois mois."),
    ],
)
def test_a_changed_question_asks_for_what_the_text_does_not_name(question, text, rng):
    changed = changed_condition(question, text, ["Ada Lovelace"], rng)
    assert changed != question
    (new,) = set(changed.split()) - set(question.split()) - {"Ada"}
    assert new not in text


def test_a_question_without_conditions_is_left_alone(rng):
    assert changed_condition("Comment faire ?", "On fait ainsi.", [], rng) is None


def test_the_first_word_of_a_question_is_no_name():
    assert names_in("Quelle ville Jean Moulin a-t-il défendue ?") == ["Jean Moulin"]


def test_a_near_miss_made_by_taking_the_sentence_out_does_not_hold_the_answer(shared):
    pairs = list(pairs_of("piaf", shared))
    kinds = {pair.kind for pair in pairs}
    assert {"answer", "sentence-out"} <= kinds
    assert all(pair.answered == (pair.kind == "answer") for pair in pairs)
    assert not any("suisse" in p.text.casefold() for p in pairs if p.kind == "sentence-out")
    assert {p.text[slice(*p.span)] for p in pairs if p.kind == "answer"} == {"Suisse"}


def test_questions_that_the_quality_figures_ask_are_not_trained_on(shared):
    asked = {q.question_id for q in read_public_questions(shared, PUBLIC_SETS["piaf"])}
    trained = {pair.group.removeprefix("piaf-fr:") for pair in pairs_of("piaf", shared)}
    assert len(asked) == 60
    assert trained == {f"q{n}" for n in range(70)} - asked


def test_the_same_pairs_are_made_every_time(shared):
    assert list(pairs_of("piaf", shared)) == list(pairs_of("piaf", shared))


def test_what_a_handbook_says_is_never_trained_on(shared):
    page = " ".join(f"mot{n}" for n in range(30))
    (shared / "corpora" / CORPORA["okp4"] / "page.md").write_text(page, encoding="utf-8")
    pairs = [Pair("set", "g", "answer", "Quoi ?", "", text, True) for text in (page, TEXT)]
    assert [pair.text for pair in without_handbooks(pairs, shared / "corpora")] == [TEXT]


def test_pairs_are_read_back_as_they_were_written(tmp_path):
    pairs = [
        Pair("set", "g", "answer", "Où ?", "Siège", TEXT, True, (3, 8)),
        Pair("set", "g", "other-page", "Où ?", "", "Ailleurs.", False),
    ]
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    assert read_pairs(tmp_path / "pairs.jsonl") == pairs


def test_a_heading_asks_and_the_sections_beside_it_are_near_misses(tmp_path, rng):
    for subject in ("maternité", "paternité"):
        told = f"de congé {subject}, est dite en toutes lettres, pour que la section compte. "
        page = [f"# Congé {subject}", *(f"## {h}\n\n{f'{h} {told}' * 8}" for h in HEADINGS)]
        (tmp_path / f"{subject}.md").write_text("\n\n".join(page), encoding="utf-8")
    (tmp_path / "empty.md").write_text("", encoding="utf-8")

    pairs = list(section_pairs(tmp_path, 6, rng))

    answers = [pair for pair in pairs if pair.answered]
    assert len(answers) == 6
    assert all(pair.kind == "answer" for pair in answers)
    (only,) = {p.group.split("#")[0] for p in section_pairs(tmp_path, 6, rng, but={"maternité.md"})}
    assert only == f"{tmp_path.name}:paternité.md"
    kinds = {pair.kind for pair in pairs if not pair.answered}
    assert kinds == {"sibling-section", "namesake", "other-page"}
    for pair in pairs:
        asked_about, heading = pair.group.removeprefix(f"{tmp_path.name}:").split("#")
        told = next(s for s in ("maternité", "paternité") if s in pair.text)
        same = asked_about == f"{told}.md" and pair.text.startswith(heading)
        assert bool(same) == pair.answered
