"""Query words to an FTS5 expression. A user's words never become syntax. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ingest.analysis import KeywordQuery, QueryWord
from ingest.index.base import MatchMode
from ingest.index.tables import storable

ColumnWeights = tuple[float, float, float, float]

DEFAULT_COLUMN_WEIGHTS: ColumnWeights = (3.0, 2.0, 1.0, 1.0)
"""Of title, headings, body and stems. Within reason they hardly matter: the table is in
docs/decisions/0002-index-storage.md."""


def match_expression(query: KeywordQuery, mode: MatchMode) -> str:
    """Return the MATCH expression of a query that has at least one word.

    Each word is looked for as written in title, headings and body, and by its stems in stems; its
    alternatives count as the word itself.
    """
    operator = " AND " if mode == "all" else " OR "
    return operator.join(word_expression(word) for word in query.words)


def word_expression(word: QueryWord) -> str:
    """Return the MATCH expression of one word with its alternatives."""
    forms = (word, *word.alternatives)
    written = _any_of(form.folded for form in forms)
    stems = _any_of(stem for form in forms for stem in form.stems)
    legs = [f"{{title headings body}} : {written}" if written else ""]
    legs.append(f"{{stems}} : {stems}" if stems else "")
    return "(" + " OR ".join(f"({leg})" for leg in legs if leg) + ")"


def _any_of(terms: Iterable[str]) -> str:
    """Return the alternative of phrases, each once: one listed twice would count twice."""
    phrases = " OR ".join(_quote(term) for term in dict.fromkeys(terms) if term.strip())
    return f"({phrases})" if phrases else ""


def _quote(term: str) -> str:
    escaped = storable(term).replace('"', '""')
    return f'"{escaped}"'
