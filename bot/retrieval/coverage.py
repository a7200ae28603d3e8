"""Which words of a query a text holds, in any of their forms. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from bot.retrieval.query import Query
from ingest import QueryWord, analyze_passage


@dataclass(frozen=True, slots=True)
class IndexedForms:
    """The words of a text as the index holds them."""

    terms: frozenset[str]
    folded: str

    @classmethod
    def of(cls, text: str, language: str) -> IndexedForms:
        """Analyse a text as ingest does."""
        analyzed = analyze_passage(text, language)
        return cls(frozenset(f"{analyzed.folded} {analyzed.stems}".split()), analyzed.folded)

    def hold(self, word: QueryWord) -> bool:
        """Tell whether the word stands in the text, as itself or as an alternative."""
        return any(self._hold_form(form) for form in (word, *word.alternatives))

    def _hold_form(self, form: QueryWord) -> bool:
        if " " in form.folded:
            return f" {form.folded} " in f" {self.folded} "
        return form.folded in self.terms or any(stem in self.terms for stem in form.stems)


def idf_coverage(query: Query, forms: IndexedForms) -> float:
    """Return the share of the query's words found in a text, each counting by its idf, in [0, 1].

    A query without words is covered by nothing.
    """
    total = sum(weighted.idf for weighted in query.words)
    found = sum(weighted.idf for weighted in query.words if forms.hold(weighted.word))
    return found / total if total else 0.0
