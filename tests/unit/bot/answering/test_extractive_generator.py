"""What is quoted, from passages whose sentences the encoder has scored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.answering.extractive import ExtractiveGenerator
from bot.records import Draft, Passage, Question
from bot.retrieval.query import Query, QueryBuilder
from ingest import StoredChunk
from tests.fakes import FakeIndexReader, UnitKind, stored_chunk


def query(text: str, chunks: Sequence[StoredChunk]) -> Query:
    return QueryBuilder(FakeIndexReader(chunks)).build(Question(text))


def draft(text: str, *scored: tuple[StoredChunk, Sequence[float]], max_words: int = 100) -> Draft:
    passages = [
        Passage(chunk, rank=rank, score=1.0, unit_cosines=tuple(cosines))
        for rank, (chunk, cosines) in enumerate(scored, start=1)
    ]
    generator = ExtractiveGenerator(max_words=max_words)
    return generator.draft(query(text, [chunk for chunk, _ in scored]), passages)


def quotes(answer: Draft) -> list[str]:
    return [claim.quote for claim in answer.claims]


LONG = "mot " * 33 + "fin."


def test_the_best_sentence_of_each_passage_is_quoted_best_first():
    one = stored_chunk("one", f"Rien ici. {LONG}", f"La réponse est bleue. {LONG}")
    two = stored_chunk("two", f"Une autre réponse encore. {LONG}")
    answer = draft("couleur", (one, [0.5, 0.9]), (two, [0.8]))
    assert [q.split(".")[0] for q in quotes(answer)] == [
        "La réponse est bleue",
        "Une autre réponse encore",
    ]
    assert [claim.chunk_id for claim in answer.claims] == ["one", "two"]


def test_a_far_worse_passage_is_not_quoted():
    one, two = stored_chunk("one", "La réponse."), stored_chunk("two", "Sans rapport du tout.")
    assert quotes(draft("x", (one, [0.9]), (two, [0.3]))) == ["La réponse."]


def test_short_neighbours_come_along_up_to_the_window():
    chunk = stored_chunk("c", "Avant.", "La réponse.", "Après.", LONG)
    assert quotes(draft("x", (chunk, [0.7, 0.9, 0.7, 0.1]))) == ["Avant.\nLa réponse.\nAprès."]


def test_a_window_keeps_the_heading_right_above_it_and_crosses_none():
    chunk = stored_chunk(
        "c", "Avant.", (UnitKind.HEADING, "Taleez"), "Le suivi.", (UnitKind.HEADING, "Autre"), "X."
    )
    assert quotes(draft("x", (chunk, [0.1, 0.9, 0.9, 0.9, 0.1]))) == ["Taleez\nLe suivi."]


def test_an_answer_holds_its_budget_of_words():
    chunks = [
        (stored_chunk(f"c{i}", " ".join(f"m{i}x{j}" for j in range(30))), [0.9]) for i in range(4)
    ]
    answer = draft("x", *chunks, max_words=70)
    assert len(answer.claims) == 2


def test_a_passage_that_repeats_another_is_left_out():
    one = stored_chunk("one", "Le plafond des hôtels est de cent euros.")
    two = stored_chunk("two", "Le plafond des hôtels est de cent euros.", page="b.md")
    assert len(draft("plafond", (one, [0.9]), (two, [0.9])).claims) == 1


def test_a_row_is_quoted_with_the_header_of_its_table():
    header = "| Ville | Plafond |"
    chunk = stored_chunk(
        "t",
        (UnitKind.ROW, "| Paris et petite couronne | 150 € |" + " note" * 30, header),
        (UnitKind.ROW, "| Lyon | 120 € |", header),
    )
    (claim,) = draft("plafond Lyon", (chunk, [0.5, 0.9])).claims
    assert claim.lead_in == header
    assert claim.quote == "| Lyon | 120 € |"
    assert claim.sentence == f"{header}\n| Lyon | 120 € |"


def test_a_question_for_a_list_gets_the_whole_list_under_its_lead_in():
    lead_in = "Il faut fournir :"
    items = [
        (UnitKind.ITEM, f"- la pièce numéro {n}, en deux exemplaires", lead_in) for n in range(5)
    ]
    chunk = stored_chunk("l", *items)
    (claim,) = draft("Quels documents fournir ?", (chunk, [0.5, 0.9, 0.5, 0.5, 0.5])).claims
    assert claim.lead_in == lead_in
    assert claim.quote == chunk.text


def test_steps_stay_in_order_and_start_with_the_one_asked_for():
    steps = [
        (UnitKind.ITEM, f"{n}. étape {n} " + "avec plusieurs mots " * 4, "") for n in range(1, 6)
    ]
    chunk = stored_chunk("s", *steps)
    (claim,) = draft("Comment déclarer ?", (chunk, [0.5, 0.9, 0.5, 0.5, 0.5])).claims
    assert claim.quote.startswith("2. étape 2")
    assert "1. étape" not in claim.quote


def test_the_sentence_with_the_asked_kind_of_answer_wins_over_a_slightly_closer_one():
    chunk = stored_chunk("c", f"Le préavis dépend du poste. {LONG}", f"Il est de 3 mois. {LONG}")
    first, *_ = draft("Quelle est la durée du préavis ?", (chunk, [0.88, 0.85])).claims
    assert first.quote.startswith("Il est de 3 mois")


def test_one_passage_gives_at_most_two_windows_and_never_the_same_words_twice():
    chunk = stored_chunk("c", *(f"Point {n}{n}. " + f"mot{n} " * 28 for n in range(3)))
    first, second = quotes(draft("x", (chunk, [0.9, 0.8, 0.7])))
    assert first.startswith("Point 00")
    assert second.startswith("Point 11")


def test_of_two_pages_that_disagree_the_newer_comes_first():
    old = stored_chunk(
        "old",
        "Le plafond des hôtels est de 100 euros.",
        modified_at=datetime(2020, 1, 1, tzinfo=UTC),
    )
    new = stored_chunk(
        "new",
        "Depuis la révision, le plafond national des hôtels est de 150 euros.",
        modified_at=datetime(2026, 1, 1, tzinfo=UTC),
        page="b.md",
    )
    answer = draft("Quel plafond pour les hôtels ?", (old, [0.9]), (new, [0.88]))
    assert [claim.chunk_id for claim in answer.claims] == ["new", "old"]


def test_the_year_in_a_title_tells_the_newer_of_two_versions():
    old = stored_chunk("old", "Le minimum est de 3 000 euros.", title="Salaires 2019")
    new = stored_chunk("new", "Le minimum est de 3 275 euros.", title="Salaires 2024", page="b.md")
    answer = draft("Quel est le minimum ?", (old, [0.9]), (new, [0.88]))
    assert [claim.chunk_id for claim in answer.claims] == ["new", "old"]


def test_without_an_encoder_the_words_of_the_question_decide():
    chunk = stored_chunk("c", f"Rien sur le sujet. {LONG}", f"Le badge visiteur se retire. {LONG}")
    passage = Passage(chunk, rank=1, score=3.2)
    answer = ExtractiveGenerator().draft(query("badge visiteur", [chunk]), [passage])
    assert answer.claims[0].quote.startswith("Le badge visiteur")


def test_nothing_retrieved_is_a_draft_without_claims():
    assert draft("x").claims == ()


def test_every_quote_is_a_piece_of_its_passage():
    chunk = stored_chunk("c", "Une phrase.", (UnitKind.ITEM, "- un point", "Liste :"), "La fin.")
    for claim in draft("x", (chunk, [0.5, 0.9, 0.6])).claims:
        assert claim.quote in chunk.text
