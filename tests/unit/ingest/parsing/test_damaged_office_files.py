"""Office files that are damaged or made to do harm are refused, and leave the other pages alone."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable

import docx
import openpyxl
import pptx
import pytest

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.media import DOCX, PPTX, XLSX
from ingest.parsing.signatures import contradiction
from ingest.records import ParsedPage, RawPage

DAMAGES = 60


def document() -> bytes:
    written = docx.Document()
    for number in range(40):
        written.add_paragraph(f"Un élément {number} de la liste", style="List Bullet")
    return saved(written)


def presentation() -> bytes:
    written = pptx.Presentation()
    slide = written.slides.add_slide(written.slide_layouts[1])
    slide.shapes.title.text = "Congés"
    slide.placeholders[1].text = "Vingt-cinq jours"
    return saved(written)


def spreadsheet() -> bytes:
    written = openpyxl.Workbook()
    for number in range(40):
        written.worksheets[0].append([f"Ville {number}", number])
    return saved(written)


def saved(written: object) -> bytes:
    buffer = io.BytesIO()
    written.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


KINDS = pytest.mark.parametrize(
    ("content", "media_type", "name"),
    [
        (document(), DOCX, "a.docx"),
        (presentation(), PPTX, "a.pptx"),
        (spreadsheet(), XLSX, "a.xlsx"),
    ],
    ids=["docx", "pptx", "xlsx"],
)


def parsed(content: bytes, media_type: str, name: str) -> ParsedPage:
    return parse(RawPage(path=name, content=content, media_type=media_type))


def changed(content: bytes, change: Callable[[str, bytes], tuple[str, bytes]]) -> bytes:
    """Return an archive with its members, and their names, changed."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(*change(name, old.read(name)))
    return buffer.getvalue()


def with_directory(content: bytes, offset: int, value: int) -> bytes:
    """Return an archive with a byte set in each entry of its central directory."""
    damaged, at = bytearray(content), content.find(b"PK\x01\x02")
    while at >= 0:
        damaged[at + offset] = value
        at = content.find(b"PK\x01\x02", at + 4)
    return bytes(damaged)


@KINDS
def test_damage_anywhere_in_a_file_is_a_reason_to_skip_it_and_nothing_worse(
    content: bytes, media_type: str, name: str
) -> None:
    chosen = random.Random(7)  # noqa: S311 - which bytes is no secret
    refused = 0
    for _ in range(DAMAGES):
        damaged = bytearray(content)
        for _ in range(8):
            damaged[chosen.randrange(len(damaged))] = chosen.randrange(256)
        contradiction(name, bytes(damaged))
        try:
            parsed(bytes(damaged), media_type, name)
        except PageParseError:
            refused += 1
    assert refused > DAMAGES / 3


@KINDS
def test_an_encrypted_archive_or_one_packed_otherwise_is_refused(
    content: bytes, media_type: str, name: str
) -> None:
    with pytest.raises(PageParseError, match="password"):
        parsed(with_directory(content, 8, 1), media_type, name)
    with pytest.raises(PageParseError, match="packed"):
        parsed(with_directory(content, 10, 9), media_type, name)


def test_cells_are_counted_wherever_a_sheet_is_kept() -> None:
    def moved(name: str, member: bytes) -> tuple[str, bytes]:
        merged = b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
        return (
            name.replace("worksheets/sheet1", "elsewhere/one"),
            member.replace(b"worksheets/sheet1", b"elsewhere/one").replace(b"</sheetData>", merged),
        )

    with pytest.raises(PageParseError, match="cells"):
        parsed(changed(spreadsheet(), moved), XLSX, "a.xlsx")


def test_a_list_is_no_deeper_than_office_makes_them() -> None:
    def deep_in_word(name: str, member: bytes) -> tuple[str, bytes]:
        style = b'<w:pStyle w:val="ListBullet"/>'
        depth = b'<w:numPr><w:ilvl w:val="100000000"/><w:numId w:val="1"/></w:numPr>'
        return name, member.replace(style, style + depth)

    def deep_on_a_slide(name: str, member: bytes) -> tuple[str, bytes]:
        if name != "ppt/slides/slide1.xml":
            return name, member
        depth = b'<a:pPr lvl="100000000"><a:buChar char="-"/></a:pPr>'
        return name, member.replace(b"<a:p><a:r>", b"<a:p>" + depth + b"<a:r>")

    assert "Un élément 3" in parsed(changed(document(), deep_in_word), DOCX, "a.docx").text
    slides = parsed(changed(presentation(), deep_on_a_slide), PPTX, "a.pptx")
    assert "Vingt-cinq jours" in slides.text
