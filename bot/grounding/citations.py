"""From a draft's claim to a citation: the quote must stand in a retrieved passage. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bot.grounding.quotes import locate
from bot.records import Citation, DraftClaim, Passage, QuoteNotFoundError, collapse

MIN_QUOTE_CHARS = 3
"""A shorter quote ("a", "30") stands in almost any passage and supports nothing."""


class CitationRejected(Exception):  # noqa: N818 - a verdict on a draft, not a failure
    """A claim cannot be cited; the message says why."""


def cite(claim: DraftClaim, passages: Mapping[str, Passage]) -> Citation:
    """Find the passage a claim rests on.

    The citation has the page's own characters, even where the claim's quote differs from them in
    white space, case or quotation marks.

    Args:
        claim: As drafted.
        passages: Those retrieved for this question, by chunk id.

    Raises:
        CitationRejected: If the passage was not retrieved or does not hold the quote.
    """
    passage = passages.get(claim.chunk_id)
    if passage is None:
        raise CitationRejected("the cited passage was not retrieved for this question")
    if sum(character.isalnum() for character in claim.quote) < MIN_QUOTE_CHARS:
        raise CitationRejected("the quote is too short to support anything")
    try:
        return Citation(passage, _verbatim(claim.quote, passage), claim.lead_in)
    except QuoteNotFoundError as error:
        raise CitationRejected("the quote does not stand in the cited passage") from error


def _verbatim(quote: str, passage: Passage) -> str:
    """Return the page's words for a quote, or the quote itself where it is not found."""
    for text in (passage.chunk.text, passage.chunk.context):
        if collapse(quote) in collapse(text):
            return quote
        spans = locate(quote, text)
        if spans:
            start, end = spans[0]
            return text[start:end]
    return quote
