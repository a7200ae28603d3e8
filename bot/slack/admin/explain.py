"""`/handbook explain <link>`: why an answer is what it is, for admins who can read where it was."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from typing import Self

from slack_sdk.web.async_client import AsyncWebClient

from bot.records import Question
from bot.slack.admin.explain_view import render_explanation
from bot.slack.audiences import Readers
from bot.slack.channel_settings import ChannelPolicy
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.people import People
from bot.slack.readiness import Handbook
from bot.slack.rendering import Message, render_notice
from bot.slack.wording import Words
from bot.store import AskedQuestion, QuestionLog, Statistics

log = logging.getLogger(__name__)

EXPLAINED_AT_ONCE = 1
"""An explanation costs as much as an answer, and nobody in a channel waits for it."""
MEMBERS_PAGE = 1_000
_LINK = re.compile(
    r"https://[\w.-]+/archives/(?P<channel>[A-Z0-9]+)/p(?P<seconds>\d{10})(?P<micros>\d{6})"
    r"(?:\?(?P<query>\S*))?"
)
_THREAD = re.compile(r"(?:^|&)thread_ts=(\d+\.\d+)")


@dataclass(frozen=True, slots=True)
class MessageLink:
    """What the web address of a message says.

    Attributes:
        thread_ts: Root of the thread it stands in; None outside one.
    """

    channel_id: str
    ts: str
    thread_ts: str | None = None

    @classmethod
    def find(cls, text: str) -> Self | None:
        """Return the first link to a message in a text."""
        match = _LINK.search(text)
        if match is None:
            return None
        thread = _THREAD.search(match["query"] or "")
        ts = f"{match['seconds']}.{match['micros']}"
        return cls(match["channel"], ts, thread[1] if thread else None)


class Explaining:
    """Explains answers to admins.

    Only admins who can read the conversation of a question see it explained, from what everybody
    there may read: just what answering used.

    Args:
        client: With the bot token.
    """

    def __init__(
        self,
        handbook: Handbook,
        statistics: Statistics,
        questions: QuestionLog,
        people: People,
        client: AsyncWebClient,
        channels: ChannelPolicy,
        readers: Readers,
    ) -> None:
        self._handbook = handbook
        self._statistics = statistics
        self._questions = questions
        self._people = people
        self._client = client
        self._channels = channels
        self._readers = readers
        self._slots = asyncio.Semaphore(EXPLAINED_AT_ONCE)

    async def explain(self, user_id: str, team_id: str, typed: str, words: Words) -> Message:
        """Return the explanation of the answer behind a link, or why there is none.

        Raises:
            HandbookError: If the database or the index cannot be used now.
        """
        if not await self._people.runs_workspace(user_id):
            return render_notice(words.admins_only)
        link = MessageLink.find(typed)
        if link is None:
            return render_notice(words.explain_usage)
        asked = await asyncio.to_thread(
            self._statistics.behind,
            team_id=team_id,
            channel_id=link.channel_id,
            ts=link.ts,
            thread_ts=link.thread_ts,
        )
        if asked is None:
            return render_notice(words.explain_not_found)
        if not await self._may_read(asked, user_id):
            return render_notice(words.explain_elsewhere)
        if not asked.question:
            return render_notice(words.explain_words_gone)
        earlier = await asyncio.to_thread(self._earlier, team_id, asked)
        settings = await self._channels.of(team_id, asked.channel_id)
        question = Question(asked.question, earlier, settings.sources)
        audiences = await self._readers.among(asked.channel_id, user_id)
        async with self._slots:
            explanation = await asyncio.to_thread(self._handbook.explain, question, audiences)
        log.info("explained", extra={"question_id": asked.question_id, "user_id": user_id})
        return render_explanation(asked, explanation, words)

    def _earlier(self, team_id: str, asked: AskedQuestion) -> tuple[str, ...]:
        """Return what the question was understood with when it was asked."""
        if asked.thread_ts is None or asked.message_ts in (None, asked.thread_ts):
            return ()
        return self._questions.earlier(
            team_id=team_id,
            channel_id=asked.channel_id,
            thread_ts=asked.thread_ts,
            before_ts=asked.message_ts or "",
        )

    async def _may_read(self, asked: AskedQuestion, user_id: str) -> bool:
        """Say whether somebody can read the conversation a question was asked in."""
        if asked.channel_id.startswith("D"):
            return asked.user_id == user_id
        try:
            answer = await self._client.conversations_info(channel=asked.channel_id)
            channel = answer["channel"]
            if channel.get("is_channel") and not channel.get("is_private"):
                return True
            return await self._is_member(asked.channel_id, user_id)
        except CALL_FAILED as error:
            log.warning("members of %s: %s", asked.channel_id, type(error).__name__)
            return False

    async def _is_member(self, channel_id: str, user_id: str) -> bool:
        cursor = ""
        while True:
            page = await self._client.conversations_members(
                channel=channel_id, limit=MEMBERS_PAGE, cursor=cursor or None
            )
            if user_id in page["members"]:
                return True
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return False
