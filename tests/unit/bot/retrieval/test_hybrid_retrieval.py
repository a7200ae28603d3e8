"""Both legs together, over fakes of the index and the encoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bot.records import Passage, Question
from bot.retrieval.hybrid import (
    KEYWORDS_ONLY,
    OTHER_MODEL,
    SMALL_INDEX_LIFT,
    Fusion,
    HybridRetriever,
    RetrievalLimits,
)
from bot.retrieval.query import QueryBuilder
from bot.retrieval.reranker import RerankWeights, UnitReranker, unit_texts
from bot.retrieval.retrievers import EmbeddingRetriever, KeywordRetriever
from ingest import IndexStoreError
from tests.fakes import (
    FakeEmbedder,
    FakeIndexReader,
    FakeTokenEmbedder,
    UnitKind,
    stored_chunk,
)

CHUNKS = [
    stored_chunk(
        "leave", "Un mariage donne droit à quatre jours pleins.", "Un PACS aussi.", page="a.md"
    ),
    stored_chunk("badge", "Le badge visiteur est remis à l'accueil.", page="b.md"),
    stored_chunk("mail", "Deux outils de courrier, et le mariage entre eux.", page="c.md"),
]


def hybrid(
    reader: FakeIndexReader,
    embedder: FakeEmbedder | None,
    *,
    fusion: Fusion = "score",
    limits: RetrievalLimits | None = None,
) -> HybridRetriever:
    queries = QueryBuilder(reader)
    return HybridRetriever(
        reader,
        queries,
        KeywordRetriever(reader, queries),
        EmbeddingRetriever(reader, embedder, queries) if embedder else None,
        reranker=UnitReranker(reader, embedder) if embedder else None,
        fusion=fusion,
        limits=limits,
    )


@pytest.mark.parametrize("fusion", ["score", "rrf"])
@pytest.mark.parametrize("encoder", [True, False])
def test_nothing_outside_the_sources_of_a_question_is_found_by_either_leg(fusion, encoder):
    elsewhere = [
        replace(chunk, source="elsewhere", chunk_id=f"{chunk.chunk_id}2") for chunk in CHUNKS
    ]
    embedder = FakeEmbedder() if encoder else None
    retriever = hybrid(FakeIndexReader([*CHUNKS, *elsewhere], embedder), embedder, fusion=fusion)
    words = "quatre jours mariage badge courrier"

    everywhere = retriever.search(Question(words), top_k=6).passages
    scoped = retriever.search(Question(words, sources=("elsewhere",)), top_k=6).passages
    nowhere = retriever.search(Question(words, sources=()), top_k=6).passages

    assert {p.chunk.source for p in everywhere} == {"fake", "elsewhere"}
    assert {p.chunk.chunk_id for p in scoped} == {"leave2", "badge2", "mail2"}
    assert nowhere == ()


@pytest.mark.parametrize("fusion", ["score", "rrf"])
def test_both_legs_find_and_are_told_apart(fusion):
    embedder = FakeEmbedder()
    reader = FakeIndexReader(CHUNKS, embedder)
    found = hybrid(reader, embedder, fusion=fusion).search(
        Question("quatre jours mariage"), top_k=3
    )
    assert found.degraded is None
    assert [p.rank for p in found.passages] == [1, 2, 3]
    best = found.passages[0]
    assert best.chunk.chunk_id == "leave"
    assert best.legs == {"keyword": 1, "vector": 1}
    assert {"cosine", "lexical_share", "coverage"} <= best.signals.keys()
    assert len(best.unit_cosines) == len(best.chunk.units)
    unmatched = next(p for p in found.passages if p.chunk.chunk_id == "badge")
    assert unmatched.legs["keyword"] is None
    assert unmatched.legs["vector"] is not None


def test_a_failing_encoder_leaves_keywords_and_says_so():
    embedder = FakeEmbedder()
    reader = FakeIndexReader(CHUNKS, embedder)
    embedder.failing = True
    found = hybrid(reader, embedder).search(Question("badge"), top_k=3)
    assert found.degraded == KEYWORDS_ONLY
    assert [p.chunk.chunk_id for p in found.passages] == ["badge"]
    assert found.passages[0].unit_cosines == ()


def test_an_encoder_that_fails_in_the_second_stage_leaves_the_first_stage_order():
    class FailsOnPassages(FakeEmbedder):
        def embed_passages(self, texts):
            self.failing = True
            return super().embed_passages(texts)

    reader = FakeIndexReader(CHUNKS, FakeEmbedder())
    found = hybrid(reader, FailsOnPassages()).search(Question("badge visiteur"), top_k=3)
    assert found.degraded == KEYWORDS_ONLY
    assert found.passages[0].chunk.chunk_id == "badge"


def test_vectors_of_another_model_are_never_compared():
    reader = FakeIndexReader(CHUNKS, FakeEmbedder(fingerprint="old"))
    found = hybrid(reader, FakeEmbedder(fingerprint="new")).search(Question("badge"), top_k=3)
    assert found.degraded == OTHER_MODEL
    assert [p.chunk.chunk_id for p in found.passages] == ["badge"]


def test_without_an_encoder_configured_nothing_is_degraded():
    found = hybrid(FakeIndexReader(CHUNKS), None).search(Question("badge"), top_k=3)
    assert found.degraded is None
    assert [p.chunk.chunk_id for p in found.passages] == ["badge"]


def test_an_index_outage_raises():
    reader = FakeIndexReader(CHUNKS, failing=True)
    with pytest.raises(IndexStoreError):
        hybrid(reader, None).search(Question("badge"), top_k=3)


@pytest.mark.parametrize("encoder", [True, False])
def test_one_page_cannot_take_all_places(encoder):
    same_page = [stored_chunk(f"x{i}", f"Le badge numéro {i}.", page="x.md") for i in range(5)]
    other = stored_chunk("y", "Un badge et bien d'autres choses encore.", page="y.md")
    embedder = FakeEmbedder() if encoder else None
    reader = FakeIndexReader([*same_page, other], embedder)
    limits = RetrievalLimits(max_per_page=2)
    found = hybrid(reader, embedder, limits=limits).search(Question("badge"), top_k=6)
    pages = [p.chunk.page for p in found.passages]
    assert pages[:3].count("x.md") == 2
    assert pages[3:] == ["x.md"] * 3
    assert [p.rank for p in found.passages] == [1, 2, 3, 4, 5, 6]


def test_what_a_page_has_too_much_comes_behind_those_past_the_second_stage():
    embedder = FakeEmbedder()
    same_page = [stored_chunk(f"x{i}", f"Le badge numéro {i}.", page="x.md") for i in range(6)]
    others = [stored_chunk(f"y{i}", f"Un badge {i} ailleurs.", page=f"y{i}.md") for i in range(8)]
    reader = FakeIndexReader([*same_page, *others], embedder)
    limits = RetrievalLimits(candidates=6)
    found = hybrid(reader, embedder, limits=limits).search(Question("badge numéro"), top_k=14)
    assert [p.chunk.page for p in found.passages][-3:] == ["x.md"] * 3


def test_what_an_audience_may_not_read_is_not_found():
    reader = FakeIndexReader(CHUNKS, audiences={"badge": frozenset({"managers"})})
    retriever = hybrid(reader, None)
    assert retriever.retrieve(Question("badge"), top_k=3) == ()
    found = retriever.retrieve(Question("badge"), top_k=3, audiences=frozenset({"managers"}))
    assert [p.chunk.chunk_id for p in found] == ["badge"]


def test_mode_all_wants_every_word_and_mode_any_one():
    reader = FakeIndexReader(CHUNKS)
    queries = QueryBuilder(reader)
    question = Question("mariage badge")
    every = KeywordRetriever(reader, queries, mode="all").retrieve(question, top_k=5)
    some = KeywordRetriever(reader, queries, mode="any").retrieve(question, top_k=5)
    assert list(every) == []
    assert {p.chunk.chunk_id for p in some} == {"leave", "badge", "mail"}


def test_the_second_stage_prefers_the_passage_with_the_fitting_sentence():
    embedder = FakeEmbedder()
    diluted = stored_chunk(
        "diluted", "Plafond hôtel Paris 150 euros.", *(f"Autre chose {i} ici." for i in range(9))
    )
    vague = stored_chunk("vague", "Le plafond et l'hôtel dans une phrase sans rapport aucun.")
    reader = FakeIndexReader([diluted, vague], embedder)
    found = hybrid(reader, embedder).search(Question("plafond hôtel paris"), top_k=2)
    assert found.passages[0].chunk.chunk_id == "diluted"


def test_passages_past_the_second_stage_keep_their_place_behind():
    embedder = FakeEmbedder()
    chunks = [
        replace(c, chunk_id=f"{c.chunk_id}{i}", page=f"{i}.md") for i in range(4) for c in CHUNKS
    ]
    reader = FakeIndexReader(chunks, embedder)
    limits = RetrievalLimits(candidates=3)
    found = hybrid(reader, embedder, limits=limits).search(Question("badge"), top_k=8)
    assert len(found.passages) == 8
    assert all(p.unit_cosines for p in found.passages[:3])
    assert not any(p.unit_cosines for p in found.passages[3:])


def test_a_unit_is_encoded_under_its_nearest_heading_and_its_lead_in():
    chunk = stored_chunk(
        "c",
        "Une phrase.",
        (UnitKind.HEADING, "Taleez"),
        (UnitKind.ITEM, "- suivi", "Il sert à :"),
        heading=("Outils", "RH"),
    )
    assert unit_texts(chunk) == ["RH - Une phrase.", "Taleez", "Taleez - Il sert à: - suivi"]


def test_a_passage_says_how_far_it_stands_out_from_those_merely_on_the_subject(monkeypatch):
    monkeypatch.setattr("bot.retrieval.hybrid.CROWD_RANK", 2)
    embedder = FakeEmbedder()
    reader = FakeIndexReader(CHUNKS, embedder)
    found = hybrid(reader, embedder).search(Question("quatre jours mariage"), top_k=3)

    lifts = {passage.legs["vector"]: passage.signals["lift"] for passage in found.passages}
    cosines = {passage.legs["vector"]: passage.signals["cosine"] for passage in found.passages}
    assert lifts[2] == 0.0
    assert lifts[1] == pytest.approx(cosines[1] - cosines[2])
    assert lifts[1] > 0 > lifts[3]


def test_a_small_handbook_cannot_tell_who_stands_out():
    embedder = FakeEmbedder()
    reader = FakeIndexReader(CHUNKS, embedder)
    found = hybrid(reader, embedder).search(Question("quatre jours mariage"), top_k=3)

    assert max(p.signals["lift"] for p in found.passages) == pytest.approx(SMALL_INDEX_LIFT)


class EverythingIsClose(FakeEmbedder):
    """An encoder to which all texts are the same."""

    def embed_passages(self, texts):
        return np.tile(self.embed_query("")[np.newaxis], (len(texts), 1))

    def embed_query(self, text):
        return super().embed_query("the same")


def test_the_second_stage_prefers_the_passage_that_holds_the_kind_of_answer_asked_for():
    embedder = EverythingIsClose()
    vague = stored_chunk("a", "Une mission vraiment raisonnable.", page="a.md")
    typed = stored_chunk("b", "Une mission de trois mois.", page="b.md")
    retriever = hybrid(FakeIndexReader([vague, typed], embedder), embedder)

    def first(question: str) -> str:
        return retriever.search(Question(question), top_k=2).passages[0].chunk.chunk_id

    assert first("mission, quelle durée ?") == "b"
    assert first("mission ?") == "a"


def test_every_part_of_the_second_stage_counts_by_its_weight():
    embedder = FakeTokenEmbedder()
    chunk = stored_chunk("a", "Une mission de trois mois.", "Autre chose.", language="fr")
    reader = FakeIndexReader([chunk], embedder)
    query = QueryBuilder(reader).build(Question("quelle durée de mission ?")).with_vector(embedder)
    found = [Passage(chunk, 1, 0.0, signals={"cosine": 0.5, "lexical_share": 0.4})]

    def score(**changes: float) -> float:
        weights = RerankWeights(**changes)
        (passage,) = UnitReranker(reader, embedder, weights=weights).rerank(query, found)
        return passage.score

    (passage,) = UnitReranker(reader, embedder).rerank(query, found)
    weights, signals = RerankWeights(), passage.signals
    parts = {
        "lexical": weights.lexical * 0.4,
        "coverage": weights.coverage * signals["coverage"],
        "interaction": weights.interaction * signals["interaction"],
        "answer_type": weights.answer_type,
    }
    for name, part in parts.items():
        assert part > 0
        assert passage.score - score(**{name: 0.0}) == pytest.approx(part)
    assert passage.score > score(unit_interaction=0.0)


def test_a_heading_is_not_taken_for_an_answer():
    embedder = EverythingIsClose()
    heading = stored_chunk("a", (UnitKind.HEADING, "Trois mois"), "Un délai.", page="a.md")
    sentence = stored_chunk("b", "Le délai est de trois mois.", page="b.md")
    retriever = hybrid(FakeIndexReader([heading, sentence], embedder), embedder)
    found = retriever.search(Question("quelle durée de délai ?"), top_k=2)
    assert found.passages[0].chunk.chunk_id == "b"
