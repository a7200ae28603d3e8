"""The handbook as Slack sees it: perhaps not there yet, and as each workspace may read it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from bot.answering.explanation import Explanation
from bot.answering.streaming import OnClaim
from bot.freshness import only_present, without_gone
from bot.metrics import Metrics
from bot.records import Outcome, Question
from bot.retrieval.search import SearchResults
from bot.slack.connection.workspaces import current_team_id
from ingest import PUBLIC, Audiences, IndexNotBuiltError, StoredChunk, Vector, within


class Handbook(Protocol):
    """What the Slack app asks; `bot.app.EngineRoom` in production. Slow, called in threads."""

    def answer(
        self, question: Question, audiences: Audiences, on_claim: OnClaim | None = None
    ) -> Outcome:
        """Answer one question from what these audiences may read.

        Args:
            question: Of a person.
            audiences: Who may read the answer.
            on_claim: Gets what a model writes before the outcome is there (see
                `bot.answering.answerer.Answerer.answer`).
        """
        ...

    def explain(self, question: Question, audiences: Audiences) -> Explanation:
        """Answer one question as `answer` does, and tell everything behind the outcome."""
        ...

    def search(
        self, question: Question, limit: int, audiences: Audiences = PUBLIC
    ) -> SearchResults:
        """Rank at most `limit` passages that these audiences may read."""
        ...

    def chunks(self, chunk_ids: Sequence[str], audiences: Audiences) -> list[StoredChunk]:
        """Return those of these passages that are there and may be read by these, in order."""
        ...

    def may_read(self, chunk_ids: Collection[str], audiences: Audiences) -> bool:
        """Say whether all of these (distinct) passages are there and may be read by these."""
        ...

    def vectors(self, texts: Sequence[str]) -> Vector | None:
        """Encode texts as unit vectors, one per row; None when no encoder takes part."""
        ...

    def close(self) -> None:
        """Let go of the index."""
        ...


class HandbookWhenReady:
    """Opens the handbook's index at the first chance. Safe to share by threads.

    Audiences are taken for those of the current workspace (see `workspaces`): its people also read
    what is limited to it. Outside of a workspace only what has no such limit is read.

    Every method but `close` and `is_ready` raises `IndexNotBuiltError` as long as nothing has been
    ingested.

    Args:
        build: Opens it, or raises `IndexNotBuiltError`.
        metrics: Where answers are counted.
        is_gone: Says whether a page (source, path) is known to be deleted at its source.
    """

    def __init__(
        self,
        build: Callable[[], Handbook],
        metrics: Metrics,
        is_gone: Callable[[str, str], bool] = lambda source, page: False,
    ) -> None:
        self._build = build
        self._metrics = metrics
        self._is_gone = is_gone
        self._built: Handbook | None = None
        self._lock = threading.Lock()

    def is_ready(self) -> bool:
        """Open it if that is possible by now, and say whether it was."""
        try:
            self._handbook()
        except IndexNotBuiltError:
            return False
        return True

    def answer(
        self, question: Question, audiences: Audiences, on_claim: OnClaim | None = None
    ) -> Outcome:
        """Answer one question from what these audiences may read.

        What was deleted meanwhile, in the index or at its source, is left out.
        """
        handbook, readers = self._handbook(), _here(audiences)

        def is_gone(chunk: StoredChunk) -> bool:
            return not handbook.may_read([chunk.chunk_id], readers) or self._is_gone(
                chunk.source, chunk.page
            )

        heard = None if on_claim is None else only_present(on_claim, is_gone)
        with self._metrics.answering():
            outcome = without_gone(handbook.answer(question, readers, heard), is_gone)
        self._metrics.answered(outcome)
        return outcome

    def explain(self, question: Question, audiences: Audiences) -> Explanation:
        """Answer one question as `answer` does, and tell everything behind the outcome."""
        return self._handbook().explain(question, _here(audiences))

    def search(
        self, question: Question, limit: int, audiences: Audiences = PUBLIC
    ) -> SearchResults:
        """Rank at most `limit` passages that these audiences may read."""
        return self._handbook().search(question, limit, _here(audiences))

    def chunks(self, chunk_ids: Sequence[str], audiences: Audiences) -> list[StoredChunk]:
        """Return those of these passages that are there and may be read by these, in order."""
        return self._handbook().chunks(chunk_ids, _here(audiences))

    def may_read(self, chunk_ids: Collection[str], audiences: Audiences) -> bool:
        """Say whether all of these (distinct) passages are there and may be read by these."""
        return self._handbook().may_read(chunk_ids, _here(audiences))

    def vectors(self, texts: Sequence[str]) -> Vector | None:
        """Encode texts as unit vectors, one per row; None when no encoder takes part."""
        return self._handbook().vectors(texts)

    def close(self) -> None:
        """Let go of the index, if it was opened."""
        with self._lock:
            if self._built is not None:
                self._built.close()

    def _handbook(self) -> Handbook:
        with self._lock:
            if self._built is None:
                self._built = self._build()
            return self._built


def _here(audiences: Audiences) -> Audiences:
    team_id = current_team_id()
    return audiences | within(team_id, audiences) if team_id else audiences
