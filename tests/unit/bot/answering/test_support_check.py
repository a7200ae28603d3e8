"""When a quotable answer is not shown, and why."""

from __future__ import annotations

import pytest

from bot.answering.support import Support, SupportCheck, SupportModel, hard_rules, named_things
from bot.answering.support_model import DEFAULT_MODEL
from bot.records import Citation, Claim, Passage, Question
from bot.retrieval.query import Query, QueryBuilder
from ingest import StoredChunk
from tests.fakes import FakeIndexReader, stored_chunk

MODEL = SupportModel(
    origin="test",
    intercept=-10.0,
    weights={"unit_cosine": 12.0},
    answer_threshold=0.5,
    close_threshold=0.6,
)


def query(text: str) -> Query:
    return QueryBuilder(FakeIndexReader()).build(Question(text))


def passage(chunk: StoredChunk, cosine: float) -> Passage:
    return Passage(chunk, rank=1, score=1.0, unit_cosines=(cosine,) * len(chunk.units))


def claim(text: str, **chunk: str) -> Claim:
    return Claim(text, Citation(passage(stored_chunk("c", text, **chunk), 0.9), text))


def decide(text: str, cosine: float, quoted: str = "Il y a cinq semaines de congés."):
    chunk = stored_chunk("c", quoted)
    found = passage(chunk, cosine)
    return SupportCheck(MODEL).decide(
        query(text), (Claim(quoted, Citation(found, quoted)),), (found,)
    )


def test_a_close_quote_is_an_answer_with_its_probability():
    decision = decide("Combien de congés ?", 0.95)
    assert decision.support is Support.ANSWER
    assert 0.5 < decision.probability < 1
    assert decision.reasons == ()


def test_a_weak_quote_is_an_abstention_that_knows_the_subject():
    decision = decide("Combien de congés ?", 0.7)
    assert decision.support is Support.CLOSE
    assert "below" in decision.reasons[0]


def test_a_quote_about_something_else_is_a_plain_abstention():
    assert decide("Qui a gagné le match ?", 0.3).support is Support.NONE


def test_a_hard_rule_wins_over_any_probability():
    decision = decide("Combien de semaines de congés ?", 0.99, "Il y a 25 jours de congés.")
    assert decision.support is Support.CLOSE
    assert "week" in decision.reasons[0]


def test_no_claim_left_is_an_abstention():
    decision = SupportCheck(MODEL).decide(query("Quoi ?"), (), ())
    assert decision.support is Support.NONE
    assert decision.probability == 0.0


@pytest.mark.parametrize(
    ("question", "quoted", "fires"),
    [
        ("How many weeks off?", "You get 25 days off.", True),
        ("How many weeks off?", "You get 5 weeks off.", False),
        ("Quel est le plafond 2026 ?", "Le plafond est de 100 euros.", True),
        ("Quel est le plafond 2026 ?", "En 2026, le plafond est de 100 euros.", False),
        ("Quel est le plafond ?", "Le plafond est de 100 euros.", False),
    ],
)
def test_hard_rules_look_for_what_the_question_names(question, quoted, fires):
    assert bool(hard_rules(query(question), (claim(quoted),))) is fires


def test_a_year_in_the_title_of_the_cited_page_counts():
    assert hard_rules(query("plafond 2026"), (claim("Cent euros.", title="Barème 2026"),)) == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Quel est le rôle de Slack chez Acme ?", ("slack", "acme")),
        ("Puis-je venir ? Oui.", ()),
        ("QUEL EST LE PLAFOND", ()),
    ],
)
def test_named_things_are_capitalised_words_inside_a_sentence(text, names):
    assert named_things(query(text)) == names


def test_the_model_never_sees_how_long_the_question_is():
    short = decide("Congés ?", 0.9)
    long = decide("Bonjour à toutes et à tous, je me demandais : et les congés ?", 0.9)
    assert short.probability == long.probability


def test_what_was_found_without_an_encoder_is_judged_by_its_own_model():
    keywords = SupportModel("test", 5.0, {}, answer_threshold=0.5, close_threshold=0.0)
    model = SupportModel("test", -5.0, {}, 0.5, 0.0, without_encoder=keywords)
    chunk = stored_chunk("c", "Il y a cinq semaines de congés.")
    found = Passage(chunk, rank=1, score=3.0)
    claims = (Claim(chunk.text, Citation(found, chunk.text)),)
    assert SupportCheck(model).decide(query("congés"), claims, (found,)).support is Support.ANSWER
    with_encoder = passage(chunk, 0.9)
    claims = (Claim(chunk.text, Citation(with_encoder, chunk.text)),)
    decision = SupportCheck(model).decide(query("congés"), claims, (with_encoder,))
    assert decision.support is Support.CLOSE


def test_the_shipped_models_say_where_their_numbers_come_from():
    assert "fit_logistic" in DEFAULT_MODEL.origin
    assert DEFAULT_MODEL.without_encoder is not None
    assert "fit_logistic" in DEFAULT_MODEL.without_encoder.origin
    assert not any("length" in name or "words" in name for name in DEFAULT_MODEL.weights)
