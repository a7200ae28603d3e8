"""Pages that give different figures for the same thing are shown side by side."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.grounding.disagreement import Disagreements
from bot.records import Citation, Claim, Passage
from ingest import Unit, UnitKind
from tests.fakes import stored_chunk

OLD, NEW = datetime(2023, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)
TWO = "Le télétravail est possible deux jours par semaine."
THREE = "Le télétravail est possible jusqu'à trois jours par semaine."


def passage(page, text, *, modified_at=OLD, language="fr", title="Télétravail", outdated=False):
    chunk = replace(
        stored_chunk(page, text),
        page=page,
        title=title,
        heading_path=(),
        language=language,
        modified_at=modified_at,
        outdated=outdated,
        units=(Unit(UnitKind.SENTENCE, 0, len(text)),),
    )
    return Passage(chunk, rank=1, score=1.0)


def claim(of: Passage) -> Claim:
    return Claim(of.chunk.text, Citation(of, of.chunk.text))


def shown(claims, passages):
    kept, disagree = Disagreements(passages).among(claims)
    return [c.citation.passage.chunk.page for c in kept], disagree


def test_the_newer_of_two_claims_that_disagree_comes_first():
    old, new = passage("old", TWO), passage("new", THREE, modified_at=NEW)
    assert shown([claim(old), claim(new)], [old, new]) == (["new", "old"], True)
    assert shown([claim(new), claim(old)], [old, new]) == (["new", "old"], True)


def test_a_retrieved_passage_that_disagrees_is_added():
    old, new = passage("old", TWO), passage("new", THREE, modified_at=NEW)
    assert shown([claim(old)], [old, new]) == (["new", "old"], True)


def test_a_year_in_the_titles_counts_more_than_the_last_change():
    old = passage("2023", TWO, modified_at=NEW, title="Télétravail 2023")
    new = passage("2025", THREE, modified_at=OLD, title="Télétravail 2025")
    assert shown([claim(old)], [old, new]) == (["2025", "2023"], True)


@pytest.mark.parametrize(
    "other",
    [
        "Le télétravail est possible deux jours par semaine, sur demande.",
        "Le congé de mariage est de trois jours.",
        "Le télétravail est possible partout.",
        "Le télétravail coûte 3 euros par semaine.",
    ],
    ids=["same figure", "another subject", "no figure", "another unit"],
)
def test_what_does_not_contradict_is_left_alone(other):
    first, second = passage("a", TWO), passage("b", other, modified_at=NEW)
    assert shown([claim(first)], [first, second]) == (["a"], False)


def test_one_page_does_not_disagree_with_itself_nor_a_page_in_another_language():
    first = passage("a", TWO)
    same = passage("a", THREE)
    english = passage("c", "Remote work is possible three days a week.", language="en")
    assert shown([claim(first)], [first, same, english]) == (["a"], False)


def test_an_outdated_page_is_left_out_where_a_current_one_says_otherwise():
    old, new = passage("old", TWO, outdated=True), passage("new", THREE)
    assert shown([claim(old), claim(new)], [old, new]) == (["new"], False)
    assert shown([claim(new)], [old, new]) == (["new"], False)
    assert shown([claim(old)], [old]) == (["old"], False)


def test_sentences_of_another_meaning_do_not_disagree():
    first, second = passage("a", TWO), passage("b", THREE)
    kept, disagree = Disagreements([first, second], lambda *_: 0.9).among([claim(first)])
    assert (len(kept), disagree) == (1, False)
    kept, disagree = Disagreements([first, second], lambda *_: 0.95).among([claim(first)])
    assert (len(kept), disagree) == (2, True)


def test_no_more_than_two_passages_are_added():
    first = passage("a", TWO)
    others = [
        passage(f"p{n}", f"Le télétravail est possible {n} jours par semaine.") for n in (3, 4, 5)
    ]
    pages, disagree = shown([claim(first)], [first, *others])
    assert (len(pages), disagree) == (3, True)
