"""From a draft's claim to a citation: the quote must stand in a retrieved passage. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bot.records import Citation, DraftClaim, Passage, QuoteNotFoundError

MIN_QUOTE_CHARS = 3
"""A shorter quote ("a", "30") stands in almost any passage and supports nothing."""


class CitationRejected(Exception):  # noqa: N818 - a verdict on a draft, not a failure
    """A claim cannot be cited; the message says why."""


def cite(claim: DraftClaim, passages: Mapping[str, Passage]) -> Citation:
    """Find the passage a claim rests on.

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
        return Citation(passage, claim.quote, claim.lead_in)
    except QuoteNotFoundError as error:
        raise CitationRejected("the quote does not stand in the cited passage") from error
