"""Chunking loses nothing, cuts nothing it must not, and depends on nothing but the page."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking import MAX_ATOM_WORDS, chunk_page
from ingest.pages import build_page
from ingest.parsing import parse
from ingest.parsing.media import MARKDOWN
from ingest.records import BlockKind, Page, RawPage

WORD = st.sampled_from(["congé", "M.", "25", "jours,", "Le", "RH", "etc.", "paie.", "Oui ?", "a"])
SENTENCES = st.lists(WORD, min_size=1, max_size=80).map(" ".join)
LONG = st.integers(1, 900).map(lambda count: "mot " * count)
PARAGRAPH = SENTENCES | LONG
HEADING = st.tuples(st.integers(1, 5), WORD).map(lambda pair: f"{'#' * pair[0]} Titre {pair[1]}")
LIST = st.lists(st.tuples(st.integers(0, 2), SENTENCES), min_size=1, max_size=12).map(
    lambda items: "\n".join(f"{'  ' * depth}- {text}" for depth, text in items)
)
TABLE = st.lists(st.tuples(SENTENCES, WORD), min_size=1, max_size=20).map(
    lambda rows: "\n".join(["| A | B |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)])
)
CODE = SENTENCES.map(lambda text: f"```\n{text}\n```")
BLOCKS = st.lists(
    HEADING | PARAGRAPH | LIST | TABLE | CODE | SENTENCES.map(lambda text: f"{text} :"), max_size=14
)


def as_page(blocks: list[str]) -> Page:
    source = "\n\n".join(["Début.", *blocks])
    raw = RawPage(path="page.md", content=source.encode(), media_type=MARKDOWN)
    return build_page("handbook", raw, parse(raw), version="1")


@settings(max_examples=80)
@given(BLOCKS)
def test_every_character_outside_headings_is_in_exactly_one_chunk(blocks: list[str]) -> None:
    page = as_page(blocks)
    covered = bytearray(len(page.text))
    for chunk in chunk_page(page):
        assert chunk.text == page.text[chunk.start : chunk.end]
        for offset in range(chunk.start, chunk.end):
            covered[offset] += 1
    headings = [b for b in page.blocks if b.kind is BlockKind.HEADING]
    optional = {offset for block in headings for offset in range(block.start, block.end)}
    for offset, character in enumerate(page.text):
        assert covered[offset] <= 1
        if not character.isspace() and offset not in optional:
            assert covered[offset] == 1


@settings(max_examples=80)
@given(BLOCKS)
def test_rows_items_and_code_are_never_cut_unless_far_too_long(blocks: list[str]) -> None:
    page = as_page(blocks)
    chunks = chunk_page(page)
    whole = {BlockKind.TABLE_ROW, BlockKind.LIST_ITEM, BlockKind.CODE}
    for block in page.blocks:
        words = len(page.text[block.start : block.end].split())
        if block.kind in whole and words <= MAX_ATOM_WORDS:
            assert sum(c.start <= block.start and block.end <= c.end for c in chunks) == 1


@settings(max_examples=80)
@given(BLOCKS)
def test_ids_are_unique_and_chunking_is_repeatable(blocks: list[str]) -> None:
    page = as_page(blocks)
    chunks = chunk_page(page)
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    assert chunk_page(as_page(blocks)) == chunks


@settings(max_examples=80)
@given(BLOCKS)
def test_units_are_ordered_parts_of_the_chunk_and_contexts_are_verbatim(blocks: list[str]) -> None:
    page = as_page(blocks)
    for chunk in chunk_page(page):
        assert chunk.units
        position = 0
        for unit in chunk.units:
            assert position <= unit.start < unit.end <= len(chunk.text)
            assert chunk.text[unit.start : unit.end].strip()
            position = unit.end
            assert all(line.strip() in page.text for line in unit.context.split("\n"))
        assert all(line in page.text for line in chunk.context.split("\n"))
        outside = "".join(
            chunk.text[a.end : b.start]
            for a, b in zip(chunk.units, chunk.units[1:], strict=False)
        )  # fmt: skip
        assert set(outside) <= set(" \n-0123456789.")


@settings(max_examples=25)
@given(st.lists(st.integers(50, 400), min_size=2, max_size=6), st.data())
def test_editing_one_section_keeps_the_ids_of_the_others(
    sizes: list[int], data: st.DataObject
) -> None:
    sections = [f"## Section {n}\n\n" + f"Mot{n}. " * size for n, size in enumerate(sizes)]
    edited = data.draw(st.integers(0, len(sizes) - 1))
    before = chunk_page(as_page(sections))
    sections[edited] += " Une phrase de plus."
    after = {chunk.chunk_id for chunk in chunk_page(as_page(sections))}
    path = (f"Section {edited}",)
    assert {c.chunk_id for c in before if c.heading_path != path} <= after


@settings(max_examples=50)
@given(BLOCKS, st.text(min_size=1, max_size=10))
def test_ids_depend_on_the_page_and_its_source(blocks: list[str], name: str) -> None:
    page = as_page(blocks)
    ids = {chunk.chunk_id for chunk in chunk_page(page)}
    elsewhere = {chunk.chunk_id for chunk in chunk_page(replace(page, path=f"x/{name}"))}
    assert ids.isdisjoint(elsewhere)
