"""Markdown and its dialects become readable text with exact blocks."""

from textwrap import dedent

import pytest

from ingest.parsing import parse
from ingest.parsing.media import MARKDOWN
from ingest.records import BlockKind, ParsedPage, RawPage


def page(source: str, path: str = "page.md") -> ParsedPage:
    return parse(RawPage(path=path, content=dedent(source).encode(), media_type=MARKDOWN))


def text(source: str, path: str = "page.md") -> str:
    return page(source, path).text


def of_kind(parsed: ParsedPage, kind: BlockKind) -> list[str]:
    return [parsed.text[b.start : b.end] for b in parsed.blocks if b.kind is kind]


def test_headings_lists_and_paragraphs_keep_their_order_without_markup() -> None:
    assert text(
        """
        # Congés

        Vous avez **25 jours** par an, voir [la page RH](rh.md) et `MonRH`.

        ## Poser un congé

        1. Ouvrir l'outil
        2. Choisir les dates
           - matin
           - après-midi
        3. Valider
        """
    ) == (
        "Congés\n\n"
        "Vous avez 25 jours par an, voir la page RH et MonRH.\n\n"
        "Poser un congé\n\n"
        "1. Ouvrir l'outil\n"
        "2. Choisir les dates\n"
        "  - matin\n"
        "  - après-midi\n"
        "3. Valider"
    )


def test_a_table_keeps_one_row_per_line_and_each_row_knows_its_header() -> None:
    parsed = page(
        """
        Plafonds :

        | Frais | Plafond |
        |-------|--------:|
        | Repas | **20 €** |
        | Hôtel | 130 €<br>(Paris) |
        """
    )
    assert of_kind(parsed, BlockKind.TABLE_ROW) == [
        "| Frais | Plafond |",
        "| Repas | 20 € |",
        "| Hôtel | 130 € (Paris) |",
    ]
    header, *rows = [b for b in parsed.blocks if b.kind is BlockKind.TABLE_ROW]
    assert header.header is None
    assert {row.header for row in rows} == {(header.start, header.end)}
    assert all(row.lead_in and parsed.text[slice(*row.lead_in)] == "Plafonds :" for row in rows)


@pytest.mark.parametrize("delimiters", ["|---|---|---|", "|:-:|", "---|---|--- | ---"])
def test_a_table_is_one_though_the_line_below_its_header_has_other_columns(
    delimiters: str,
) -> None:
    parsed = page(f"| Frais | Plafond |\n{delimiters}\n| Repas | 20 € |\n")
    assert of_kind(parsed, BlockKind.TABLE_ROW) == ["| Frais | Plafond |", "| Repas | 20 € |"]
    assert text(f"```\n| a | b |\n{delimiters}\n```") == f"| a | b |\n{delimiters}"


def test_a_nested_item_is_introduced_by_its_parent_and_a_list_by_the_line_before_it() -> None:
    parsed = page(
        """
        Bienvenue. Il vous faut :

        - un ordinateur
          - portable
        - un badge
        """
    )
    items = [b for b in parsed.blocks if b.kind is BlockKind.LIST_ITEM]
    leads = [parsed.text[slice(*item.lead_in)] for item in items if item.lead_in]
    assert leads == ["Il vous faut :", "- un ordinateur", "Il vous faut :"]
    assert [item.level for item in items] == [1, 2, 1]
    assert len({item.group for item in items}) == 1


def test_a_bold_line_introduces_the_list_below_it() -> None:
    parsed = page("**Pièces à fournir**\n\n- RIB\n")
    (item,) = [b for b in parsed.blocks if b.kind is BlockKind.LIST_ITEM]
    assert item.lead_in is not None
    assert parsed.text[slice(*item.lead_in)] == "Pièces à fournir"


def test_paragraphs_of_one_item_stay_in_that_item() -> None:
    parsed = page("- Premier.\n\n  Suite du premier.\n\n- Second.\n")
    assert of_kind(parsed, BlockKind.LIST_ITEM) == ["- Premier.\n  Suite du premier.", "- Second."]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{< youtube dQw4w9WgXcQ >}}\n\nTexte.", "Texte."),
        ('{{% alert title="Attention" color="danger" %}}\nTexte.\n{{% /alert %}}',
         "Attention\n\nTexte."),
        ('{{% include "includes/x.md" %}}\nTexte.', "Texte."),
        ('Voir {{< member-by-name "Jane Doe" >}}.', "Voir Jane Doe."),
        ("{% if page.lang %}Texte.{% endif %}", "Texte."),
        ("{% comment %}caché{% endcomment %}Texte.", "Texte."),
        ('Écrire à {% slack "people-ops" %}.', "Écrire à people-ops."),
        ('[Guide]({% link guide.md %}) et [site]({{ site.baseurl }}/x)', "Guide et site"),
        ("{# note #}Texte {{ page.title }}.", "Texte ."),
        (":::tip Bon à savoir\nTexte.\n:::", "Bon à savoir\n\nTexte."),
        (":::note[Bon à savoir]\nTexte.\n:::", "Bon à savoir\n\nTexte."),
        ('!!! warning "Attention"\n    Texte.\n\nSuite.', "Attention\n\nTexte.\n\nSuite."),
        ('=== "Mac"\n\n    - un\n    - deux', "Mac\n\n- un\n- deux"),
        ("Texte.\n{: .note }", "Texte."),
        ("* TOC\n{:toc}\n\nTexte.", "Texte."),
        ("[[_TOC_]]\n\nTexte.", "Texte."),
        ("[lien](x){:target=\"_blank\"}", "lien"),
        ("Voir [[Congés|les congés]] et [[Paie]].", "Voir les congés et Paie."),
        ("<!-- caché\nsur deux lignes -->\nTexte.", "Texte."),
        ("Texte[^1].\n\n[^1]: La note.", "Texte.\n\n1. La note."),
        ("- [x] fait\n- [ ] à faire", "- fait\n- à faire"),
        ("CSE\n: Comité social et économique", "- CSE : Comité social et économique"),
        ("![Organigramme](o.png) et ![](vide.png)", "Organigramme et"),
        ("> Citation.", "Citation."),
        ("On parle **d'**horaires réguliers.", "On parle d'horaires réguliers."),
        ("Tarif ~~20 €~~ 25 €.", "Tarif 25 €."),
        ("Écrire <votre nom> ici.", "Écrire <votre nom> ici."),
        ("1<sup>er</sup> mai", "1er mai"),
    ],
)  # fmt: skip
def test_template_language_leaves_the_text_and_nothing_else(source: str, expected: str) -> None:
    assert text(source) == expected


def test_code_keeps_its_lines_and_whatever_looks_like_a_template() -> None:
    parsed = page(
        """
        Exemple `{{ page.title }}` :

        ```yaml
        titre: {{< x >}}
          indenté: oui
        ```
        """
    )
    assert of_kind(parsed, BlockKind.PARAGRAPH) == ["Exemple {{ page.title }} :"]
    assert of_kind(parsed, BlockKind.CODE) == ["titre: {{< x >}}\n  indenté: oui"]


def test_mdx_components_keep_their_inner_text() -> None:
    assert (
        text(
            """
        import Tabs from '@theme/Tabs';
        import { a, b } from "./c";
        export const value = {
          x: 1,
        };

        # Bureaux

        <Tabs className={styles.tabs}>
          <TabItem value="paris" label="À Paris">

            10 rue de la Paix

          </TabItem>
        </Tabs>

        {/* commentaire */}

        Adresse : {address} <Icon /> fin.
        """,
            "bureaux.mdx",
        )
        == "Bureaux\n\nÀ Paris\n\n10 rue de la Paix\n\nAdresse : fin."
    )


def test_a_closing_bracket_alone_on_its_line_does_not_open_a_quotation() -> None:
    source = '<a\n  href="x"\n  className="y"\n>\n  <p>Github</p>\n</a>\n'
    assert text(f"import A from 'a'\n\nTexte.\n\n{source}", "x.mdx") == "Texte.\n\nGithub"


def test_raw_html_in_markdown_reads_like_markdown() -> None:
    assert (
        text(
            """
        <table>
        <tr><th>Frais</th><th>Plafond</th></tr>
        <tr><td>Repas</td><td>20 €</td></tr>
        </table>

        <details>
        <summary>Comment faire ?</summary>

        - un
        - deux

        </details>
        """
        )
        == "| Frais | Plafond |\n| Repas | 20 € |\n\nComment faire ?\n\n- un\n- deux"
    )


def test_line_breaks_are_kept_in_a_page_that_is_not_wrapped_and_joined_in_one_that_is() -> None:
    long = "Une phrase assez longue pour que personne ne croie que la ligne a été coupée à une "
    unwrapped = f"{long * 2}largeur donnée.\nMontant versé"
    assert text(unwrapped).endswith("donnée.\nMontant versé")
    wrapped = "\n".join(["Une ligne d'une longueur presque égale à toutes les autres"] * 4)
    assert "\n" not in text(wrapped)


def test_anchors_are_explicit_ids_or_the_slug_of_the_published_page() -> None:
    parsed = page(
        """
        # Les congés payés !

        ## Durée {#duree}

        ## Cas n°1

        ## Cas n°1

        ## Autre
        {: #autre-cas }
        """
    )
    anchors = [b.anchor for b in parsed.blocks if b.kind is BlockKind.HEADING]
    assert anchors == ["les-congés-payés-", "duree", "cas-n1", "cas-n1-1", "autre-cas"]
    assert "{#" not in parsed.text


def test_front_matter_gives_title_and_metadata_and_is_not_text() -> None:
    parsed = page(
        """\
        ---
        title: "Télétravail"
        lang: fr
        date: 2024-05-01
        outdated: true
        tags: [rh, "travail"]
        last_update:
          date: 2024-06-01
        ---
        # Autre titre

        Texte.
        """
    )
    assert parsed.title == "Télétravail"
    assert parsed.metadata["lang"] == "fr"
    assert parsed.metadata["date"] == "2024-05-01"
    assert parsed.metadata["outdated"] == "true"
    assert parsed.metadata["tags"] == ["rh", "travail"]
    assert parsed.metadata["last_update"] == "2024-06-01"
    assert parsed.text == "Autre titre\n\nTexte."


@pytest.mark.parametrize(
    "front_matter",
    ["+++\ntitle = 'Paie'\n+++\n", "---\ntitle: Paie\nnote: a: b: c\n---\n"],
    ids=["toml", "broken yaml"],
)
def test_toml_and_broken_yaml_still_give_the_title(front_matter: str) -> None:
    parsed = page(f"{front_matter}Texte.")
    assert (parsed.title, parsed.text) == ("Paie", "Texte.")


def test_a_rule_at_the_top_of_a_page_is_not_front_matter_without_its_end() -> None:
    assert text("---\n\nTexte.") == "Texte."


def test_deeply_nested_quotations_are_an_error_with_a_reason_or_text_but_no_crash() -> None:
    assert text(f"{'>' * 60} Texte.") == "Texte."


def test_items_of_a_list_laid_out_as_cards_are_sections() -> None:
    parsed = page("<ul><li><h3>Carte</h3><p>Texte.</p></li></ul>")
    assert [b.kind for b in parsed.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH]


@pytest.mark.parametrize(
    "front_matter",
    [
        "---\naudience:\n---\n",
        "---\naudience: []\n---\n",
        "---\naudience: {groups: [rh]}\n---\n",
        "---\ntitle: a: b: c\naudience:\n  - rh\n---\n",
        '---\n"Audience":\n  - [rh]\n---\n',
        "+++\naudience = rh\n+++\n",
        f"---\naudience: {'x' * 3_000}\n---\n",
        "---\ntitle: Paie\naudience: rh\n\n",
    ],
)
def test_an_audience_that_cannot_be_read_is_nobody_instead_of_everybody(front_matter: str) -> None:
    metadata = page(f"{front_matter}# Paie\n\nTexte.").metadata

    assert {key.lower(): value for key, value in metadata.items()}["audience"] == []


def test_an_audience_further_down_the_page_is_text() -> None:
    parsed = page("---\ntitle: A\n---\n\nAudience: tous les salariés.\n")

    assert "audience" not in parsed.metadata
    assert "Audience: tous les salariés." in parsed.text
