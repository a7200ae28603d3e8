"""Lets the Slack app start before there is an index to answer from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from bot.records import Outcome, Question
from ingest import Audiences, IndexNotBuiltError


class Answers(Protocol):
    """What `bot.answering.answerer.Answerer` is to the Slack app."""

    def answer(self, question: Question, *, audiences: Audiences) -> Outcome:
        """Answer one question."""
        ...

    def close(self) -> None:
        """Let go of the index."""
        ...


class AnswererWhenReady:
    """Builds the answerer at the first chance, and answers with it. Safe to share by threads.

    Args:
        build: Raises `IndexNotBuiltError` as long as nothing has been ingested.
    """

    def __init__(self, build: Callable[[], Answers]) -> None:
        self._build = build
        self._built: Answers | None = None
        self._lock = threading.Lock()

    def is_ready(self) -> bool:
        """Build it if that is possible by now, and say whether it was."""
        try:
            self._answerer()
        except IndexNotBuiltError:
            return False
        return True

    def answer(self, question: Question, audiences: Audiences) -> Outcome:
        """Answer one question.

        Raises:
            IndexNotBuiltError: If nothing has been ingested yet.
        """
        return self._answerer().answer(question, audiences=audiences)

    def close(self) -> None:
        """Let go of the index, if it was opened."""
        with self._lock:
            if self._built is not None:
                self._built.close()

    def _answerer(self) -> Answers:
        with self._lock:
            if self._built is None:
                self._built = self._build()
            return self._built
