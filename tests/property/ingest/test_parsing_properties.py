"""Whatever the bytes, parsing ends with text whose blocks are exact, or with a reason."""

import io
import zipfile

import docx
import openpyxl
import pptx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.media import DOCX, HTML, MARKDOWN, PDF, PLAIN_TEXT, PPTX, XLSX
from ingest.records import RawPage
from ingest.sentences import split_sentences

MARKUP = st.sampled_from(
    [
        "# ", "## ", "- ", "  - ", "1. ", "| a | b |\n|---|---|\n| 1 | 2 |\n", "```\n", "> ", "**",
        "{{< x >}}", "{{% y title=\"Z\" %}}", "{% if a %}", "{%", "{{", "}}", "{#", "#}", "<!--",
        "-->", ":::", "::: tip Titre\n", "!!! note\n    ", "<div>", "</div>", "<table><tr><td>",
        "<details><summary>", "</details>", "<ul><li>", "<br>", "<Tabs>", "<dl><dt>a<dd>b",
        "[a](b)", "[^1]", "{: .x }", "{#id}",
        "\n", "\n\n", "    ", "\t", " :", "texte", "Été",
        "import a from 'b'\n", "---\n", "&amp;", "&#0;", "\x00", "\ufeff", "<h2>", "<p>",
        "<pre>", "`", "[[x]]", "~~",
    ]
)  # fmt: skip
SOURCE = st.lists(MARKUP | st.text(max_size=8), max_size=40).map("".join)


def check(content: bytes, media_type: str, path: str = "page.md") -> None:
    try:
        page = parse(RawPage(path=path, content=content, media_type=media_type))
    except PageParseError:
        return
    position = 0
    for block in page.blocks:
        assert page.text[position : block.start].strip() == ""
        piece = page.text[block.start : block.end]
        assert piece.strip()
        position = block.end
        for span in (block.header, block.lead_in):
            assert span is None or page.text[slice(*span)].strip()
            assert span is None or span[1] <= block.start
    assert position == len(page.text)
    assert page.title.strip() == page.title != ""


@settings(max_examples=300)
@given(SOURCE, st.sampled_from([MARKDOWN, HTML, PLAIN_TEXT]), st.sampled_from(["a.md", "a.mdx"]))
def test_any_markup_gives_exact_blocks_or_a_reason(source: str, media_type: str, path: str) -> None:
    check(source.encode("utf-8", "replace"), media_type, path)


@settings(max_examples=200)
@given(st.binary(max_size=300), st.sampled_from([MARKDOWN, HTML, PLAIN_TEXT, DOCX, PDF]))
@example(b"PK\x03\x04", DOCX)
@example(b"%PDF-1.4\n%%EOF", PDF)
def test_any_bytes_give_exact_blocks_or_a_reason(content: bytes, media_type: str) -> None:
    check(content, media_type)


def office_documents() -> dict[str, bytes]:
    word, deck, workbook = docx.Document(), pptx.Presentation(), openpyxl.Workbook()
    word.add_heading("Congés")
    word.add_paragraph("un jour", style="List Bullet")
    word.add_table(1, 2).cell(0, 0).text = "Mariage"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Congés", "un jour"
    slide.shapes.add_table(1, 2, 1, 1, 9, 9).table.cell(0, 0).text = "Mariage"
    workbook.worksheets[0].append(["Mariage", 4, 0.5])
    workbook.worksheets[0].merge_cells("A2:B2")
    documents = {}
    for media_type, document in ((DOCX, word), (PPTX, deck), (XLSX, workbook)):
        buffer = io.BytesIO()
        document.save(buffer)
        documents[media_type] = buffer.getvalue()
    return documents


OFFICE = office_documents()
# Where the content stands; a slip elsewhere is seldom noticed.
MEMBERS = {
    DOCX: "word/document.xml",
    PPTX: "ppt/slides/slide1.xml",
    XLSX: "xl/worksheets/sheet1.xml",
}


@settings(max_examples=150)
@given(st.sampled_from(sorted(OFFICE)), st.integers(0, 4_000), st.binary(max_size=12), st.data())
def test_a_damaged_office_document_gives_exact_blocks_or_a_reason(
    media_type: str, position: int, noise: bytes, data: st.DataObject
) -> None:
    damaged = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(OFFICE[media_type])) as whole,
        zipfile.ZipFile(damaged, "w") as archive,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            if name == MEMBERS[media_type]:
                at = position % len(content)
                cut = data.draw(st.integers(0, 40))
                content = content[:at] + noise + content[at + cut :]
            archive.writestr(name, content)
    check(damaged.getvalue(), media_type)


@settings(max_examples=300)
@given(SOURCE | st.text())
def test_sentences_cover_the_text_in_order(text: str) -> None:
    position = 0
    for start, end in split_sentences(text):
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip() != ""
        position = end
    assert text[position:].strip() == ""


@pytest.mark.parametrize(
    "source",
    [
        "{{<" * 20_000, "{%" * 20_000, "<!--" * 20_000, "[" * 5_000, "**" * 10_000, "`" * 20_000,
        "- " * 5_000, "> " * 5_000, "<div>" * 20_000, "{: " * 20_000, "«" * 20_000, "(" * 20_000,
        "a. " * 20_000, "|" * 20_000, ":::\n" * 5_000, "[[a|" * 10_000, "<a b=" * 10_000,
        "{#" * 20_000, "# a\n" * 3_000, "import {" * 10_000,
    ],
    ids=lambda source: source[:8],
)  # fmt: skip
@pytest.mark.timeout(60)
def test_repetition_does_not_take_forever(source: str) -> None:
    check(source.encode(), MARKDOWN)
    check(source.encode(), HTML)
    assert split_sentences(source)
