"""`/handbook <terms>`: a search whose result only the person who typed it sees."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.records import Question
from bot.slack.hits import render_hits
from bot.slack.mrkdwn import question_text
from bot.slack.readiness import Handbook
from bot.slack.rendering import Message, render_notice
from bot.slack.wording import WORDS, language_of
from ingest import HandbookError

log = logging.getLogger(__name__)

COMMAND = "/handbook"
HITS = 5
SEARCHES_AT_ONCE = 2


def register(app: AsyncApp, *, bot_user_id: str, handbook: Handbook) -> None:
    """Listen for the command: acknowledged at once, answered when the search is done."""
    slots = asyncio.Semaphore(SEARCHES_AT_ONCE)

    async def acknowledge(ack: Callable[[], Any]) -> None:
        await ack()

    async def answer(command: dict[str, Any], respond: Callable[..., Any]) -> None:
        terms = question_text(command.get("text") or "", bot_user_id)
        first, _, rest = terms.partition(" ")
        if first.lower() == "search":
            terms = rest.strip()
        async with slots:
            message = await _answer(terms, handbook)
        response = await respond(
            text=message.text, blocks=[dict(block) for block in message.blocks]
        )
        if response.status_code != 200:
            log.error("a search result was refused", extra={"status": response.status_code})

    # A lazy listener runs beside the acknowledgement, which must reach Slack within 3 s.
    app.command(COMMAND)(ack=acknowledge, lazy=[answer])


async def _answer(terms: str, handbook: Handbook) -> Message:
    words = WORDS[language_of(terms)]
    if terms.lower() in ("", "help", "aide"):
        return render_notice(words.search_help.format(command=COMMAND))
    try:
        found = await asyncio.to_thread(handbook.search, Question(terms), HITS)
    except HandbookError as error:
        log.error("a search failed: %s", type(error).__name__)
        return render_notice(words.outage)
    return render_hits(found, words)
