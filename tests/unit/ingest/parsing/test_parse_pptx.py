"""Presentations: slides are sections; lists, tables and diagrams stand under their titles."""

import io
import zipfile

import pptx
import pytest
from pptx.oxml import parse_xml
from pptx.presentation import Presentation
from pptx.util import Inches

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.media import PPTX
from ingest.records import BlockKind, ParsedPage, RawPage

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def saved(presentation: Presentation) -> bytes:
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def page(presentation: Presentation) -> ParsedPage:
    return parsed(saved(presentation))


def parsed(content: bytes) -> ParsedPage:
    return parse(RawPage(path="rh/accueil.pptx", content=content, media_type=PPTX))


def box(slide: object, text: str) -> object:
    shape = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1))  # type: ignore[attr-defined]
    shape.text_frame.text = text
    return shape


def test_a_deck_reads_as_a_page_with_a_section_for_each_slide() -> None:
    deck = pptx.Presentation()
    cover = deck.slides.add_slide(deck.slide_layouts[0])
    cover.shapes.title.text = "Livret d'accueil"
    cover.placeholders[1].text = "Édition 2026"
    leave = deck.slides.add_slide(deck.slide_layouts[1])
    leave.shapes.title.text = "Congés"
    body = leave.placeholders[1].text_frame
    body.text = "Vingt-cinq jours par an"
    nested = body.add_paragraph()
    nested.text, nested.level = "cinq semaines", 1
    again = deck.slides.add_slide(deck.slide_layouts[5])
    again.shapes.title.text = "Congés"
    rows = again.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for cell, words in zip(
        [rows.cell(r, c) for r in range(2) for c in range(2)],
        ["Événement", "Jours", "Mariage", "4"],
        strict=True,
    ):
        cell.text = words

    read = page(deck)

    assert read.title == "Livret d'accueil"
    assert read.text == (
        "Livret d'accueil\n\nÉdition 2026\n\nCongés\n\n"
        "- Vingt-cinq jours par an\n  - cinq semaines\n\n"
        "| Événement | Jours |\n| Mariage | 4 |"
    )
    assert [b.level for b in read.blocks if b.kind is BlockKind.HEADING] == [1, 2]
    assert read.blocks[-1].header is not None


def test_a_slide_without_a_title_does_not_fall_under_the_slide_before_it() -> None:
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Congés"
    first.placeholders[1].text = "Vingt-cinq jours"
    second = deck.slides.add_slide(deck.slide_layouts[6])
    box(second, "Télétravail")
    box(second, "Deux jours par semaine.")
    third = deck.slides.add_slide(deck.slide_layouts[6])
    box(third, "Une phrase trop longue pour être le titre de quoi que ce soit, " * 3)

    headings = [
        read.text[b.start : b.end]
        for read in [page(deck)]
        for b in read.blocks
        if b.kind is BlockKind.HEADING
    ]

    assert headings == ["Congés", "Télétravail", "Slide 3"]


def test_hidden_slides_footers_and_the_speakers_notes_are_left_out() -> None:
    deck = pptx.Presentation()
    shown = deck.slides.add_slide(deck.slide_layouts[1])
    shown.shapes.title.text = "Badge"
    shown.placeholders[1].text = "Se demande à l'accueil"
    shown.notes_slide.notes_text_frame.text = "Ne pas le dire"
    footer = parse_xml(
        '<p:sp xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        f' xmlns:a="{DRAWING}"><p:nvSpPr><p:cNvPr id="9" name="f"/><p:cNvSpPr/><p:nvPr>'
        '<p:ph type="ftr" idx="11"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>'
        "<a:p><a:r><a:t>Confidentiel</a:t></a:r></a:p></p:txBody></p:sp>"
    )
    shown.shapes._spTree.append(footer)
    hidden = deck.slides.add_slide(deck.slide_layouts[1])
    hidden.shapes.title.text = "Brouillon"
    hidden.placeholders[1].text = "Pas encore décidé"
    hidden._element.set("show", "0")

    assert page(deck).text == "Badge\n\n- Se demande à l'accueil"


def test_shapes_of_a_group_and_paragraphs_without_bullets_are_read_in_order() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Contacts"
    group = slide.shapes.add_group_shape()
    shape = group.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1))
    shape.text_frame.text = "Paie : paie@exemple.fr"
    box(slide, "Accueil : 01 02 03 04 05")

    assert page(deck).text == ("Contacts\n\nPaie : paie@exemple.fr\n\nAccueil : 01 02 03 04 05")


def test_the_words_of_a_diagram_are_a_list() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Étapes"
    diagram = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
    data = (
        f'<dgm:dataModel xmlns:dgm="{diagram}" xmlns:a="{DRAWING}"><dgm:ptLst>'
        '<dgm:pt modelId="0" type="doc"><dgm:t><a:p><a:r><a:t> </a:t></a:r></a:p></dgm:t></dgm:pt>'
        '<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Demander</a:t></a:r></a:p></dgm:t></dgm:pt>'
        '<dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Attendre</a:t></a:r></a:p></dgm:t></dgm:pt>'
        "</dgm:ptLst></dgm:dataModel>"
    )
    part = pptx.opc.package.Part(
        pptx.opc.packuri.PackURI("/ppt/diagrams/data1.xml"),
        "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
        slide.part.package,
        data.encode(),
    )
    related = slide.part.relate_to(part, f"{diagram}Data")
    slide.shapes._spTree.append(parse_xml(
        '<p:graphicFrame xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        f' xmlns:a="{DRAWING}"><p:nvGraphicFramePr><p:cNvPr id="8" name="d"/>'
        "<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x='0' y='0'/>"
        f"<a:ext cx='1' cy='1'/></p:xfrm><a:graphic><a:graphicData uri='{diagram}'>"
        f'<dgm:relIds xmlns:dgm="{diagram}" xmlns:r="http://schemas.openxmlformats.org/'
        f'officeDocument/2006/relationships" r:dm="{related}"/></a:graphicData></a:graphic>'
        "</p:graphicFrame>"
    ))  # fmt: skip

    assert page(deck).text == "Étapes\n\n- Demander\n- Attendre"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(100), "password, or an old .ppt"),
        (b"not a zip", "not readable as a presentation"),
        (b"PK\x03\x04 truncated", "not readable as a presentation"),
    ],
)
def test_what_is_no_presentation_is_an_error_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(PageParseError, match=reason):
        parsed(content)


def test_an_archive_of_something_else_or_a_damaged_slide_is_an_error() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("hello.txt", "x")
    with pytest.raises(PageParseError, match="not readable as a presentation"):
        parsed(buffer.getvalue())

    deck = pptx.Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Badge"
    damaged = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved(deck))) as whole,
        zipfile.ZipFile(damaged, "w") as archive,
    ):
        for name in whole.namelist():
            content = whole.read(name)
            archive.writestr(name, content[:200] if name.endswith("slide1.xml") else content)
    with pytest.raises(PageParseError, match="not readable as a presentation"):
        parsed(damaged.getvalue())
