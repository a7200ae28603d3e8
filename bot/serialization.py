"""Outcomes and rankings as the JSON that scripts rely on (shapes fixed by the command line)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.records import Citation, GroundedAnswer, Outcome, Passage, Question, Translation
from bot.retrieval.search import SearchResult, SearchResults


def outcome_to_json(
    question_id: str | int | None, question: Question, outcome: Outcome
) -> dict[str, object]:
    """Return the object that `ask --json` prints."""
    answered = isinstance(outcome, GroundedAnswer)
    claims = outcome.claims if isinstance(outcome, GroundedAnswer) else ()
    translations = outcome.translations if isinstance(outcome, GroundedAnswer) else {}
    return {
        "id": question_id,
        "question": question.text,
        "answer": outcome.text,
        "abstained": not answered,
        "language": outcome.language,
        "citations": [_citation(claim.citation, translations) for claim in claims],
        "confidence": round(outcome.confidence, 4),
        "generator": outcome.generator,
        "degraded": outcome.degraded,
        "passages": _passages(outcome.passages),
        "timings_ms": {name: round(value, 2) for name, value in outcome.timings_ms.items()},
    }


def search_to_json(found: SearchResults) -> dict[str, object]:
    """Return the object that `search --json` prints."""
    return {
        "query": found.query,
        "mode": found.mode,
        "degraded": found.degraded,
        "results": [_result(result) for result in found.results],
    }


def _citation(citation: Citation, translations: Mapping[str, Translation]) -> dict[str, object]:
    chunk = citation.passage.chunk
    translation = translations.get(citation.quote)
    cited: dict[str, object] = {
        "chunk_id": chunk.chunk_id,
        "page": chunk.page,
        "source": chunk.source,
        "title": chunk.title,
        "heading": citation.heading,
        "url": chunk.url,
        "quote": citation.quote,
    }
    if translation is not None:
        cited["translation"] = {"text": translation.text, "model": translation.model}
    return cited


def _passages(passages: Sequence[Passage]) -> list[dict[str, object]]:
    return [
        {
            "chunk_id": passage.chunk.chunk_id,
            "page": passage.chunk.page,
            "rank": passage.rank,
            "score": round(passage.score, 6),
        }
        for passage in passages
    ]


def _result(result: SearchResult) -> dict[str, object]:
    passage, chunk = result.passage, result.passage.chunk
    return {
        "rank": passage.rank,
        "score": round(passage.score, 6),
        "chunk_id": chunk.chunk_id,
        "page": chunk.page,
        "source": chunk.source,
        "title": chunk.title,
        "heading": chunk.heading,
        "text": chunk.text,
        "legs": {leg: passage.legs.get(leg) for leg in ("keyword", "vector")},
        "terms": {word: round(score, 4) for word, score in result.terms.items()},
        "signals": {name: round(value, 4) for name, value in passage.signals.items()},
    }
