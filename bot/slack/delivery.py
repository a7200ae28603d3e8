"""Posts outcomes to Slack, and tells apart what was refused, delayed or left uncertain.

A post is not idempotent: when the connection breaks around it, the message may stand in the
channel or not. Nothing here posts a second time by itself; the queue decides, after `find`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import DeliveryDelayed, DeliveryRefused, DeliveryUncertain, SlackDeliveryError
from bot.slack.channel_settings import ChannelPolicy
from bot.slack.feedback_row import variants
from bot.slack.mrkdwn import clean, shortened
from bot.slack.people import WordsFor
from bot.slack.rendering import Message, render_notice, with_notice
from bot.store import Job, OwnPost

log = logging.getLogger(__name__)

_RATE_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
# Slack's own trouble; its documentation says of fatal_error that part of the call may have worked.
_SLACK_TROUBLE = frozenset(
    {"fatal_error", "internal_error", "service_unavailable", "request_timeout"}
)
BLOCKS_REFUSED = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
# The place is closed to us, but the person is not: answered in a direct message instead.
PLACE_CLOSED = frozenset(
    {
        "cannot_reply_to_message",
        "channel_not_found",
        "invalid_thread_ts",
        "is_archived",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
        "thread_not_found",
    }
)
_NEVER_MOVED = frozenset({OwnPost.RELAY, OwnPost.NOTE})
_OWN_POSTS = frozenset(OwnPost)
_PAGE_SIZE = 100
_QUESTION_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Posted:
    """Where a message stands."""

    channel_id: str
    ts: str


class Begun(Protocol):
    """What has been shown of answers already; see `bot.slack.streaming.Streams`."""

    async def finish(self, job: Job, message: Message) -> Posted | None:
        """Turn it into the outcome; None where nothing stands, and the outcome is to be posted."""
        ...

    async def remove(self, job: Job) -> None:
        """Take it away."""
        ...


class Modals(Protocol):
    """Where outcomes of the Home tab go; see `bot.slack.home.questions.HomeModals`."""

    async def show(self, job: Job, message: Message) -> bool:
        """Show one; False where the modal is gone."""
        ...


class SlackDelivery:
    """Posts in the thread of the question, or shows the outcome in the modal that waits for it.

    Args:
        client: With the bot token and without retry handlers: retrying is the queue's work.
        words_for: Chooses what is said above an outcome that could not stand where it was asked.
        channels: What admins chose for single channels.
        begun: What has been shown of answers while they were written.
        modals: Show what was asked in the Home tab.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        words_for: WordsFor,
        channels: ChannelPolicy | None = None,
        begun: Begun | None = None,
        modals: Modals | None = None,
    ) -> None:
        self._client = client
        self._begun = begun
        self._modals = modals
        self._channels = channels
        self._words_for = words_for

    async def post(self, job: Job, message: Message) -> Posted:
        """Post the outcome in the thread, or to the person when the place is closed to us.

        Where a modal waits for it, it is shown there; when that is gone it is posted to the person.
        What has been shown of it already becomes the outcome. What we post by ourselves is not
        moved; when a question cannot be passed on to humans, whoever wanted that is told.

        Raises:
            DeliveryDelayed: Not posted; later.
            DeliveryUncertain: Posted or not.
            DeliveryRefused: Not posted; never.
            JobStoreError: Not posted: what was chosen for the channel cannot be read now.
        """
        if not job.thread_ts and job.outcome not in _OWN_POSTS:
            return await self._show_at_home(job, message)
        if await self._is_private(job):
            if self._begun is not None:
                await self._begun.remove(job)
            words = await self._words_for(job.user_id, job.question or "")
            moved = with_notice(message, words.channel_moved)
            return await self._send(job, moved, channel=job.user_id)
        finished = await self._begun.finish(job, message) if self._begun is not None else None
        if finished is not None:
            return finished
        try:
            return await self._post_thread(job, message)
        except DeliveryRefused as refusal:
            if job.outcome in _NEVER_MOVED or refusal.reason not in PLACE_CLOSED:
                raise
            log.warning(
                "the place is closed: answering in a direct message",
                extra={"job_id": job.job_id, "reason": refusal.reason},
            )
        words = await self._words_for(job.user_id, job.question or "")
        if job.outcome == OwnPost.REQUEST:
            moved = render_notice(words.human_failed)
        else:
            moved = with_notice(message, words.moved_here)
        return await self._send(job, moved, channel=job.user_id)

    async def _show_at_home(self, job: Job, message: Message) -> Posted:
        if job.view_id and self._modals is not None and await self._modals.show(job, message):
            return Posted(job.view_id, "")
        question = shortened(clean(job.question or ""), _QUESTION_SHOWN)
        words = await self._words_for(job.user_id, question)
        headed = with_notice(message, words.home_question.format(question=question))
        return await self._post_thread(replace(job, channel_id=job.user_id), headed)

    async def _is_private(self, job: Job) -> bool:
        """Say whether the channel of a question wants its outcome in a direct message."""
        if self._channels is None or job.outcome in _OWN_POSTS:
            return False
        return (await self._channels.of(job.team_id, job.channel_id)).private

    async def find(self, job: Job) -> Posted | None:
        """Look in the thread for an outcome posted by an earlier try.

        Returns:
            Where it stands; None if it does not, or if we may not read there (channels whose
            `*:history` scope was not granted; what starts a thread).

        Raises:
            DeliveryDelayed: Nobody can tell now.
        """
        if not job.thread_ts:
            log.warning("a post of unknown fate is repeated", extra={"job_id": job.job_id})
            return None
        cursor = ""
        while True:
            try:
                page = await self._replies(job, cursor)
            except DeliveryRefused as refusal:
                log.warning(
                    "cannot look whether the answer was posted: posting it",
                    extra={"job_id": job.job_id, "reason": refusal.reason},
                )
                return None
            except DeliveryUncertain as error:
                raise DeliveryDelayed(str(error)) from error
            for reply in page.get("messages", []):
                if _is_outcome_of(job, reply):
                    return Posted(job.channel_id, reply["ts"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return None

    async def _post_thread(self, job: Job, message: Message) -> Posted:
        first, *simpler = variants(message)
        thread_ts = job.thread_ts or None
        for variant in simpler:
            try:
                return await self._send(job, first, channel=job.channel_id, thread_ts=thread_ts)
            except DeliveryRefused as refusal:
                if refusal.reason not in BLOCKS_REFUSED:
                    raise
                log.error(
                    "blocks refused: posting simpler ones",
                    extra={"job_id": job.job_id, "reason": refusal.reason},
                )
            first = variant
        return await self._send(job, first, channel=job.channel_id, thread_ts=thread_ts)

    async def _send(
        self, job: Job, message: Message, *, channel: str, thread_ts: str | None = None
    ) -> Posted:
        blocks = [dict(block) for block in message.blocks]
        if blocks:
            blocks[0]["block_id"] = marker(job)
        with slack_errors():
            answer = await self._client.chat_postMessage(
                channel=channel,
                thread_ts=thread_ts,
                text=message.text,
                blocks=blocks or None,
                unfurl_links=False,
                unfurl_media=False,
            )
        return Posted(answer["channel"], answer["ts"])

    async def _replies(self, job: Job, cursor: str) -> dict[str, Any]:
        with slack_errors():
            answer = await self._client.conversations_replies(
                channel=job.channel_id,
                ts=job.thread_ts,
                oldest=job.message_ts,
                limit=_PAGE_SIZE,
                cursor=cursor or None,
            )
        return answer.data if isinstance(answer.data, dict) else {}


def marker(job: Job) -> str:
    """Return the block_id that tells our outcome of this job from every other message."""
    return f"outcome:{job.job_id}"


def _is_outcome_of(job: Job, reply: dict[str, Any]) -> bool:
    return any(block.get("block_id") == marker(job) for block in reply.get("blocks") or ())


@contextmanager
def slack_errors() -> Iterator[None]:
    """Translate what a call of Slack's Web API ends in.

    Raises:
        DeliveryDelayed: Nothing was done; later.
        DeliveryUncertain: Done or not.
        DeliveryRefused: Nothing was done; never.
    """
    try:
        yield
    except SlackApiError as error:
        raise _translated(error) from error
    except aiohttp.ClientConnectorError as error:
        raise DeliveryDelayed("Slack cannot be reached") from error
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise DeliveryUncertain(f"lost the connection: {type(error).__name__}") from error


def _translated(error: SlackApiError) -> SlackDeliveryError:
    response = error.response
    status = getattr(response, "status_code", getattr(response, "status", 200))
    data = getattr(response, "data", None)
    code = str(data.get("error", "")) if isinstance(data, dict) else ""
    if status == 429 or code in _RATE_LIMITED:
        wait = _seconds(response.headers.get("Retry-After"))
        return DeliveryDelayed("Slack asks to slow down", retry_after_s=wait)
    if status != 200 or code in _SLACK_TROUBLE or not code:
        return DeliveryUncertain(f"Slack answered {status} {code}".rstrip())
    return DeliveryRefused(code)


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdigit() else None
