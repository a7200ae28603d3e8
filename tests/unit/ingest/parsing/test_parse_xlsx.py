"""Spreadsheets: sheets are sections, rows that stand together are tables, values as shown."""

import datetime as dt
import io
import zipfile

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table
from openpyxl.worksheet.worksheet import Worksheet

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.cell_values import shown
from ingest.parsing.media import XLSX
from ingest.records import BlockKind, ParsedPage, RawPage

# Spreadsheets know no time zone.
MARCH = dt.datetime.fromisoformat("2026-03-01")
MORNING = dt.datetime.fromisoformat("2026-03-01T09:30")


def saved(workbook: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def page(workbook: openpyxl.Workbook) -> ParsedPage:
    return parsed(saved(workbook))


def parsed(content: bytes) -> ParsedPage:
    return parse(RawPage(path="rh/grille-des-frais.xlsx", content=content, media_type=XLSX))


def filled(*rows: tuple[object, ...], title: str = "Feuil1") -> tuple[openpyxl.Workbook, Worksheet]:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet.title = title
    for row in rows:
        sheet.append(row)
    return workbook, sheet


def header(read: ParsedPage) -> str | None:
    span = read.blocks[-1].header
    return None if span is None else read.text[slice(*span)]


def test_sheets_are_sections_and_remarks_above_a_table_are_paragraphs() -> None:
    workbook, _ = filled(
        ("Barème des repas",),
        (None,),
        ("Ville", "Déjeuner", "Dîner"),
        ("Paris", 20.5, 25),
        ("Lyon", 18, None),
        title="Repas",
    )
    other = workbook.create_sheet("Nuits")
    other.append(["Ville", "Plafond"])
    other.append(["Paris", 130])
    for cell in other[1]:
        cell.font = Font(bold=True)
    workbook.create_sheet("Vide")

    read = page(workbook)

    assert read.title == "Grille des frais"
    assert read.text == (
        "Repas\n\nBarème des repas\n\n| Ville | Déjeuner | Dîner |\n| Paris | 20.5 | 25 |\n"
        "| Lyon | 18 |  |\n\nNuits\n\n| Ville | Plafond |\n| Paris | 130 |"
    )
    assert header(read) == "| Ville | Plafond |"
    assert [b.level for b in read.blocks if b.kind is BlockKind.HEADING] == [2, 2]


def test_the_default_name_of_the_only_sheet_is_no_heading() -> None:
    workbook, _ = filled(("Une seule remarque.",))
    assert page(workbook).text == "Une seule remarque."


def test_a_table_goes_on_after_an_empty_row_and_titles_of_rows_stay_in_it() -> None:
    workbook, _ = filled(
        ("Poste", "Lieu", "Prime"),
        ("Accueil",),
        ("Hôte", "Paris", "aucune"),
        (None,),
        ("Cadre", "Lyon", "annuelle"),
    )
    read = page(workbook)
    assert read.text == (
        "| Poste | Lieu | Prime |\n| Accueil |\n| Hôte | Paris | aucune |\n"
        "| Cadre | Lyon | annuelle |"
    )
    assert header(read) == "| Poste | Lieu | Prime |"


def test_the_first_row_of_a_table_a_filter_or_a_frozen_pane_is_its_header() -> None:
    rows = (("Site", "Code"), ("Paris", "A"), ("Lyon", "B"))
    workbook, sheet = filled(*rows)
    sheet.add_table(Table(displayName="Sites", ref="A1:B3"))
    assert header(page(workbook)) == "| Site | Code |"
    workbook, sheet = filled(*rows)
    sheet.auto_filter.ref = "A1:B3"
    assert header(page(workbook)) == "| Site | Code |"
    workbook, sheet = filled(*rows)
    sheet.freeze_panes = "A2"
    assert header(page(workbook)) == "| Site | Code |"
    workbook, _ = filled(("Téléphone", "01 02 03 04 05"), ("Courriel", "rh@exemple.fr"))
    assert header(page(workbook)) is None


def test_merged_cells_are_repeated_down_and_stretched_across() -> None:
    workbook, sheet = filled(
        ("Frais 2026", None, None),
        ("Ville", "Nuit", "Repas"),
        ("Paris", 130, 20),
        (None, 110, 18),
    )
    sheet.merge_cells("A1:C1")
    sheet.merge_cells("A3:A4")
    assert page(workbook).text == (
        "Frais 2026\n\n| Ville | Nuit | Repas |\n| Paris | 130 | 20 |\n| Paris | 110 | 18 |"
    )


def test_what_is_hidden_is_left_out_but_not_what_a_filter_hides() -> None:
    workbook, sheet = filled(("Nom", "Secret", "Taux"), ("A", "x", 1), ("B", "y", 2))
    sheet.column_dimensions["B"].hidden = True
    sheet.row_dimensions[3].hidden = True
    hidden = workbook.create_sheet("Brouillon")
    hidden.append(["à ne pas lire"])
    hidden.sheet_state = "hidden"
    assert page(workbook).text == "| Nom | Taux |\n| A | 1 |"
    sheet.auto_filter.ref = "A1:C3"
    assert page(workbook).text == "| Nom | Taux |\n| A | 1 |\n| B | 2 |"


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (1234.5, '#,##0.00 "€"', "1234.50 €"),
        (1234.5, "#,##0.00\\ [$€-40C]", "1234.50 €"),
        (12, '"$"#,##0', "$12"),
        (12, "[$$-409]#,##0.00", "$12.00"),
        (-5, '_-* #,##0 "€"_-;-* #,##0 "€"_-', "-5 €"),
        (0.125, "0.0%", "12.5 %"),
        (25, '0" jours"', "25 jours"),
        (1 / 3, "General", "0.3333333333"),
        (7.0, "General", "7"),
        (3, "General", "3"),
        (True, "General", "TRUE"),
        (MARCH, "dd/mm/yyyy", "01/03/2026"),
        (MARCH, "[$-40C]d\\ mmmm\\ yyyy;@", "01/03/2026"),
        (MORNING, "yyyy-mm-dd hh:mm", "2026-03-01 09:30"),
        (dt.time(9, 5), "h:mm", "09:05"),
        (dt.timedelta(hours=35), "[h]:mm", "35:00"),
        ("  net  ", "@", "net"),
        (None, "General", ""),
    ],
)
def test_values_read_as_their_format_shows_them(
    value: object, number_format: str, text: str
) -> None:
    assert shown(value, number_format) == text


def test_formulas_give_what_was_computed_and_errors_nothing() -> None:
    workbook, sheet = filled(("Total", "x"), ("#N/A", "y"))
    sheet["A1"] = "=1/0"  # never computed: nothing to show
    assert page(workbook).text == "x\n\ny"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xd0\xcf\x11\xe0" + bytes(100), "password, or an old .xls"),
        (b"not a zip", "not readable as a spreadsheet"),
        (b"PK\x03\x04 truncated", "not readable as a spreadsheet"),
    ],
)
def test_what_is_no_spreadsheet_is_an_error_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(PageParseError, match=reason):
        parsed(content)


def replaced(content: bytes, member: str, old: bytes, new: bytes) -> bytes:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as whole,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in whole.namelist():
            data = whole.read(name)
            archive.writestr(name, data.replace(old, new, 1) if name == member else data)
    return buffer.getvalue()


def test_small_files_that_swell_into_memory_are_refused_before_they_are_read() -> None:
    workbook, sheet = filled(("a", "b"))
    sheet.merge_cells("A1:B1")
    content = saved(workbook)
    member = "xl/worksheets/sheet1.xml"
    merged = replaced(content, member, b'Cell ref="A1:B1"', b'Cell ref="A1:XFD1048576"')
    many = replaced(content, member, b"</row>", b"<c/>" * 200_001 + b"</row>")
    huge = replaced(content, member, b"</row>", b"<c/>" * 8_000_000 + b"</row>")

    for swollen, reason in ((merged, "cells"), (many, "cells"), (huge, "unreasonable")):
        assert len(swollen) < 200_000
        with pytest.raises(PageParseError, match=reason):
            parsed(swollen)


def test_a_single_cell_in_the_last_corner_of_a_sheet_costs_nothing() -> None:
    workbook, sheet = filled(("Début",))
    sheet["XFD1048576"] = "Fin"
    assert page(workbook).text == "Début\n\nFin"


def test_entities_that_multiply_are_no_text() -> None:
    workbook, _ = filled(("a",))
    content = saved(workbook)
    bomb = (
        b'<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "'
        + b"&a;" * 1000
        + b'">'
        + b"".join(b'<!ENTITY c%d "%s">' % (i, b"&b;" * 1000) for i in range(3))
        + b"]><worksheet"
    )
    with pytest.raises(PageParseError, match="not readable as a spreadsheet"):
        parsed(
            replaced(
                replaced(content, "xl/worksheets/sheet1.xml", b"<worksheet", bomb),
                "xl/worksheets/sheet1.xml",
                b"</sheetData>",
                b'<row r="9"><c r="A9" t="inlineStr"><is><t>&c0;&c1;&c2;</t></is></c></row>'
                b"</sheetData>",
            )
        )
