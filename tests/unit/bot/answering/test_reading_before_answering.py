"""A reader of READER_MODEL takes part in the support check, and is not missed when it fails."""

from __future__ import annotations

import pytest

from bot.answering.support import Support, SupportCheck, SupportModel
from bot.answering.support_model import DEFAULT_MODEL, with_reader
from bot.records import Citation, Claim, Passage, Question
from bot.retrieval.query import QueryBuilder
from tests.fakes import FakeIndexReader, FakeReader, stored_chunk

MODEL = SupportModel(
    origin="test", intercept=0.0, weights={}, answer_threshold=0.5, close_threshold=0.5
)
QUOTE = "Les salariés à temps partiel ont cinq semaines."


@pytest.fixture
def query():
    return QueryBuilder(FakeIndexReader()).build(Question("Combien de congés à temps partiel ?"))


@pytest.fixture
def passage():
    chunk = stored_chunk("c", f"{QUOTE} Les autres aussi.", title="Congés")
    return Passage(chunk, rank=1, score=1.0, unit_cosines=(0.9,) * len(chunk.units))


def _decide(reader, query, passage, model=MODEL):
    claims = [Claim(quote, Citation(passage, quote)) for quote in (QUOTE, "Les autres aussi.")]
    reading = with_reader(model, reader.name)
    return SupportCheck(reading, reader=reader).decide(query, claims, (passage,))


def test_what_the_reader_says_decides_between_equal_answers(query, passage):
    yes = _decide(FakeReader(answers="temps partiel"), query, passage)
    no = _decide(FakeReader(answers="temps plein"), query, passage)
    assert (yes.support, no.support) == (Support.ANSWER, Support.CLOSE)
    assert yes.probability > 0.5 > no.probability


def test_a_passage_quoted_twice_is_read_once_with_its_title(query, passage):
    reader = FakeReader()
    _decide(reader, query, passage)
    (text,) = reader.read_texts
    assert "Congés" in text
    assert QUOTE in text


def test_nothing_is_read_when_a_rule_has_decided(query, passage):
    reader = FakeReader()
    SupportCheck(MODEL, reader=reader).decide(query, (), (passage,))
    assert reader.read_texts == []


def test_a_reader_that_fails_is_done_without(query, passage, caplog):
    decision = _decide(FakeReader(failure="out of memory"), query, passage)
    assert decision.probability == 0.5
    assert "reader failed" in caplog.text


def test_a_threshold_fitted_with_a_reader_is_not_one_without(query, passage):
    versions = {
        DEFAULT_MODEL.version,
        with_reader(DEFAULT_MODEL, "one").version,
        with_reader(DEFAULT_MODEL, "other").version,
    }
    assert len(versions) == 3
    alone = with_reader(DEFAULT_MODEL, "one").without_encoder
    assert alone is not None
    assert "reader one" in alone.weights
