"""PDF documents give back paragraphs, headings, lists, tables and columns."""

import io

import pypdf
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    ListFlowable,
    PageBreak,
    PageTemplate,
    Paragraph,
    SimpleDocTemplate,
    Table,
)

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.media import PDF
from ingest.records import BlockKind, ParsedPage, RawPage

STYLES = getSampleStyleSheet()


def page(content: bytes) -> ParsedPage:
    return parse(RawPage(path="guide-des-frais.pdf", content=content, media_type=PDF))


def written(*flowables: Flowable, footer: str = "") -> bytes:
    buffer = io.BytesIO()

    def draw_edges(canvas: Canvas, document: SimpleDocTemplate) -> None:
        if footer:
            canvas.drawString(60, 810, "Manuel du salarié")
            canvas.drawString(60, 25, f"{footer} {document.page}")

    template = SimpleDocTemplate(buffer, pagesize=A4)
    template.build(list(flowables), onFirstPage=draw_edges, onLaterPages=draw_edges)
    return buffer.getvalue()


def drawn(*lines: str) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    for index, line in enumerate(lines):
        canvas.drawString(72, 700 - 14 * index, line)
    canvas.save()
    return buffer.getvalue()


def paragraph(text: str, style: str = "Normal") -> Paragraph:
    return Paragraph(text, STYLES[style])


def test_structure_is_found_again_from_the_layout() -> None:
    sentence = "Les frais sont remboursés sur présentation d'un justificatif."
    parsed = page(
        written(
            paragraph("Guide des frais", "Title"),
            paragraph("1. Principes", "Heading1"),
            paragraph(f"{sentence} " * 5),
            ListFlowable([paragraph("Repas"), paragraph("Hôtel")], bulletType="bullet"),
            Table([["Frais", "Plafond"], ["Repas", "20 €"], ["Hôtel Paris", "130 €"]]),
            paragraph("2. Délais", "Heading1"),
            paragraph("Sous 30 jours."),
        )
    )
    assert parsed.title == "Guide des frais"
    kinds = [(b.kind, parsed.text[b.start : b.end]) for b in parsed.blocks]
    assert kinds == [
        (BlockKind.HEADING, "Guide des frais"),
        (BlockKind.HEADING, "1. Principes"),
        (BlockKind.PARAGRAPH, " ".join([sentence] * 5)),
        (BlockKind.LIST_ITEM, "• Repas"),
        (BlockKind.LIST_ITEM, "• Hôtel"),
        (BlockKind.TABLE_ROW, "| Frais | Plafond |"),
        (BlockKind.TABLE_ROW, "| Repas | 20 € |"),
        (BlockKind.TABLE_ROW, "| Hôtel Paris | 130 € |"),
        (BlockKind.HEADING, "2. Délais"),
        (BlockKind.PARAGRAPH, "Sous 30 jours."),
    ]


def test_running_titles_and_page_numbers_are_dropped() -> None:
    parsed = page(
        written(
            paragraph("Première page."), PageBreak(), paragraph("Deuxième page."), PageBreak(),
            paragraph("Troisième page."), footer="Confidentiel - page",
        )
    )  # fmt: skip
    assert parsed.text == "Première page.\n\nDeuxième page.\n\nTroisième page."


def test_a_word_cut_at_the_end_of_a_line_is_repaired_and_a_compound_is_not() -> None:
    parsed = page(
        drawn(
            "Prenez rendez-vous avec le service des ressources hu-",
            "maines avant votre départ, puis un autre rendez-",
            "vous à votre retour dans les locaux.",
        )
    )
    assert "ressources humaines avant" in parsed.text
    assert "un autre rendez-vous à" in parsed.text


def test_columns_are_read_one_after_the_other() -> None:
    left = "La colonne de gauche parle des congés payés et de leur durée légale. "
    right = "La colonne de droite parle des frais de repas et de leur plafond. "
    buffer = io.BytesIO()
    template = BaseDocTemplate(buffer, pagesize=A4)
    frames = [Frame(50, 50, 230, 740, id="left"), Frame(320, 50, 230, 740, id="right")]
    template.addPageTemplates(PageTemplate(frames=frames))
    template.build([paragraph(left * 12), FrameBreak(), paragraph(right * 12)])
    parsed = page(buffer.getvalue())
    assert parsed.text.count(left.strip()) == 12
    assert parsed.text.index("gauche") < parsed.text.rindex("gauche") < parsed.text.index("droite")


def test_a_page_without_text_is_an_error_with_its_reason() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.rect(10, 10, 100, 100)
    canvas.save()
    with pytest.raises(PageParseError, match=r"no text \(scanned\?\)"):
        page(buffer.getvalue())


def test_a_document_protected_by_a_password_is_an_error_with_its_reason() -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(drawn("Secret")))
    writer.encrypt("secret", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    with pytest.raises(PageParseError, match="password"):
        page(buffer.getvalue())


@pytest.mark.parametrize("content", [b"not a pdf", b"%PDF-1.7\n", drawn("Texte")[:-400]])
def test_a_damaged_document_is_an_error_with_its_reason(content: bytes) -> None:
    with pytest.raises(PageParseError, match="not readable as a PDF"):
        page(content)
