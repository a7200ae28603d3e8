"""The explanation of an answer as a message for admins. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.answering.explanation import (
    ExplainedAttempt,
    ExplainedPassage,
    Explanation,
    named_words,
)
from bot.records import ABSTENTION_TEXT, Abstention, AbstentionReason, collapse
from bot.slack.mrkdwn import clean, escape, shortened
from bot.slack.rendering import BLOCKS_LIMIT, Block, Message, source_elements
from bot.slack.wording import Words
from bot.store import AskedQuestion

PASSAGES_SHOWN = 8
CLAIMS_SHOWN = 6
ATTEMPTS_SHOWN = 3
_SENTENCE_LIMIT = 300
_LINE_LIMIT = 1_000
_TEXT_LIMIT = 20_000
_ABSENT = "–"
_SEPARATOR = " · "


def render_explanation(asked: AskedQuestion, explanation: Explanation, words: Words) -> Message:
    """Render what led to an outcome, in the order in which it happened."""
    draft = _Draft()
    draft.heading(words.explain_title)
    draft.lines(_outcomes(asked, explanation, words))
    draft.heading(words.explain_words)
    looked_for = named_words(explanation.words, unknown=words.explain_unknown)
    draft.lines([_SEPARATOR.join(looked_for) or words.explain_no_words])
    draft.heading(words.explain_passages)
    if explanation.passages:
        draft.passages(explanation.passages[:PASSAGES_SHOWN], words)
    else:
        draft.lines([words.explain_no_passage])
    for attempt in explanation.attempts[-ATTEMPTS_SHOWN:]:
        draft.heading(words.explain_draft.format(generator=clean(attempt.generator)))
        draft.lines(_claims(attempt, words))
        draft.lines(_support(attempt, words))
    draft.lines([words.explain_footer])
    return draft.message()


def _outcomes(asked: AskedQuestion, explanation: Explanation, words: Words) -> Iterable[str]:
    yield words.home_question.format(question=shortened(clean(asked.question or ""), 300))
    text = clean(explanation.text)
    if collapse(text) != collapse(clean(asked.question or "")):
        yield words.explain_read_as.format(text=shortened(text, 500))
    outcome, answered = explanation.outcome, words.explain_answer
    yield words.explain_then.format(
        moment=words.format_moment(asked.asked_at),
        outcome=answered if asked.outcome == "answer" else ABSTENTION_TEXT,
        confidence=f"{asked.confidence:.2f}",
    )
    yield words.explain_now.format(
        outcome=ABSTENTION_TEXT if isinstance(outcome, Abstention) else answered,
        confidence=f"{outcome.confidence:.2f}",
    )
    if isinstance(outcome, Abstention):
        yield _reason(outcome.reason, words)
    if outcome.degraded:
        yield clean(outcome.degraded)


def _reason(reason: AbstentionReason, words: Words) -> str:
    return {
        AbstentionReason.EMPTY_QUESTION: words.explain_empty_question,
        AbstentionReason.NO_PASSAGE: words.explain_no_passage,
        AbstentionReason.NOT_GROUNDED: words.explain_not_grounded,
        AbstentionReason.UNSUPPORTED: words.explain_unsupported,
    }[reason]


def _claims(attempt: ExplainedAttempt, words: Words) -> Iterable[str]:
    if not attempt.passed and not attempt.refused:
        yield words.explain_nothing
    for sentence in attempt.passed[:CLAIMS_SHOWN]:
        yield words.explain_passed.format(sentence=_sentence(sentence))
    for sentence, reason in attempt.refused[:CLAIMS_SHOWN]:
        yield words.explain_refused.format(sentence=_sentence(sentence), reason=clean(reason))
    left = max(0, len(attempt.passed) - CLAIMS_SHOWN) + max(0, len(attempt.refused) - CLAIMS_SHOWN)
    if left:
        yield words.and_more.format(count=left)


def _support(attempt: ExplainedAttempt, words: Words) -> Iterable[str]:
    threshold = _ABSENT if attempt.threshold is None else f"{attempt.threshold:.2f}"
    yield words.explain_support.format(
        probability=f"{attempt.probability:.2f}", threshold=threshold
    )
    yield from (f"• {clean(reason)}" for reason in attempt.reasons)
    figures = (f"{s.name} {s.value:.2f} × {s.weight:.1f}" for s in attempt.signals if s.weight)
    yield f"{words.explain_signals}\u00a0: {_SEPARATOR.join(figures)}"


def _sentence(sentence: str) -> str:
    return shortened(collapse(clean(sentence)), _SENTENCE_LIMIT)


def _figures(explained: ExplainedPassage, words: Words) -> Iterable[str]:
    passage = explained.passage
    legs = {leg: passage.legs.get(leg) or _ABSENT for leg in ("keyword", "vector")}
    second = explained.second_stage
    yield words.explain_passage.format(
        keyword=legs["keyword"],
        vector=legs["vector"],
        cosine=_figure(passage.signals.get("cosine")),
        first=_figure(explained.first_stage),
        second=_figure(second),
    )
    if explained.terms:
        best = sorted(explained.terms.items(), key=lambda term: (-term[1], term[0]))
        terms = ", ".join(f"{clean(word)} {value:.1f}" for word, value in best)
        yield words.explain_terms.format(terms=shortened(terms, _LINE_LIMIT))


def _figure(value: float | None) -> str:
    return _ABSENT if value is None else f"{value:.3f}"


class _Draft:
    """Collects blocks and the same words as text; everything from pages stands in rich text."""

    def __init__(self) -> None:
        self._elements: list[Block] = []
        self._spoken: list[str] = []

    def heading(self, text: str) -> None:
        self._section([{"type": "text", "text": text, "style": {"bold": True}}])
        self._spoken.append(text)

    def lines(self, lines: Iterable[str]) -> None:
        kept = [shortened(line, _LINE_LIMIT) for line in lines]
        self._section([{"type": "text", "text": "\n".join(kept)}])
        self._spoken += kept

    def passages(self, passages: Sequence[ExplainedPassage], words: Words) -> None:
        items = []
        for explained in passages:
            named = source_elements(explained.passage.chunk, words)
            figures = "\n".join(_figures(explained, words))
            items.append([*named, {"type": "text", "text": f"\n{figures}"}])
            place = "".join(element["text"] for element in named)
            self._spoken.append(f"{len(items)}. {place}\n{figures}")
        sections = [{"type": "rich_text_section", "elements": item} for item in items]
        self._elements.append({"type": "rich_text_list", "style": "ordered", "elements": sections})

    def message(self) -> Message:
        blocks = [{"type": "rich_text", "elements": [element]} for element in self._elements]
        text = shortened("\n".join(self._spoken), _TEXT_LIMIT)
        return Message(escape(text), tuple(blocks[:BLOCKS_LIMIT]))

    def _section(self, elements: list[Block]) -> None:
        self._elements.append({"type": "rich_text_section", "elements": elements})
