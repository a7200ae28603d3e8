"""What every format has in common: titles, reasons, exact blocks."""

import pytest

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.media import HTML, MARKDOWN, MEDIA_TYPES, PLAIN_TEXT
from ingest.records import RawPage


def raw(content: str | bytes, path: str = "page.md", media_type: str = MARKDOWN) -> RawPage:
    data = content.encode() if isinstance(content, str) else content
    return RawPage(path=path, content=data, media_type=media_type)


@pytest.mark.parametrize(
    ("content", "path", "title"),
    [
        ("---\ntitle: Un\n---\n# Deux\n\nx", "trois.md", "Un"),
        ("# Deux\n\nx", "trois.md", "Deux"),
        ("## Sous-titre\n\nx", "rh/notes-de_frais.fr.md", "Notes de frais"),
        ("x", "rh/conges-payes/index.md", "Conges payes"),
        ("x", "_index.md", "Index"),
        ("---\ntitle: Outils <abbr>IT</abbr> &amp; cie\n---\nx", "a.md", "Outils IT & cie"),
    ],
)
def test_the_title_is_the_best_that_the_page_has(content: str, path: str, title: str) -> None:
    assert parse(raw(content, path)).title == title


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("---\ntitle: Seul\n---\n", "no text"),
        ("{% include 'x' %}", "no text"),
        (b"\x00\x01\x02PNG", "binary"),
        (b"\x81\x8d\x8f\x90\x9d\xff" * 40, "encoding"),
        (b"\xff\xfea\x00b", "not valid"),
    ],
)
def test_a_page_that_gives_no_text_is_an_error_with_its_reason(
    content: str | bytes, reason: str
) -> None:
    with pytest.raises(PageParseError, match=reason):
        parse(raw(content))


def test_an_unknown_media_type_is_an_error_with_its_reason() -> None:
    with pytest.raises(PageParseError, match="no parser for image/png"):
        parse(raw("x", "x.png", "image/png"))


def test_a_page_with_nothing_but_a_description_says_that() -> None:
    page = parse(raw("---\ntitle: Outil\ndescription: Vérifie <b>les</b> contrastes.\n---\n"))
    assert (page.text, len(page.blocks)) == ("Vérifie les contrastes.", 1)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
def test_text_is_read_in_the_usual_encodings(encoding: str) -> None:
    words = "Les congés payés sont dus à l'été ; où ? à l'hôtel, près de la forêt, ça va de soi. "
    bom = b"\xfe\xff" if encoding == "utf-16-be" else b""
    assert parse(raw(bom + (words * 3).encode(encoding))).text == (words * 3).strip()


def test_decomposed_accents_line_ends_and_invisible_characters_are_normalised() -> None:
    assert parse(raw("cong\u00ade\u0301s\u200b\r\n\r\nfin\x07")).text == "congés\n\nfin"


@pytest.mark.parametrize("media_type", sorted(set(MEDIA_TYPES.values())))
def test_every_media_type_has_a_parser(media_type: str) -> None:
    with pytest.raises(PageParseError, match=r"no text|empty|not readable"):
        parse(raw(b"\x01", "x", media_type))


@pytest.mark.parametrize("media_type", [MARKDOWN, HTML, PLAIN_TEXT])
def test_blocks_cover_the_text_exactly(media_type: str) -> None:
    source = (
        "# Titre\n\nUn.\nDeux.\n\n- a\n  - b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n<p>fin</p>\n"
    )
    page = parse(raw(source, media_type=media_type))
    position = 0
    for block in page.blocks:
        assert page.text[position : block.start].strip() == ""
        piece = page.text[block.start : block.end]
        assert piece == piece.strip() != ""
        position = block.end
    assert position == len(page.text)
