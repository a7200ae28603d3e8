"""Logging: one line per event on standard error, as text or JSON, without secrets."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

OURS = ("bot", "ingest")
"""Loggers that follow LOG_LEVEL; libraries are only heard from WARNING up.

At DEBUG, Slack's client and the HTTP libraries write whole payloads, questions included.
"""

PRIVATE_FIELDS = frozenset({"question", "query", "terms", "text", "quote", "answer"})
"""Fields dropped from every event: what people ask and read stays out of the logs."""

_SECRETS = re.compile(
    r"""
    xox[a-z]-[\w-]+ | xapp-[\w-]+          # Slack tokens
    | \bsk-[\w-]{8,}                       # keys of OpenAI-compatible endpoints
    | (?<=Bearer\ )[\w.~+/=-]+
    | (?<=://)[^\s/:@]*:[^\s/@]+(?=@)      # user and password of a URL
    """,
    re.VERBOSE,
)

MASK = "***"


def configure_logging(log_format: str, level: str, *, stream: TextIO | None = None) -> None:
    """Send every log record to one handler.

    Args:
        log_format: `json`, or `text` for people.
        level: Of our own loggers: DEBUG, INFO, WARNING or ERROR.
        stream: Where to write; None is standard error.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        drop_private_fields,
    ]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                _JsonRenderer() if log_format == "json" else _TextRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in OURS:
        logging.getLogger(name).setLevel(level)


def drop_private_fields(
    logger: Any, name: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Remove the fields that hold what somebody asked or was answered (a structlog processor)."""
    for field in PRIVATE_FIELDS & event.keys():
        del event[field]
    return event


def mask_secrets(line: str) -> str:
    """Return the text with tokens, keys and passwords of URLs masked."""
    return _SECRETS.sub(MASK, line)


class _JsonRenderer:
    """One JSON object per line; masked once rendered, so that no field or traceback escapes."""

    def __init__(self) -> None:
        self._render = structlog.processors.JSONRenderer(ensure_ascii=False, default=str)

    def __call__(self, logger: Any, name: str, event: MutableMapping[str, Any]) -> str:
        return mask_secrets(str(self._render(logger, name, event)))


class _TextRenderer:
    """`time level event field=value…`, the traceback on the lines after it."""

    def __call__(self, logger: Any, name: str, event: MutableMapping[str, Any]) -> str:
        rest: Mapping[str, Any] = {
            key: value
            for key, value in event.items()
            if key not in {"timestamp", "level", "event", "exception"}
        }
        fields = " ".join(f"{key}={value}" for key, value in rest.items())
        line = f"{event['timestamp']} {event['level']:<7} {event['event']} {fields}".rstrip()
        if "exception" in event:
            line += f"\n{event['exception']}"
        return mask_secrets(line)
