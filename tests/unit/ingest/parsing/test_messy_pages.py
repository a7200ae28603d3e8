"""Whole pages as intranets and site generators write them: real shapes, our words."""

from __future__ import annotations

from ingest.parsing import parse
from ingest.parsing.media import HTML, MARKDOWN
from ingest.records import RawPage

INTRANET = """<!DOCTYPE html><html lang="fr"><head><title>Congés | Intranet</title>
<script>dataLayer = [{"page": "congés"}]</script></head>
<body class="page nav-open">
<div class="skip-links"><a href="#contenu">Aller au contenu</a></div>
<header role="banner"><a href="/">Intranet</a>
<form role="search"><input value="Chercher"></form></header>
<nav class="fr-nav"><ul><li><a href="/rh">RH</a></li>
<li><a href="/it">Informatique</a></li></ul></nav>
<div id="didomi-host"><p>Nous utilisons des cookies.</p><button>Tout accepter</button></div>
<main id="contenu">
<ol class="breadcrumb"><li><a href="/">Accueil</a></li><li><a href="/rh">RH</a></li></ol>
<h1>Congés</h1>
<p>Vingt-cinq jours par&nbsp;an.</p>
<section class="fr-accordion"><h3 class="fr-accordion__title"><button aria-expanded="false"
 aria-controls="a1">Qui décide ?</button></h3>
<div class="fr-collapse" id="a1"><p>Le responsable.</p></div></section>
<table class="layout"><tr><td><h2>Durées</h2>
<table><thead><tr><th scope="col"><h6>Événement</h6></th><th><h6>Jours</h6></th></tr></thead>
<tbody><tr><td>Mariage</td><td rowspan="2">4</td></tr><tr><td>Pacs</td></tr></tbody></table>
</td></tr></table>
<div class="share"><a href="https://example.com/a">Partager</a> <a href="#">Imprimer</a></div>
</main>
<aside class="sidebar"><ul><li><a href="/paie">Paie</a></li>
<li><a href="/mutuelle">Mutuelle</a></li></ul></aside>
<footer><p>© Exemple — mentions légales</p></footer></body></html>"""

GENERATED = """---
title: Télétravail
tags: [rh]
---
import Card from '@site/src/Card';

{% include nav.html %}

<Card title="En bref">

Deux jours par semaine.

</Card>

{{% alert title="À noter" color="info" %}}
Pas le jour de l'arrivée.
{{% /alert %}}

:::tip Matériel
- un écran
- une chaise {.big}
:::

| Lieu | Jours |
|---|---|---|
| Maison | 2 |

{{< youtube abc123 >}}

[Formulaire]({% link formulaire.md %}){: .button }
"""


def test_an_intranet_page_keeps_its_content_and_loses_what_surrounds_it() -> None:
    page = parse(RawPage(path="conges.html", content=INTRANET.encode(), media_type=HTML))
    assert page.title == "Congés"
    assert page.text == (
        "Congés\n\nVingt-cinq jours par an.\n\nQui décide ?\n\nLe responsable.\n\nDurées\n\n"
        "| Événement | Jours |\n| Mariage | 4 |\n| Pacs | 4 |"
    )


def test_a_page_of_several_generators_keeps_what_its_author_wrote() -> None:
    page = parse(RawPage(path="t.mdx", content=GENERATED.encode(), media_type=MARKDOWN))
    assert page.title == "Télétravail"
    assert page.text == (
        "En bref\n\nDeux jours par semaine.\n\nÀ noter\n\nPas le jour de l'arrivée.\n\nMatériel\n\n"
        "- un écran\n- une chaise\n\n| Lieu | Jours |\n| Maison | 2 |\n\nFormulaire"
    )
