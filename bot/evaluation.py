"""Scores an index and its answers on questions with known answers (`manuel eval`)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from bot.answering.answerer import Answerer, Examination
from bot.records import Claim, GroundedAnswer, Question, collapse
from ingest import ConfigurationError

UNANSWERABLE_LAST = ("nearmiss", "offtopic", "falsepremise")


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """Where an answer stands: a page, and a quote that occurs in it."""

    page: str
    quote: str


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """One line of a question file.

    Attributes:
        answer_any: An answer that contains one of these is right; none: citing a gold page is
            enough.
        kind: What makes the question hard: paraphrase, typo, table, nearmiss…
    """

    question_id: str
    question: Question
    answerable: bool
    gold: tuple[GoldPassage, ...]
    answer_any: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """How one question went.

    Attributes:
        found_at_1: A gold page is the page of the first passage.
        found_at_5: A gold page is among the pages of the first five passages.
        quote_at_5: A gold quote lies in one of the first five passages.
        abstained: Nothing was shown.
        correct: Answerable, shown and right.
        correct_if_shown: The verified draft is right, whether or not it was shown.
        words: Of the verified draft, whether or not it was shown.
        confidence: Of the support check.
        ms: Time to the outcome.
    """

    question_id: str
    kind: str
    answerable: bool
    found_at_1: bool
    found_at_5: bool
    quote_at_5: bool
    abstained: bool
    correct: bool
    correct_if_shown: bool
    words: int
    confidence: float
    ms: float

    @property
    def wrong(self) -> bool:
        """Return whether an answerable question got a wrong answer."""
        return self.answerable and not self.abstained and not self.correct

    @property
    def false_answer(self) -> bool:
        """Return whether an unanswerable question got an answer."""
        return not self.answerable and not self.abstained


@dataclass(frozen=True, slots=True)
class Tally:
    """Figures over some questions; shares in [0, 1], None where they mean nothing.

    Attributes:
        right_when_answering: Correct among the answerable questions that got an answer.
        words: Mean words of the answers, shown or not.
        ms_p50: Median milliseconds.
        ms_p95: 95th percentile.
    """

    n: int
    answerable: int
    found_at_1: float | None
    found_at_5: float | None
    quote_at_5: float | None
    correct: float | None
    wrong: float | None
    abstained: float
    correct_if_shown: float | None
    right_when_answering: float | None
    false_answers: float | None
    words: float | None
    ms_p50: float
    ms_p95: float


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Scores of every question, and their figures in all and by kind."""

    scores: tuple[QuestionScore, ...]

    @property
    def total(self) -> Tally:
        """Return the figures over all questions."""
        return tally(self.scores)

    def by_kind(self) -> dict[str, Tally]:
        """Return the figures of each kind, the unanswerable ones last."""
        kinds = sorted({s.kind for s in self.scores}, key=lambda k: (k in UNANSWERABLE_LAST, k))
        return {kind: tally([s for s in self.scores if s.kind == kind]) for kind in kinds}

    def to_json(self) -> dict[str, object]:
        """Return everything as JSON values."""
        return {
            "total": _record(self.total),
            "kinds": {kind: _record(figures) for kind, figures in self.by_kind().items()},
            "questions": [_record(score) for score in self.scores],
        }


def read_questions(path: Path) -> list[LabelledQuestion]:
    """Read a question file (JSON Lines; fields as in `LabelledQuestion`, `gold` as objects).

    Raises:
        ConfigurationError: If the file cannot be read or a line has another shape; it is named.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read the question file {path}: {error}") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            questions.append(_labelled(json.loads(line), number))
        except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"{path}, line {number}: not a labelled question ({error!r})"
            ) from error
    return questions


def evaluate(
    questions: Sequence[LabelledQuestion],
    answerer: Answerer,
    *,
    progress: Callable[[], None] = lambda: None,
) -> EvaluationReport:
    """Ask every question and score what comes back.

    Args:
        questions: With known answers.
        answerer: On the index of their handbook.
        progress: Called after each question.
    """
    scores = []
    for labelled in questions:
        scores.append(score(labelled, answerer.examine(labelled.question)))
        progress()
    return EvaluationReport(tuple(scores))


def score(labelled: LabelledQuestion, examination: Examination) -> QuestionScore:
    """Score one question.

    An answer is correct when it contains one of `answer_any` (case, accents and white space
    folded, matched at word borders) and cites a gold page.
    """
    passages = examination.retrieval.passages
    pages = [passage.chunk.page for passage in passages]
    gold_pages = {gold.page for gold in labelled.gold}
    texts = [_bare(f"{p.chunk.context}\n{p.chunk.text}") for p in passages[:5]]
    quotes = [_bare(gold.quote) for gold in labelled.gold]
    claims = examination.verification.claims
    shown = isinstance(examination.outcome, GroundedAnswer)
    right = labelled.answerable and answers(labelled, claims)
    return QuestionScore(
        question_id=labelled.question_id,
        kind=labelled.kind,
        answerable=labelled.answerable,
        found_at_1=any(page in gold_pages for page in pages[:1]),
        found_at_5=any(page in gold_pages for page in pages[:5]),
        quote_at_5=any(quote in text for quote in quotes for text in texts),
        abstained=not shown,
        correct=right and shown,
        correct_if_shown=right,
        words=sum(len(claim.sentence.split()) for claim in claims),
        confidence=examination.outcome.confidence,
        ms=examination.outcome.timings_ms.get("total", 0.0),
    )


def answers(labelled: LabelledQuestion, claims: Iterable[Claim]) -> bool:
    """Tell whether these claims contain a right answer and cite a gold page."""
    claims = tuple(claims)
    gold_pages = {gold.page for gold in labelled.gold}
    if not any(claim.citation.passage.chunk.page in gold_pages for claim in claims):
        return False
    if not labelled.answer_any:
        return True
    text = fold_answer("\n\n".join(claim.sentence for claim in claims))
    return any(_contains(text, fold_answer(answer)) for answer in labelled.answer_any)


def fold_answer(text: str) -> str:
    """Fold case, accents and white space."""
    decomposed = unicodedata.normalize("NFKD", text)
    return collapse("".join(c for c in decomposed if not unicodedata.combining(c)).casefold())


def tally(scores: Sequence[QuestionScore]) -> Tally:
    """Sum up scores."""
    answerable = [s for s in scores if s.answerable]
    answered = [s for s in answerable if not s.abstained]
    others = [s for s in scores if not s.answerable]
    times = sorted(s.ms for s in scores) or [0.0]
    return Tally(
        n=len(scores),
        answerable=len(answerable),
        found_at_1=_share(s.found_at_1 for s in answerable),
        found_at_5=_share(s.found_at_5 for s in answerable),
        quote_at_5=_share(s.quote_at_5 for s in answerable),
        correct=_share(s.correct for s in answerable),
        wrong=_share(s.wrong for s in answerable),
        abstained=_share(s.abstained for s in scores) or 0.0,
        correct_if_shown=_share(s.correct_if_shown for s in answerable),
        right_when_answering=_share(s.correct for s in answered),
        false_answers=_share(s.false_answer for s in others),
        words=_share(s.words for s in scores),
        ms_p50=times[len(times) // 2],
        ms_p95=times[min(len(times) - 1, int(0.95 * len(times)))],
    )


COLUMNS: Mapping[str, str] = {
    "found@1": "found_at_1",
    "found@5": "found_at_5",
    "quote@5": "quote_at_5",
    "correct": "correct",
    "wrong": "wrong",
    "abstained": "abstained",
    "false": "false_answers",
    "no abstention": "correct_if_shown",
}
"""Shown figure -> field of `Tally`, all shares."""


def render_table(report: EvaluationReport) -> Table:
    """Return the table by kind, in percent; a dot where a figure means nothing."""
    table = Table(title="by kind, % of the questions concerned")
    table.add_column("kind")
    for name in ("n", *COLUMNS, "words", "ms"):
        table.add_column(name, justify="right")
    rows = {**report.by_kind(), "all": report.total} if report.scores else {}
    for kind, figures in rows.items():
        shares = (getattr(figures, field) for field in COLUMNS.values())
        words = "·" if figures.words is None else f"{figures.words:.0f}"
        cells = ("·" if share is None else f"{100 * share:.0f}" for share in shares)
        table.add_row(kind, str(figures.n), *cells, words, f"{figures.ms_p50:.0f}")
    return table


def _labelled(record: Mapping[str, Any], number: int) -> LabelledQuestion:
    context = record.get("context") or ()
    return LabelledQuestion(
        question_id=str(record.get("id", number)),
        question=Question(
            record["question"], (context,) if isinstance(context, str) else tuple(context)
        ),
        answerable=bool(record["answerable"]),
        gold=tuple(GoldPassage(g["page"], g.get("quote", "")) for g in record.get("gold") or ()),
        answer_any=tuple(record.get("answer_any") or ()),
        kind=str(record.get("kind", "other")),
    )


_LINK_TARGET = re.compile(r"\]\([^)\s]*\)")
_NOT_WORD = re.compile(r"[\W_]+")


def _bare(text: str) -> str:
    """Reduce to folded words: gold quotes are cut from sources, where markup stands."""
    return _NOT_WORD.sub(" ", fold_answer(_LINK_TARGET.sub(" ", text))).strip()


def _contains(text: str, answer: str) -> bool:
    return bool(answer) and bool(re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text))


def _share(values: Iterable[float]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def _record(value: QuestionScore | Tally) -> dict[str, object]:
    return {
        name: round(item, 4) if isinstance(item, float) else item
        for name in value.__slots__
        if (item := getattr(value, name), True)
    }
