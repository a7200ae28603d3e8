"""The model generator against a real HTTP server that plays what endpoints really answer."""

from __future__ import annotations

import json
import logging
import re

import openai
import pytest

from bot.answering.llm import ModelGenerator
from bot.errors import AnswerUnavailable
from bot.grounding.verifier import verify
from bot.records import Passage, Question
from bot.retrieval.query import Query
from tests.fakes import stored_chunk
from tests.scripted_server import Scripted, ScriptedServer, scripted_server

PASSAGE = Passage(
    stored_chunk("c1", "Le télétravail est possible deux jours par semaine."), rank=1, score=1.0
)
QUESTION = "Combien de jours de télétravail ?"
QUERY = Query(Question(QUESTION), QUESTION, "fr", ())


def completion(content: str | None, **message: object) -> dict[str, object]:
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
        (Scripted(200, {"id": "1", "object": "chat.completion", "choices": []}), "no usable reply"),
        (Scripted(body=completion("")), "no usable reply"),
        (Scripted(body=completion(None, refusal="I cannot")), "refused"),
        (Scripted(delay_s=0.6, body={}), "in time"),
    ],
    ids=["401", "404", "500", "429", "html", "no choice", "empty", "refusal", "slow"],
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
