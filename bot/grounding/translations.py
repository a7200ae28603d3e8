"""Whether a translation may stand beside its quote: the same facts, names and sense. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from bot.grounding.characters import foreign_characters, hidden_characters, live_markup
from bot.grounding.fact_rules import unsupported_facts
from bot.grounding.injection import addresses_the_assistant
from bot.grounding.polarity import contradictions
from bot.grounding.scope import scope_of
from bot.grounding.wording import (
    LANGUAGES,
    MIN_CLOSENESS,
    Closeness,
    Words,
    proper_names,
    unknown_names,
)
from bot.language import french_or_english
from bot.records import Citation

LONGEST = 2.5
"""Times its quote's length that a translation may have, and the inverse: French and English differ
by a fifth."""
_SLACK_CHARS = 20


def translation_objections(
    text: str, citation: Citation, language: str, closeness: Closeness | None = None
) -> Iterator[str]:
    """Yield why a text is no translation of a quote to show.

    Args:
        text: What a model wrote.
        citation: Whose quote it translates.
        language: It should be in, "fr" or "en".
        closeness: Compares the two; without it facts, names and negations decide alone.
    """
    quote = citation.quote
    if not text or not len(quote) / LONGEST <= len(text) + _SLACK_CHARS:
        yield "it is empty or too short"
        return
    if len(text) > LONGEST * len(quote) + _SLACK_CHARS:
        yield "it is too long"
        return
    if hidden_characters(text) or foreign_characters(text, quote) or live_markup(text, quote):
        yield "it has characters or markup that the quote does not have"
    if addresses_the_assistant(text):
        yield "it gives orders to the assistant"
    if french_or_english(text) in LANGUAGES and french_or_english(text) != language:
        yield "it is in another language"
    yield from unsupported_facts(text, said=quote, head="", passage=quote)
    yield from unsupported_facts(quote, said=text, head="", passage=text)
    yield from _names(text, citation, language)
    yield from contradictions(text, quote, stems=None)
    cosine = closeness(text, quote) if closeness is not None else None
    if cosine is not None and cosine < MIN_CLOSENESS:
        yield f"it is not close enough to the quote: {cosine:.2f}"


def _names(text: str, citation: Citation, language: str) -> Iterator[str]:
    """Compare names both ways; an acronym alone may be lost, as it may have another one."""
    theirs = Words.of(scope_of(citation).known, citation.passage.chunk.language)
    if added := unknown_names(text, theirs, same_language=False):
        yield f"it names what the page does not: {', '.join(added)}"
    mine = Words.of(text, language)
    wanted = [name for name in proper_names(citation.quote) if not name.isupper()]
    if lost := [n for n in unknown_names(citation.quote, mine, same_language=False) if n in wanted]:
        yield f"it lacks names of the quote: {', '.join(lost)}"
