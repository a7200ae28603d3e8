"""Finds answers that quote what their page no longer says; keeps deleted pages out of new ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import replace

from bot.answering.streaming import OnClaim
from bot.records import Abstention, AbstentionReason, Claim, GroundedAnswer, Outcome, collapse
from bot.store import CitationStore, CitedPage
from ingest import HandbookError, IndexedPage, IndexReader, StoredChunk

logger = logging.getLogger(__name__)

IsGone = Callable[[StoredChunk], bool]
"""Says whether a passage is known to be deleted, in the index or at its source."""


def find_stale(store: CitationStore, reader: IndexReader, *, days: int) -> frozenset[str]:
    """Look at what answers of the last days quote, and note the answers whose quotes are gone.

    An edit elsewhere in a page changes nothing, and neither does a page that only moved.

    Args:
        store: What was quoted.
        reader: The index as it is now.
        days: How far back; what is older is forgotten.

    Returns:
        The workspaces of the answers that were found now.

    Raises:
        IndexStoreError: If the index cannot be read.
        JobStoreError: If the database cannot be used now.
    """
    store.forget_older(days)
    cited = store.cited_pages()
    pages = reader.page_texts([(one.source, one.page) for one in cited])
    absent = [one.page_version for one in cited if (one.source, one.page) not in pages]
    elsewhere = reader.known_versions(absent)
    teams: set[str] = set()
    for one in cited:
        now = pages.get((one.source, one.page))
        if now is None and one.page_version in elsewhere:
            continue  # the same page under another name
        if now is None or now.version != one.page_version:
            teams.update(store.mark(_relying(store, one, now), one))
    return frozenset(teams)


def _relying(store: CitationStore, cited: CitedPage, now: IndexedPage | None) -> list[str]:
    """Return the questions whose answers quote what the page no longer says."""
    said = [] if now is None else [collapse(now.text), collapse(now.with_context)]
    return [
        question_id
        for question_id, quotes in store.quotes(cited).items()
        if any(all(collapse(quote) not in text for text in said) for quote in quotes)
    ]


def without_gone(outcome: Outcome, is_gone: IsGone) -> Outcome:
    """Return an outcome without the claims whose passage was deleted meanwhile.

    With nothing left the handbook does not say: an abstention that offers no page.
    """
    if not isinstance(outcome, GroundedAnswer):
        return outcome
    gone = _gone(outcome.claims, is_gone)
    if not gone:
        return outcome
    logger.info("deleted passages left out of an answer", extra={"passages": len(gone)})
    kept = tuple(claim for claim in outcome.claims if _chunk_id(claim) not in gone)
    passages = tuple(p for p in outcome.passages if p.chunk.chunk_id not in gone)
    if kept:
        pages = {(c.source, c.page) for c in (one.citation.passage.chunk for one in kept)}
        # A page does not disagree with itself: the other side may be what is gone.
        disagree = outcome.disagreement and len(pages) > 1
        return replace(outcome, claims=kept, passages=passages, disagreement=disagree)
    return Abstention(
        reason=AbstentionReason.UNSUPPORTED,
        subject_close=False,
        language=outcome.language,
        confidence=0.0,
        generator=outcome.generator,
        passages=passages,
        timings_ms=outcome.timings_ms,
    )


def only_present(on_claim: OnClaim, is_gone: IsGone) -> OnClaim:
    """Return what passes on the claims whose passage was not deleted meanwhile."""

    def pass_on(claim: Claim) -> None:
        if not _gone([claim], is_gone):
            on_claim(claim)

    return pass_on


def _chunk_id(claim: Claim) -> str:
    return claim.citation.passage.chunk.chunk_id


def _gone(claims: Collection[Claim], is_gone: IsGone) -> set[str]:
    cited = {_chunk_id(claim): claim.citation.passage.chunk for claim in claims}
    gone = set()
    for chunk_id, chunk in cited.items():
        try:
            if is_gone(chunk):
                gone.add(chunk_id)
        except HandbookError as error:  # nothing is known: the answer goes as it is
            logger.warning("a page was not looked for", extra={"reason": type(error).__name__})
    return gone
