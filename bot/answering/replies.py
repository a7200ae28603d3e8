"""Reads what chat models really send back: JSON in prose, in fences, after thinking aloud. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

FieldT = TypeVar("FieldT")

MAX_CLAIMS = 20
"""More claims than this are not an answer; the rest is not looked at."""

_THINKING = re.compile(
    r"<(think|thinking|reasoning|thought)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL
)
_BEGINNING = re.compile(
    r"(?:\s*<(think|thinking|reasoning|thought)>.*?</\1>)*\s*(?:```\w*\s*)?",
    re.IGNORECASE | re.DOTALL,
)
"""What may stand before a reply that is nothing but its object."""
_SPACE = re.compile(r"[\s,:]*")


def _first_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object; of a key that is given twice the first counts, as for `ClaimReader`."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        fields.setdefault(name, value)
    return fields


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_first_of_each)


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

    Thinking parts are ignored, and so is any text round the JSON. A reply that begins with an
    object with a list of claims is that object. Else, of several the last one counts: models that
    think aloud unmarked draft before they answer.

    Raises:
        UnusableReply: If there is no object with a list of claims, or no claim is well formed.
    """
    if not text or not text.strip():
        raise UnusableReply("it was empty")
    reply = _leading(text)
    if reply is None:
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


def parse_field(text: str | None, name: str, kind: type[FieldT]) -> FieldT:
    """Find one field in a model's reply, as leniently as `parse_reply` finds claims.

    Args:
        text: Of the reply.
        name: Of the field.
        kind: Its type; an object whose field has another one does not count.

    Raises:
        UnusableReply: If there is no object with such a field.
    """
    plain = _THINKING.sub(" ", text or "")
    values = [found.get(name) for found in _objects(plain)]
    fitting = [value for value in values if isinstance(value, kind)]
    if not fitting:
        raise UnusableReply(f"it had no JSON object with `{name}`")
    return fitting[-1]


class ClaimReader:
    """Reads the claims of a reply while it is written: those that `parse_reply` will find.

    Only a reply that begins with its object is read; of any other it is not known before its end
    which object counts.
    """

    def __init__(self) -> None:
        self._text = ""
        self._position = 0
        self._step: Callable[[], bool] | None = self._begin
        self._is_thinking = False
        self._items = 0
        self._found: list[ReplyClaim] = []

    def feed(self, text: str) -> list[ReplyClaim]:
        """Return the claims that are complete with this piece of the reply."""
        self._text += text
        if self._is_thinking and ">" not in text:  # no end of it: not looked for in vain
            return []
        while self._step is not None and self._step():
            pass
        found, self._found = self._found, []
        return found

    def _begin(self) -> bool:
        """Find the object; each step says whether to go on with what has been written so far."""
        start = _end_of_beginning(self._text)
        self._is_thinking = self._text.startswith("<", start)
        if start == len(self._text) or self._text[start] in "<`":
            return False
        self._position = start + 1
        self._step = self._read_key if self._text[start] == "{" else None
        return True

    def _read_key(self) -> bool:
        """Pass over the fields before the claims."""
        key = self._value(self._position)
        if key is None:
            return False
        name, end = key
        end = self._skip(end)
        if end == len(self._text):
            return False
        if name == "claims":
            self._step = self._read_item if self._text[end] == "[" else None
            self._position = end + 1
            return True
        value = self._value(end)
        if value is None or self._skip(value[1]) == len(self._text):  # 1 may become 12
            return False
        self._position = value[1]
        return True

    def _read_item(self) -> bool:
        item = self._value(self._position)
        if item is None:
            return False
        value, self._position = item
        self._found += _claims([value])
        self._items += 1
        if self._items == MAX_CLAIMS:
            self._step = None
        return True

    def _value(self, position: int) -> tuple[Any, int] | None:
        """Return the value that begins there and where it ends; None when there is none (yet)."""
        start = self._skip(position)
        if start == len(self._text):
            return None
        if self._text[start] in "]}":
            self._step = None
            return None
        try:
            return _DECODER.raw_decode(self._text, start)
        except (json.JSONDecodeError, RecursionError):
            return None

    def _skip(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position


def _end_of_beginning(text: str) -> int:
    match = _BEGINNING.match(text)
    return match.end() if match else 0


def _leading(text: str) -> Mapping[str, Any] | None:
    """Return the object that a reply begins with, if it has a list of claims."""
    start = _end_of_beginning(text)
    if not text.startswith("{", start):
        return None
    try:
        value, _ = _DECODER.raw_decode(text, start)
    except (json.JSONDecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("claims"), list) else None


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
