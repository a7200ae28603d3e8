"""Answers that grow in their thread while a model writes them.

A stream shows claims that are certain to be in the answer, as the very blocks that the answer will
begin with: in rich text nothing of a page, a question or a model can become live. It is decoration
until the outcome is there, and then ends in one of three ways: the rest is appended, or the outcome
takes its place, or it is taken away and the outcome is posted.

A stream starts empty, and shows something only once the queue knows its message: whatever process
delivers the outcome finds what has been shown, and repeating any step does no harm.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import (
    DeliveryDelayed,
    DeliveryRefused,
    DeliveryUncertain,
    JobStoreError,
    SlackDeliveryError,
)
from bot.records import Claim
from bot.slack.connection.pauses import Pauses
from bot.slack.delivery import BLOCKS_REFUSED, PLACE_CLOSED, Posted, marker, slack_errors
from bot.slack.feedback_row import variants
from bot.slack.rendering import Block, Message, claim_blocks
from bot.store import ChannelSettings, Job, JobStore

log = logging.getLogger(__name__)

APPEND_EVERY_S = 1.0
"""Between two pieces of one stream: chat.appendStream takes some 100 a minute in a workspace."""
STARTS_A_MINUTE = 15
"""In a workspace; chat.startStream and chat.stopStream take some 20. Further answers are posted
when they are complete."""
NOT_OFFERED_S = 600.0
"""How long we do without streams once a workspace has refused one."""
SLOWED_DOWN_S = 60.0
"""How long, where Slack asks to slow down and does not say for how long: it counts by the
minute."""
CLOSE_LIMIT_S = 5.0
"""How long a complete answer waits for a piece that is on its way."""
MOST_KEPT = 1_000
"""Streams remembered until their outcome is delivered; jobs that were stopped never get there. One
that is forgotten is replaced by its outcome instead of completed."""
UPDATE_TEXT_LIMIT = 4_000
"""Source: chat.update, `msg_too_long`."""
START = "chat.startStream"
_DIRECT = "D"
_MINUTE_S = 60.0


class Streams:
    """Begins streams, and turns them into outcomes.

    Args:
        client: With the bot token and without retry handlers.
        jobs: Where it is kept which message an answer grows in.
        pauses: Remembers how long Slack wants no stream to start.
        now: A clock in seconds.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        jobs: JobStore,
        pauses: Pauses | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client = client
        self.jobs = jobs
        self._pauses = pauses or Pauses()
        self._now = now
        self._not_before: dict[str, float] = {}
        self._starts: defaultdict[str, deque[float]] = defaultdict(deque)
        self._streams: dict[str, AnswerStream] = {}

    def begin(self, job: Job, settings: ChannelSettings) -> AnswerStream | None:
        """Return what an answer may be told to while it is written; None where that is not shown.

        Streams stand in threads alone; what is answered in private, or to another company, and
        what an earlier try has begun, is shown when it is complete.
        """
        unfit = settings.private or job.in_shared_channel or not job.thread_ts or job.posted_ts
        if unfit or self._are_paused(job.team_id):
            return None
        stream = self._streams[job.job_id] = AnswerStream(self, job)
        if len(self._streams) > MOST_KEPT:
            self._streams.pop(next(iter(self._streams)))
        return stream

    def drop(self, job: Job) -> None:
        """Forget a stream whose outcome is not for us to deliver."""
        self._streams.pop(job.job_id, None)

    def may_start(self, team_id: str) -> bool:
        """Say whether a workspace takes one more stream now, and count it."""
        now, starts = self._now(), self._starts[team_id]
        while starts and starts[0] <= now - _MINUTE_S:
            starts.popleft()
        if len(starts) >= STARTS_A_MINUTE or self._are_paused(team_id):
            return False
        starts.append(now)
        return True

    def _are_paused(self, team_id: str) -> bool:
        refused = self._now() < self._not_before.get(team_id, 0.0)
        return refused or self._pauses.left_s(team_id, START) > 0

    async def not_started(self, job: Job, error: SlackDeliveryError) -> None:
        """Leave a workspace without streams for a while, where it is not one place that refuses."""
        if isinstance(error, DeliveryRefused) and error.reason not in PLACE_CLOSED:
            self._not_before[job.team_id] = self._now() + NOT_OFFERED_S
        elif isinstance(error, DeliveryDelayed):
            await self._pauses.begin(job.team_id, START, error.retry_after_s or SLOWED_DOWN_S)
        log.info("not streamed: %s", error, extra={"job_id": job.job_id})

    async def finish(self, job: Job, message: Message) -> Posted | None:
        """Turn the message that an answer grew in into its outcome.

        Returns:
            Where it stands; None when nothing stands any more, and it is to be posted.

        Raises:
            DeliveryDelayed: Not now; later.
            DeliveryUncertain: Nobody knows; trying again does no harm.
        """
        stream = self._streams.pop(job.job_id, None)
        if stream is not None and (stream.is_lost or job.attempts > 1):
            await self.sweep(job)
        if job.posted_channel is None or job.posted_ts is None:
            return None
        place = Posted(job.posted_channel, job.posted_ts)
        try:
            if stream is not None and await self._complete(job, place, stream, message):
                return place
        except DeliveryDelayed:
            self._streams[job.job_id] = stream  # type: ignore[assignment] # there was one
            raise
        return await self._replace(job, place, message)

    async def _complete(
        self, job: Job, place: Posted, stream: AnswerStream, message: Message
    ) -> bool:
        """Append what is missing; False when what was shown is not what the outcome begins with."""
        for variant in variants(message):
            rest = stream.rest_of(variant)
            if not rest:
                return False
            rest[0]["block_id"] = marker(job)
            try:
                with slack_errors():
                    await self.client.chat_stopStream(
                        channel=place.channel_id, ts=place.ts, blocks=rest
                    )
            except DeliveryRefused as refusal:
                if refusal.reason in BLOCKS_REFUSED:
                    continue
                log.info("stream lost: %s", refusal, extra={"job_id": job.job_id})
                return False
            await self._say(job, place, variant)
            return True
        return False

    async def _say(self, job: Job, place: Posted, message: Message) -> None:
        """Give a complete stream the text of the answer: a stream of blocks has none."""
        if len(message.text) > UPDATE_TEXT_LIMIT:
            return
        try:
            await self._update(job, place, message)
        except DeliveryRefused as refusal:
            log.info("no text for a stream: %s", refusal, extra={"job_id": job.job_id})

    async def _update(self, job: Job, place: Posted, message: Message) -> None:
        """Show a message in the place of what stands there.

        Where its text is longer than an update may have it goes without: screen readers then read
        the blocks, which hold the whole answer. A part of the text would be all they read.
        """
        blocks = [dict(block) for block in message.blocks]
        if blocks:
            blocks[0]["block_id"] = marker(job)
        content: dict[str, Any] = {"channel": place.channel_id, "ts": place.ts, "blocks": blocks}
        if len(message.text) <= UPDATE_TEXT_LIMIT or not blocks:
            content["text"] = message.text
        with slack_errors():
            # Not `chat_update`, which warns where there is no text.
            await self.client.api_call("chat.update", json=content)

    async def _replace(self, job: Job, place: Posted, message: Message) -> Posted | None:
        await self.end(place)
        for variant in variants(message):
            try:
                await self._update(job, place, variant)
            except DeliveryRefused as refusal:
                if refusal.reason in BLOCKS_REFUSED:
                    continue
                log.warning(
                    "a stream cannot be replaced: posting anew",
                    extra={"job_id": job.job_id, "reason": refusal.reason},
                )
                break
            return place
        await self.take_away(place)
        return None

    async def remove(self, job: Job) -> None:
        """Take away what has been shown of an answer that is to stand elsewhere.

        Raises:
            DeliveryDelayed: Not now; later.
            DeliveryUncertain: Nobody knows; trying again does no harm.
        """
        self.drop(job)
        if job.posted_channel is not None and job.posted_ts is not None:
            await self.take_away(Posted(job.posted_channel, job.posted_ts))

    async def take_away(self, place: Posted) -> None:
        """End a stream, and delete its message (raises as `remove`)."""
        await self.end(place)
        try:
            with slack_errors():
                await self.client.chat_delete(channel=place.channel_id, ts=place.ts)
        except DeliveryRefused as refusal:
            log.info("a stream is not deleted: %s", refusal)

    async def end(self, place: Posted) -> None:
        """End a stream, whose message stays as it is (raises as `remove`)."""
        with suppress(DeliveryRefused), slack_errors():  # it has ended already, or is gone
            await self.client.chat_stopStream(channel=place.channel_id, ts=place.ts)

    async def sweep(self, job: Job) -> None:
        """Take away an empty stream whose start was not confirmed, as far as we may read there."""
        try:
            with slack_errors():
                answer = await self.client.conversations_replies(
                    channel=job.channel_id, ts=job.thread_ts, oldest=job.message_ts
                )
            messages: list[dict[str, Any]] = answer.get("messages") or []
            for message in messages:
                if _is_empty_stream(message) and not await self._is_known(job, message["ts"]):
                    await self.take_away(Posted(job.channel_id, message["ts"]))
        except (SlackDeliveryError, JobStoreError) as error:
            log.info("no look for an empty stream: %s", error, extra={"job_id": job.job_id})

    async def _is_known(self, job: Job, ts: str) -> bool:
        found = await asyncio.to_thread(
            self.jobs.posted_as, team_id=job.team_id, channel_id=job.channel_id, ts=ts
        )
        return found is not None


class AnswerStream:
    """One answer, growing. `hear` may be called in any thread; the rest belongs to the loop."""

    def __init__(self, streams: Streams, job: Job) -> None:
        self._streams = streams
        self._job = job
        self._loop = asyncio.get_running_loop()
        self._claims: list[Claim] = []
        self._shown: list[Block] = []
        self._place: Posted | None = None
        self._more = asyncio.Event()
        self._complete = asyncio.Event()
        self._is_certain = True
        self.is_lost = False
        """A start was not confirmed: there may be an empty message nobody knows."""
        self._work = asyncio.create_task(self._grow())

    def hear(self, claim: Claim) -> None:
        """Show a claim soon."""
        with suppress(RuntimeError):  # the loop has ended, and so has whoever would see it
            self._loop.call_soon_threadsafe(self._heard, claim)

    async def close(self) -> None:
        """Show nothing more: the outcome is there, or never will be."""
        self._complete.set()
        self._more.set()
        await asyncio.wait({self._work}, timeout=CLOSE_LIMIT_S)
        if not self._work.done():
            self._is_certain = False
            self.is_lost = self._place is None
            self._work.cancel()
        [error] = await asyncio.gather(self._work, return_exceptions=True)
        if isinstance(error, Exception):
            self._is_certain = False
            log.error("unexpected %s", type(error).__name__, extra={"job_id": self._job.job_id})

    def rest_of(self, message: Message) -> list[Block]:
        """Return the blocks of a message that are not shown yet.

        None when it begins otherwise, or nobody knows what is shown.
        """
        shown = len(self._shown)
        if not self._is_certain or list(message.blocks[:shown]) != self._shown:
            return []
        return [dict(block) for block in message.blocks[shown:]]

    def _heard(self, claim: Claim) -> None:
        self._claims.append(claim)
        self._more.set()

    async def _grow(self) -> None:
        await self._more.wait()
        if self._complete.is_set() or not await self._start():
            return
        while not self._complete.is_set():
            self._more.clear()
            wait_s = await self._append()
            if wait_s is None:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._complete.wait(), wait_s)
            await self._more.wait()

    async def _start(self) -> bool:
        job, streams = self._job, self._streams
        if not streams.may_start(job.team_id):
            return False
        in_channel = not job.channel_id.startswith(_DIRECT)
        try:
            with slack_errors():
                answer = await streams.client.chat_startStream(
                    channel=job.channel_id,
                    thread_ts=job.thread_ts,
                    recipient_user_id=job.user_id if in_channel else None,
                    recipient_team_id=job.team_id if in_channel else None,
                )
        except SlackDeliveryError as error:
            self._is_certain = False
            self.is_lost = isinstance(error, DeliveryUncertain)
            await streams.not_started(job, error)
            return False
        self._place = Posted(answer["channel"], answer["ts"])
        if await self._is_kept(self._place):
            return True
        self._is_certain = False
        try:
            await streams.take_away(self._place)
        except SlackDeliveryError:
            self.is_lost = True
        return False

    async def _is_kept(self, place: Posted) -> bool:
        """Let the queue know the message before it shows anything."""
        try:
            return await asyncio.to_thread(
                self._streams.jobs.begun,
                self._job.job_id,
                channel_id=place.channel_id,
                ts=place.ts,
            )
        except JobStoreError as error:
            log.warning("%s; not streaming", error, extra={"job_id": self._job.job_id})
            return False

    async def _append(self) -> float | None:
        """Show what is new; return the seconds to wait, None when the stream is over."""
        new = _new_blocks(self._claims, len(self._shown))
        if not new or self._place is None:
            return APPEND_EVERY_S
        try:
            with slack_errors():
                await self._streams.client.chat_appendStream(
                    channel=self._place.channel_id,
                    ts=self._place.ts,
                    chunks=[{"type": "blocks", "blocks": new}],
                )
        except DeliveryDelayed as error:
            self._more.set()
            return max(APPEND_EVERY_S, error.retry_after_s or APPEND_EVERY_S)
        except SlackDeliveryError as error:
            self._is_certain = False
            log.info("stream lost: %s", error, extra={"job_id": self._job.job_id})
            return None
        self._shown += new
        return APPEND_EVERY_S


def _new_blocks(claims: Sequence[Claim], shown: int) -> list[Block]:
    return list(claim_blocks(claims)[shown:])


def _is_empty_stream(message: dict[str, Any]) -> bool:
    streaming = message.get("streaming_state") == "in_progress"
    return streaming and not message.get("blocks") and not message.get("text")
