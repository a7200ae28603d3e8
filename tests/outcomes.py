"""Makes answers and abstentions for tests that are about showing them."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.records import Abstention, AbstentionReason, Citation, Claim, GroundedAnswer, Passage
from ingest import StoredChunk


def passage(
    text: str = "Deux jours de télétravail par semaine.",
    *,
    chunk_id: str = "c1",
    page: str = "teletravail.md",
    title: str = "Télétravail",
    heading_path: tuple[str, ...] = ("Rythme",),
    url: str | None = "https://guide.example/teletravail#rythme",
    context: str = "",
    outdated: bool = False,
    modified_at: datetime | None = datetime(2026, 3, 12, tzinfo=UTC),
) -> Passage:
    chunk = StoredChunk(
        chunk_id=chunk_id,
        source="guide",
        page=page,
        title=title,
        language="fr",
        heading_path=heading_path,
        url=url,
        modified_at=modified_at,
        outdated=outdated,
        position=0,
        text=text,
        context=context,
        units=(),
        page_version="v1",
    )
    return Passage(chunk, rank=1, score=1.0)


def claim(
    quote: str | None = None,
    *,
    of: Passage | None = None,
    lead_in: str = "",
    sentence: str | None = None,
) -> Claim:
    of = of or passage()
    quote = quote or of.chunk.text
    return Claim(sentence or quote, Citation(of, quote, lead_in))


def answer(*claims: Claim, generator: str = "extractive", **other: str) -> GroundedAnswer:
    return GroundedAnswer(
        claims=claims or (claim(),),
        language="fr",
        confidence=0.9,
        generator=generator,
        degraded=other.get("degraded"),
    )


def abstention(*, degraded: str | None = None) -> Abstention:
    return Abstention(
        reason=AbstentionReason.UNSUPPORTED,
        subject_close=True,
        language="fr",
        confidence=0.1,
        generator="extractive",
        passages=(passage("Le café est offert.", title="Cuisine secrète", page="cuisine.md"),),
        degraded=degraded,
    )
