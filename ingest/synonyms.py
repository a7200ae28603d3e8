"""Words and phrases that count as each other in keyword queries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from ingest.tokens import Token, folded, scan, stem

COMMON_ACRONYMS: Mapping[str, str] = {
    "CE": "comité d'entreprise",
    "CP": "congés payés",
    "CSE": "comité social et économique",
    "NDF": "note de frais",
    "RH": "ressources humaines",
    "RTT": "réduction du temps de travail",
    "TT": "télétravail",
}
"""What French companies abbreviate everywhere; a handbook's own table comes on top."""

_KEY_LANGUAGES = ("fr", "en")

_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SynonymTable:
    """Groups of equivalent expressions, found in a query in any inflected form.

    Attributes:
        groups: Each of two expressions or more, as written; an expression may have several words.
        acronyms: Folded acronyms of the table: never stop words when typed in capitals.
    """

    groups: tuple[tuple[str, ...], ...] = ()
    acronyms: frozenset[str] = frozenset()
    _by_key: Mapping[_Key, tuple[int, ...]] = field(init=False, repr=False, compare=False)
    _longest: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_key: dict[_Key, tuple[int, ...]] = {}
        for number, group in enumerate(self.groups):
            for expression in group:
                for key in _keys(tuple(scan(expression))):
                    known = by_key.get(key, ())
                    if number not in known:
                        by_key[key] = (*known, number)
        object.__setattr__(self, "_by_key", by_key)
        object.__setattr__(self, "_longest", max((len(key) for key in by_key), default=0))

    @classmethod
    def of(
        cls,
        *,
        acronyms: Mapping[str, str] | None = None,
        groups: Iterable[Sequence[str]] = (),
    ) -> Self:
        """Build a table from acronyms with their meaning and from groups of synonyms."""
        acronyms = acronyms or {}
        pairs = tuple((short, meaning) for short, meaning in acronyms.items())
        return cls(
            groups=pairs + tuple(tuple(group) for group in groups),
            acronyms=frozenset(
                folded(word) for short in acronyms for token in scan(short) for word in token.words
            ),
        )

    def alternatives(self, tokens: Sequence[Token]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Find the table's expressions in a text.

        Yields:
            (start, end, other expressions of the group): `tokens[start:end]` is the expression.
        """
        for start in range(len(tokens)):
            for end in range(start + 1, min(start + self._longest, len(tokens)) + 1):
                found = _keys(tokens[start:end])
                numbers = {n for key in found for n in self._by_key.get(key, ())}
                for number in sorted(numbers):
                    others = tuple(
                        expression
                        for expression in self.groups[number]
                        if found.isdisjoint(_keys(tuple(scan(expression))))
                    )
                    yield start, end, others


EMPTY = SynonymTable()
"""No synonyms."""


def _keys(tokens: Sequence[Token]) -> set[_Key]:
    """Return the forms under which an expression is recognised: as written and stemmed."""
    words = [token.joined or " ".join(token.parts) for token in tokens]
    if not words:
        return set()
    exact = tuple(folded(word) for word in words)
    return {exact} | {tuple(stem(word, code) for word in words) for code in _KEY_LANGUAGES}
