"""Measures how soon quotes take over while the model is out of order, beside quoting alone.

On the index of the environment (`DATABASE_URL`…), warm, in one process: a question that finds the
model down, one that finds it too slow, and one after the circuit breaker has opened.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from bot.answering.breaker import FAILURES_TO_OPEN
from bot.app import build_answerer
from bot.evaluation import read_questions
from bot.records import Question
from bot.settings import BotSettings
from ingest import read_settings

ROUNDS = 5
WITH_IT_OPEN = 8
"""Questions of each round and case asked once the breaker has opened."""
TIMEOUT_S = 2.0
"""ANSWER_TIMEOUT_S of the run: what a slow model costs is this, whatever it is."""

ALONE, DOWN, SLOW, OPEN = (
    "quotes, no model",
    "model down",
    f"model too slow (ANSWER_TIMEOUT_S={TIMEOUT_S:g})",
    "circuit breaker open",
)


def main() -> int:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path, help="file of shared/questions, for that index")
    questions = [labelled.question for labelled in read_questions(parser.parse_args().questions)]
    logging.disable(logging.ERROR)
    sys.stdout.write(table(measure(read_settings(BotSettings), questions)))
    return 0


def measure(settings: BotSettings, questions: Sequence[Question]) -> dict[str, list[float]]:
    """Return the milliseconds of each case, questions that never reach the model left out."""
    times: dict[str, list[float]] = {name: [] for name in (ALONE, DOWN, SLOW, OPEN)}
    alone = settings.model_copy(update={"answer_model": ""})
    with _nobody() as down, _mute() as slow:
        for start in range(ROUNDS):
            asked = [*questions[start:], *questions[:start]]
            for name, url in ((DOWN, down), (SLOW, slow)):
                broken = settings.model_copy(
                    update={
                        "answer_model": "m",
                        "openai_base_url": url,
                        "answer_timeout_s": TIMEOUT_S,
                    }
                )
                for ms, closed in _outages(broken, asked):
                    times[name if closed else OPEN].append(ms)
            with build_answerer(alone) as answerer:
                answerer.answer(asked[0])
                for question in asked[1 : 1 + FAILURES_TO_OPEN + WITH_IT_OPEN]:
                    times[ALONE].append(answerer.answer(question).timings_ms["total"])
    return times


def _outages(settings: BotSettings, questions: Sequence[Question]) -> Iterator[tuple[float, bool]]:
    """Yield the time of each answer that stands in for the model's, and whether it was asked."""
    failures = 0
    with build_answerer(settings) as answerer:
        for question in questions:
            outcome = answerer.answer(question)
            if outcome.degraded is None:
                continue
            failures += 1
            if failures > 1:  # the first one loads the encoder
                yield outcome.timings_ms["total"], failures <= FAILURES_TO_OPEN
            if failures == FAILURES_TO_OPEN + WITH_IT_OPEN:
                return


@contextlib.contextmanager
def _nobody() -> Iterator[str]:
    """Yield an address of this machine where nobody listens."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"


@contextlib.contextmanager
def _mute() -> Iterator[str]:
    """Yield the address of a server that takes every request and never answers."""
    kept: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    kept.append(server.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        for connection in kept:
            connection.close()


def table(times: dict[str, list[float]]) -> str:
    """Return the figures as Markdown, each beside those of quoting alone."""
    alone = _p95(times[ALONE])
    rows = [
        f"| {name} | {len(values)} | {_p50(values):.0f} | {_p95(values):.0f}"
        f" | {_p95(values) / alone:.2f} |"
        for name, values in times.items()
        if values
    ]
    head = "| answer | n | p50 ms | p95 ms | p95, times quoting alone |\n|---|---:|---:|---:|---:|"
    return "\n".join((head, *rows)) + "\n"


def _p50(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[min(len(values) - 1, round(0.95 * (len(values) - 1)))]


if __name__ == "__main__":
    sys.exit(main())
