"""Makes pairs of a reader from the sections of handbooks: a heading asks, its section answers.

Only handbooks that no hand-made question is about, without the pages that the quality figures ask
about. What stands beside an answer in a handbook is what a
near miss is made of: the other sections of the page, and the section of the same name on the page
of another subject.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.chunking import chunk_page
from ingest.errors import PageParseError
from ingest.pages import build_page
from ingest.parsing import parse
from ingest.parsing.media import MARKDOWN
from ingest.records import RawPage
from tests.benchmarks.reader.lookup import Document, Lookup
from tests.benchmarks.reader.pairs import Pair
from tests.benchmarks.reader.windows import closest, sentences, stems, window_around

_FEWEST_WORDS = 15
"""A shorter section says too little to answer anything."""
_TOO_CLOSE = 0.5
"""Share of a heading's words from which another section may well answer it too."""

_FRAMES = (
    "{page} : {heading}",
    "{heading} - {page}",
    "{page}, {heading}",
    "{heading} {page}",
)


@dataclass(frozen=True, slots=True)
class _Section:
    page: str
    title: str
    heading: str
    text: str

    @property
    def key(self) -> str:
        return f"{self.page}#{self.heading}"


def section_pairs(
    folder: Path, limit: int, rng: random.Random, *, but: Container[str] = ()
) -> Iterator[Pair]:
    """Make the pairs of one handbook.

    Args:
        folder: Of its Markdown pages; its name is the pairs' origin.
        limit: Headings asked, at most.
        rng: Seeded: the same pairs every time.
        but: Pages that are left out, by their path in the folder.
    """
    sections = [
        section
        for path in sorted(folder.rglob("*.md"))
        if path.relative_to(folder).as_posix() not in but
        for section in _sections(path, folder)
    ]
    by_page: dict[str, list[_Section]] = defaultdict(list)
    by_heading: dict[str, list[_Section]] = defaultdict(list)
    for section in sections:
        by_page[section.page].append(section)
        by_heading[section.heading.lower()].append(section)
    lookup = Lookup([Document(s.key, s.title, s.text) for s in sections])
    known = {section.key: section for section in sections}
    for number, asked in enumerate(rng.sample(sections, min(limit, len(sections)))):
        question = rng.choice(_FRAMES).format(page=asked.title, heading=asked.heading)
        group = f"{folder.name}:{asked.key}"
        yield _pair(folder.name, group, "answer", question, asked, rng)
        siblings = [s for s in by_page[asked.page] if _differs(s, asked)]
        namesakes = [s for s in by_heading[asked.heading.lower()] if s.page != asked.page]
        near = [
            known[d.document_id]
            for d in lookup.closest(question, 4, but=(asked.key,))
            if _differs(known[d.document_id], asked)
        ]
        kinds = (("sibling-section", siblings), ("namesake", namesakes), ("other-page", near))
        turned = kinds[number % 3 :] + kinds[: number % 3]
        for kind, others in [(kind, others) for kind, others in turned if others][:2]:
            yield _pair(folder.name, group, kind, question, rng.choice(others), rng)


def _sections(path: Path, folder: Path) -> Iterator[_Section]:
    raw = RawPage(path.relative_to(folder).as_posix(), path.read_bytes(), MARKDOWN)
    try:
        page = build_page(folder.name, raw, parse(raw), version="")
    except PageParseError:  # an empty file
        return
    texts: dict[str, list[str]] = defaultdict(list)
    for chunk in chunk_page(page):
        if chunk.heading_path:
            texts[chunk.heading_path[-1]].append(chunk.text)
    for heading, parts in texts.items():
        text = "\n".join(parts)
        if len(text.split()) >= _FEWEST_WORDS and stems(heading):
            yield _Section(page.path, page.title, heading, text)


def _differs(other: _Section, asked: _Section) -> bool:
    """Tell whether a section is about something else, as far as its heading tells."""
    words = stems(f"{asked.title} {asked.heading}")
    shared = words & stems(f"{other.title} {other.heading}")
    heading = stems(asked.heading)
    alike = len(heading & stems(other.heading)) / len(heading)
    return (
        other.key != asked.key
        and shared != words
        and (other.page != asked.page or alike < _TOO_CLOSE)
    )


def _pair(
    origin: str, group: str, kind: str, question: str, section: _Section, rng: random.Random
) -> Pair:
    parts = sentences(section.text)
    centre = _start(parts, question, rng)
    window = window_around(parts, centre, rng)
    answered = kind == "answer"
    return Pair(origin, group, kind, question, section.title, window.text, answered=answered)


def _start(parts: Sequence[str], question: str, rng: random.Random) -> int:
    """Choose where to read: where the words are, or anywhere, so that words alone tell little."""
    return closest(parts, question) if rng.random() < 0.5 else rng.randrange(len(parts))
