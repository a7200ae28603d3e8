"""The main path, over fakes of the ports."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from bot.answering.answerer import MODEL_UNAVAILABLE, Answerer, Examination
from bot.answering.extractive import ExtractiveGenerator, Generator
from bot.answering.support import SupportCheck, SupportModel
from bot.errors import AnswerUnavailable
from bot.grounding.verifier import RejectedClaim
from bot.records import (
    Abstention,
    AbstentionReason,
    Draft,
    DraftClaim,
    GroundedAnswer,
    Passage,
    Question,
)
from bot.retrieval.hybrid import KEYWORDS_ONLY, HybridRetriever
from bot.retrieval.query import Query, QueryBuilder
from bot.retrieval.reranker import UnitReranker
from bot.retrieval.retrievers import EmbeddingRetriever, KeywordRetriever
from ingest import IndexStoreError
from tests.fakes import FakeEmbedder, FakeIndexReader, stored_chunk

WILLING = SupportModel("test", intercept=5.0, weights={}, answer_threshold=0.5, close_threshold=0.5)
UNWILLING = SupportModel(
    "test", intercept=-5.0, weights={}, answer_threshold=0.5, close_threshold=0.0
)
CHUNKS = [
    stored_chunk("leave", "Un mariage donne droit à quatre jours.", page="a.md"),
    stored_chunk("badge", "Le badge visiteur est remis à l'accueil.", page="b.md"),
]


class ScriptedGenerator:
    """Drafts what it is told to, or fails."""

    name = "scripted"

    def __init__(self, *claims: DraftClaim, down: bool = False) -> None:
        self.claims = claims
        self.down = down
        self.calls = 0

    def draft(self, query: Query, passages: Sequence[Passage]) -> Draft:
        self.calls += 1
        if self.down:
            raise AnswerUnavailable("no route to the model")
        return Draft(self.claims, "fr", 0.9)


def answerer(
    *,
    reader: FakeIndexReader | None = None,
    embedder: FakeEmbedder | None = None,
    generator: Generator | None = None,
    fallback: Generator | None = None,
    model: SupportModel = WILLING,
) -> Answerer:
    embedder = embedder or FakeEmbedder()
    reader = reader or FakeIndexReader(CHUNKS, FakeEmbedder())
    queries = QueryBuilder(reader)
    retriever = HybridRetriever(
        reader,
        queries,
        KeywordRetriever(reader, queries),
        EmbeddingRetriever(reader, embedder, queries),
        reranker=UnitReranker(reader, embedder),
    )
    return Answerer(
        retriever,
        generator or ExtractiveGenerator(),
        SupportCheck(model),
        fallback=fallback,
        resources=reader,
    )


def test_an_answer_quotes_and_cites_what_was_found():
    outcome = answerer().answer(Question("badge visiteur accueil"))
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.claims[0].citation.passage.chunk.chunk_id == "badge"
    assert outcome.text.startswith("Le badge visiteur est remis")
    assert outcome.generator == "extractive"
    assert outcome.degraded is None
    assert set(outcome.timings_ms) == {"embed", "search", "answer", "total"}
    assert outcome.timings_ms["total"] >= outcome.timings_ms["answer"]


def test_an_unsupported_answer_is_an_abstention_that_keeps_its_reasons():
    outcome = answerer(model=UNWILLING).answer(Question("badge visiteur"))
    assert isinstance(outcome, Abstention)
    assert outcome.text == "je ne sais pas"
    assert outcome.reason is AbstentionReason.UNSUPPORTED
    assert outcome.subject_close
    assert outcome.explanation


def test_a_fabricated_source_never_comes_out():
    invented = DraftClaim("Le badge est gratuit.", "badge", "Le badge est gratuit.")
    outcome = answerer(generator=ScriptedGenerator(invented)).answer(Question("badge"))
    assert isinstance(outcome, Abstention)
    assert outcome.reason is AbstentionReason.NOT_GROUNDED


def test_of_a_draft_only_what_passes_the_gate_is_said():
    good = DraftClaim("Quatre jours.", "leave", "Un mariage donne droit à quatre jours.")
    bad = DraftClaim("Cinq jours.", "leave", "Un mariage donne droit à quatre jours.")
    outcome = answerer(generator=ScriptedGenerator(bad, good)).answer(Question("mariage"))
    assert outcome.text == "Quatre jours."


def test_an_index_outage_raises_instead_of_abstaining():
    with pytest.raises(IndexStoreError):
        answerer(reader=FakeIndexReader(failing=True)).answer(Question("badge"))


def test_a_failing_encoder_still_answers_and_says_so():
    outcome = answerer(embedder=FakeEmbedder(failing=True)).answer(Question("badge visiteur"))
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.degraded == KEYWORDS_ONLY


def test_with_the_model_down_quotes_take_over_and_say_so():
    outcome = answerer(
        generator=ScriptedGenerator(down=True), fallback=ExtractiveGenerator()
    ).answer(Question("badge visiteur"))
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.generator == "extractive"
    assert outcome.degraded == MODEL_UNAVAILABLE


def test_with_the_model_down_and_no_fallback_the_outage_is_reported():
    with pytest.raises(AnswerUnavailable):
        answerer(generator=ScriptedGenerator(down=True)).answer(Question("badge"))


class ScriptedWriter(ScriptedGenerator):
    """A model that drafts again when told why it was refused."""

    def __init__(self, *claims: DraftClaim, again: Sequence[DraftClaim] = ()) -> None:
        super().__init__(*claims)
        self.again = tuple(again)
        self.reasons: list[str] = []

    def redraft(
        self, query: Query, passages: Sequence[Passage], rejected: Sequence[RejectedClaim]
    ) -> Draft:
        self.reasons = [claim.reason for claim in rejected]
        return Draft(self.again, "fr", 0.9)


GROUNDED = DraftClaim(
    "Le badge visiteur est remis à l'accueil.", "badge", "Le badge visiteur est remis à l'accueil."
)
INVENTED = DraftClaim("Le badge coûte 30 €.", "badge", "Le badge visiteur est remis à l'accueil.")
UNSURE = SupportModel("test", intercept=-5.0, weights={}, answer_threshold=0.5, close_threshold=0.0)


def written(writer: Generator, *, model: SupportModel = WILLING) -> Examination:
    wired = answerer(generator=writer, fallback=ExtractiveGenerator(), model=model)
    return wired.examine(Question("badge visiteur"))


def test_what_a_model_says_is_shown_once_the_gate_lets_it_through():
    outcome = written(ScriptedWriter(GROUNDED), model=UNSURE).outcome
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.generator == "scripted"
    assert outcome.degraded is None


def test_a_model_is_not_asked_when_the_handbook_has_nothing_on_the_subject():
    writer = ScriptedWriter(GROUNDED)
    far = SupportModel(
        "test", intercept=-5.0, weights={}, answer_threshold=0.5, close_threshold=2.0
    )
    assert isinstance(written(writer, model=far).outcome, Abstention)
    assert writer.calls == 0


def test_a_model_that_finds_no_answer_is_believed():
    outcome = written(ScriptedWriter()).outcome
    assert isinstance(outcome, Abstention)
    assert outcome.generator == "scripted"


def test_a_refused_draft_is_repaired_once_with_the_reasons():
    writer = ScriptedWriter(INVENTED, again=[GROUNDED])
    outcome = written(writer).outcome
    assert outcome.text == GROUNDED.sentence
    assert "30" in writer.reasons[0]


def test_a_draft_refused_twice_gives_way_to_quotes():
    examination = written(ScriptedWriter(INVENTED, again=[INVENTED]))
    assert isinstance(examination.outcome, GroundedAnswer)
    assert examination.outcome.generator == "extractive"
    assert [attempt.generator for attempt in examination.attempts] == [
        "scripted",
        "scripted",
        "extractive",
    ]


def test_a_draft_refused_twice_is_an_abstention_where_quotes_do_not_answer_either():
    outcome = written(ScriptedWriter(INVENTED, again=[INVENTED]), model=UNSURE).outcome
    assert isinstance(outcome, Abstention)
    assert sum("30" in reason for reason in outcome.explanation) == 2


def test_nothing_retrieved_calls_no_generator():
    generator = ScriptedGenerator()
    outcome = answerer(reader=FakeIndexReader([], FakeEmbedder()), generator=generator).answer(
        Question("badge")
    )
    assert isinstance(outcome, Abstention)
    assert outcome.reason is AbstentionReason.NO_PASSAGE
    assert generator.calls == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "?!…",
        "🙂🙂",
        "\x00",
        "\ud800\udfff",
        "\u200b",
        '"',
        "AND",
        "NEAR(",
        "*:-^",
        "a" * 20_000,
    ],
)
def test_any_text_is_a_legal_question(text):
    outcome = answerer(model=UNWILLING).answer(Question(text))
    assert isinstance(outcome, Abstention)


@pytest.mark.parametrize("text", ["", "  ", "?!…", "🙂", "\x00"])
def test_a_question_without_a_word_is_told_apart(text):
    outcome = answerer().answer(Question(text))
    assert isinstance(outcome, Abstention)
    assert outcome.reason is AbstentionReason.EMPTY_QUESTION


def test_closing_lets_go_of_the_index():
    reader = FakeIndexReader(CHUNKS, FakeEmbedder())
    with answerer(reader=reader) as wired:
        wired.answer(Question("badge"))
    assert reader.failing
