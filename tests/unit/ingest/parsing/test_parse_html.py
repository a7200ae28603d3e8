"""HTML pages give their main content, structure included, and nothing of what surrounds it."""

import pytest

from ingest.errors import PageParseError
from ingest.parsing import parse
from ingest.parsing.media import HTML
from ingest.records import BlockKind, ParsedPage, RawPage


def page(source: str, path: str = "page.html") -> ParsedPage:
    return parse(RawPage(path=path, content=source.encode(), media_type=HTML))


def body(source: str) -> ParsedPage:
    return page(f"<html><body>{source}</body></html>")


def headings(parsed: ParsedPage) -> list[tuple[int, str, str | None]]:
    return [
        (b.level, parsed.text[b.start : b.end], b.anchor)
        for b in parsed.blocks
        if b.kind is BlockKind.HEADING
    ]


def test_navigation_banner_footer_scripts_and_cookie_notice_are_dropped() -> None:
    parsed = page(
        """
        <!DOCTYPE html><html lang="fr"><head><title>Télétravail | Intranet ACME</title>
        <meta name="description" content="Deux jours.">
        <meta name="date" content="2025-09-17"></head><body>
        <header><a href="/">Accueil</a></header>
        <nav><a href="/rh">RH</a></nav>
        <div class="breadcrumb"><a href="/">Accueil</a> <a href="/rh">RH</a></div>
        <div id="cookie-banner"><p>Nous utilisons des cookies.</p><button>Accepter</button></div>
        <script>var x = 1;</script><style>p { color: red }</style>
        <h2>Règle</h2><p>Deux jours par semaine.</p>
        <footer>Mentions légales</footer>
        </body></html>
        """
    )
    assert parsed.text == "Règle\n\nDeux jours par semaine."
    assert parsed.title == "Télétravail"
    assert parsed.metadata["lang"] == "fr"
    assert parsed.metadata["date"] == "2025-09-17"


def test_the_main_element_wins_over_what_is_around_it() -> None:
    parsed = body("<div>Bandeau</div><main><h1>Paie</h1><p>Le 28 du mois.</p></main>")
    assert parsed.text == "Paie\n\nLe 28 du mois."


def test_a_main_element_that_holds_little_of_the_text_is_not_believed() -> None:
    parsed = body(f"<main>Chargement</main><div><p>{'Le vrai texte. ' * 20}</p></div>")
    assert "Le vrai texte." in parsed.text


def test_a_link_heavy_menu_is_dropped_but_a_section_of_links_is_kept() -> None:
    parsed = body(
        '<div class="sidebar"><a href="a">Un</a> <a href="b">Deux</a></div>'
        '<div class="links-list"><h2>En savoir plus</h2><a href="c">Le guide</a></div>'
    )
    assert parsed.text == "En savoir plus\n\nLe guide"


def test_an_accordion_at_the_end_of_a_section_is_a_section_of_its_own() -> None:
    parsed = body(
        "<h2>Questions</h2>"
        "<details><summary>Qui y a droit ?</summary><p>Tous.</p></details>"
        "<details><summary>Combien ?</summary><p>25 jours.</p></details>"
        "<h2>Suite</h2><p>Fin.</p>"
    )
    assert headings(parsed) == [
        (2, "Questions", None),
        (3, "Qui y a droit ?", None),
        (3, "Combien ?", None),
        (2, "Suite", None),
    ]


def test_an_accordion_in_the_middle_of_a_section_does_not_claim_what_follows() -> None:
    parsed = body(
        "<h2>Droits</h2><details><summary>Exemple</summary><p>Anne.</p></details><p>Suite.</p>"
    )
    assert parsed.text == "Droits\n\nExemple\n\nAnne.\n\nSuite."
    assert headings(parsed) == [(2, "Droits", None)]


def test_headings_inside_an_accordion_stay_below_its_title() -> None:
    parsed = body(
        "<h2>A</h2><details><summary>B</summary><h2>C</h2><p>c</p></details><h2>D</h2><p>d</p>"
    )
    assert [(level, text) for level, text, _ in headings(parsed)] == [
        (2, "A"), (3, "B"), (4, "C"), (2, "D"),
    ]  # fmt: skip


def test_a_button_that_opens_a_panel_is_its_title_and_other_buttons_say_nothing() -> None:
    parsed = body(
        '<button aria-expanded="false" aria-controls="p">Combien ?</button>'
        '<div id="p" hidden><ul><li>25 jours</li></ul></div><button>Copier</button>'
        '<h3><button class="accordion">Qui ?</button></h3><p>Tous.</p>'
    )
    assert parsed.text == "Combien ?\n\n- 25 jours\n\nQui ?\n\nTous."


def test_the_title_of_a_callout_does_not_claim_the_text_after_the_callout() -> None:
    parsed = body(
        '<h2 id="qui">Qui ?</h2><div class="fr-highlight"><h3>À savoir</h3><p>Note.</p></div>'
        "<p>La suite.</p>"
    )
    assert headings(parsed) == [(2, "Qui ?", "qui")]
    assert parsed.text == "Qui ?\n\nÀ savoir\n\nNote.\n\nLa suite."


def test_cells_that_span_rows_or_columns_are_repeated() -> None:
    parsed = body(
        "<table><thead><tr><th colspan=2>Trajet</th><th>Prix</th></tr></thead><tbody>"
        "<tr><td rowspan=2>Paris</td><td>Lyon</td><td>60 €</td></tr>"
        "<tr><td>Nice</td><td>90 €</td></tr>"
        "<tr><td colspan=3>Hors abonnement</td></tr></tbody></table>"
    )
    assert parsed.text == (
        "| Trajet | Trajet | Prix |\n"
        "| Paris | Lyon | 60 € |\n"
        "| Paris | Nice | 90 € |\n"
        "| Hors abonnement |"
    )


@pytest.mark.parametrize(
    "first_row",
    ["<th>Position</th><th>Salaire</th>",
     "<td><strong>Position</strong></td><td><p><b>Salaire</b></p></td>",
     "<td>Position</td><td>Salaire</td>"],
    ids=["th", "bold", "words above figures"],
)  # fmt: skip
def test_the_header_row_is_recognised_without_thead(first_row: str) -> None:
    parsed = body(
        f"<table><caption>Minima</caption><tr>{first_row}</tr>"
        "<tr><td>2.1</td><td>2 080 €</td></tr><tr><td>2.2</td><td>2 575 €</td></tr></table>"
    )
    last = parsed.blocks[-1]
    assert last.header is not None
    assert parsed.text[slice(*last.header)] == "| Position | Salaire |"
    assert last.lead_in is not None
    assert parsed.text[slice(*last.lead_in)] == "Minima"


def test_a_table_of_data_without_header_has_none() -> None:
    parsed = body(
        "<table><tr><td>Paris</td><td>a</td></tr><tr><td>Lyon</td><td>b</td></tr></table>"
    )
    assert [block.header for block in parsed.blocks] == [None, None]


def test_a_table_that_only_places_things_is_read_cell_by_cell() -> None:
    parsed = body("<table><tr><td><h2>Titre</h2><p>Un.</p></td><td><p>Deux.</p></td></tr></table>")
    assert parsed.text == "Titre\n\nUn.\n\nDeux."


def test_a_list_in_a_cell_stays_readable_on_one_line() -> None:
    parsed = body(
        "<table><tr><td>Villes</td><td><ul><li>Paris</li><li>Lyon</li></ul></td></tr>"
        "<tr><td>x</td><td>y</td></tr></table>"
    )
    assert "| Villes | Paris ; Lyon |" in parsed.text


def test_definitions_read_term_colon_definition() -> None:
    parsed = body(
        "<dl><dt>RTT</dt><dd>Réduction du temps de travail</dd>"
        "<dt>CP</dt><dt>Congés</dt><dd><p>Congés payés.</p><ul><li>légaux</li></ul></dd></dl>"
    )
    assert parsed.text == (
        "- RTT : Réduction du temps de travail\n- CP, Congés : Congés payés.\n  - légaux"
    )


def test_lines_with_typed_bullets_are_a_list_with_its_lead_in() -> None:
    parsed = body("<p>Pièces :<br>– le RIB ;<br>– la carte vitale.</p>")
    assert parsed.text == "Pièces :\n\n– le RIB ;\n– la carte vitale."
    assert [b.kind for b in parsed.blocks] == [
        BlockKind.PARAGRAPH,
        BlockKind.LIST_ITEM,
        BlockKind.LIST_ITEM,
    ]
    assert parsed.blocks[1].lead_in == (0, len("Pièces :"))


def test_double_line_breaks_separate_paragraphs_and_spaces_collapse() -> None:
    assert body("<p>Un\u00a0 deux<br>trois<br> <br>quatre</p>").text == "Un deux\ntrois\n\nquatre"


def test_text_outside_any_element_and_unclosed_elements_are_not_lost() -> None:
    assert body("Avant<p>Un<p>Deux<div>Trois").text == "Avant\n\nUn\n\nDeux\n\nTrois"


def test_anchors_are_ids_of_the_heading_of_one_inside_it_or_of_its_section() -> None:
    parsed = body(
        '<h2 id="a">A</h2><h2><a name="b"></a>B</h2><section id="c"><h2>C</h2></section><h2>D</h2>'
        '<h2 id="e">E <a class="anchor" href="#e">#</a></h2>'
    )
    assert headings(parsed) == [
        (2, "A", "a"), (2, "B", "b"), (2, "C", "c"), (2, "D", None), (2, "E", "e"),
    ]  # fmt: skip


def test_a_template_gives_its_text_and_its_markdown_is_rendered() -> None:
    parsed = page(
        "---\ntitle: Guide\n---\n{% include 'nav.html' %}{# note #}<p>Bonjour {{ user }}.</p>\n"
        '{{ "\n## Étapes\n\n- un\n- \\"deux\\"\n" | markdown | safe }}\n'
        "{% markdown %}\n**Fin**\n{% endmarkdown %}",
        "guide.njk",
    )
    assert parsed.title == "Guide"
    assert parsed.text == 'Bonjour .\n\nÉtapes\n\n- un\n- "deux"\n\nFin'


def test_characters_escaped_twice_are_read() -> None:
    assert body("<p>l&amp;#8217;employeur&amp;nbsp;: oui</p>").text == "l’employeur : oui"


def test_a_declared_charset_is_used() -> None:
    source = '<html><head><meta charset="windows-1252"></head><body><p>Congés à 10 €</p></body>'
    raw = RawPage(path="x.html", content=source.encode("cp1252"), media_type=HTML)
    assert parse(raw).text == "Congés à 10 €"


def test_thousands_of_nested_elements_are_an_error_with_a_reason() -> None:
    with pytest.raises(PageParseError, match="nested too deeply"):
        body("<div>" * 5000 + "Texte")


def test_words_between_the_items_of_a_list_and_after_it_are_paragraphs_of_their_own() -> None:
    parsed = body("<ul>Avant<li>un</li>entre<li>deux</li></ul>après")
    assert parsed.text == "Avant\n\n- un\n\nentre\n\n- deux\n\naprès"


def test_a_heading_in_a_header_cell_is_the_name_of_a_column() -> None:
    parsed = body(
        "<h2>Durées</h2><table><thead><tr><th><h6>Cas</h6></th><th><h6>Durée</h6></th></tr></thead>"
        "<tbody><tr><td>Remplacement</td><td>18 mois</td></tr></tbody></table>"
    )
    assert parsed.text == "Durées\n\n| Cas | Durée |\n| Remplacement | 18 mois |"
    assert parsed.blocks[-1].header is not None
