"""Searches for one person alone, a page of passages at a time, until they choose to share one."""

from __future__ import annotations

import asyncio
import logging
import uuid
from dataclasses import replace
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.records import Question
from bot.retrieval.search import SearchResults
from bot.slack.admission import Admission
from bot.slack.asking import SHARE, Asker, PrivateAsking
from bot.slack.audiences import Readers
from bot.slack.channel_settings import ChannelPolicy, spoken_in
from bot.slack.hits import render_hits
from bot.slack.listening import acknowledge
from bot.slack.people import People
from bot.slack.readiness import Handbook
from bot.slack.rendering import Message, button, render_notice, with_block
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from ingest import HandbookError

log = logging.getLogger(__name__)

MORE_HITS = "more_hits"
HITS = 5
MOST_HITS = 50
"""Further down nobody looks, and what is there has little to do with the words."""
SEARCHES_AT_ONCE = 2
TERMS_LIMIT = 500
"""Longer words to search for have no next page: they must fit into a button."""


class Searching:
    """Ranks passages that the person may read, whenever they look.

    Those of a page that everybody in the conversation may read can be shared there.
    """

    def __init__(
        self,
        handbook: Handbook,
        asking: PrivateAsking,
        people: People,
        admission: Admission,
        channels: ChannelPolicy,
        readers: Readers,
    ) -> None:
        self._handbook = handbook
        self._asking = asking
        self._people = people
        self._admission = admission
        self._channels = channels
        self._readers = readers
        self._searches = asyncio.Semaphore(SEARCHES_AT_ONCE)

    def register(self, app: AsyncApp) -> None:
        """Listen for the button below a page of passages."""
        app.action(MORE_HITS)(ack=acknowledge, lazy=[self._more])

    async def search(self, asker: Asker, terms: str, *, skipped: int = 0) -> Message:
        """Return a page of passages, or why there is none.

        Args:
            asker: Who searches.
            terms: Words to search for.
            skipped: Passages that stand on earlier pages.

        Raises:
            JobStoreError: If the settings of the channel cannot be read now.
        """
        settings = await self._channels.of(asker.team_id, asker.channel_id)
        words = spoken_in(settings, await self._people.words(asker.user_id, terms))
        refusal = await self._admission.refusal(
            asker.user_id, asker.team_id, words, channel_id=asker.channel_id
        )
        if refusal:
            return render_notice(refusal)
        question = Question(terms, sources=settings.sources)
        audiences = await self._readers.alone(asker.user_id, asker.channel_id)
        wanted = skipped + HITS
        async with self._searches:
            try:
                found = await asyncio.to_thread(
                    self._handbook.search, question, wanted + 1, audiences
                )
            except HandbookError as error:
                log.error("a search failed: %s", type(error).__name__)
                return render_notice(words.outage)
        page = replace(found, results=found.results[skipped:wanted])
        message = await asyncio.to_thread(render_hits, page, words, skipped=skipped)
        buttons = []
        if (kept := await self._kept(asker, page, words)) is not None:
            buttons.append(button(words.share, SHARE, kept))
        if len(found.results) > wanted and wanted < MOST_HITS and len(terms) <= TERMS_LIMIT:
            buttons.append(button(words.next_hits, MORE_HITS, f"{wanted}:{terms}"))
        return with_block(message, {"type": "actions", "elements": buttons}) if buttons else message

    async def _kept(self, asker: Asker, page: SearchResults, words: Words) -> str | None:
        """Keep what may be shared of a page, and return what names it; None: nothing may be."""
        try:
            public = await asyncio.to_thread(self._public, page, asker.channel_id)
        except HandbookError as error:
            log.warning("%s; passages cannot be shared", error)
            return None
        if not public.results:
            return None
        message = await asyncio.to_thread(render_hits, public, words)
        chunk_ids = tuple(result.passage.chunk.chunk_id for result in public.results)
        heading = words.shared_search
        return await self._asking.keep_message(asker, message, chunk_ids, heading, uuid.uuid4().hex)

    def _public(self, page: SearchResults, channel_id: str) -> SearchResults:
        """Return what everybody who would see it may read of a page."""
        audiences = self._readers.everybody(channel_id)
        results = tuple(
            result
            for result in page.results
            if self._handbook.may_read([result.passage.chunk.chunk_id], audiences)
        )
        return replace(page, results=results)

    async def _more(self, body: dict[str, Any]) -> None:
        skipped, _, terms = body["actions"][0]["value"].partition(":")
        asker = Asker(body["team"]["id"], body["channel"]["id"], body["user"]["id"])
        try:
            message = await self.search(asker, terms, skipped=int(skipped))
        except HandbookError as error:
            log.error("a search failed: %s", type(error).__name__)
            message = render_notice((await self._people.words(asker.user_id, terms)).outage)
        await ReplyAddress.of(body).replace(message)
