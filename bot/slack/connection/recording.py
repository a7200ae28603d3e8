"""Writes down what a real workspace sends and answers, with everything personal taken out.

Switched on by whoever runs Manuel, to replace payloads of the stand-in that were put together from
documentation. Only what is known to be harmless stays: keys, numbers, names of kinds. Every other
text becomes its length, and ids become others that are the same wherever they stand.
"""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

MOST_BYTES = 20_000_000
"""Of a recording: some ten thousand payloads, then it ends."""

_ID = re.compile(r"(Ev|[A-Z])[A-Z0-9]{7,}")
_TIMESTAMP = re.compile(r"[0-9]{10}\.[0-9]{6}")
_NAMES_OF_KINDS = frozenset(
    {
        "action_id",
        "block_id",
        "callback_id",
        "channel_type",
        "disabled_reason",
        "error",
        "needed",
        "provided",
        "reason",
        "response_action",
        "response_type",
        "retry_reason",
        "streaming_state",
        "style",
        "subtype",
        "tab",
        "type",
        "warning",
    }
)
"""Keys whose values say what something is and never what somebody said; ours among them."""
_KIND = re.compile(r"[A-Za-z0-9_.:#/-]{1,80}")


class Recording:
    """Appends to a file that only its owner may read; ends by itself when that fails.

    Args:
        path: One JSON object a line.
        now: Clock in seconds since the epoch.
    """

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._path = path
        self._now = now
        self._redaction = Redaction()
        self._is_on = True

    def request(self, body: Mapping[str, Any]) -> None:
        """Write down what Slack sent."""
        self._write({"request": body})

    def call(self, method: str, arguments: Mapping[str, Any], answer: object) -> None:
        """Write down a call of the Web API, and what Slack answered."""
        sent = {
            key: value
            for part in ("json", "params", "data")
            for key, value in (arguments.get(part) or {}).items()
            if key != "token"
        }
        self._write({"call": sent, "answer": answer}, method=method)

    def _write(self, recorded: dict[str, Any], **names: str) -> None:
        if not self._is_on:
            return
        line = {"at": round(self._now(), 3), **names, **self._redaction.of(recorded)}
        try:
            if not self._path.exists():
                self._path.touch(mode=0o600)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                self._is_on = file.tell() < MOST_BYTES
        except OSError as error:
            self._is_on = False
            log.error("nothing more is recorded: %s", error)


class Redaction:
    """Takes everything personal out of payloads, the same way in each."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def of(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return a payload with its keys and types, and nothing that anybody said."""
        return {self._text("", key): self._value(key, value) for key, value in payload.items()}

    def _value(self, key: str, value: object) -> Any:
        if isinstance(value, Mapping):
            return self.of(value)
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return [self._value(key, part) for part in value]
        if isinstance(value, str):
            return self._text(key, value)
        return value if isinstance(value, bool | int | float) or value is None else "…"

    def _text(self, key: str, text: str) -> str:
        if _ID.fullmatch(text):
            return self._ids.setdefault(text, f"{text[: 2 if text[:2] == 'Ev' else 1]}{self._next}")
        if not text or _TIMESTAMP.fullmatch(text):
            return text
        is_kind = not key or key in _NAMES_OF_KINDS
        return text if is_kind and _KIND.fullmatch(text) else f"({len(text)} characters)"

    @property
    def _next(self) -> str:
        return f"{len(self._ids) + 1:010d}"
