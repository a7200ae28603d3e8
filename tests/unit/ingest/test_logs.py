"""What the logs say, and what they must never say."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from ingest.logs import configure_logging, mask_secrets


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    ours = {name: logging.getLogger(name).level for name in ("bot", "ingest")}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, value in ours.items():
        logging.getLogger(name).setLevel(value)


def logged(log_format: str = "json", level: str = "INFO") -> io.StringIO:
    stream = io.StringIO()
    configure_logging(log_format, level, stream=stream)
    return stream


def test_json_has_one_object_per_event_with_its_fields():
    stream = logged()

    logging.getLogger("ingest.pipeline").info("sync finished", extra={"source": "wiki", "added": 3})

    event = json.loads(stream.getvalue())
    assert (event["event"], event["level"], event["logger"]) == (
        "sync finished",
        "info",
        "ingest.pipeline",
    )
    assert (event["source"], event["added"]) == ("wiki", 3)
    assert event["timestamp"].endswith("Z")


def test_text_is_one_line_with_the_same_fields():
    stream = logged("text")

    logging.getLogger("ingest.pipeline").warning("slow", extra={"source": "wiki"})

    line = stream.getvalue()
    assert line.count("\n") == 1
    assert "warning slow" in line
    assert "source=wiki" in line


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_what_people_ask_and_read_is_dropped(log_format):
    stream = logged(log_format)

    logging.getLogger("bot.answering").info(
        "answered", extra={"question": "mon salaire ?", "text": "2 300 €", "chunk_id": "c1"}
    )

    assert "c1" in stream.getvalue()
    assert "salaire" not in stream.getvalue()
    assert "2 300" not in stream.getvalue()


@pytest.mark.parametrize(
    "secret",
    [
        "xoxb-123-456-abcDEF",
        "xapp-1-A0-99-f00d",
        "sk-proj-abcdef0123456789",
        "Bearer eyJhbGciOi.J9",
        "postgresql://manuel:hunter2@db/manuel",
    ],
)
def test_secrets_are_masked_wherever_they_appear(secret):
    masked = mask_secrets(f"failed with {secret} today")

    assert masked.startswith("failed with ")
    assert masked.endswith(" today")
    assert "***" in masked
    for word in ("123-456", "A0-99", "abcdef0123456789", "eyJhbGciOi", "hunter2"):
        assert word not in masked


def test_a_secret_in_a_traceback_is_masked():
    stream = logged("text")

    try:
        raise ValueError("bad token xoxb-123-456-abcDEF")
    except ValueError:
        logging.getLogger("bot.slack").exception("failed")

    assert "ValueError: bad token ***" in stream.getvalue()


def test_libraries_are_heard_from_warning_up_only_even_when_debugging():
    stream = logged(level="DEBUG")

    logging.getLogger("slack_sdk.web").debug("payload with a question")
    logging.getLogger("slack_sdk.web").warning("rate limited")
    logging.getLogger("bot.slack").debug("accepted")

    events = [json.loads(line)["event"] for line in stream.getvalue().splitlines()]
    assert events == ["rate limited", "accepted"]


def test_configuring_twice_does_not_write_twice():
    logged()
    stream = logged()

    logging.getLogger("ingest").warning("once")

    assert stream.getvalue().count("once") == 1
