"""A reader of RERANKER_MODEL orders the best passages, and is not missed when it fails."""

from __future__ import annotations

import pytest

from bot.records import Passage, Question
from bot.retrieval.query import QueryBuilder
from bot.retrieval.reading_reranker import READ_PASSAGES, ReadingReranker
from bot.retrieval.reranker import UnitReranker
from tests.fakes import FakeEmbedder, FakeIndexReader, FakeReader, stored_chunk


@pytest.fixture
def query():
    return QueryBuilder(FakeIndexReader()).build(Question("Combien de congés ?"))


def passages(*texts: str) -> list[Passage]:
    return [
        Passage(stored_chunk(str(i), text, page=f"{i}.md"), rank=i + 1, score=1.0 - i / 100)
        for i, text in enumerate(texts)
    ]


def test_what_the_reader_believes_in_comes_first(query):
    reader = FakeReader(answers="cinq semaines")
    found = passages("Les congés se posent.", "Le congé est long.", "Ce sont cinq semaines.")

    ordered = ReadingReranker(reader).rerank(query, found)

    assert [p.chunk.chunk_id for p in ordered] == ["2", "0", "1"]
    assert [p.rank for p in ordered] == [1, 2, 3]
    assert ordered[0].signals["read"] == 0.95


def test_the_stage_before_chooses_what_is_read(query):
    embedder = FakeEmbedder()
    texts = [f"Un texte {i}." for i in range(READ_PASSAGES + 3)]
    chunks = [passage.chunk for passage in passages(*texts)]
    index = FakeIndexReader(chunks, embedder)
    before = UnitReranker(index, embedder)
    asked = QueryBuilder(index).build(Question("texte ?")).with_vector(embedder)
    reader = FakeReader()

    ordered = ReadingReranker(reader, before).rerank(asked, passages(*texts))

    first = before.rerank(asked, passages(*texts))[:READ_PASSAGES]
    assert len(reader.read_texts) == READ_PASSAGES
    assert {p.chunk.chunk_id for p in ordered[:READ_PASSAGES]} == {p.chunk.chunk_id for p in first}
    assert len(ordered) == len(texts)


def test_a_reader_that_fails_leaves_the_order_as_it_was(query, caplog):
    found = passages("Un.", "Deux.")
    ordered = ReadingReranker(FakeReader(failure="out of memory")).rerank(query, found)
    assert [p.chunk.chunk_id for p in ordered] == ["0", "1"]
    assert "reader failed" in caplog.text


def test_nothing_found_is_nothing_to_read(query):
    assert ReadingReranker(FakeReader()).rerank(query, []) == []
