"""Reads what chat models really send back: JSON in prose, in fences, after thinking aloud. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_CLAIMS = 20
"""More claims than this are not an answer; the rest is not looked at."""

_THINKING = re.compile(
    r"<(think|thinking|reasoning|thought)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL
)
_DECODER = json.JSONDecoder(strict=False)


class UnusableReply(Exception):  # noqa: N818 - a verdict on a reply, not a failure of ours
    """A reply holds no claims in the agreed form; the message says why."""


@dataclass(frozen=True, slots=True)
class ReplyClaim:
    """One claim as the model wrote it."""

    sentence: str
    passage_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A usable reply; no claims means that the passages do not answer."""

    claims: tuple[ReplyClaim, ...]
    language: str | None


def parse_reply(text: str | None) -> Reply:
    """Find the claims in a model's reply.

    Thinking parts are ignored, and so is any text round the JSON. Of several objects the last
    with a list of claims counts: models that think aloud unmarked draft before they answer.

    Raises:
        UnusableReply: If there is no object with a list of claims, or no claim is well formed.
    """
    if not text or not text.strip():
        raise UnusableReply("it was empty")
    plain = _THINKING.sub(" ", text)
    found = [
        candidate for candidate in _objects(plain) if isinstance(candidate.get("claims"), list)
    ]
    if not found:
        raise UnusableReply("it had no JSON object with a list of claims")
    reply = found[-1]
    claims = tuple(_claims(reply["claims"][:MAX_CLAIMS]))
    if reply["claims"] and not claims:
        raise UnusableReply("its claims lack sentence, passage_id or quote")
    language = reply.get("language")
    return Reply(claims, language if isinstance(language, str) else None)


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the outermost JSON objects of a text, in order; unwrap tool-call shapes."""
    position = text.find("{")
    while position != -1:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict):
            yield from _unwrapped(value)
        position = text.find("{", end)


def _unwrapped(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    inner = value.get("arguments", value.get("parameters"))
    if isinstance(inner, str):
        try:
            inner = json.loads(inner)
        except json.JSONDecodeError:
            inner = None
    yield inner if isinstance(inner, dict) and "claims" not in value else value


def _claims(items: list[Any]) -> Iterator[ReplyClaim]:
    for item in items:
        if not isinstance(item, Mapping):
            continue
        fields = (item.get("sentence"), item.get("passage_id"), item.get("quote"))
        if all(isinstance(field, str) and field.strip() for field in fields):
            sentence, passage_id, quote = fields
            yield ReplyClaim(str(sentence).strip(), str(passage_id).strip(), str(quote).strip())
