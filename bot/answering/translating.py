"""Puts a translation beside a quote in another language than the question, where a model may.

The quote stays what is cited. A translation is marked as the model's, and shown only where it has
the numbers, dates, addresses and names of its quote (`bot.grounding.translations`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from bot.answering.chat import Chat
from bot.answering.prompt import TRANSLATION_SCHEMA, build_translation_messages
from bot.answering.replies import UnusableReply, parse_field
from bot.errors import AnswerUnavailable
from bot.grounding.translations import translation_objections
from bot.grounding.wording import LANGUAGES, Closeness
from bot.records import Citation, GroundedAnswer, Translation, collapse

logger = logging.getLogger(__name__)

TIMEOUT_S = 15.0
"""The answer is there already, and waits for this."""
MOST_QUOTES = 5
MOST_CHARS = 1_000
"""Of one quote: a longer one is read on its page."""


class Translator(Protocol):
    """Translates short texts. Safe to share between threads."""

    @property
    def name(self) -> str:
        """Return the model's name."""
        ...

    def translate(self, texts: Sequence[str], language: str) -> tuple[str, ...]:
        """Return the texts in another language, in their order. Unverified.

        Args:
            texts: At least one.
            language: "fr" or "en".

        Raises:
            AnswerUnavailable: If the model is down, slow, out of budget or not understood.
        """
        ...


def with_translations(
    answer: GroundedAnswer,
    language: str,
    translator: Translator,
    closeness: Closeness | None,
) -> GroundedAnswer:
    """Return the answer with translations of its quotes: those that can be had and hold.

    Args:
        answer: To show.
        language: Of the question; "und" asks for nothing.
        translator: Asked once, and not at all where every quote is in the question's language.
        closeness: Compares a translation with its quote.
    """
    citations = _foreign(answer, language)
    if not citations:
        return answer
    try:
        texts = translator.translate([citation.quote for citation in citations], language)
    except AnswerUnavailable as error:
        logger.info("quotes not translated", extra={"reason": str(error)})
        return answer
    kept = {
        citation.quote: Translation(text, translator.name)
        for citation, text in zip(citations, texts, strict=True)
        if next(translation_objections(text, citation, language, closeness), None) is None
    }
    return replace(answer, translations=kept)


def _foreign(answer: GroundedAnswer, language: str) -> list[Citation]:
    """Return the citations, one for each quote, whose page is in the other language."""
    if language not in LANGUAGES:
        return []
    found = {
        claim.citation.quote: claim.citation
        for claim in answer.claims
        if claim.citation.passage.chunk.language in LANGUAGES
        and claim.citation.passage.chunk.language != language
        and len(claim.citation.quote) <= MOST_CHARS
    }
    return list(found.values())[:MOST_QUOTES]


class ModelTranslator:
    """Asks a chat model, once for all quotes of an answer."""

    def __init__(self, chat: Chat, *, max_tokens: int, timeout_s: float = TIMEOUT_S) -> None:
        """Wire a translator.

        Args:
            chat: Of the model.
            max_tokens: Of the reply, thinking included.
            timeout_s: For the reply.
        """
        self._chat = chat
        self._max_tokens = max_tokens
        self._timeout_s = timeout_s

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._chat.model

    def translate(self, texts: Sequence[str], language: str) -> tuple[str, ...]:
        """Ask the model; see `Translator.translate`."""
        completion = self._chat.complete(
            build_translation_messages(texts, language),
            max_tokens=self._max_tokens,
            schema=TRANSLATION_SCHEMA,
            timeout_s=self._timeout_s,
        )
        try:
            translated = parse_field(completion.text, "translations", list)
        except UnusableReply as verdict:
            raise AnswerUnavailable(f"the model {self.name} did not translate: {verdict}") from None
        if len(translated) != len(texts):
            raise AnswerUnavailable(f"the model {self.name} gave another number of translations")
        return tuple(collapse(text) if isinstance(text, str) else "" for text in translated)
