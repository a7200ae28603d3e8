"""A model that is none: quotes what it is given, to show what a real one changes in Slack."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from contextlib import suppress
from typing import Any

from aiohttp import web

from bot.sandbox.loopback import LoopbackServer
from bot.sandbox.workspace import Json

NAME = "pretend-model"
MAX_BODY_BYTES = 5_000_000
PIECE_CHARS = 10
PIECE_S = 0.02
"""A reply of 600 characters takes a good second, about as long as a small model's."""

CLAIMS = 2
QUOTE_CHARS = (25, 400)
INVENTED = {
    "fr": "On dit aussi que la réponse est 987 654.",
    "en": "Some also say that the answer is 987,654.",
}
"""Stands in no handbook: the gate drops it, for everybody to see."""

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"\w{3,}")
_FRENCH = re.compile(r"\b(?:le|la|les|des|du|une?|est|pour|dans)\b", re.IGNORECASE)


class PretendModel(LoopbackServer):
    """Serves an OpenAI-compatible `/chat/completions` while its `async with` block lasts.

    It picks the sentences that share most words with the question, word for word, and invents one
    more. It understands nothing: what it is good for is a stream that takes its time.
    """

    def __init__(self) -> None:
        application = web.Application(client_max_size=MAX_BODY_BYTES)
        application.router.add_post("/chat/completions", _complete)
        super().__init__(application)


async def _complete(request: web.Request) -> web.StreamResponse:
    asked = await request.json()
    text = reply(asked["messages"])
    if not asked.get("stream"):
        message = {"role": "assistant", "content": text}
        return web.json_response(_completion({"message": message, "finish_reason": "stop"}))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    with suppress(ConnectionResetError):  # nobody waits any more: it was stopped
        for start in range(0, len(text), PIECE_CHARS):
            await _send(response, {"delta": {"content": text[start : start + PIECE_CHARS]}})
            await asyncio.sleep(PIECE_S)
        await _send(response, {"delta": {}, "finish_reason": "stop"})
        await response.write(b"data: [DONE]\n\n")
    return response


async def _send(response: web.StreamResponse, choice: Json) -> None:
    chunk = _completion({"finish_reason": None} | choice) | {"object": "chat.completion.chunk"}
    await response.write(f"data: {json.dumps(chunk)}\n\n".encode())


def _completion(choice: Json) -> Json:
    return {
        "id": "pretend",
        "object": "chat.completion",
        "created": 0,
        "model": NAME,
        "choices": [{"index": 0} | choice],
    }


def reply(messages: list[dict[str, Any]]) -> str:
    """Return what the model writes: claims as JSON, or a word where it is given no evidence."""
    evidence = [item for message in messages for item in _evidence(str(message["content"]))]
    if not evidence:
        return "ok"
    question = _words(str(messages[-1]["content"]).rpartition("Question:")[2])
    texts = " ".join(str(item["text"]) for item in evidence)
    language = "fr" if len(_FRENCH.findall(texts)) * 20 > len(texts.split()) else "en"
    claims = [
        {"sentence": quote, "passage_id": evidence_id, "quote": quote}
        for quote, evidence_id in _best(evidence, question)
    ]
    if claims:
        claims.insert(1, claims[0] | {"sentence": INVENTED[language]})
    return json.dumps({"language": language, "claims": claims}, ensure_ascii=False)


def _evidence(content: str) -> list[Json]:
    """Return the excerpts in a prompt, one JSON object a line."""
    lines = (line for line in content.splitlines() if line.startswith('{"evidence_id"'))
    return [json.loads(line) for line in lines]


def _best(evidence: list[Json], question: set[str]) -> list[tuple[str, str]]:
    """Return the sentences that share most words with the question, the best excerpts' first."""
    shortest, longest = QUOTE_CHARS
    found = [
        (len(question & _words(sentence)), -place, sentence, str(item["evidence_id"]))
        for place, item in enumerate(evidence)
        for sentence in map(str.strip, _SENTENCE.split(str(item["text"])))
        if shortest <= len(sentence) <= longest
    ]
    found.sort(key=lambda one: one[:2], reverse=True)
    return [(sentence, named) for shared, _, sentence, named in found[:CLAIMS] if shared]


def _words(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return set(_WORD.findall("".join(c for c in plain if not unicodedata.combining(c))))
