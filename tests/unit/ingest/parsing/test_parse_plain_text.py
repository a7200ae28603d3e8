"""Plain text keeps its paragraphs and typed lists."""

from ingest.parsing import parse
from ingest.parsing.media import PLAIN_TEXT
from ingest.records import BlockKind, ParsedPage, RawPage


def page(source: str, path: str = "notes-de-frais.txt") -> ParsedPage:
    return parse(RawPage(path=path, content=source.encode(), media_type=PLAIN_TEXT))


def test_wrapped_lines_are_joined_and_meant_breaks_kept() -> None:
    wrapped = (
        "Les frais de repas sont remboursés sur présentation d'un justificatif\n"
        "dans la limite de vingt euros par personne et par jour de déplacement\n"
        "professionnel.\n\nService RH\n12 rue des Lilas\n75000 Paris\n"
    )
    assert page(wrapped).text == (
        "Les frais de repas sont remboursés sur présentation d'un justificatif dans la limite de"
        " vingt euros par personne et par jour de déplacement professionnel.\n\n"
        "Service RH\n12 rue des Lilas\n75000 Paris"
    )


def test_typed_lists_nest_by_indentation_and_keep_their_bullets() -> None:
    parsed = page("À fournir :\n* le RIB\n  - scanné\n* la carte\n\n1) lire\n2) signer\n")
    assert parsed.text == "À fournir :\n\n* le RIB\n  - scanné\n* la carte\n\n1. lire\n2. signer"
    items = [block for block in parsed.blocks if block.kind is BlockKind.LIST_ITEM]
    assert items[0].lead_in == (0, len("À fournir :"))
    assert items[1].lead_in == (items[0].start, items[0].end)
    assert items[3].lead_in is None


def test_underlined_lines_are_headings_and_the_first_one_the_title() -> None:
    parsed = page("Frais\n=====\n\nRepas\n-----\nVingt euros.\n")
    assert parsed.title == "Frais"
    assert [(b.kind, b.level) for b in parsed.blocks] == [
        (BlockKind.HEADING, 1),
        (BlockKind.HEADING, 2),
        (BlockKind.PARAGRAPH, 0),
    ]


def test_without_a_heading_the_title_comes_from_the_file_name() -> None:
    assert page("Vingt euros.").title == "Notes de frais"


def test_a_paragraph_below_a_list_is_not_glued_to_its_last_item() -> None:
    assert (
        page("À fournir :\n- le RIB\n- la carte\nEnvoyez le tout au service RH.\nMerci.\n").text
        == "À fournir :\n\n- le RIB\n- la carte\n\nEnvoyez le tout au service RH.\nMerci."
    )


def test_the_rest_of_an_item_stays_with_it_hanging_or_wrapped_at_the_margin() -> None:
    source = (
        "- Les frais de repas sont remboursés sur présentation d'un justificatif de\n"
        "Madame Dupont, qui les garde.\n"
        "- Les frais d'hôtel sont remboursés\n"
        "  Après accord.\n"
    )
    assert page(source).text == (
        "- Les frais de repas sont remboursés sur présentation d'un justificatif de Madame Dupont,"
        " qui les garde.\n- Les frais d'hôtel sont remboursés\n  Après accord."
    )


def test_lists_are_numbered_with_or_without_a_dot() -> None:
    parsed = page("Étapes :\n1 Ouvrir\n2 Choisir\n\n1° le nom\n2° la date\n\na) oui\nb) non\n")
    assert parsed.text == (
        "Étapes :\n\n1. Ouvrir\n2. Choisir\n\n1° le nom\n2° la date\n\na) oui\nb) non"
    )
    assert sum(block.kind is BlockKind.LIST_ITEM for block in parsed.blocks) == 6
    assert page("Adresse :\n12 rue des Lilas\n75000 Paris").text == (
        "Adresse :\n12 rue des Lilas\n75000 Paris"
    )


def test_a_line_alone_at_the_top_is_the_title_and_lines_in_capitals_are_headings() -> None:
    parsed = page("Guide des frais\n\nREPAS ET HÔTEL\n\nVingt euros.\n\nA FIN\n\nCent euros.\n")
    assert parsed.title == "Guide des frais"
    assert [(b.kind, b.level) for b in parsed.blocks] == [
        (BlockKind.HEADING, 1),
        (BlockKind.HEADING, 2),
        (BlockKind.PARAGRAPH, 0),
        (BlockKind.HEADING, 2),
        (BlockKind.PARAGRAPH, 0),
    ]
    assert page("Vingt euros par repas.\n\nSur justificatif.").title == "Notes de frais"
    assert page("Bonjour,\n\nVingt euros.").title == "Notes de frais"
