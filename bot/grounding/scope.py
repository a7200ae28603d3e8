"""What a quote brings with it: its whole sentences, what introduces them, its headings. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bot.grounding.quotes import locate
from bot.records import Citation, collapse
from ingest import StoredChunk, UnitKind

MAX_PLACES = 3
"""A quote that stands in more places than this does not say which one it means."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The words behind one citation.

    Attributes:
        said: The sentences, list items or rows that the quote stands in, whole, each after what
            introduces it, one per line.
        head: Title and headings.
        passage: All the text of the passage.
        before: The unit before the first quoted one; "" at the start of a passage.
        places: How often the quote stands in the passage.
    """

    said: str
    head: str
    passage: str
    before: str
    places: int

    @property
    def known(self) -> str:
        """Return everything the passage offers."""
        return "\n".join((self.head, self.passage))


def scope_of(citation: Citation) -> Scope:
    """Widen a quote to the whole sentences it was taken from."""
    chunk = citation.passage.chunk
    passage = "\n".join(
        part
        for part in (chunk.context, *dict.fromkeys(u.context for u in chunk.units), chunk.text)
        if part
    )
    spans = locate(citation.quote, chunk.text)
    touched = [
        index
        for index, unit in enumerate(chunk.units)
        if any(start < unit.end and unit.start < end for start, end in spans)
    ]
    head = (chunk.title, *chunk.heading_path, *_headings_above(chunk, touched))
    lines: dict[str, None] = dict.fromkeys(chunk.units[i].context for i in touched)
    if citation.lead_in:
        lines[citation.lead_in] = None
    lines.update(
        dict.fromkeys(chunk.text[chunk.units[i].start : chunk.units[i].end] for i in touched)
    )
    lines.update(dict.fromkeys(chunk.text[start:end] for start, end in spans if not touched))
    said = "\n".join(collapse(line) for line in lines if line) or passage
    before = ""
    if touched and touched[0] > 0:
        unit = chunk.units[touched[0] - 1]
        before = chunk.text[unit.start : unit.end]
    return Scope(said, "\n".join(dict.fromkeys(head)), passage, before, len(spans))


def _headings_above(chunk: StoredChunk, touched: list[int]) -> list[str]:
    return [
        chunk.text[unit.start : unit.end]
        for unit in chunk.units[: touched[0] if touched else 0]
        if unit.kind is UnitKind.HEADING
    ]
