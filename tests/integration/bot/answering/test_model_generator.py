"""The model generator against a real HTTP server that plays what endpoints really answer."""

from __future__ import annotations

import json
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from bot.answering.breaker import CircuitBreaker
from bot.answering.llm import ModelGenerator, check_endpoint
from bot.answering.usage import RunMeter
from bot.errors import AnswerUnavailable
from bot.grounding.verifier import RejectedClaim, Rule, verify
from bot.records import DraftClaim, Passage, Question
from bot.retrieval.query import Query
from bot.settings import BotSettings
from tests.fakes import stored_chunk
from tests.scripted_server import Scripted, ScriptedServer, scripted_server

PASSAGE = Passage(
    stored_chunk("c1", "Le télétravail est possible deux jours par semaine."), rank=1, score=1.0
)
QUESTION = "Combien de jours de télétravail ?"
QUERY = Query(Question(QUESTION), QUESTION, "fr", (), QUESTION)


def completion(content: str | None, **message: object) -> dict[str, Any]:
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }


def reply(*claims: tuple[str, str, str]) -> str:
    keys = ("sentence", "passage_id", "quote")
    return json.dumps(
        {"language": "fr", "claims": [dict(zip(keys, c, strict=True)) for c in claims]}
    )


def generator(server: ScriptedServer, *, timeout: float = 5.0) -> ModelGenerator:
    client = openai.OpenAI(api_key="sk-secret", base_url=server.url, timeout=timeout, max_retries=1)
    return ModelGenerator(client, "m")


def evidence_ids(server: ScriptedServer) -> list[str]:
    prompt = server.requests[-1]["body"]["messages"][-1]["content"]
    return re.findall(r'"evidence_id": "(\w+)"', prompt)


def test_nothing_retrieved_means_no_call():
    with scripted_server(Scripted(body=completion("{}"))) as server:
        assert generator(server).draft(QUERY, []).claims == ()
        assert server.requests == []


def test_an_invented_evidence_id_is_refused_by_the_gate():
    content = reply(("Deux jours par semaine.", "c1", "deux jours par semaine"))
    with scripted_server(Scripted(body=completion(content))) as server:
        draft = generator(server).draft(QUERY, [PASSAGE])
    assert len(draft.claims) == 1
    assert verify(draft, [PASSAGE]).claims == ()


def test_evidence_ids_are_new_for_each_request():
    with scripted_server(Scripted(body=completion(reply()))) as server:
        model = generator(server)
        model.draft(QUERY, [PASSAGE])
        first = evidence_ids(server)
        model.draft(QUERY, [PASSAGE])
        assert first
        assert set(first).isdisjoint(evidence_ids(server))


def test_a_refused_schema_is_asked_for_once_only():
    refused = Scripted(400, {"error": {"message": "response_format is not supported"}})
    with scripted_server(refused, refused, Scripted(body=completion(reply()))) as server:
        model = generator(server)
        model.draft(QUERY, [PASSAGE])
        model.draft(QUERY, [PASSAGE])
    formats = [r["body"].get("response_format", {}).get("type") for r in server.requests]
    assert formats == ["json_schema", "json_object", None, None]


def refusal(parameter: str | None, message: str) -> Scripted:
    error = {"message": message, "type": "invalid_request_error", "param": parameter}
    return Scripted(400, {"error": error})


REFUSED_LIMIT = refusal(
    "max_tokens",
    "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead.",
)
REFUSED_TEMPERATURE = refusal("temperature", "'temperature' does not support 0 with this model.")
REFUSED_SEED = Scripted(
    422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "not permitted"}]}
)


def test_each_refused_parameter_is_given_up_once_and_the_others_are_kept():
    script = (REFUSED_LIMIT, REFUSED_TEMPERATURE, REFUSED_SEED, Scripted(body=completion(reply())))
    with scripted_server(*script) as server:
        model = generator(server)
        model.draft(QUERY, [PASSAGE])
        model.draft(QUERY, [PASSAGE])
    assert len(server.requests) == 5
    kept = server.requests[-1]["body"]
    assert "max_completion_tokens" in kept
    assert {"max_tokens", "temperature", "seed"}.isdisjoint(kept)
    assert kept["response_format"]["type"] == "json_schema"


def test_a_refusal_that_names_nothing_left_to_give_up_is_an_outage():
    with (
        scripted_server(REFUSED_TEMPERATURE) as server,
        pytest.raises(AnswerUnavailable, match="HTTP 400"),
    ):
        generator(server).draft(QUERY, [PASSAGE])
    assert len(server.requests) == 2


def test_threads_learn_the_same_dialect():
    def reasoning(body: dict[str, Any]) -> Scripted:
        return REFUSED_LIMIT if "max_tokens" in body else Scripted(body=completion(reply()))

    with scripted_server(reasoning) as server, ThreadPoolExecutor(3) as threads:
        model = generator(server)
        drafts = [threads.submit(model.draft, QUERY, [PASSAGE]) for _ in range(6)]
        assert [draft.result().claims for draft in drafts] == [()] * 6
        assert "max_completion_tokens" in server.requests[-1]["body"]


def test_a_reply_cut_off_is_asked_for_again_with_more_room():
    cut = completion('{"language": "fr", "claims": [{"sentence": "Deux')
    cut["choices"][0]["finish_reason"] = "length"
    with scripted_server(Scripted(body=cut), Scripted(body=completion(reply()))) as server:
        assert generator(server).draft(QUERY, [PASSAGE]).claims == ()
        first, second = (r["body"] for r in server.requests)
    assert second["max_tokens"] == 2 * first["max_tokens"]
    assert "cut off" in second["messages"][-1]["content"]


def test_thinking_sent_as_a_part_of_its_own_is_left_out():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": '{"claims": [{}]}'}]},
        {"type": "text", "text": reply(("Oui.", "x", "deux jours"))},
    ]
    body = completion(None)
    body["choices"][0]["message"]["content"] = parts
    with scripted_server(Scripted(body=body)) as server:
        assert [c.sentence for c in generator(server).draft(QUERY, [PASSAGE]).claims] == ["Oui."]


def test_a_filtered_reply_is_an_outage():
    body = completion("")
    body["choices"][0]["finish_reason"] = "content_filter"
    with (
        scripted_server(Scripted(body=body)) as server,
        pytest.raises(AnswerUnavailable, match="refused to answer"),
    ):
        generator(server).draft(QUERY, [PASSAGE])


def test_a_second_draft_is_told_why_the_first_was_refused():
    claim = DraftClaim("Trois jours.", "c1", "deux jours")
    with scripted_server(Scripted(body=completion(reply()))) as server:
        refused = RejectedClaim(claim, "3 is not there", Rule.FACTS)
        generator(server).redraft(QUERY, [PASSAGE], [refused])
        told = server.requests[0]["body"]["messages"][-1]["content"]
    assert "Trois jours." in told
    assert "3 is not there" in told


def test_the_check_of_an_endpoint_speaks_its_dialect():
    script = (REFUSED_LIMIT, Scripted(body=completion("ok")))
    with scripted_server(*script) as server:
        settings = BotSettings(_env_file=None, answer_model="m", openai_base_url=server.url)
        assert check_endpoint(settings) == "m answers"


def test_an_unusable_reply_is_asked_for_again():
    script = (Scripted(body=completion("Deux jours.")), Scripted(body=completion(reply())))
    with scripted_server(*script) as server:
        assert generator(server).draft(QUERY, [PASSAGE]).claims == ()
        assert len(server.requests) == 2


def test_a_busy_endpoint_is_asked_again():
    busy = Scripted(429, {"error": {"message": "busy"}}, headers={"Retry-After": "0.01"})
    with scripted_server(busy, Scripted(body=completion(reply()))) as server:
        assert generator(server).draft(QUERY, [PASSAGE]).claims == ()


def test_claims_sent_as_a_tool_call_are_read():
    call = {
        "id": "t",
        "type": "function",
        "function": {"name": "answer", "arguments": reply(("Oui.", "x", "deux jours"))},
    }
    with scripted_server(Scripted(body=completion(None, tool_calls=[call]))) as server:
        assert [c.sentence for c in generator(server).draft(QUERY, [PASSAGE]).claims] == ["Oui."]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Scripted(401, {"error": {"message": "bad key sk-secret"}}), "OPENAI_API_KEY"),
        (Scripted(404, {"error": {"message": "no model"}}), "ANSWER_MODEL"),
        (Scripted(500, {"error": {"message": "oops"}}), "HTTP 500"),
        (Scripted(429, {"error": {"message": "quota"}}, headers={"Retry-After": "0.01"}), "quota"),
        (Scripted(200, "<html>not json</html>"), "OPENAI_BASE_URL"),
        (
            Scripted(200, "<html>not json</html>", headers={"Content-Type": "text/html"}),
            "OPENAI_BASE_URL",
        ),
        (Scripted(200, {"id": "1", "object": "chat.completion", "choices": []}), "no usable reply"),
        (Scripted(body=completion("")), "no usable reply"),
        (Scripted(body=completion(None, refusal="I cannot")), "refused"),
        (Scripted(delay_s=0.6, body={}), "in time"),
    ],
    ids=[
        "401",
        "404",
        "500",
        "429",
        "html",
        "html by name",
        "no choice",
        "empty",
        "refusal",
        "slow",
    ],
)
def test_an_outage_says_what_to_look_at_and_no_secret(answer, words, caplog):
    caplog.set_level(logging.INFO)
    with (
        scripted_server(answer) as server,
        pytest.raises(AnswerUnavailable, match=words) as raised,
    ):
        generator(server, timeout=0.2 if answer.delay_s else 5).draft(QUERY, [PASSAGE])
    assert "sk-secret" not in str(raised.value) + caplog.text
    assert QUESTION not in str(raised.value) + caplog.text


def test_an_endpoint_that_is_not_there_is_an_outage():
    client = openai.OpenAI(api_key="k", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(AnswerUnavailable, match="OPENAI_BASE_URL"):
        ModelGenerator(client, "m").draft(QUERY, [PASSAGE])


def test_a_refusal_that_breaks_off_is_an_outage():
    broken = Scripted(503, events=("half of",), headers={"Content-Length": "1000"})
    with scripted_server(broken) as server, pytest.raises(AnswerUnavailable, match="OPENAI_BASE"):
        generator(server).draft(QUERY, [PASSAGE])


def test_an_endpoint_that_is_down_is_left_alone_and_asked_again_after_a_pause():
    moment = [0.0]
    breaker = CircuitBreaker(failures_to_open=2, first_pause_s=30, now=lambda: moment[0])
    down, up = Scripted(503, {"error": {"message": "down"}}), Scripted(200, completion(reply()))
    with scripted_server(down) as server:
        client = openai.OpenAI(api_key="sk-secret", base_url=server.url, max_retries=0)
        model = ModelGenerator(client, "m", breaker=breaker)
        for _ in range(4):
            with pytest.raises(AnswerUnavailable, match="503"):
                model.draft(QUERY, [PASSAGE])
        assert len(server.requests) == 2
        server.script[:] = [up]
        moment[0] = 30.0
        assert model.draft(QUERY, [PASSAGE]).claims == ()
        assert model.draft(QUERY, [PASSAGE]).claims == ()
    assert len(server.requests) == 4


def test_a_wrong_key_is_not_tried_at_every_question():
    refused = Scripted(401, {"error": {"message": "no such key"}})
    with scripted_server(refused) as server:
        model = generator(server)
        for _ in range(3):
            with pytest.raises(AnswerUnavailable, match="key"):
                model.draft(QUERY, [PASSAGE])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ({"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}, (1, 120, 30)),
        (None, None),
    ],
    ids=["told by the server", "estimated"],
)
def test_tokens_are_counted(told, counted):
    body = completion(reply()) | ({"usage": told} if told else {})
    meter = RunMeter()
    with scripted_server(Scripted(200, body)) as server:
        client = openai.OpenAI(api_key="sk-secret", base_url=server.url, max_retries=0)
        ModelGenerator(client, "m", meter=meter).draft(QUERY, [PASSAGE])
    usage = meter.usage
    if counted:
        assert (usage.requests, usage.prompt, usage.completion) == counted
    else:
        assert usage.requests == 1
        assert usage.prompt > usage.completion > 0


def test_a_spent_budget_asks_nothing():
    class Spent(RunMeter):
        def refusal(self) -> str | None:
            return "the budget is spent"

    with scripted_server(Scripted(200, completion(reply()))) as server:
        client = openai.OpenAI(api_key="sk-secret", base_url=server.url, max_retries=0)
        with pytest.raises(AnswerUnavailable, match="budget"):
            ModelGenerator(client, "m", meter=Spent()).draft(QUERY, [PASSAGE])
    assert server.requests == []
