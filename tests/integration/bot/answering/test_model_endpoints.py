"""What endpoints of different makes want and send, and what else a model is asked for."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from bot.answering.breaker import CircuitBreaker
from bot.answering.llm import ChatEndpoint, ModelGenerator, open_model_generator
from bot.answering.rewriting import ModelRewriter, Rewriting, rewritten
from bot.answering.translating import ModelTranslator
from bot.answering.usage import RunMeter, TokenUsage
from bot.errors import AnswerUnavailable
from bot.records import Passage, Question
from bot.retrieval.query import Query
from bot.settings import BotSettings
from tests.fakes import stored_chunk
from tests.scripted_server import Scripted, ScriptedServer, scripted_server

PASSAGE = Passage(stored_chunk("c1", "Le télétravail est possible deux jours."), rank=1, score=1.0)
QUERY = Query(Question("Télétravail ?"), "Télétravail ?", "fr", (), "Télétravail ?")
CLAIM = {"sentence": "Deux jours.", "passage_id": "x", "quote": "deux jours"}
REPLY = json.dumps({"language": "fr", "claims": [CLAIM]})
FOLLOW_UP = Question("et pour un PACS ?", ("Combien de jours de congé pour un mariage ?",))
FULL = "Combien de jours de congé pour un PACS ?"


def completion(content: object, *, finish: str = "stop", **message: object) -> dict[str, Any]:
    said = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "finish_reason": finish, "message": said}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}


def client(server: ScriptedServer, *, timeout: float = 5.0, retries: int = 0) -> openai.OpenAI:
    return openai.OpenAI(
        api_key="sk-secret", base_url=server.url, timeout=timeout, max_retries=retries
    )


def sentences(server: ScriptedServer) -> list[str]:
    draft = ModelGenerator(client(server), "m").draft(QUERY, [PASSAGE])
    return [claim.sentence for claim in draft.claims]


@pytest.mark.parametrize(
    "body",
    [
        completion(REPLY, reasoning_content='Perhaps {"claims": [{"sentence": "Trois."}]}'),
        completion(f'<think>{{"claims": []}} or not</think>\n```json\n{REPLY}\n```'),
        completion(f"Sure! Here you are: {REPLY} Hope this helps."),
        completion(f'{{"name": "answer", "arguments": {json.dumps(REPLY)}}}'),
        completion([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": REPLY}]),
        completion(None, tool_calls=[{"id": "t", "type": "function", "function": {
            "name": "answer", "arguments": REPLY}}], finish="tool_calls"),
    ],
    ids=["reasoning apart", "thinking tags", "text round it", "call in text", "parts", "tool call"],
)  # fmt: skip
def test_claims_are_read_however_a_model_wraps_them(body: dict[str, Any]):
    with scripted_server(Scripted(body=body)) as server:
        assert sentences(server) == ["Deux jours."]
        assert len(server.requests) == 1


def test_a_model_that_only_thinks_is_asked_for_its_reply_and_then_given_up():
    thinking = completion(None, reasoning_content=REPLY, finish="length")
    with (
        scripted_server(Scripted(body=thinking)) as server,
        pytest.raises(AnswerUnavailable, match="cut off"),
    ):
        sentences(server)
    first, second = (request["body"]["max_tokens"] for request in server.requests)
    assert second == 2 * first


def test_azure_gets_its_version_with_each_request_and_the_key_by_its_name():
    with scripted_server(Scripted(body=completion(REPLY))) as server:
        settings = BotSettings(
            _env_file=None,
            answer_model="gpt",
            openai_api_key="sk-azure",
            openai_base_url=f"{server.url}/openai/deployments/gpt?api-version=2024-10-21",
        )
        open_model_generator(settings).draft(QUERY, [PASSAGE])
    asked = server.requests[0]
    assert asked["path"] == ("/v1/openai/deployments/gpt/chat/completions?api-version=2024-10-21")
    assert {key.lower(): value for key, value in asked["headers"].items()}["api-key"] == "sk-azure"


def test_an_endpoint_that_points_elsewhere_is_not_followed_with_passages_and_key():
    with scripted_server(Scripted(body=completion(REPLY))) as elsewhere:
        moved = Scripted(status=307, body={}, headers={"Location": f"{elsewhere.url}/chat"})
        with scripted_server(moved) as server:
            settings = BotSettings(
                _env_file=None,
                answer_model="gpt",
                openai_api_key="sk-secret",
                openai_base_url=server.url,
            )
            with pytest.raises(AnswerUnavailable):
                open_model_generator(settings).draft(QUERY, [PASSAGE])
    assert len(server.requests) >= 1
    assert elsewhere.requests == []


def test_other_endpoints_see_the_key_once():
    with scripted_server(Scripted(body=completion(REPLY))) as server:
        sentences(server)
    headers = {key.lower(): value for key, value in server.requests[0]["headers"].items()}
    assert headers["authorization"] == "Bearer sk-secret"
    assert "api-key" not in headers


def test_a_server_that_wants_nothing_optional_is_spoken_to_plainly_from_then_on():
    def plain_only(body: dict[str, Any]) -> Scripted:
        for name in ("response_format", "seed", "temperature"):
            if name in body:
                return Scripted(400, {"error": {"message": f"unknown field {name}", "param": name}})
        return Scripted(body=completion(REPLY))

    with scripted_server(plain_only) as server:
        model = ModelGenerator(client(server), "m")
        model.draft(QUERY, [PASSAGE])
        learning = len(server.requests)
        model.draft(QUERY, [PASSAGE])
        assert len(server.requests) == learning + 1
    assert {"response_format", "seed", "temperature"}.isdisjoint(server.requests[-1]["body"])


def test_passages_are_packed_by_the_tokens_that_the_model_itself_counts():
    texts = {f"{n}.md": f"Règle {n} : " + f"mot{n} " * 200 for n in range(1, 5)}
    passages = [
        Passage(stored_chunk(page, text, page=page), rank=n, score=1 / n)
        for n, (page, text) in enumerate(texts.items(), start=1)
    ]
    body = completion(REPLY)
    body["usage"]["prompt_tokens"] = 10_000  # a tokenizer that makes much of every word
    with scripted_server(Scripted(body=body)) as server:
        model = ModelGenerator(client(server), "m")
        model.draft(QUERY, passages)
        model.draft(QUERY, passages)
        first, second = (r["body"]["messages"][1]["content"] for r in server.requests)
    assert first.count("evidence_id") == 4
    assert second.count("evidence_id") == 1


def test_attempts_share_the_time_that_one_reply_has():
    busy = Scripted(503, {"error": {"message": "busy"}}, headers={"Retry-After": "60"})
    with scripted_server(busy) as server:
        endpoint = ChatEndpoint(client(server, timeout=30, retries=5), "m")
        started = time.monotonic()
        with pytest.raises(AnswerUnavailable, match="503"):
            endpoint.complete([{"role": "user", "content": "?"}], max_tokens=10)
        assert time.monotonic() - started < 30  # it was asked to wait longer than anybody has
    assert len(server.requests) == 1


def test_a_model_that_is_too_slow_is_not_waited_for_again():
    with scripted_server(Scripted(body=completion(REPLY), delay_s=2)) as server:
        endpoint = ChatEndpoint(client(server, timeout=0.2, retries=5), "m")
        with pytest.raises(AnswerUnavailable, match="in time"):
            endpoint.complete([{"role": "user", "content": "?"}], max_tokens=10)
        assert len(server.requests) == 1


def test_a_passing_failure_is_tried_again():
    failure = Scripted(500, {"error": {"message": "oops"}}, headers={"Retry-After": "0.01"})
    with scripted_server(failure, failure, Scripted(body=completion("ok"))) as server:
        endpoint = ChatEndpoint(client(server, retries=2), "m")
        reply = endpoint.complete([{"role": "user", "content": "?"}], max_tokens=10)
        assert reply.text == "ok"
        assert len(server.requests) == 3


@pytest.fixture
def meter() -> RunMeter:
    return RunMeter()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with scripted_server(Scripted(body=completion(json.dumps({"question": FULL})))) as scripted:
        yield scripted


def rewriter(server: ScriptedServer, meter: RunMeter, **options: Any) -> ModelRewriter:
    endpoint = ChatEndpoint(client(server), "m", meter=meter, breaker=options.pop("breaker", None))
    return ModelRewriter(endpoint, max_tokens=100, **options)


def test_a_follow_up_is_rewritten_by_one_request_that_is_paid_for(
    server: ScriptedServer, meter: RunMeter
):
    question, rewriting = rewritten(FOLLOW_UP, rewriter(server, meter))
    assert rewriting == Rewriting("m", FULL)
    assert question.standalone == FULL
    assert meter.usage == TokenUsage(1, 10, 5)
    system, user = server.requests[0]["body"]["messages"]
    assert json.loads(user["content"])["earlier"] == list(FOLLOW_UP.context)
    assert "mariage" not in system["content"]


@pytest.mark.parametrize(
    "answer",
    [
        Scripted(body=completion("Volontiers !")),
        Scripted(body=completion('{"question": 4}')),
        Scripted(body={"id": "1", "object": "chat.completion", "choices": []}),
        Scripted(500, {"error": {"message": "oops"}}),
        Scripted(body=completion(json.dumps({"question": FULL})), delay_s=2),
        Scripted(body=completion(json.dumps({"question": "Combien coûte le forfait de Dupont ?"}))),
    ],
    ids=["prose", "no text", "no choice", "error", "slow", "something else"],
)
def test_a_rewriting_that_cannot_be_had_or_used_leaves_the_rule(answer: Scripted, meter: RunMeter):
    with scripted_server(answer) as server:
        timeout_s = 0.3 if answer.delay_s else 5.0
        question, rewriting = rewritten(FOLLOW_UP, rewriter(server, meter, timeout_s=timeout_s))
        assert len(server.requests) == 1
    assert question == FOLLOW_UP
    assert rewriting is not None
    assert rewriting.text is None
    assert rewriting.refused


def test_a_model_known_to_be_down_is_not_asked_to_rewrite(server: ScriptedServer, meter: RunMeter):
    breaker = CircuitBreaker()
    breaker.failed("no such key", lasting=True)
    question, _ = rewritten(FOLLOW_UP, rewriter(server, meter, breaker=breaker))
    assert question == FOLLOW_UP
    assert server.requests == []


def test_a_spent_budget_asks_for_no_rewriting(server: ScriptedServer):
    class Spent(RunMeter):
        def refusal(self) -> str | None:
            return "the budget is spent"

    question, rewriting = rewritten(FOLLOW_UP, rewriter(server, Spent()))
    assert question == FOLLOW_UP
    assert rewriting == Rewriting("m", None, "the budget is spent")
    assert server.requests == []


def test_all_quotes_are_translated_by_one_request(meter: RunMeter):
    body = completion(json.dumps({"translations": ["Two  days.", "A badge."]}))
    with scripted_server(Scripted(body=body)) as server:
        translator = ModelTranslator(ChatEndpoint(client(server), "m", meter=meter), max_tokens=100)
        assert translator.translate(["Deux jours.", "Un badge."], "en") == ("Two days.", "A badge.")
        assert "English" in server.requests[0]["body"]["messages"][0]["content"]
    assert meter.usage.requests == 1


@pytest.mark.parametrize("reply", ["Two days.", '{"translations": ["Two days."]}'])
def test_translations_that_do_not_go_with_the_quotes_are_none(reply: str):
    with scripted_server(Scripted(body=completion(reply))) as server:
        translator = ModelTranslator(ChatEndpoint(client(server), "m"), max_tokens=100)
        with pytest.raises(AnswerUnavailable):
            translator.translate(["Deux jours.", "Un badge."], "en")
