"""Word documents keep headings, lists and tables in document order."""

import io
import zipfile

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.media import DOCX
from ingest.records import BlockKind, ParsedPage, RawPage


def page(document: docx.document.Document) -> ParsedPage:
    buffer = io.BytesIO()
    document.save(buffer)
    return parse(RawPage(path="guide.docx", content=buffer.getvalue(), media_type=DOCX))


def test_headings_lists_and_tables_come_in_document_order() -> None:
    document = docx.Document()
    document.add_heading("Guide des frais", level=0)
    document.add_heading("Repas", level=1)
    document.add_paragraph("Sont remboursés :")
    document.add_paragraph("le déjeuner", style="List Bullet")
    document.add_paragraph("en semaine", style="List Bullet 2")
    document.add_paragraph("le dîner", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, words in zip(table._cells, ["Repas", "Plafond", "Déjeuner", "20 €"], strict=True):
        cell.text = words
    document.add_paragraph("demander", style="List Number")
    document.add_paragraph("attendre", style="List Number")
    parsed = page(document)
    assert parsed.title == "Guide des frais"
    assert parsed.text == (
        "Guide des frais\n\nRepas\n\nSont remboursés :\n\n"
        "- le déjeuner\n  - en semaine\n- le dîner\n\n"
        "| Repas | Plafond |\n| Déjeuner | 20 € |\n\n"
        "1. demander\n2. attendre"
    )
    items = [block for block in parsed.blocks if block.kind is BlockKind.LIST_ITEM]
    assert items[0].lead_in is not None
    assert parsed.text[slice(*items[0].lead_in)] == "Sont remboursés :"


def test_merged_cells_are_repeated_and_a_marked_header_row_is_the_header() -> None:
    document = docx.Document()
    table = document.add_table(rows=3, cols=3)
    words = ["Ville", "Nuit", "Repas", "Paris", "130 €", "20 €", "", "110 €", "18 €"]
    for cell, word in zip(table._cells, words, strict=True):
        cell.text = word
    table.cell(1, 0).merge(table.cell(2, 0))
    table.rows[0]._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {nsdecls('w')}/>"))
    parsed = page(document)
    assert (
        parsed.text
        == "| Ville | Nuit | Repas |\n| Paris | 130 € | 20 € |\n| Paris | 110 € | 18 € |"
    )
    assert parsed.blocks[-1].header == (0, len("| Ville | Nuit | Repas |"))


def test_links_content_controls_and_insertions_are_read_and_deletions_are_not() -> None:
    document = docx.Document()
    body = document.element.body
    namespace = nsdecls("w", "r")
    body.insert(0, parse_xml(
        f"<w:p {namespace}><w:r><w:t xml:space='preserve'>Voir </w:t></w:r>"
        "<w:hyperlink r:id='x'><w:r><w:t>le guide</w:t></w:r></w:hyperlink>"
        "<w:del><w:r><w:delText>ancien</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>.</w:t></w:r></w:ins></w:p>"
    ))  # fmt: skip
    body.insert(1, parse_xml(
        f"<w:sdt {namespace}><w:sdtContent><w:p><w:r><w:t>Contrôle.</w:t></w:r></w:p>"
        "</w:sdtContent></w:sdt>"
    ))  # fmt: skip
    assert page(document).text == "Voir le guide.\n\nContrôle."


def test_the_table_of_contents_is_left_out() -> None:
    document = docx.Document()
    document.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("Repas ........ 3", style="toc 1")
    document.add_paragraph("Texte.")
    assert page(document).text == "Texte."


def test_a_bold_paragraph_introduces_the_list_below_it() -> None:
    document = docx.Document()
    document.add_paragraph().add_run("Pièces").bold = True
    document.add_paragraph("le RIB", style="List Bullet")
    parsed = page(document)
    assert parsed.blocks[-1].lead_in == (0, len("Pièces"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "password"),
        (b"not a zip", "not readable as a Word document"),
        (b"PK\x03\x04 truncated", "not readable as a Word document"),
    ],
)
def test_what_is_no_word_document_is_an_error_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(PageParseError, match=reason):
        parse(RawPage(path="x.docx", content=content, media_type=DOCX))


def test_an_archive_of_something_else_is_an_error_with_its_reason() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "x")
    with pytest.raises(PageParseError, match="not readable as a Word document"):
        parse(RawPage(path="x.docx", content=buffer.getvalue(), media_type=DOCX))


def test_a_small_archive_of_very_much_text_is_refused_before_it_is_parsed() -> None:
    buffer, swollen = io.BytesIO(), io.BytesIO()
    docx.Document().save(buffer)
    with (
        zipfile.ZipFile(buffer) as plain,
        zipfile.ZipFile(swollen, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in plain.namelist():
            content = plain.read(name)
            if name == "word/document.xml":
                content = content.replace(b"<w:body>", b"<w:body>" + b"<w:p/>" * 5_100_000)
            archive.writestr(name, content)
    assert len(swollen.getvalue()) < 200_000

    with pytest.raises(PageParseError, match="unreasonable"):
        parse(RawPage(path="guide.docx", content=swollen.getvalue(), media_type=DOCX))


def table_of_style(style: str, *, first_row: str = "1") -> ParsedPage:
    document = docx.Document()
    table = document.add_table(rows=2, cols=2, style=style)
    for cell, words in zip(table._cells, ["Site", "Code", "Lyon", "B"], strict=True):
        cell.text = words
    look = table._tbl.tblPr.find(qn("w:tblLook"))
    look.set(qn("w:firstRow"), first_row)
    return page(document)


def test_the_first_row_is_the_header_if_the_style_of_the_table_shows_it_as_one() -> None:
    assert table_of_style("Light Grid Accent 1").blocks[-1].header is not None
    assert table_of_style("Light Grid Accent 1", first_row="0").blocks[-1].header is None
    assert table_of_style("Table Grid").blocks[-1].header is None
