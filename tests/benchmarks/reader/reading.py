"""Lays a question and a text out as the encoder's tokens, for a reader of both together."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.embedding.e5_tokenizer import E5Tokenizer

QUESTION_TOKENS = 48
HEADING_TOKENS = 24
MAX_TOKENS = 160
"""A window of 70 words takes some 100 tokens."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens of a question, a separator, and a text under its headings.

    Attributes:
        ids: Token ids, special ones included.
        passage: Position of the first token of headings and text.
        text: Position of the first token of the text.
        span: Positions (first, last) of the tokens that answer; None where unknown.
    """

    ids: tuple[int, ...]
    passage: int
    text: int
    span: tuple[int, int] | None = None


def lay_out(
    tokenizer: E5Tokenizer,
    question: str,
    heading: str,
    text: str,
    span: tuple[int, int] | None = None,
) -> Reading:
    """Return the tokens of one pair, cut where it is longer than the reader reads.

    Args:
        tokenizer: Of the bundled encoder.
        question: As asked.
        heading: Title and headings above the text; may be empty.
        text: What may answer.
        span: Characters (start, end) of the text that answer.
    """
    asked = tokenizer.encode(question, prefix="query: ")
    if len(asked) > QUESTION_TOKENS:
        asked = [*asked[: QUESTION_TOKENS - 1], asked[-1]]
    above = tokenizer.encode(heading, prefix="passage: ")[1:-1][:HEADING_TOKENS]
    body = tokenizer.encode_with_spans(text, prefix="")
    end = body.ids[-1]
    tokens = body.ids[1:-1][: MAX_TOKENS - len(asked) - len(above) - 2]
    first = len(asked) + len(above) + 1
    ids = (*asked, *above, end, *tokens, end)
    answer = _token_span(tokenizer, body.spans[: len(tokens)], text, span) if span else None
    return Reading(
        ids, len(asked), first, (answer[0] + first, answer[1] + first) if answer else None
    )


def _token_span(
    tokenizer: E5Tokenizer, tokens: tuple[tuple[int, int], ...], text: str, span: tuple[int, int]
) -> tuple[int, int] | None:
    before, held = tokenizer.normalize(text[: span[0]]), tokenizer.normalize(text[slice(*span)])
    start = len(before) + bool(before)
    covered = [
        i for i, (first, last) in enumerate(tokens) if last > start and first < start + len(held)
    ]
    return (covered[0], covered[-1]) if covered else None
