"""Eleven real handbooks, parsed and cut: no crash, no warning, no leftover markup."""

import json
import re
import statistics
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.chunking import MAX_ATOM_WORDS, chunk_page
from ingest.errors import PageParseError
from ingest.pages import build_page
from ingest.parsing import parse
from ingest.records import BlockKind, Page, SkippedPage
from ingest.sources.base import Entry
from ingest.sources.folder import FolderSource

# Share of the pages that give text. The rest are templates filled from data that is elsewhere.
PARSED_SHARE = {
    "civicactions-guidebook": 0.99,
    "etalab-guides": 0.98,
    "gc-accessibility-fr-en": 0.98,
    "gc-digital-playbook-fr-en": 0.45,
    "gitlab-handbook": 0.98,
    "okp4-team-wiki": 1.0,
    "service-public": 1.0,
    "sourcegraph-handbook": 1.0,
    "syntec-convention": 1.0,
    "travail-emploi": 1.0,
    "tts-handbook": 0.96,
}
LEFTOVERS = re.compile(
    r"\{\{[<%]|\{%|</?(?:div|span|x-component)\b|^import \w+ from|^:::|\A---$", re.M
)
# Pages about the template language itself show it in inline code.
MAX_LEFTOVER_SHARE = 0.005
MAX_LEFTOVERS_IN_SMALL = 2
MIN_QUOTES_FOUND = 0.99
MANY_PAGES = 1_000
"""Of a handbook with more pages, every second or third is taken: the whole takes a minute."""

# What a quote copied from the source of a page has and its text has not.
_LINK_TARGET = re.compile(r"(!?\[[^\]]*\])\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_MARKUP = re.compile(r"[*_`\[\]()|#<>]")


@pytest.fixture
def corpora(shared_dir: Path) -> Path:
    return shared_dir / "corpora"


def pages(source: FolderSource, skipped: list[SkippedPage]) -> Iterator[Page]:
    entries = source.listing().entries
    for entry in entries[:: len(entries) // MANY_PAGES + 1]:
        raw = source.fetch(entry)
        try:
            parsed = parse(raw)
        except PageParseError as error:
            skipped.append(SkippedPage(entry.path, str(error)))
            continue
        yield build_page(source.name, raw, parsed, version="test")


def prose(page: Page) -> str:
    """Return the text without its code, where anything may be quoted."""
    return "\n".join(
        page.text[block.start : block.end]
        for block in page.blocks
        if block.kind is not BlockKind.CODE
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PARSED_SHARE))
def test_a_real_handbook_is_parsed_and_cut(name: str, corpora: Path) -> None:
    skipped: list[SkippedPage] = []
    sizes: list[int] = []
    leftovers: list[tuple[str, str]] = []
    parsed = 0
    for page in pages(FolderSource(name, corpora / name), skipped):
        parsed += 1
        chunks = chunk_page(page)
        assert chunks, page.path
        assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
        assert all(c.text == page.text[c.start : c.end] and c.units for c in chunks)
        sizes += [len(chunk.text.split()) for chunk in chunks]
        if left := LEFTOVERS.search(prose(page)):
            leftovers.append((page.path, left[0]))
    assert parsed >= PARSED_SHARE[name] * (parsed + len(skipped)), skipped
    assert len(leftovers) <= max(MAX_LEFTOVERS_IN_SMALL, MAX_LEFTOVER_SHARE * parsed), leftovers
    assert max(sizes) <= MAX_ATOM_WORDS
    assert 60 <= statistics.median(sizes) <= 120
    assert sum(size > 138 for size in sizes) <= 0.02 * len(sizes)


def test_gold_quotes_survive_parsing(shared_dir: Path) -> None:
    texts: dict[tuple[str, str], str] = {}
    total = 0
    missing: list[tuple[str, str]] = []
    for file in sorted((shared_dir / "questions").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            question = json.loads(line)
            for gold in question["gold"]:
                key = (question["corpus"], gold["page"])
                if key not in texts:
                    texts[key] = folded(page_text(shared_dir, *key))
                total += 1
                if folded(gold["quote"]) not in texts[key]:
                    missing.append((question["id"], gold["quote"]))
    assert total > 200
    assert len(missing) <= (1 - MIN_QUOTES_FOUND) * total, missing


def page_text(shared_dir: Path, corpus: str, path: str) -> str:
    source = FolderSource(corpus, shared_dir / "corpora" / corpus)
    return parse(source.fetch(Entry(path))).text


def folded(text: str) -> str:
    plain = _MARKUP.sub("", _LINK_TARGET.sub(r"\1", unicodedata.normalize("NFKC", text)))
    return " ".join(plain.split()).casefold()
