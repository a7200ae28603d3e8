"""The pages on the subject of a question that the handbook does not answer: places to look."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.admission import Admission
from bot.slack.audiences import Readers
from bot.slack.listening import acknowledge
from bot.slack.mrkdwn import escape
from bot.slack.next_steps import CLOSE_PAGES
from bot.slack.people import People
from bot.slack.presentation import Presentation
from bot.slack.readiness import Handbook
from bot.slack.rendering import Block, Message, render_notice, source_elements, spoken_source
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from bot.store import QuestionLog
from ingest import Audiences, HandbookError, StoredChunk

log = logging.getLogger(__name__)

PAGES_SHOWN = 3


class ClosePages:
    """Shows whoever presses the button, and nobody else, up to three pages.

    The abstention stands where everybody sees it, and may be pressed by anybody: the pages are
    those that everybody there may read now, whoever presses.
    """

    def __init__(
        self,
        handbook: Handbook,
        questions: QuestionLog,
        people: People,
        admission: Admission,
        readers: Readers,
        presentation: Presentation,
    ) -> None:
        self._handbook = handbook
        self._questions = questions
        self._people = people
        self._admission = admission
        self._readers = readers
        self._presentation = presentation

    def register(self, app: AsyncApp) -> None:
        """Listen for the button."""
        app.action(CLOSE_PAGES)(ack=acknowledge, lazy=[self._pressed])

    async def _pressed(self, body: dict[str, Any]) -> None:
        question_id, user_id = body["actions"][0]["value"], body["user"]["id"]
        team_id, channel_id = body["team"]["id"], body["channel"]["id"]
        words = await self._people.words(user_id)
        try:
            refusal = await self._admission.refusal(user_id, team_id, words, channel_id=channel_id)
            if refusal:
                message = render_notice(refusal)
            else:
                audiences = await self._readers.among(channel_id, user_id)
                message = await self._message(question_id, team_id, audiences, words)
        except HandbookError as error:
            log.error("close pages were not shown: %s", type(error).__name__)
            message = render_notice(words.outage)
        await ReplyAddress.of(body).show(message)

    async def _message(
        self, question_id: str, team_id: str, audiences: Audiences, words: Words
    ) -> Message:
        asked = await asyncio.to_thread(self._questions.get, question_id, team_id=team_id)
        looked_at = [passage.chunk_id for passage in asked.passages] if asked else []
        readable = await asyncio.to_thread(self._handbook.chunks, looked_at, audiences)
        pages = first_of_each_page(readable, limit=PAGES_SHOWN)
        if not pages:
            return render_notice(words.close_pages_gone)
        return render_close_pages(pages, words, self._presentation)


def first_of_each_page(chunks: Iterable[StoredChunk], *, limit: int) -> list[StoredChunk]:
    """Return the first chunk of each page, of at most `limit` pages."""
    pages: dict[tuple[str, str], StoredChunk] = {}
    for chunk in chunks:
        pages.setdefault((chunk.source, chunk.page), chunk)
    return list(pages.values())[:limit]


def render_close_pages(
    pages: Iterable[StoredChunk], words: Words, presentation: Presentation
) -> Message:
    """Render pages as places to look, never as sources: without numbers and without quotes."""
    stale_before = presentation.stale_before
    items: list[Block] = []
    spoken = [words.close_pages_intro]
    for chunk in pages:
        named = source_elements(chunk, words, stale_before=stale_before)
        items.append({"type": "rich_text_section", "elements": named})
        spoken.append(f"• {spoken_source(chunk, words, stale_before=stale_before)}")
    intro = {"type": "text", "text": words.close_pages_intro}
    block: Block = {
        "type": "rich_text",
        "elements": [
            {"type": "rich_text_section", "elements": [intro]},
            {"type": "rich_text_list", "style": "bullet", "elements": items},
        ],
    }
    return Message(escape("\n".join(spoken)), (block,))
