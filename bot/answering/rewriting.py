"""Makes a follow-up stand alone before anything is looked for: by a model, else by rule.

What a model makes of it is data to judge as well: it may use the thread's words, and bring no
number, date, address or name of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from bot.answering.chat import Chat
from bot.answering.prompt import REWRITING_SCHEMA, build_rewriting_messages
from bot.answering.replies import UnusableReply, parse_field
from bot.errors import AnswerUnavailable
from bot.grounding.characters import hidden_characters, live_markup
from bot.grounding.fact_rules import unsupported_facts
from bot.grounding.injection import addresses_the_assistant
from bot.grounding.wording import LANGUAGES, Words, coverage, unknown_names
from bot.language import french_or_english
from bot.records import Question, collapse
from bot.retrieval.query import clean_text, is_follow_up

logger = logging.getLogger(__name__)

TIMEOUT_S = 8.0
"""The answer itself has yet to be written: a follow-up read by rule is better than a late one."""

MAX_CHARS = 400
MIN_FROM_THREAD = 0.6
"""Share of the content words of a rewritten question that the thread must hold."""
MIN_KEPT = 0.5
"""Share of the content words of the follow-up that must be left of it."""


class Rewriter(Protocol):
    """Turns a follow-up into a full question. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    def rewrite(self, question: Question) -> str:
        """Return the question, made to stand alone. Unverified.

        Args:
            question: With the earlier ones of its thread.

        Raises:
            AnswerUnavailable: If the model is down, slow, out of budget or not understood.
        """
        ...


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What came of asking a model.

    Attributes:
        model: That was asked.
        text: The question to search with; None where the rule had to do.
        refused: Why what the model wrote was not taken, or None.
    """

    model: str
    text: str | None
    refused: str | None = None


def rewritten(question: Question, rewriter: Rewriter | None) -> tuple[Question, Rewriting | None]:
    """Return the question to search with, and what a model had to do with it.

    A question that stands alone, or has no thread, costs no request.
    """
    if rewriter is None or not question.context or not is_follow_up(clean_text(question.text)):
        return question, None
    try:
        text = clean_text(rewriter.rewrite(question))
    except AnswerUnavailable as error:
        logger.info("follow-up read by rule", extra={"reason": str(error)})
        return question, Rewriting(rewriter.name, None, str(error))
    objection = next(_objections(text, question), None)
    if objection is not None:
        return question, Rewriting(rewriter.name, None, objection)
    return replace(question, standalone=text), Rewriting(rewriter.name, text)


def _objections(text: str, question: Question) -> Iterator[str]:
    """Yield why a rewritten question may not stand for the one that was asked."""
    thread = "\n".join((*question.context, question.text))
    language = _language(question)
    if not text or len(text) > MAX_CHARS:
        yield "it is empty or too long"
        return
    if hidden_characters(text) or live_markup(text, thread) or addresses_the_assistant(text):
        yield "it is not a question of a person"
    mine = french_or_english(text)
    if language in LANGUAGES and mine in LANGUAGES and mine != language:
        yield "it is in another language"
    yield from unsupported_facts(text, said=thread, head="", passage=thread)
    yield from unsupported_facts(question.text, said=text, head="", passage=text)
    known = Words.of(thread, language)
    if names := unknown_names(text, known, same_language=True):
        yield f"it names what the thread does not: {', '.join(names)}"
    from_thread, kept = coverage(text, known), coverage(question.text, Words.of(text, language))
    if from_thread is not None and from_thread < MIN_FROM_THREAD:
        yield f"the thread has {from_thread:.0%} of its words"
    if kept is not None and kept < MIN_KEPT:
        yield f"it has {kept:.0%} of the words of what was asked"


def _language(question: Question) -> str:
    """Return the language of the follow-up, or of the thread where its own words do not tell."""
    asked = french_or_english(question.text)
    return asked if asked in LANGUAGES else french_or_english("\n".join(question.context))


class ModelRewriter:
    """Asks a chat model, once."""

    def __init__(self, chat: Chat, *, max_tokens: int, timeout_s: float = TIMEOUT_S) -> None:
        """Wire a rewriter.

        Args:
            chat: Of the model.
            max_tokens: Of the reply: models that think need more than the question's own.
            timeout_s: For the reply.
        """
        self._chat = chat
        self._max_tokens = max_tokens
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._chat.model

    def rewrite(self, question: Question) -> str:
        """Ask the model; see `Rewriter.rewrite`."""
        completion = self._chat.complete(
            build_rewriting_messages(question),
            max_tokens=self._max_tokens,
            schema=REWRITING_SCHEMA,
            timeout_s=self._timeout_s,
        )
        try:
            return collapse(parse_field(completion.text, "question", str))
        except UnusableReply as verdict:
            raise AnswerUnavailable(f"the model {self.name} rewrote nothing: {verdict}") from None
