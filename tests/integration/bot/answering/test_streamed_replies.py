"""Replies that come in pieces, from a real HTTP server that plays what endpoints really stream."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

import openai
import pytest

from bot.answering.answerer import MODEL_UNAVAILABLE, Answerer
from bot.answering.extractive import ExtractiveGenerator
from bot.answering.llm import ModelGenerator
from bot.answering.support import SupportCheck, SupportModel
from bot.answering.usage import RunMeter
from bot.records import Claim, GroundedAnswer, Outcome, Question
from bot.retrieval.hybrid import HybridRetriever
from bot.retrieval.query import QueryBuilder
from bot.retrieval.reranker import UnitReranker
from bot.retrieval.retrievers import EmbeddingRetriever, KeywordRetriever
from tests.fakes import FakeEmbedder, FakeIndexReader, stored_chunk
from tests.scripted_server import Scripted, ScriptedServer, scripted_server

WILLING = SupportModel("test", intercept=5.0, weights={}, answer_threshold=0.5, close_threshold=0.5)
BADGE = stored_chunk("badge", "Le badge visiteur est remis à l'accueil.", page="b.md")
LEAVE = stored_chunk("leave", "Un badge perdu est signalé au gardien.", page="a.md")
QUESTION = "badge visiteur"
INVENTED = ("Le badge coûte 30 €.", BADGE.text)
FIRST = (BADGE.text, BADGE.text)
SECOND = (LEAVE.text, LEAVE.text)


def answerer(server: ScriptedServer, meter: RunMeter | None = None) -> Answerer:
    embedder = FakeEmbedder()
    reader = FakeIndexReader([BADGE, LEAVE], embedder)
    queries = QueryBuilder(reader)
    retriever = HybridRetriever(
        reader,
        queries,
        KeywordRetriever(reader, queries),
        EmbeddingRetriever(reader, embedder, queries),
        reranker=UnitReranker(reader, embedder),
    )
    client = openai.OpenAI(api_key="sk-secret", base_url=server.url, timeout=5, max_retries=0)
    return Answerer(
        retriever,
        ModelGenerator(client, "m", meter=meter),
        SupportCheck(WILLING),
        fallback=ExtractiveGenerator(),
        resources=reader,
    )


def evidence(body: dict[str, Any]) -> dict[str, str]:
    """Map the texts of the evidence in a request to their ids."""
    prompt = next(m["content"] for m in body["messages"] if '"evidence_id"' in m["content"])
    ids = re.findall(r'"evidence_id": "(\w+)"', prompt)
    texts = [t for _, t in sorted((prompt.index(t), t) for t in (BADGE.text, LEAVE.text))]
    return dict(zip(texts, ids, strict=True))


def reply(body: dict[str, Any], claims: Sequence[tuple[str, str]]) -> str:
    ids = evidence(body)
    written = [{"sentence": s, "passage_id": ids[q], "quote": q} for s, q in claims]
    return json.dumps({"language": "fr", "claims": written})


def chunk(text: str | None = None, *, finish: str | None = None, **delta: object) -> dict[str, Any]:
    delta |= {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"} | {
        "choices": [choice]
    }


USAGE = chunk() | {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 9}}


def streamed(text: str, *, end: tuple[object, ...] = (), size: int = 5) -> tuple[object, ...]:
    pieces = [chunk(text[i : i + size]) for i in range(0, len(text), size)]
    end = end or (chunk(finish="stop"), USAGE, "[DONE]")
    return (chunk("", role="assistant"), *pieces, *end)


def streaming(*claims: tuple[str, str]) -> Callable[[Any], Scripted]:
    return lambda body: Scripted(events=streamed(reply(body, claims)))


def whole(*claims: tuple[str, str]) -> Callable[[Any], Scripted]:
    def play(body: dict[str, Any]) -> Scripted:
        message = {"role": "assistant", "content": reply(body, claims)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return Scripted(body={"id": "1", "object": "chat.completion", "choices": [choice]})

    return play


def heard(server: ScriptedServer, meter: RunMeter | None = None) -> tuple[list[str], Outcome]:
    claims: list[Claim] = []
    outcome = answerer(server, meter).answer(Question(QUESTION), on_claim=claims.append)
    return [claim.sentence for claim in claims], outcome


def same(one: Outcome, other: Outcome) -> bool:
    """Compare outcomes but for how long they took."""
    assert isinstance(one, GroundedAnswer)
    assert isinstance(other, GroundedAnswer)
    return (one.claims, one.language, one.confidence, one.generator, one.degraded) == (
        other.claims,
        other.language,
        other.confidence,
        other.generator,
        other.degraded,
    )


def test_a_claim_is_heard_before_the_next_one_is_written_and_an_invented_one_never() -> None:
    claims: list[Claim] = []
    seen: list[int] = []

    def look() -> None:
        for _ in range(300):
            if claims:
                break
            threading.Event().wait(0.01)
        seen.append(len(claims))

    def play(body: dict[str, Any]) -> Scripted:
        text = reply(body, [INVENTED, FIRST, SECOND])
        cut = text.index("gardien")
        events = streamed(text[:cut])[: -len(("stop", "usage", "done"))]
        return Scripted(events=(*events, look, *streamed(text[cut:])))

    with scripted_server(play) as server:
        outcome = answerer(server).answer(Question(QUESTION), on_claim=claims.append)
    assert seen == [1]
    assert [claim.sentence for claim in claims] == [FIRST[0], SECOND[0]]
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.claims == tuple(claims)
    assert server.requests[0]["body"]["stream"] is True


@pytest.mark.parametrize("claims", [(FIRST,), (INVENTED, FIRST, SECOND), (SECOND, SECOND, FIRST)])
def test_the_outcome_is_the_one_that_comes_without_streaming(
    claims: tuple[tuple[str, str], ...],
) -> None:
    with scripted_server(streaming(*claims)) as server:
        _, outcome = heard(server)
    with scripted_server(whole(*claims)) as server:
        assert same(outcome, answerer(server).answer(Question(QUESTION)))
        assert "stream" not in server.requests[0]["body"]


def test_the_tokens_of_a_streamed_reply_are_counted() -> None:
    meter = RunMeter()
    with scripted_server(streaming(FIRST)) as server:
        heard(server, meter)
    assert (meter.usage.requests, meter.usage.prompt, meter.usage.completion) == (1, 70, 9)


def refused(parameter: str) -> Scripted:
    error = {"message": f"{parameter} is not supported", "param": parameter}
    return Scripted(400, {"error": error})


def test_streaming_that_is_refused_is_asked_for_once() -> None:
    script = (refused("stream_options"), refused("stream"), whole(FIRST))
    with scripted_server(*script) as server:
        wired = answerer(server)
        claims: list[Claim] = []
        for _ in range(2):
            outcome = wired.answer(Question(QUESTION), on_claim=claims.append)
            assert outcome.text == FIRST[0]
    assert claims == []
    asked = [("stream" in r["body"], "stream_options" in r["body"]) for r in server.requests]
    assert asked == [(True, True), (True, False), (False, False), (False, False)]
    assert server.requests[-1]["body"]["response_format"]["type"] == "json_schema"


def test_an_endpoint_that_passes_over_streaming_is_asked_for_one_piece() -> None:
    with scripted_server(whole(FIRST)) as server:
        claims, outcome = heard(server)
    assert (claims, outcome.text) == ([], FIRST[0])
    assert len(server.requests) == 2


def test_a_refused_draft_is_repaired_aloud() -> None:
    with scripted_server(streaming(INVENTED), streaming(FIRST)) as server:
        claims, outcome = heard(server)
    assert claims == [FIRST[0]]
    assert outcome.text == FIRST[0]
    assert outcome.generator == "m"


BROKEN = {"error": {"message": "worker died sk-secret", "type": "server_error"}}


@pytest.mark.parametrize("how", ["error event", "lost connection", "too slow"])
def test_a_model_that_fails_half_way_gives_way_to_quotes(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    def play(body: dict[str, Any]) -> Scripted:
        text = reply(body, [FIRST, SECOND])[:-20]
        end: object = BROKEN
        headers = {}
        if how == "lost connection":
            end, headers = ": nothing more", {"Content-Length": "100000"}
        if how == "too slow":
            end = lambda: threading.Event().wait(1.0)  # noqa: E731 - one of the events
        return Scripted(events=streamed(text, end=(end, chunk("x"))), headers=headers)

    with scripted_server(play) as server:
        wired = answerer(server)
        wired._generator._endpoint._timeout_s = 0.5  # type: ignore[attr-defined]
        claims: list[Claim] = []
        outcome = wired.answer(Question(QUESTION), on_claim=claims.append)
    assert [claim.sentence for claim in claims] == [FIRST[0]]
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.generator == "extractive"
    assert outcome.degraded == MODEL_UNAVAILABLE
    assert "sk-secret" not in caplog.text


def test_after_a_reply_cut_off_half_way_the_next_one_is_heard_as_a_whole() -> None:
    def cut(body: dict[str, Any]) -> Scripted:
        text = reply(body, [FIRST, SECOND])[:-20]
        return Scripted(events=streamed(text, end=(chunk(finish="length"), "[DONE]")))

    with scripted_server(cut, whole(FIRST)) as server:
        claims, outcome = heard(server)
    assert claims == [FIRST[0]]
    assert outcome.text == FIRST[0]
    assert "stream" not in server.requests[1]["body"]


def test_claims_streamed_as_a_tool_call_are_heard_at_the_end() -> None:
    def play(body: dict[str, Any]) -> Scripted:
        text = reply(body, [FIRST])
        calls = [
            chunk(tool_calls=[{"index": 0, "id": "t", "function": {"arguments": part}}])
            for part in (text[:9], text[9:])
        ]
        return Scripted(events=(*calls, chunk(finish="tool_calls"), "[DONE]"))

    with scripted_server(play) as server:
        claims, outcome = heard(server)
    assert (claims, outcome.text) == ([], FIRST[0])


def test_a_refusal_in_pieces_gives_way_to_quotes() -> None:
    events = (chunk(refusal="I can"), chunk(refusal="not"), chunk(finish="stop"), "[DONE]")
    with scripted_server(Scripted(events=events)) as server:
        claims, outcome = heard(server)
    assert (claims, outcome.generator) == ([], "extractive")
