"""Messy real pages keep their headings, tables and lists, and lose what surrounds them.

Nothing of the pages stands here but their shape: how many headings and a hash of them, the size of
each table, how many list items, and a few words that must or must not be in the text.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingest.parsing import parse
from ingest.records import BlockKind, ParsedPage
from ingest.sources.base import Entry
from ingest.sources.folder import FolderSource


@dataclass(frozen=True)
class Golden:
    """What a page must be read as.

    Attributes:
        page: Below the folder of real handbooks.
        headings: How many.
        outline: First digits of the SHA-256 of their levels and words.
        tables: Rows and columns of each.
        items: Of lists, how many.
        said: Words that must be in the text.
        unsaid: Leftovers that must not.
    """

    page: str
    headings: int
    outline: str
    tables: tuple[tuple[int, int], ...]
    items: int
    said: list[str]
    unsaid: list[str]


GOLDENS = [
    Golden(
        "travail-emploi/le-job-dete-les-formalites-et-les-obligations.html",
        20,
        "6ffeff86a19f",
        (),
        26,
        ["vacances scolaires"],
        ["fr-accordion", "aria-"],
    ),
    Golden(
        "travail-emploi/le-contrat-de-travail-temporaire.html",
        31,
        "ed6b396e6386",
        ((12, 3),),
        107,
        ["| Cas de recours | Durée maximale | Durée maximale |"],
        ["data-entity", "fr-table"],
    ),
    Golden(
        "travail-emploi/le-contrat-duree-determinee-cdd.html",
        50,
        "f94a4bac6bef",
        ((14, 3),),
        109,
        ["| Mission effectuée à l'étranger (2) | 24 mois |"],
        ["nofollow"],
    ),
    Golden(
        "okp4-team-wiki/docs/process/recruitment.mdx",
        5,
        "7cfefa1f6547",
        (),
        8,
        ["Head hunter"],
        ["import ", "className"],
    ),
    Golden(
        "gitlab-handbook/content/handbook/total-rewards/incentives.md",
        35,
        "77bf6a998d01",
        (),
        114,
        ["Nominator Bot"],
        ["{{%", "{{<"],
    ),
    Golden(
        "gitlab-handbook/content/handbook/people-group/anti-harassment.md",
        38,
        "6b546d6873e3",
        ((5, 2),),
        107,
        ["Bullying / Workplace Violence"],
        ["{{%", "</a>"],
    ),
    Golden(
        "gc-digital-playbook-fr-en/en/1-design-with-users.md",
        10,
        "de3ffa70d257",
        (),
        51,
        ["Research with users"],
        ["{%", "include"],
    ),
    Golden(
        "syntec-convention/textes-attaches/avenant-n-2-du-29-octobre-2020-a-l-accord-du-31-octobre-2019-relatif-a-la-formation-profes.md",
        9,
        "2aece6025953",
        ((4, 5),),
        0,
        ["Article 1er"],
        ["<td", "colspan"],
    ),
    Golden(
        "sourcegraph-handbook/content/departments/technical-success/ce/process/tech-win-process.md",
        22,
        "2bcfa06ee809",
        ((8, 4), (20, 2)),
        46,
        ["Tech Design & Trial Design (Sales Stage: 3)"],
        ["<td", "<br"],
    ),
    Golden(
        "sourcegraph-handbook/content/departments/data-analytics/sources-of-truth.md",
        1,
        "45c4428bfc81",
        ((25, 3),),
        0,
        ["| Win rate |"],
        ["---", "docs.google"],
    ),
    Golden(
        "gc-accessibility-fr-en/src/_docs/Accessibility_Best_Practices_for_Word_Documents_EN.docx",
        3,
        "a2e566a37d43",
        ((5, 3), (9, 3)),
        0,
        ["Acronyms"],
        ["TOC"],
    ),
    Golden(
        "gc-accessibility-fr-en/src/_docs/ProcurementGuideFR.docx",
        32,
        "0fcfd15e5280",
        ((3, 3),),
        149,
        ["EN 301 549"],
        ["PAGEREF"],
    ),
    Golden(
        "tts-handbook/downloads/TEMPLATE_Risk_tracker.xlsx",
        2,
        "78ce50b453cd",
        ((1, 9),),
        0,
        ["Likelihood | Status"],
        ["None"],
    ),
    Golden(
        "etalab-guides/qualite/3-documenter-les-donnees.md",
        9,
        "ddafc0ca41bf",
        ((7, 2),),
        30,
        ["Points de contact"],
        [":::"],
    ),
]


def outline(page: ParsedPage) -> list[str]:
    return [
        f"{block.level} {page.text[block.start : block.end]}"
        for block in page.blocks
        if block.kind is BlockKind.HEADING
    ]


def tables(page: ParsedPage) -> tuple[tuple[int, int], ...]:
    widths: dict[int, list[int]] = {}
    for block in page.blocks:
        if block.kind is BlockKind.TABLE_ROW:
            cells = page.text[block.start : block.end].count(" | ") + 1
            widths.setdefault(block.group, []).append(cells)
    return tuple((len(rows), max(rows)) for rows in widths.values())


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: Path(golden.page).name[:40])
def test_a_real_page_keeps_its_shape(golden: Golden, shared_dir: Path) -> None:
    handbook, _, path = golden.page.partition("/")
    source = FolderSource(handbook, shared_dir / "corpora" / handbook)

    page = parse(source.fetch(Entry(path)))

    written = outline(page)
    assert len(written) == golden.headings, written
    assert hashlib.sha256("\n".join(written).encode()).hexdigest()[:12] == golden.outline, written
    assert tables(page) == golden.tables
    assert sum(block.kind is BlockKind.LIST_ITEM for block in page.blocks) == golden.items
    assert [words for words in golden.said if words not in page.text] == []
    assert [words for words in golden.unsaid if words in page.text] == []
