"""The port to a chat model: one reply to a few messages. `ChatEndpoint` is it in production."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote; `truncated` when it ran into the limit of tokens."""

    text: str
    truncated: bool


class Chat(Protocol):
    """Asks one model. Safe to share between threads."""

    @property
    def model(self) -> str:
        """Return the model's name."""
        ...

    def complete(
        self,
        messages: Sequence[dict[str, str]],
        *,
        max_tokens: int,
        schema: dict[str, object] | None = None,
        on_text: Callable[[str], None] | None = None,
        timeout_s: float | None = None,
    ) -> Completion:
        """Ask for one reply.

        Args:
            messages: In the form of the chat completions API.
            max_tokens: Of the reply, thinking included.
            schema: JSON schema the reply should follow, where the endpoint can hold it to one.
            on_text: Gets the reply in pieces as it is written, where the endpoint sends it so.
            timeout_s: For the reply, attempts and pauses together; None: what the endpoint has.

        Raises:
            AnswerUnavailable: If there is no reply, naming what an operator should look at.
        """
        ...
