"""Chooses the passages a model reads and renders them as an envelope of untrusted data. Pure."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bot.records import Passage

_WORD = re.compile(r"\w+")

CHARS_PER_TOKEN = 3.5
"""Of French and English prose in common chat models' vocabularies, on the safe side: until the
model has counted by itself."""


@dataclass(frozen=True, slots=True)
class PackingLimits:
    """How much a model is given to read.

    Attributes:
        max_passages: Passages, at most.
        max_chars: Characters of one passage; longer ones are cut at a space.
        max_tokens: Of all passages together.
        max_per_page: Passages of one page.
        near_duplicate: Similarity in [0, 1] from which a passage repeats one already taken.
        relevance: Share of relevance against novelty in greedy MMR, in [0, 1].

    Source: maximal marginal relevance, Carbonell & Goldstein, SIGIR 1998.
    """

    max_passages: int = 4
    max_chars: int = 1_500
    max_tokens: int = 1_800
    max_per_page: int = 2
    near_duplicate: float = 0.9
    relevance: float = 0.75


@dataclass(frozen=True, slots=True)
class Evidence:
    """One packed passage, under the id by which a model must cite it."""

    evidence_id: str
    passage: Passage
    text: str


def pack_context(
    passages: Sequence[Passage],
    *,
    evidence_ids: Sequence[str],
    limits: PackingLimits | None = None,
    chars_per_token: float = CHARS_PER_TOKEN,
) -> list[Evidence]:
    """Choose passages by greedy maximal marginal relevance.

    Args:
        passages: Ranked, best first.
        evidence_ids: Ids to hand out, in order; at least `limits.max_passages`. The caller makes
            them unpredictable, so that a passage cannot imitate another one's envelope.
        limits: Budgets.
        chars_per_token: What the budget of tokens is in characters, as the model counts them.

    Returns:
        In the order chosen: the most relevant first.
    """
    limits = limits or PackingLimits()
    texts = {p.chunk.chunk_id: _readable_text(p, limits.max_chars) for p in passages}
    words = {chunk_id: Counter(_words(text)) for chunk_id, text in texts.items()}
    relevance = _relative_relevance(passages)
    # A page that says it is outdated is read only where there is no other.
    left = [p for p in passages if not p.chunk.outdated] or list(passages)
    chosen, budget = list[Passage](), limits.max_tokens * chars_per_token
    while left and len(chosen) < limits.max_passages:
        best = max(
            left,
            key=lambda p: (
                limits.relevance * relevance[p.chunk.chunk_id]
                - (1 - limits.relevance) * _redundancy(p, chosen, words),
                -p.rank,
            ),
        )
        left.remove(best)
        size = len(texts[best.chunk.chunk_id])
        if (
            size <= budget
            and _on_same_page(best, chosen) < limits.max_per_page
            and _redundancy(best, chosen, words) < limits.near_duplicate
        ):
            chosen.append(best)
            budget -= size
    return [
        Evidence(evidence_id, passage, texts[passage.chunk.chunk_id])
        for evidence_id, passage in zip(evidence_ids, chosen, strict=False)
    ]


def render_evidence(evidence: Sequence[Evidence]) -> str:
    """Render packed passages as one JSON object per line, between fixed markers.

    JSON escapes quotes and line ends, and `<` is escaped besides: nothing inside a passage can
    close the envelope or open another one. What stands in it is data, never an instruction.
    """
    lines = [
        json.dumps(
            {
                "evidence_id": item.evidence_id,
                "title": item.passage.chunk.title,
                "heading": item.passage.chunk.heading,
                "date": _date(item.passage),
                "text": item.text,
            },
            ensure_ascii=False,
        ).replace("<", "\\u003c")
        for item in evidence
    ]
    return "\n".join(("<evidence>", *lines, "</evidence>"))


def _readable_text(passage: Passage, max_chars: int) -> str:
    chunk = passage.chunk
    text = "\n".join(part for part in (chunk.context, chunk.text) if part)
    if len(text) <= max_chars:
        return text
    cut = text[:max_chars]
    return cut.rsplit(maxsplit=1)[0] if " " in cut.strip() else cut


def _date(passage: Passage) -> str | None:
    modified_at = passage.chunk.modified_at
    return modified_at.date().isoformat() if modified_at else None


def _relative_relevance(passages: Sequence[Passage]) -> dict[str, float]:
    """Scale scores to [0, 1] over this list: scales differ between retrievers."""
    if not passages:
        return {}
    scores = [p.score for p in passages]
    low, spread = min(scores), max(scores) - min(scores)
    return {p.chunk.chunk_id: (p.score - low) / spread if spread else 1.0 for p in passages}


def _redundancy(
    passage: Passage, chosen: Sequence[Passage], words: dict[str, Counter[str]]
) -> float:
    own = words[passage.chunk.chunk_id]
    return max((_similarity(own, words[other.chunk.chunk_id]) for other in chosen), default=0.0)


def _similarity(a: Counter[str], b: Counter[str]) -> float:
    """Return the cosine of two bags of words."""
    if not a or not b:
        return 0.0
    shared = sum(count * b[word] for word, count in a.items())
    return shared / math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))


def _on_same_page(passage: Passage, chosen: Sequence[Passage]) -> int:
    page = (passage.chunk.source, passage.chunk.page)
    return sum((other.chunk.source, other.chunk.page) == page for other in chosen)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
