"""Quotes that are rows of one table, as a Block Kit table. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from bot.records import Claim
from bot.slack.mrkdwn import tidy

# Slack's limits (docs: table block).
MOST_ROWS = 100
MOST_COLUMNS = 20
# Ours, well below Slack's 10,000: a table stands beside other blocks in one message.
MOST_CHARACTERS = 4_000

_RULE = re.compile(r"[\s|:-]*")
_EMPTY = "\u00a0"
"""Slack refuses a cell without text."""

Block = dict[str, Any]


def cells(row: str) -> list[str]:
    """Return the cells of a `| a | b |` row, [] for any other text."""
    if "\n" in row or len(row) < 3 or not (row.startswith("|") and row.endswith("|")):
        return []
    return [cell.strip() for cell in row[1:-1].split("|")]


def table_runs(claims: Sequence[Claim]) -> list[Sequence[Claim]]:
    """Cut an answer into single claims and runs of claims that quote rows of one table."""
    if not claims:
        return []
    cuts = [n for n, (one, two) in enumerate(pairwise(claims), 1) if not _same_table(one, two)]
    return [claims[start:end] for start, end in pairwise([0, *cuts, len(claims)])]


def table_block(claims: Sequence[Claim]) -> Block | None:
    """Return a run of claims as a table, None where it is none or Slack would not take it."""
    header = cells(tidy(claims[0].citation.lead_in))
    rows = [row for claim in claims for row in _rows(claim)]
    every = [header, *rows] if header else rows
    columns = {len(row) for row in every}
    fits = (
        all(_rows(claim) for claim in claims)
        and len(rows) > 1
        and len(every) <= MOST_ROWS
        and len(columns) == 1
        and 1 < min(columns) <= MOST_COLUMNS
        and sum(len(cell) for row in every for cell in row) <= MOST_CHARACTERS
    )
    if not fits:
        return None
    return {
        "type": "table",
        "rows": [[{"type": "raw_text", "text": cell or _EMPTY} for cell in row] for row in every],
    }


def as_preformatted(table: Block) -> Block:
    """Return a table as text of fixed width, for where tables are not taken."""
    lines = (" | ".join(cell["text"] for cell in row) for row in table["rows"])
    text = {"type": "text", "text": "\n".join(lines)}
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_preformatted", "elements": [text]}],
    }


def _rows(claim: Claim) -> list[list[str]]:
    """Return the rows that a claim quotes, [] when it quotes anything else."""
    lines = [line for line in tidy(claim.citation.quote).split("\n") if not _RULE.fullmatch(line)]
    rows = [cells(line) for line in lines]
    return rows if all(rows) else []


def _same_table(one: Claim, two: Claim) -> bool:
    first, second = one.citation, two.citation
    return (
        first.passage.chunk.chunk_id == second.passage.chunk.chunk_id
        and first.lead_in == second.lead_in
        and bool(_rows(one) and _rows(two))
    )
