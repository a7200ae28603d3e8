"""The `Generator` port and the generator without a model: it quotes the handbook's own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.grounding.disagreement import is_newer
from bot.grounding.injection import addresses_the_assistant
from bot.question_types import AnswerType, asked_types, type_share
from bot.records import Draft, DraftClaim, Passage, introduced, lead_in_of
from bot.retrieval.coverage import IndexedForms, idf_coverage
from bot.retrieval.query import Query
from ingest import StoredChunk, Unit, UnitKind, fold


class Generator(Protocol):
    """Writes a draft answer from passages. The gate checks it afterwards."""

    @property
    def name(self) -> str:
        """Return "extractive" or the model's name."""
        ...

    def draft(self, query: Query, passages: Sequence[Passage]) -> Draft:
        """Answer from these passages only.

        Args:
            query: The question, analysed.
            passages: Best first; may be empty, which gives a draft without claims.

        Raises:
            AnswerUnavailable: If a model is down, slow or refuses.
        """
        ...


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """Weights of a unit's score, in units of cosine. Measured in docs/quality.md.

    Attributes:
        passage: Of the score of its passage.
        interaction: Of token late interaction, where the encoder offers it.
        coverage: Of the idf share of the question's words in the unit and its lead-in.
        type_match: Of the share of asked answer types found in the unit.
        type_missing: Penalty when a type is asked and none is found.
        pointer: Penalty for a unit that only points elsewhere or introduces something.
        outdated: Penalty for a page that says it is outdated.
    """

    passage: float = 0.5
    interaction: float = 0.5
    coverage: float = 0.0
    type_match: float = 0.05
    type_missing: float = 0.02
    pointer: float = 0.02
    outdated: float = 0.03


@dataclass(frozen=True, slots=True)
class QuotingLimits:
    """How much is quoted.

    Attributes:
        passages: Passages whose units are considered.
        windows: Windows of an answer.
        per_passage: Windows from one passage; they never overlap.
        window_words: Words to which a window grows around its best unit.
        list_words: Words up to which a whole list is kept for a question that wants a list.
        score_gap: How far below the best a further window may score.
        repeated: Share of words from which a window repeats an earlier one.
    """

    passages: int = 6
    windows: int = 4
    per_passage: int = 2
    window_words: int = 28
    list_words: int = 60
    score_gap: float = 0.15
    repeated: float = 0.7


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit of a passage and how well it answers."""

    passage: Passage
    index: int
    score: float
    type_share: float | None

    @property
    def unit(self) -> Unit:
        """Return the unit itself."""
        return self.passage.chunk.units[self.index]


NO_TYPED_UNIT = 0.1
"""How far below the best the unit with an asked type is taken to be when there is none."""

_POINTER = re.compile(
    r"^\W*(?:see|voir|cf|learn more|read more|en savoir plus|pour en savoir|refer to|consulter"
    r"|a lire|table of contents|sommaire)\b"
)
_WORDS = re.compile(r"\w+")


class ExtractiveGenerator:
    """Quotes a few short windows, best first; at most two from one passage."""

    name = "extractive"

    def __init__(
        self,
        *,
        max_words: int = 100,
        weights: UnitWeights | None = None,
        limits: QuotingLimits | None = None,
    ) -> None:
        self._max_words = max_words
        self._weights = weights or UnitWeights()
        self._limits = limits or QuotingLimits()

    def draft(self, query: Query, passages: Sequence[Passage]) -> Draft:
        """Quote what answers best (see `Generator.draft`). Pure."""
        asked = asked_types(query.text)
        considered = passages[: self._limits.passages]
        units = score_units(query, considered, asked=asked, weights=self._weights)
        windows = self._choose_windows(units, asked)
        claims = tuple(_claim(window) for window in windows)
        language = windows[0].passage.chunk.language if windows else query.language
        return Draft(claims, language, confidence=_confidence(windows))

    def _choose_windows(
        self, units: Sequence[ScoredUnit], asked: frozenset[AnswerType]
    ) -> list[Window]:
        chosen: list[Window] = []
        words_left = self._max_words
        for best in _current(units, self._limits.score_gap):
            if len(chosen) == self._limits.windows:
                break
            if chosen and best.score < chosen[0].score - self._limits.score_gap:
                break
            same = [w for w in chosen if w.passage.chunk.chunk_id == best.passage.chunk.chunk_id]
            if len(same) >= self._limits.per_passage or any(w.holds(best.index) for w in same):
                continue
            window = self._grow(best, units, asked)
            if chosen and window.words > words_left:
                window = Window.of(best.passage, best.index, best.index, best.score)
            if chosen and (window.words > words_left or self._repeats(window, chosen)):
                continue
            chosen.append(window)
            words_left -= window.words
        return _prefer_newest(chosen, self._limits.repeated)

    def _grow(
        self, best: ScoredUnit, units: Sequence[ScoredUnit], asked: frozenset[AnswerType]
    ) -> Window:
        """Add neighbours to a unit: its whole list, the steps after it, or the better side."""
        passage, limits = best.passage, self._limits
        start = end = best.index
        if best.unit.kind in (UnitKind.ITEM, UnitKind.ROW):
            first, last = _group(passage.chunk.units, best.index)
            if best.unit.kind is UnitKind.ITEM and asked & {AnswerType.LIST, AnswerType.HOW_TO}:
                whole = Window.of(passage, first, last, best.score)
                if whole.words <= limits.list_words:
                    return whole
        else:
            first, last = _sentences(passage.chunk.units, best.index)
        scores = {u.index: u.score for u in units if u.passage is passage}
        in_order = AnswerType.HOW_TO in asked and best.unit.kind is UnitKind.ITEM
        window = Window.of(passage, start, end, best.score)
        while True:
            sides = [i for i in (start - 1, end + 1) if first <= i <= last and i in scores]
            if in_order:
                sides = [i for i in sides if i > end]
            sides.sort(key=lambda i: -scores[i])
            grown = next(
                (
                    wider
                    for i in sides
                    if (wider := Window.of(passage, min(start, i), max(end, i), best.score)).words
                    <= limits.window_words
                ),
                None,
            )
            if grown is None:
                return window
            window, start, end = grown, grown.start, grown.end

    def _repeats(self, window: Window, chosen: Sequence[Window]) -> bool:
        """Tell whether a window says nothing new: no word to speak of, and no other number."""
        return any(
            _overlap(window, other) >= self._limits.repeated and _numbers(window) <= _numbers(other)
            for other in chosen
        )


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive units of one passage, quoted together."""

    passage: Passage
    start: int
    end: int
    score: float
    quote: str
    lead_in: str

    @classmethod
    def of(cls, passage: Passage, start: int, end: int, score: float) -> Window:
        """Cut the units `start` to `end` (included) out of the passage's text, verbatim.

        A heading right above them in the text comes along: without it they may mean nothing.
        """
        chunk = passage.chunk
        above = start > 0 and chunk.units[start - 1].kind is UnitKind.HEADING
        first = chunk.units[start - 1 if above else start]
        quote = chunk.text[first.start : chunk.units[end].end].strip()
        lead_in = lead_in_of(quote, chunk.units[start].context)
        return cls(passage, start, end, score, quote, lead_in)

    def holds(self, index: int) -> bool:
        """Tell whether a unit of the same passage is part of it."""
        return self.start <= index <= self.end

    @property
    def sentence(self) -> str:
        """Return what is shown: the lead-in, then the quote."""
        return introduced(self.quote, self.lead_in)

    @property
    def words(self) -> int:
        """Count the words shown."""
        return len(self.sentence.split())


def score_units(
    query: Query,
    passages: Sequence[Passage],
    *,
    asked: frozenset[AnswerType],
    weights: UnitWeights,
) -> list[ScoredUnit]:
    """Score every quotable unit of the passages, best first.

    Without unit cosines (no encoder) the passage's rank and the unit's coverage decide.
    """
    scored = [
        ScoredUnit(passage, index, *_score(query, passage, index, asked, weights))
        for passage in passages
        for index, unit in enumerate(passage.chunk.units)
        if unit.kind is not UnitKind.HEADING
        # What gives orders to an assistant answers nobody, and the gate would drop the window.
        and not addresses_the_assistant(passage.chunk.text[unit.start : unit.end])
    ]
    scored.sort(key=lambda u: (-u.score, u.passage.rank, u.index))
    return scored


def _score(
    query: Query,
    passage: Passage,
    index: int,
    asked: frozenset[AnswerType],
    weights: UnitWeights,
) -> tuple[float, float | None]:
    chunk, unit = passage.chunk, passage.chunk.units[index]
    text = chunk.text[unit.start : unit.end]
    share = type_share(asked, text)
    score = weights.type_match * (share or 0.0) - weights.type_missing * (share == 0.0)
    score -= weights.pointer * _only_points(text) + weights.outdated * chunk.outdated
    if passage.unit_cosines:
        score += passage.unit_cosines[index] + weights.passage * passage.score
        score += weights.coverage * _unit_coverage(query, chunk, unit) if weights.coverage else 0.0
    else:
        score += _unit_coverage(query, chunk, unit) + weights.passage / passage.rank
    if passage.unit_interactions:
        score += weights.interaction * passage.unit_interactions[index]
    return score, share


def _unit_coverage(query: Query, chunk: StoredChunk, unit: Unit) -> float:
    heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
    text = f"{heading}\n{unit.context}\n{chunk.text[unit.start : unit.end]}"
    return idf_coverage(query, IndexedForms.of(text, chunk.language))


def _only_points(text: str) -> bool:
    stripped = text.strip()
    return stripped.endswith((":", "?")) or bool(_POINTER.match(fold(stripped)))


def _group(units: Sequence[Unit], index: int) -> tuple[int, int]:
    """Return the first and last unit of the list or table around a unit."""
    kind, context = units[index].kind, units[index].context
    first = last = index
    while first > 0 and (units[first - 1].kind, units[first - 1].context) == (kind, context):
        first -= 1
    while last + 1 < len(units) and (units[last + 1].kind, units[last + 1].context) == (
        kind,
        context,
    ):
        last += 1
    return first, last


def _sentences(units: Sequence[Unit], index: int) -> tuple[int, int]:
    """Return the reach of a sentence: up to the headings around it, and a list it introduces."""
    first = last = index
    while first > 0 and units[first - 1].kind is not UnitKind.HEADING:
        first -= 1
    while last + 1 < len(units) and units[last + 1].kind is not UnitKind.HEADING:
        last += 1
    return first, last


def _claim(window: Window) -> DraftClaim:
    return DraftClaim(
        sentence=window.sentence,
        chunk_id=window.passage.chunk.chunk_id,
        quote=window.quote,
        lead_in=window.lead_in,
        score=window.score,
    )


def _overlap(a: Window, b: Window) -> float:
    """Return the share of the shorter window's distinct words that the other holds too."""
    words_a, words_b = _distinct_words(a), _distinct_words(b)
    shorter = min(len(words_a), len(words_b))
    return len(words_a & words_b) / shorter if shorter else 1.0


def _distinct_words(window: Window) -> frozenset[str]:
    return frozenset(word for word in _WORDS.findall(fold(window.sentence)) if not word.isdigit())


def _numbers(window: Window) -> frozenset[str]:
    return frozenset(word for word in _WORDS.findall(window.quote) if word.isdigit())


def _current(units: Sequence[ScoredUnit], score_gap: float) -> list[ScoredUnit]:
    """Leave out pages that say they are outdated, where another one answers about as well."""
    current = [unit for unit in units if not unit.passage.chunk.outdated]
    if not current or current[0].score < units[0].score - score_gap:
        return list(units)
    return current


def _prefer_newest(windows: list[Window], alike: float) -> list[Window]:
    """Put the newer of two pages that say almost the same first; outdated pages go last."""
    for i, earlier in enumerate(windows):
        for j in range(i + 1, len(windows)):
            later = windows[j]
            if _overlap(earlier, later) >= alike / 2 and is_newer(
                later.passage.chunk, earlier.passage.chunk
            ):
                windows[i], windows[j] = later, earlier
                earlier = later
    return windows


def evidence_signals(query: Query, passages: Sequence[Passage]) -> dict[str, float]:
    """Tell how well the best units of some passages seem to answer, for the support check.

    Returns:
        `unit_score`, `unit_cosine` and `interaction` of the best unit, the `margin` over the best
        unit of another passage, and `typed_gap`: how far below the best the best unit that holds
        an asked kind of answer is (0 when none is asked). Figures without a source are absent.
    """
    asked = asked_types(query.text)
    units = score_units(
        query, passages[: QuotingLimits().passages], asked=asked, weights=UnitWeights()
    )
    if not units:
        return {}
    best = units[0]
    typed = [unit.score for unit in units if unit.type_share != 0.0]
    others = [unit.score for unit in units if unit.passage is not best.passage]
    signals = {
        "unit_score": best.score,
        "typed_gap": max(typed, default=best.score - NO_TYPED_UNIT) - best.score,
        "margin": best.score - max(others, default=best.score),
    }
    if best.passage.unit_cosines:
        signals["unit_cosine"] = best.passage.unit_cosines[best.index]
    if best.passage.unit_interactions:
        signals["interaction"] = best.passage.unit_interactions[best.index]
    return signals


def _confidence(windows: Sequence[Window]) -> float:
    """Squeeze the best score, a sum of some two cosines, into [0, 1]; the support check decides."""
    return min(1.0, max(0.0, windows[0].score / 2.5)) if windows else 0.0
