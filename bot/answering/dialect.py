"""What an OpenAI-compatible endpoint accepts, learned from what it refuses. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Literal

ReplyFormat = Literal["json_schema", "json_object", "text"]
_FORMATS: tuple[ReplyFormat, ...] = ("json_schema", "json_object", "text")

LimitName = Literal["max_tokens", "max_completion_tokens"]

_NAMES = {
    "limit": re.compile(r"\bmax_completion_tokens\b"),  # what to say instead of max_tokens
    "temperature": re.compile(r"\btemperature\b"),
    "seed": re.compile(r"\bseed\b"),
    "stream_usage": re.compile(r"\bstream_options\b|\binclude_usage\b"),
    "stream": re.compile(r"\bstream(?:ing)?\b(?!_)", re.I),
    "format": re.compile(
        r"response_format|json_schema|json_object|structured|grammar|schema", re.I
    ),
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The optional parts of a request that an endpoint is believed to accept.

    Attributes:
        reply_format: How strictly the form of the reply is asked for.
        limit_name: What the bound on the reply's tokens is called: reasoning models have their own.
        temperature: Whether 0 may be asked for.
        seed: Whether a seed may be given.
        stream: Whether a reply may be asked for in pieces.
        stream_usage: Whether a reply in pieces may be asked to end with the tokens it cost.
    """

    reply_format: ReplyFormat = "json_schema"
    limit_name: LimitName = "max_tokens"
    temperature: bool = True
    seed: bool = True
    stream: bool = True
    stream_usage: bool = True

    def options(
        self, *, max_tokens: int, schema: dict[str, object] | None, in_pieces: bool = False
    ) -> dict[str, Any]:
        """Return the arguments of a request.

        Args:
            max_tokens: Of the reply, thinking included.
            schema: JSON schema of the reply; None asks for free text.
            in_pieces: Ask for the reply as it is written, where that is accepted.
        """
        options: dict[str, Any] = {self.limit_name: max_tokens}
        if self.temperature:
            options["temperature"] = 0
        if self.seed:
            options["seed"] = 0
        if schema is not None and self.reply_format == "json_schema":
            named = {"name": "answer", "strict": True, "schema": schema}
            options["response_format"] = {"type": "json_schema", "json_schema": named}
        elif schema is not None and self.reply_format == "json_object":
            options["response_format"] = {"type": "json_object"}
        if in_pieces and self.stream:
            options["stream"] = True
            if self.stream_usage:
                options["stream_options"] = {"include_usage": True}
        return options

    def after_refusal(self, refusal: str, *, in_pieces: bool = False) -> Dialect | None:
        """Return what to try next when a request was refused as malformed.

        The parameter that the refusal names is given up; one that names none costs the reply
        format first, then the seed, then the reply in pieces where it was asked for.

        Args:
            refusal: The parameter the server named, or its message.
            in_pieces: Whether the reply was asked for as it is written.

        Returns:
            A plainer dialect, or None when nothing named, or nothing at all, is left to give up.
        """
        named = [name for name, pattern in _NAMES.items() if pattern.search(refusal)]
        streamed = ("stream_usage", "stream")
        named = [name for name in named if in_pieces or name not in streamed]
        for name in named or ("format", "seed", *(streamed if in_pieces else ())):
            plainer = self._without(name)
            if plainer is not None:
                return plainer
        return None

    def _without(self, name: str) -> Dialect | None:
        if name == "limit" and self.limit_name == "max_tokens":
            return replace(self, limit_name="max_completion_tokens")
        if name == "temperature" and self.temperature:
            return replace(self, temperature=False)
        if name == "seed" and self.seed:
            return replace(self, seed=False)
        if name == "stream_usage" and self.stream and self.stream_usage:
            return replace(self, stream_usage=False)
        if name == "stream" and self.stream:
            return replace(self, stream=False)
        if name == "format" and self.reply_format != _FORMATS[-1]:
            return replace(self, reply_format=_FORMATS[_FORMATS.index(self.reply_format) + 1])
        return None
