"""How outcomes are shown at this company: what goes around them depends on its settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.records import Abstention, Outcome
from bot.slack.feedback_row import with_feedback
from bot.slack.next_steps import HumanRequest, with_next_steps
from bot.slack.rendering import Message, render
from bot.slack.wording import Words


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Presentation:
    """Makes messages of outcomes.

    Attributes:
        stale_after_days: Age from which a page is said to be old; 0: never.
        owners_channel: Where questions to humans go; "": there is nobody to ask.
        now: Tells the time.
    """

    stale_after_days: int = 0
    owners_channel: str = ""
    now: Callable[[], datetime] = _now

    @property
    def stale_before(self) -> datetime | None:
        """Return the moment before which a page's last change makes it old."""
        days = self.stale_after_days
        return self.now() - timedelta(days=days) if days else None

    def body(self, outcome: Outcome, words: Words) -> Message:
        """Return an outcome without anything to press."""
        return render(outcome, words, stale_before=self.stale_before)

    def message(self, outcome: Outcome, words: Words, request: HumanRequest) -> Message:
        """Return an outcome with what can be done about it.

        Args:
            outcome: Of a question.
            words: Of whoever reads.
            request: Which question it is, and whose.
        """
        message = self.body(outcome, words)
        if isinstance(outcome, Abstention):
            humans = bool(self.owners_channel)
            message = with_next_steps(message, outcome, words, request, humans=humans)
        return with_feedback(message, words, request.question_id)
