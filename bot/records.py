"""What answering passes from step to step, and its two results. No I/O.

A `Citation` can only be made from a retrieved `Passage` and a quote that is found in it, and an
`Abstention` has no field for a citation: a fabricated source cannot be represented.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ingest import StoredChunk, UnitKind

ABSTENTION_TEXT = "je ne sais pas"
"""Shown for every abstention, whatever the language around it."""

_SPACES = re.compile(r"\s+")


def collapse(text: str) -> str:
    """Return the text with every run of white space as one space, ends trimmed."""
    return _SPACES.sub(" ", text).strip()


def lead_in_of(quote: str, context: str) -> str:
    """Return what must be said before a quote of a unit: its context, unless the quote holds it."""
    return "" if collapse(context) in collapse(quote) else context.strip()


def introduced(quote: str, lead_in: str) -> str:
    """Return a quote as a sentence to show, after what leads into it."""
    return "\n".join(part for part in (lead_in, quote) if part)


@dataclass(frozen=True, slots=True)
class Question:
    """What somebody asked.

    Attributes:
        text: As asked.
        context: Earlier questions of the same thread, oldest first.
        sources: Names of the sources to look into; None: all of them.
        standalone: The text made to stand without the thread, where a model did; None: the rule
            does (see `bot.retrieval.query.standalone_text`).
    """

    text: str
    context: tuple[str, ...] = ()
    sources: tuple[str, ...] | None = None
    standalone: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk retrieved for one question.

    Attributes:
        rank: From 1, unique within one question.
        score: Of the retriever that ordered the list; higher is better.
        legs: Rank in each leg ("keyword", "vector"), None where the leg did not return it.
        signals: Named figures behind the score (cosine, bm25 share, coverage…), for `explain`.
        unit_cosines: Cosine of each of `chunk.units` with the question, in their order; empty
            when the encoder did not take part.
        unit_interactions: Token late interaction of each unit with the question, in [-1, 1];
            empty when the encoder has no token states.
    """

    chunk: StoredChunk
    rank: int
    score: float
    legs: Mapping[str, int | None] = field(default_factory=dict)
    signals: Mapping[str, float] = field(default_factory=dict)
    unit_cosines: tuple[float, ...] = ()
    unit_interactions: tuple[float, ...] = ()


class QuoteNotFoundError(ValueError):
    """A quote does not occur in the passage it is said to come from."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim quote of one passage; made by `Citation.of` in practice.

    Attributes:
        passage: Where it stands.
        quote: Occurs in the passage's text or context, up to white space.
        lead_in: What introduces the quote (header row, list line), also verbatim; "" if nothing.

    Raises:
        QuoteNotFoundError: If quote or lead_in do not occur in the passage.
    """

    passage: Passage
    quote: str
    lead_in: str = ""

    def __post_init__(self) -> None:
        text = collapse(f"{self.passage.chunk.context}\n{self.passage.chunk.text}")
        units = self.passage.chunk.units
        if not collapse(self.quote) or collapse(self.quote) not in text:
            raise QuoteNotFoundError(f"quote is not in passage {self.passage.chunk.chunk_id}")
        lead_in = collapse(self.lead_in)
        if lead_in and lead_in not in text and all(lead_in != collapse(u.context) for u in units):
            raise QuoteNotFoundError(f"lead-in is not in passage {self.passage.chunk.chunk_id}")

    @property
    def heading_path(self) -> tuple[str, ...]:
        """Return the headings above the quote: those of its chunk, and one inside it if any.

        A chunk may hold several small sections of one parent; each starts with its heading.
        """
        chunk = self.passage.chunk
        quote = collapse(self.quote)
        inner: str | None = None
        for unit in chunk.units:
            text = chunk.text[unit.start : unit.end].strip()
            if unit.kind is UnitKind.HEADING:
                inner = text
            elif text and (collapse(text) in quote or quote in collapse(text)):
                return (*chunk.heading_path, inner) if inner else chunk.heading_path
        return chunk.heading_path

    @property
    def heading(self) -> str:
        """Return the heading path as it is shown: `A › B`."""
        return " › ".join(self.heading_path)


@dataclass(frozen=True, slots=True)
class DraftClaim:
    """One sentence a generator would like to say, with the quote it rests on. Unverified.

    Attributes:
        score: How well the generator thinks it answers, on its own scale; higher is better.
    """

    sentence: str
    chunk_id: str
    quote: str
    lead_in: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Draft:
    """A generator's unverified answer."""

    claims: tuple[DraftClaim, ...]
    language: str
    confidence: float
    """In [0, 1]; 0 for nothing to say."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One verified sentence of an answer and the citation that supports it."""

    sentence: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class Translation:
    """A model's translation of a quote: shown beside it, as the model's, never instead of it."""

    text: str
    model: str


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """An answer every sentence of which passed the gate."""

    claims: tuple[Claim, ...]
    language: str
    confidence: float
    generator: str
    """"extractive" or the model's name."""
    passages: tuple[Passage, ...] = ()
    degraded: str | None = None
    disagreement: bool = False
    """True when pages give different figures for the same thing: all are among the claims."""
    translations: Mapping[str, Translation] = field(default_factory=dict)
    """By quote, for quotes in another language than the question."""
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.claims:
            raise ValueError("an answer without claims is an abstention")

    @property
    def text(self) -> str:
        """Return the sentences, one paragraph each."""
        return "\n\n".join(claim.sentence for claim in self.claims)


class AbstentionReason(StrEnum):
    """Why the handbook is said not to know."""

    NO_PASSAGE = "no_passage"
    UNSUPPORTED = "unsupported"
    NOT_GROUNDED = "not_grounded"
    EMPTY_QUESTION = "empty_question"


@dataclass(frozen=True, slots=True)
class Abstention:
    """« je ne sais pas »: a normal result. It has no place for a citation."""

    reason: AbstentionReason
    subject_close: bool
    """True when pages on the subject exist and may be offered as places to look."""
    language: str
    confidence: float
    generator: str
    passages: tuple[Passage, ...] = ()
    """What was looked at, for `explain` and the close pages; never shown as sources."""
    explanation: tuple[str, ...] = ()
    """Rules and figures behind the decision, for `explain`."""
    degraded: str | None = None
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the fixed words."""
        return ABSTENTION_TEXT


Outcome = GroundedAnswer | Abstention
