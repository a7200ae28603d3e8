"""Writes the DOCX and the PDF of the sample handbook, the same bytes each time.

Run it after each change of the texts below: `python deploy/build_sample_documents.py [FOLDER]`.
It needs reportlab, one of the development tools.
"""

from __future__ import annotations

import io
import sys
import zipfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

import docx
import pypdf
from docx.document import Document
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import (
    Flowable,
    ListFlowable,
    ListItem,
    Paragraph,
    SimpleDocTemplate,
    Table,
)

HANDBOOK = Path(__file__).with_name("sample-handbook")
REVIEW_TITLE = "Guide de l'entretien annuel"
REVIEW = Path("rh/entretien-annuel.docx")
REVIEW_DATE = datetime(2026, 1, 6, 9, 0, tzinfo=UTC)
SAFETY_TITLE = "Livret de sécurité des locaux"
SAFETY = Path("bureaux/securite-des-locaux.pdf")
SAFETY_DATE = datetime(2026, 1, 8, 9, 0, tzinfo=UTC)

GRID = [
    ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
    ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
    ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 0 is the document's title."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; its first row is the header."""

    rows: tuple[tuple[str, ...], ...]


Block = Heading | Text | Items | Grid


REVIEW_BLOCKS: tuple[Block, ...] = (
    Heading(0, REVIEW_TITLE),
    Text(
        "L'entretien annuel sert à faire le bilan de l'année écoulée et à fixer les objectifs de"
        " la suivante. Il ne porte pas sur le salaire, dont on parle en mars. Ce guide vaut pour"
        " Nantes, Lyon et Londres."
    ),
    Heading(1, "Calendrier"),
    Grid(
        (
            ("Étape", "Qui", "Avant le"),
            ("Auto-évaluation dans Ambre", "la personne", "23 janvier 2026"),
            ("Avis de trois collègues", "choisis ensemble", "30 janvier 2026"),
            ("Entretien", "la personne et son manager", "20 février 2026"),
            ("Signature du compte rendu", "les deux", "27 février 2026"),
            ("Point de mi-année", "les deux", "10 juillet 2026"),
        )
    ),
    Text(
        "Une personne arrivée après le 1er octobre passe son premier entretien l'année suivante ;"
        " le bilan de fin de période d'essai en tient lieu."
    ),
    Heading(1, "Préparer l'entretien"),
    Heading(2, "Pour la personne évaluée"),
    Text("L'auto-évaluation tient en une page. Elle répond à quatre questions :"),
    Items(
        (
            "De quoi êtes-vous le plus fier cette année ?",
            "Qu'est-ce qui a été plus difficile que prévu, et pourquoi ?",
            "Que voulez-vous apprendre ?",
            "Que devrait changer votre manager ?",
        ),
    ),
    Heading(2, "Pour le manager"),
    Text(
        "Relisez les objectifs de l'an dernier et les avis des collègues. Réservez une heure et"
        " demie dans une salle fermée, ou en visioconférence si la personne le préfère. Un"
        " entretien se reporte une fois au plus."
    ),
    Heading(1, "Échelle d'appréciation"),
    Grid(
        (
            ("Niveau", "Signification"),
            ("En progression", "une partie des attentes du poste est tenue ; un plan est écrit"),
            ("Conforme", "les attentes du poste sont tenues"),
            ("Remarquable", "les attentes sont dépassées de façon durable"),
        )
    ),
    Text(
        "Il n'y a ni quota ni classement. Le niveau « En progression » s'accompagne d'un plan de"
        " trois mois, avec un point toutes les deux semaines."
    ),
    Heading(1, "Fixer les objectifs"),
    Text(
        "On fixe trois à cinq objectifs, dont un d'apprentissage. Chacun dit ce qui sera"
        " différent, à quelle date et comment on le saura. Ils se modifient à la mi-année."
    ),
    Heading(1, "Après l'entretien"),
    Items(
        (
            "Le manager écrit le compte rendu sous cinq jours ouvrés.",
            "La personne ajoute ses remarques, puis chacun signe dans Ambre.",
            "Les demandes de formation sont transmises aux RH le 15 mars.",
        ),
        numbered=True,
    ),
    Text(
        "En cas de désaccord, on peut demander un second entretien avec le manager du niveau"
        " supérieur, dans les quinze jours. Le compte rendu est gardé cinq ans."
    ),
    Heading(1, "Entretien de parcours professionnel"),
    Text(
        "Distinct de l'entretien annuel, il porte sur l'avenir : compétences, mobilité,"
        " formation. Il a lieu dans la première année, puis tous les quatre ans, et au retour"
        " d'une absence longue. Il se tient pendant le temps de travail, avec les RH."
    ),
)

SAFETY_BLOCKS: tuple[Block, ...] = (
    Heading(0, SAFETY_TITLE),
    Text(
        "Ce livret vaut pour Nantes et Lyon. Il est remis à chaque arrivant et affiché près des"
        " issues. Version du 8 janvier 2026, services généraux."
    ),
    Heading(1, "1. Numéros d'urgence"),
    Grid(
        (
            ("Situation", "Numéro"),
            ("Samu, malaise ou blessure", "15"),
            ("Pompiers, incendie", "18"),
            ("Police, agression", "17"),
            ("Urgence depuis un mobile", "112"),
            ("Accueil de Nantes", "02 61 91 40 00"),
            ("Accueil de Lyon", "04 65 71 22 10"),
        )
    ),
    Text(
        "Dites qui vous êtes, où vous êtes, ce qui s'est passé, combien de personnes sont"
        " touchées. Ne raccrochez pas le premier. Envoyez quelqu'un attendre les secours à la"
        " porte."
    ),
    Heading(1, "2. En cas d'incendie"),
    Items(
        (
            "Déclenchez le boîtier rouge le plus proche.",
            "Si le feu est petit, attaquez-le à l'extincteur, sans vous mettre en danger.",
            "Sortez par l'issue la plus proche, sans courir ; ne prenez pas l'ascenseur.",
            "Rejoignez le point de rassemblement et signalez-vous au serre-file.",
            "Ne rentrez qu'à l'appel du guide d'évacuation.",
        ),
        numbered=True,
    ),
    Grid(
        (
            ("Site", "Point de rassemblement", "Guide d'évacuation"),
            ("Nantes", "esplanade du quai, devant la grue jaune", "Lucie Hamon"),
            ("Lyon, bureaux", "angle de la rue des Teinturiers et du square", "David Perrachon"),
            ("Lyon, atelier", "cour du 29, côté portail", "Fatou Desmoulins"),
        )
    ),
    Text(
        "Deux exercices d'évacuation ont lieu chaque année, en mars et en septembre. Les"
        " extincteurs sont vérifiés en février. Une personne à mobilité réduite est accompagnée à"
        " l'espace d'attente sécurisé, sur le palier de chaque étage."
    ),
    Heading(1, "3. Sauveteurs secouristes du travail"),
    Grid(
        (
            ("Site", "Sauveteur", "Étage"),
            ("Nantes", "Gwenn Thomazo", "premier"),
            ("Nantes", "Ousmane Kerautret", "deuxième"),
            ("Nantes", "Élodie Brossaud", "troisième"),
            ("Lyon", "Fatou Desmoulins", "atelier"),
            ("Lyon", "Rémi Chavagneux", "premier"),
        )
    ),
    Text(
        "Le défibrillateur de Nantes est dans le hall, à gauche de l'accueil. Celui de Lyon est à"
        " l'entrée de l'atelier. Les trousses de secours sont dans les cafétérias ; dites à"
        " l'accueil ce que vous avez pris."
    ),
    Heading(1, "4. Accident du travail ou de trajet"),
    Items(
        (
            "Prévenez votre manager et rh@halvenne.example dans les 24 heures.",
            "L'entreprise déclare l'accident à la caisse sous 48 heures.",
            "Faites établir un certificat médical, même pour une petite blessure.",
            "Donnez le nom des témoins.",
        ),
    ),
    Text("Une blessure sans arrêt est notée dans le registre des accidents bénins, à l'accueil."),
    Heading(1, "5. Travailler à l'atelier"),
    Items(
        (
            "Chaussures de sécurité et lunettes sont obligatoires au-delà de la ligne jaune.",
            "La soudure se fait sous aspiration, jamais seul.",
            "On ne porte pas plus de 15 kg sans aide.",
            "L'alcool est interdit à l'atelier en toute occasion.",
        ),
    ),
    Heading(1, "6. Danger grave"),
    Text(
        "Toute personne qui pense sa santé menacée peut se retirer de son poste, après avoir"
        " prévenu son manager. Aucune retenue n'est faite. Le danger est inscrit au registre tenu"
        " à l'accueil et un élu du CSE mène l'enquête avec la direction."
    ),
    Heading(1, "7. Alerte attentat ou intrusion"),
    Text(
        "S'échapper si c'est possible, sinon se cacher, téléphones en silencieux, puis alerter"
        " par le 17 ou par message au 114. Le code d'alerte de la messagerie est « Brume rouge »."
    ),
)


def build_review() -> bytes:
    """Return the guide to the yearly review: DOCX with real headings, lists and tables."""
    document = docx.Document()
    properties = document.core_properties
    properties.title = REVIEW_TITLE
    properties.author = properties.last_modified_by = "Ressources humaines"
    properties.language = "fr-FR"
    properties.created = properties.modified = REVIEW_DATE
    for block in REVIEW_BLOCKS:
        _add(document, block)
    buffer = io.BytesIO()
    document.save(buffer)
    return _without_clock(buffer.getvalue())


def build_safety() -> bytes:
    """Return the safety booklet: a PDF of a few pages with text that can be selected."""
    buffer = io.BytesIO()
    template = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        title=SAFETY_TITLE,
        author="Services généraux",
        lang="fr-FR",
        invariant=1,
    )
    template.build([_flowable(block) for block in SAFETY_BLOCKS])
    return _dated(buffer.getvalue(), SAFETY_DATE)


def _add(document: Document, block: Block) -> None:
    match block:
        case Heading(level, text):
            document.add_heading(text, level)
        case Text(text):
            document.add_paragraph(text)
        case Items(items, numbered):
            for item in items:
                document.add_paragraph(item, style="List Number" if numbered else "List Bullet")
        case Grid(rows):
            table = document.add_table(len(rows), len(rows[0]), style="Table Grid")
            for cells, texts in zip(table.rows, rows, strict=True):
                for cell, text in zip(cells.cells, texts, strict=True):
                    cell.paragraphs[0].add_run(text).bold = texts is rows[0]


def _flowable(block: Block) -> Flowable:
    styles = getSampleStyleSheet()
    match block:
        case Heading(level, text):
            return Paragraph(escape(text), styles["Title" if level == 0 else f"Heading{level}"])
        case Text(text):
            return Paragraph(escape(text), styles["BodyText"])
        case Items(items, numbered):
            lines = [ListItem(Paragraph(escape(item), styles["BodyText"])) for item in items]
            return ListFlowable(
                lines,
                bulletType="1" if numbered else "bullet",
                start=None if numbered else "–",
                bulletFormat="%s." if numbered else None,
                bulletFontName="Helvetica",
            )
        case Grid(rows):
            return Table(rows, style=GRID, hAlign="LEFT", spaceBefore=6, spaceAfter=6)


def _dated(pdf: bytes, moment: datetime) -> bytes:
    """Return the same PDF with this date; reportlab knows only its own fixed one or the clock."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf))
    stamp = f"{moment:D:%Y%m%d%H%M%S}+00'00'"
    writer.add_metadata({"/CreationDate": stamp, "/ModDate": stamp})
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def _without_clock(archive: bytes) -> bytes:
    """Return the same archive with a fixed time on each member."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            member = zipfile.ZipInfo(name, REVIEW_DATE.timetuple()[:6])
            target.writestr(member, source.read(name), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def main() -> None:
    """Write both documents into the sample handbook, or into the folder given."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HANDBOOK
    for path, content in ((REVIEW, build_review()), (SAFETY, build_safety())):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


if __name__ == "__main__":
    main()
