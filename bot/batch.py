"""Question files: JSON Lines in, JSON Lines out, in the same order."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from bot.records import Question
from ingest import ConfigurationError


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One line of a question file."""

    line_id: str | int | None
    question: Question


def read_batch(path: Path, *, text_keys: Sequence[str] = ("question",)) -> list[BatchLine]:
    """Read a whole question file first, so that a bad line is found before any answer.

    Args:
        path: JSON Lines with `question`, and optionally `id` and `context` (list of earlier
            questions, oldest first); `-` reads standard input. Blank lines are skipped.
        text_keys: Keys that may hold the text; the first one present counts.

    Raises:
        ConfigurationError: If the file cannot be read or a line is not such an object; it is named.
    """
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the question file {path}: {error}") from error
    return list(_lines(text, str(path), text_keys))


def _lines(text: str, name: str, text_keys: Sequence[str]) -> Iterator[BatchLine]:
    # Not splitlines(): JSON strings may hold U+2028 and its like unescaped.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"{where}: not JSON ({error.msg})") from error
        if not isinstance(record, Mapping):
            raise ConfigurationError(f"{where}: expected an object with a `question`")
        yield _batch_line(record, where, text_keys)


def _batch_line(record: Mapping[str, Any], where: str, text_keys: Sequence[str]) -> BatchLine:
    question = next((record[key] for key in text_keys if key in record), None)
    if not isinstance(question, str):
        wanted = " or ".join(f"`{key}`" for key in text_keys)
        raise ConfigurationError(f"{where}: {wanted} must be a string")
    context = record.get("context") or []
    if isinstance(context, str):
        context = [context]
    if not isinstance(context, list) or not all(isinstance(item, str) for item in context):
        raise ConfigurationError(f"{where}: `context` must be a list of strings")
    return BatchLine(record.get("id"), Question(question, tuple(context)))


def write_line(record: Mapping[str, Any], stream: TextIO) -> None:
    """Write one JSON object as a line and flush it, so that a reader sees it at once."""
    stream.write(to_json(record) + "\n")
    stream.flush()


def to_json(record: object, *, indent: int | None = None) -> str:
    """Serialise for people and scripts: UTF-8 as it is, lone surrogates escaped."""
    text = json.dumps(record, ensure_ascii=False, indent=indent)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(record, ensure_ascii=True, indent=indent)
    return text
