"""Cuts a page into chunks along its headings. Pure.

About 120 words a chunk, never cut inside a list item, a table row or a sentence, small sections of
one parent put together, no overlap: what measured best (docs/quality.md).
"""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ingest.parsing import PARSER_VERSION
from ingest.records import Block, BlockKind, Chunk, Page, Unit, UnitKind
from ingest.sentences import split_sentences

CHUNKER_VERSION: Final = "1"
"""Grows with every change of where chunks begin and end or of what their units are."""

TARGET_WORDS: Final = 120
MAX_WORDS: Final = 138
SMALL_WORDS: Final = 42
"""Sections below this are put together with their neighbours."""
MAX_ATOM_WORDS: Final = 300
"""A single sentence, item or row above this is cut all the same."""
MAX_ITEM_WORDS: Final = 60
"""A list item above this is quoted sentence by sentence."""

_WORD: Final = re.compile(r"\S+")
_MARKER: Final = re.compile(r"(?:[-–—•·*▪◦‣►➢✓]|\d+\.) ")
_UNIT_KINDS: Final = {
    BlockKind.HEADING: UnitKind.HEADING,
    BlockKind.LIST_ITEM: UnitKind.ITEM,
    BlockKind.TABLE_ROW: UnitKind.ROW,
    BlockKind.CODE: UnitKind.CODE,
}
"""Paragraphs are quoted by the sentence."""

Span = tuple[int, int]
HeadingPath = tuple[str, ...]


def pipeline_version() -> str:
    """Return what identifies the code that parses and chunks: a page is redone when it changes."""
    return f"parser {PARSER_VERSION}, chunker {CHUNKER_VERSION}"


def chunk_page(page: Page) -> list[Chunk]:
    """Cut a page into chunks, in order.

    `chunk.text == page.text[chunk.start:chunk.end]`. Every character outside headings is in exactly
    one chunk, white space between chunks aside. Headings are in `heading_path`; they are in the
    text too where sections were put together, or where a section is nothing but its heading.
    """
    layout = _Layout(page)
    pieces = _merge_small([piece for section in _sections(page) for piece in _cut(section, page)])
    seen: Counter[str] = Counter()
    chunks = []
    for position, piece in enumerate(pieces):
        text = page.text[piece.start : piece.end]
        identity = _identity(page, piece.path, text)
        seen[identity] += 1
        chunks.append(
            Chunk(
                chunk_id=_digest(f"{identity}\x1f{seen[identity]}"),
                position=position,
                heading_path=piece.path,
                anchor=piece.anchor,
                start=piece.start,
                end=piece.end,
                text=text,
                context=layout.context(piece.start, piece.end),
                units=tuple(layout.units(piece.start, piece.end)),
            )
        )
    return chunks


def _identity(page: Page, path: HeadingPath, text: str) -> str:
    return "\x1f".join((page.source, page.path, *path, " ".join(text.split())))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


# --- sections ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Section:
    """The blocks under one heading, before the next heading of any level."""

    path: HeadingPath
    anchor: str | None
    heading: Block | None
    body: list[Block]


def _sections(page: Page) -> list[_Section]:
    """Return the sections that have text of their own, and headings with nothing below them."""
    sections: list[_Section] = [_Section((), None, None, [])]
    above: list[tuple[int, str]] = []
    title = _folded(page.title)
    for block in page.blocks:
        if block.kind is not BlockKind.HEADING:
            sections[-1].body.append(block)
            continue
        text = page.text[block.start : block.end]
        while above and above[-1][0] >= block.level:
            above.pop()
        if above or _folded(text) != title:
            above.append((block.level, text))
        path = tuple(heading for _, heading in above)
        sections.append(_Section(path, block.anchor, block, []))
    kept = [
        section
        for section, following in zip(sections, [*sections[1:], None], strict=True)
        if section.body or (section.path and _is_leaf(section, following))
    ]
    if kept:
        return kept
    return [section for section in sections if section.heading is not None][:1]


def _is_leaf(section: _Section, following: _Section | None) -> bool:
    return following is None or following.path[: len(section.path)] != section.path


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


# --- cutting one section -------------------------------------------------------------------------


@dataclass(slots=True)
class _Piece:
    """A chunk in the making."""

    path: HeadingPath
    anchor: str | None
    start: int
    end: int
    words: int
    heading_start: int
    merged: bool = False


@dataclass(frozen=True, slots=True)
class _Atom:
    """What is never cut: a sentence, an item, a row, a code block."""

    start: int
    end: int
    words: int


Run = list[_Atom]


def _cut(section: _Section, page: Page) -> list[_Piece]:
    heading = section.heading
    if not section.body:
        assert heading is not None  # noqa: S101 - the preamble is kept only when it has a body
        words = _words(page.text[heading.start : heading.end])
        return [
            _Piece(section.path, section.anchor, heading.start, heading.end, words, heading.start)
        ]
    pieces: list[_Piece] = []
    for run in _pack(_runs(section.body, page)):
        start, end = run[0].start, run[-1].end
        origin = heading.start if heading is not None and not pieces else start
        words = sum(atom.words for atom in run)
        pieces.append(_Piece(section.path, section.anchor, start, end, words, origin))
    return pieces


def _runs(blocks: Sequence[Block], page: Page) -> list[Run]:
    """Group atoms into what is best kept whole: a paragraph, a list or table with its lead-in."""
    runs: list[Run] = []
    group = 0
    for block in blocks:
        atoms = list(_atoms(block, page))
        introduced = (
            bool(runs)
            and block.lead_in is not None
            and block.group != group
            and block.lead_in[0] >= runs[-1][0].start
        )
        if runs and ((block.group and block.group == group) or introduced):
            runs[-1] += atoms
        else:
            runs.append(atoms)
        group = block.group
    return runs


def _atoms(block: Block, page: Page) -> Iterator[_Atom]:
    text = page.text[block.start : block.end]
    spans = split_sentences(text) if block.kind is BlockKind.PARAGRAPH else [(0, len(text))]
    for start, end in spans:
        for first, last in _cut_long(text, start, end):
            yield _Atom(block.start + first, block.start + last, _words(text[first:last]))


def _cut_long(text: str, start: int, end: int) -> list[Span]:
    """Cut one atom that is far too long: between sentences, else between words."""
    if _words(text[start:end]) <= MAX_ATOM_WORDS:
        return [(start, end)]
    sentences = [(start + first, start + last) for first, last in split_sentences(text[start:end])]
    if len(sentences) > 1:
        parts = [part for sentence in sentences for part in _cut_long(text, *sentence)]
    else:
        parts = [(start + m.start(), start + m.end()) for m in _WORD.finditer(text[start:end])]
    joined: list[Span] = []
    words = 0
    for first, last in parts:
        count = _words(text[first:last])
        if joined and words + count <= TARGET_WORDS:
            joined[-1] = (joined[-1][0], last)
            words += count
        else:
            joined.append((first, last))
            words = count
    return joined


def _pack(runs: Sequence[Run]) -> list[Run]:
    """Fill as few chunks as possible, of about equal size."""
    total = sum(_size(run) for run in runs)
    fewest = max(1, math.ceil(total / MAX_WORDS))
    packed = _fill(runs, total / fewest)
    if len(packed) > fewest and _size(packed[-1]) < SMALL_WORDS:
        packed = _fill(runs, total / (fewest + 1))  # rather smaller ones than a last one too small
    return packed


def _fill(runs: Sequence[Run], target: float) -> list[Run]:
    """Fill chunks of about `target` words, cutting a run only when it does not fit in one."""
    packed: list[Run] = [[]]
    for run in runs:
        size, filled = _size(run), _size(packed[-1])
        if filled + size <= MAX_WORDS and _brings_nearer(filled, size, target):
            packed[-1] += run
        elif size <= MAX_WORDS and filled >= SMALL_WORDS:
            packed.append(list(run))
        else:
            _fill_with_atoms(run, target, packed)
    return [run for run in packed if run]


def _fill_with_atoms(run: Run, target: float, packed: list[Run]) -> None:
    for atom in run:
        filled = _size(packed[-1])
        if filled + atom.words <= MAX_WORDS and _brings_nearer(filled, atom.words, target):
            packed[-1].append(atom)
        else:
            packed.append([atom])


def _brings_nearer(filled: int, size: int, target: float) -> bool:
    return filled < SMALL_WORDS or filled + size / 2 <= target


def _size(run: Run) -> int:
    return sum(atom.words for atom in run)


def _words(text: str) -> int:
    return len(text.split())


# --- putting small sections together -------------------------------------------------------------


def _merge_small(pieces: Sequence[_Piece]) -> list[_Piece]:
    merged: list[_Piece] = []
    for piece in pieces:
        if not (merged and _join(merged[-1], piece)):
            merged.append(piece)
    return merged


def _join(first: _Piece, second: _Piece) -> bool:
    """Put two small neighbours of one parent together, in `first`; False if they are not that."""
    small = (first.merged or first.words < SMALL_WORDS) and second.words < SMALL_WORDS
    if not small or first.words + second.words > TARGET_WORDS:
        return False
    if second.path == first.path or (second.path and second.path[:-1] == first.path):
        pass  # the same section, or the part below it: the path stays
    elif first.path and not first.merged and first.path[:-1] == second.path[:-1]:
        first.path = first.path[:-1]
        first.start = first.heading_start
    else:
        return False
    first.end = second.end
    first.words += second.words
    first.merged = True
    return True


# --- what a chunk needs from around it -----------------------------------------------------------


class _Layout:
    """The blocks of a page, looked up by offset."""

    def __init__(self, page: Page) -> None:
        self._text = page.text
        self._blocks = page.blocks
        self._starts = [block.start for block in page.blocks]

    def context(self, start: int, end: int) -> str:
        """Return the lines before `start` that the first block of a chunk depends on."""
        blocks = self._between(start, end)
        if not blocks:
            return ""
        return self._join(span for span in self._needs(blocks[0]) if span[1] <= start)

    def units(self, start: int, end: int) -> Iterator[Unit]:
        """Yield what can be quoted between two offsets; unit offsets count from `start`."""
        for block in self._between(start, end):
            context = self._join(self._needs(block))
            for kind, first, last in self._parts(block):
                first, last = max(first, start), min(last, end)
                if self._text[first:last].strip():
                    yield Unit(kind, first - start, last - start, context)

    def _between(self, start: int, end: int) -> Sequence[Block]:
        first = bisect_right(self._starts, start) - 1
        return self._blocks[max(first, 0) : bisect_left(self._starts, end)]

    def _parts(self, block: Block) -> Iterator[tuple[UnitKind, int, int]]:
        kind = _UNIT_KINDS.get(block.kind)
        text = self._text[block.start : block.end]
        offset = 0
        if kind is UnitKind.ITEM and _words(text) > MAX_ITEM_WORDS:
            kind, offset = None, _marker_width(text)
        if kind is UnitKind.ROW and self._is_header(block):
            kind = UnitKind.HEADING
        if kind is not None:
            yield kind, block.start, block.end
            return
        for start, end in split_sentences(text[offset:]):
            yield UnitKind.SENTENCE, block.start + offset + start, block.start + offset + end

    def _is_header(self, row: Block) -> bool:
        index = bisect_left(self._starts, row.start) + 1
        following = self._blocks[index] if index < len(self._blocks) else None
        return (
            row.header is None
            and following is not None
            and following.group == row.group
            and following.header is not None
        )

    def _needs(self, block: Block) -> list[Span]:
        """Return the spans a block needs before it, outermost first."""
        spans: list[Span] = []
        if block.lead_in is not None:
            around = self._blocks[bisect_right(self._starts, block.lead_in[0]) - 1]
            if around.kind is BlockKind.LIST_ITEM and around.start < block.start:
                spans += self._needs(around)
            spans.append(block.lead_in)
        if block.header is not None:
            spans.append(block.header)
        return spans

    def _join(self, spans: Iterable[Span]) -> str:
        texts = (self._text[start:end] for start, end in dict.fromkeys(spans))
        return "\n".join(text[_marker_width(text) :] for text in texts)


def _marker_width(text: str) -> int:
    marker = _MARKER.match(text)
    return marker.end() if marker else 0
