"""What a running sync tells whoever watches it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Stage(StrEnum):
    """What is being counted."""

    LISTING = "listing"
    PAGES = "pages"
    EMBEDDINGS = "embeddings"


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """How far one stage of one source's sync is.

    Attributes:
        source: Name of the source.
        stage: What is counted.
        done: Units finished so far in this stage.
        total: Units known so far; the embeddings' total grows while pages are read.
    """

    source: str
    stage: Stage
    done: int
    total: int


Progress = Callable[[ProgressEvent], None]
"""Called from the thread that syncs; must return quickly."""


def ignore_progress(event: ProgressEvent) -> None:
    """Watch nothing."""
