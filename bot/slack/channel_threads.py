"""Messages of channels that mention nobody, as far as the app receives any.

The manifest asks for none of them. A company that subscribes the app to `message.channels` or
`message.groups` gets more: humans answer in a thread, and follow-ups need no mention.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from bot.slack.incoming import question_in
from bot.store import JobStore, MutedThreads, NewJob


class ChannelThreads:
    """Hears what is said in threads of channels.

    Args:
        take_answer: Takes a message for a human's answer, and says whether it is one.
        accept: Stores a question.
        jobs: Knows what was asked in a thread.
        muted: Knows where to be quiet.
    """

    def __init__(
        self,
        take_answer: Callable[[NewJob], Awaitable[bool]],
        accept: Callable[[NewJob], Awaitable[None]],
        jobs: JobStore,
        muted: MutedThreads,
    ) -> None:
        self._take_answer = take_answer
        self._accept = accept
        self._jobs = jobs
        self._muted = muted

    async def hear(self, body: dict[str, Any], bot_user_id: str) -> None:
        """Deal with one message.

        Raises:
            JobStoreError: Nothing is stored: do not acknowledge it.
        """
        said = question_in(body, bot_user_id)
        if said is None or not said.question or said.thread_ts == said.message_ts:
            return
        # A mention of us comes as an event of its own; one of others is meant for them.
        if "<@" in (body["event"].get("text") or ""):
            return
        if await self._take_answer(said):
            return
        if await asyncio.to_thread(self._is_follow_up, said):
            await self._accept(said)

    def _is_follow_up(self, said: NewJob) -> bool:
        """Say whether somebody goes on asking: people in a thread also talk to each other.

        It is a question, asked by whoever asked us last in this thread.
        """
        if not said.question.endswith("?"):
            return False
        thread = (said.team_id, said.channel_id, said.thread_ts)
        last = self._jobs.last_asker(*thread)
        return last == said.user_id and not self._muted.is_muted(*thread)
