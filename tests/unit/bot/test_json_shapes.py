"""The JSON of `ask` and `search`, which scripts rely on."""

from __future__ import annotations

import json

from bot.records import (
    Abstention,
    AbstentionReason,
    Citation,
    Claim,
    GroundedAnswer,
    Passage,
    Question,
)
from bot.retrieval.search import SearchResult, SearchResults
from bot.serialization import outcome_to_json, search_to_json
from tests.fakes import stored_chunk

PASSAGE = Passage(
    stored_chunk(
        "c1",
        "Quatre jours.",
        page="conges/mariage.md",
        title="Congés",
        heading=("Absences", "Mariage"),
        source="handbook",
        url="https://exemple.fr/conges#mariage",
    ),
    rank=1,
    score=0.123456789,
    legs={"keyword": 2},
)


def test_an_answer_has_the_promised_fields():
    claim = Claim("Quatre jours.", Citation(PASSAGE, "Quatre jours."))
    timings_ms = {"embed": 1.0, "search": 2.0, "answer": 3.0, "total": 6.001}
    outcome = GroundedAnswer(
        (claim,), "fr", 0.87654, "extractive", (PASSAGE,), timings_ms=timings_ms
    )
    record = outcome_to_json("q1", Question("Combien ?"), outcome)
    assert record == {
        "id": "q1",
        "question": "Combien ?",
        "answer": "Quatre jours.",
        "abstained": False,
        "language": "fr",
        "citations": [
            {
                "chunk_id": "c1",
                "page": "conges/mariage.md",
                "source": "handbook",
                "title": "Congés",
                "heading": "Absences › Mariage",
                "url": "https://exemple.fr/conges#mariage",
                "quote": "Quatre jours.",
            }
        ],
        "confidence": 0.8765,
        "generator": "extractive",
        "degraded": None,
        "passages": [{"chunk_id": "c1", "page": "conges/mariage.md", "rank": 1, "score": 0.123457}],
        "timings_ms": {"embed": 1.0, "search": 2.0, "answer": 3.0, "total": 6.0},
    }
    json.dumps(record)


def test_an_abstention_says_je_ne_sais_pas_and_cites_nothing():
    outcome = Abstention(
        AbstentionReason.UNSUPPORTED, True, "en", 0.1, "extractive", (PASSAGE,), degraded="why"
    )
    record = outcome_to_json(None, Question("How many?"), outcome)
    assert record["answer"] == "je ne sais pas"
    assert record["abstained"] is True
    assert record["citations"] == []
    assert record["id"] is None
    assert record["degraded"] == "why"


def test_a_ranking_has_the_promised_fields():
    found = SearchResults("mariage", "hybrid", (SearchResult(PASSAGE, {"mariage": 1.23456}),))
    record = search_to_json(found)
    assert record["query"] == "mariage"
    assert record["mode"] == "hybrid"
    (result,) = record["results"]
    assert result["legs"] == {"keyword": 2, "vector": None}
    assert result["terms"] == {"mariage": 1.2346}
    assert {"rank", "score", "chunk_id", "page", "source", "title", "heading", "text"} <= set(
        result
    )
