"""What the page can ask of whoever runs the app beside it; all of it may be absent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from bot.sandbox.workspace import Json


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of the handbook.

    Attributes:
        name: Its path inside the handbook.
        media_type: Of the content.
        content: As it stands in the handbook.
    """

    name: str
    media_type: str
    content: bytes


class Pages(Protocol):
    """The pages that answers link to."""

    def read(self, url: str) -> SourcePage | None:
        """Return the page behind a link, None where it is not one of the handbook."""
        ...


class AppProcess(Protocol):
    """The app that talks to the stand-in."""

    async def restart(self, changes: Mapping[str, str] | None = None) -> None:
        """Stop the app and start it again, with other settings where `changes` name some."""
        ...

    def freeze(self, seconds: float) -> None:
        """Let the app stand still for a while, as under a load it cannot take."""
        ...


class Model(Protocol):
    """The way to the app's language model."""

    delay_s: float
    """Added to every answer of it."""


class Writer(Protocol):
    """A pretend model, for whoever has none."""

    is_on: bool
    """Whether it writes the answers; quotes do otherwise."""

    async def turn(self, *, on: bool) -> None:
        """Let it write the answers, or no longer; the app starts again for that."""
        ...


Explain = Callable[[str, tuple[str, ...]], Awaitable[Json]]
"""Says why a question, asked after these earlier ones of its thread, is answered as it is."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What runs beside the stand-in.

    Attributes:
        pages: Of the handbook.
        process: The app.
        explain: Its explanations.
        model: The way to its language model; to `writer` where there is one.
        writer: Stands in for a model where none is configured; None where one is.
    """

    pages: Pages | None = None
    process: AppProcess | None = None
    explain: Explain | None = None
    model: Model | None = None
    writer: Writer | None = None
