"""What shows that Manuel is at work: in the agent pane and in threads, with the button to stop it.

A thread gets a session, which Slack shows as "Working…". Where it offers no sessions (free plans,
older clients) we ask it to show a line of our own; where it does not take that either, nothing is
shown before the answer. All of it is decoration: questions are answered all the same.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import JobStoreError, VaultError, WorkspaceUnavailable
from bot.slack.ask_human import Post
from bot.slack.background import BackgroundTasks
from bot.slack.mrkdwn import shortened
from bot.slack.people import People
from bot.slack.rendering import render_notice
from bot.store import Job, JobStore, NewJob, OwnPost

log = logging.getLogger(__name__)

TITLE_LIMIT = 200
"""Source: agents.sessions.setStatus."""
TRIES = 5
"""To end a "Working…", which would else stand for an hour."""
NOT_OFFERED_S = 600.0
"""How long we do without sessions once Slack has said that there are none."""
CLOSE_LIMIT_S = 2.0
STATUSES_A_MINUTE = 20
"""In the channels of a workspace: agents.sessions.setStatus takes some 50 calls, each question
makes two, and the pane comes first."""
LEFT_S = 30.0
"""How long after its answer a "Working…" counts as left behind."""
LOOK_EVERY_S = 10.0
LEFT_AT_ONCE = 20
_MINUTE_S = 60.0
_PROCESSING = "processing"
_ACTIVE = "active"
# As long as it answers these there is no use in asking for every question.
_NOT_OFFERED = frozenset(
    {"feature_disabled", "missing_scope", "not_allowed_token_type", "not_authorized"}
)
Enter = Callable[[str], Awaitable[object | None]]
_Session = tuple[str, str, str]
"""Team, channel and root of the thread."""
_LOST = (aiohttp.ClientError, TimeoutError, OSError)


class AgentPane:
    """Keeps the sessions of questions: in the pane (direct messages), and in other threads.

    Args:
        client: With the bot token and without retry handlers.
        people: Chooses the language.
        jobs: Where what is under way in a thread is ended.
        now: A clock in seconds.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        people: People,
        jobs: JobStore,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._people = people
        self._jobs = jobs
        self._now = now
        self._not_before: dict[str, float] = {}
        """By workspace."""
        self._no_lines_before: dict[str, float] = {}
        self._statuses: defaultdict[str, deque[float]] = defaultdict(deque)
        self._beginnings: dict[str, asyncio.Task[None]] = {}
        self._tasks = BackgroundTasks()
        self._looking: asyncio.Task[None] | None = None

    def register(self, app: AsyncApp, *, post: Post) -> None:
        """Listen for the pane being opened and for the stop button.

        Args:
            app: Where.
            post: Posts the word that an answer was stopped.
        """

        async def shows_messages(event: dict[str, Any]) -> bool:
            return event.get("tab") == "messages"

        async def acknowledge() -> None:
            pass

        async def stopped(body: dict[str, Any]) -> None:
            await self._stopped(body, post)

        app.event("app_home_opened", matchers=[shows_messages])(
            ack=acknowledge, lazy=[self._opened]
        )
        app.event("agent_session_stopped")(stopped)

    def began(self, job: Job) -> None:
        """Show "Working…", under a title made of the question."""
        if job.thread_ts and (_is_in_pane(job) or self._may_show(job.team_id)):
            self._beginnings[job.job_id] = self._tasks.start(self._begin(job))

    def ended(self, job: Job) -> None:
        """Show that nothing is under way any more."""
        if job.thread_ts:
            self._tasks.start(self._end(job))

    def start(self, enter: Enter) -> None:
        """Begin to look for what earlier processes have left.

        Args:
            enter: Enters a workspace; returns None when it is not served any more.
        """
        self._looking = asyncio.create_task(self._end_left(enter))

    async def close(self) -> None:
        """Give what is on its way a moment, and drop the rest."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await self._tasks.close(patience_s=CLOSE_LIMIT_S)

    async def _opened(self, event: dict[str, Any]) -> None:
        words = await self._people.words(event["user"])
        prompts = [{"title": title, "message": message} for title, message in words.prompts]
        try:
            # Without a thread: with one an agent's prompts are silently dropped.
            await self._client.assistant_threads_setSuggestedPrompts(
                channel_id=event["channel"], title=words.prompts_title, prompts=prompts
            )
        except (SlackApiError, *_LOST) as error:
            log.warning("prompts were not set: %s", type(error).__name__)

    async def _stopped(self, body: dict[str, Any], post: Post) -> None:
        event = body["event"]
        channel_id, thread_ts = event["channel"], event["thread_ts"]
        ended = await asyncio.to_thread(
            self._jobs.stop, team_id=body["team_id"], channel_id=channel_id, thread_ts=thread_ts
        )
        log.info("stopped by a person", extra={"jobs": ended})
        if ended:
            words = await self._people.words(event["user"])
            note = NewJob(
                event_id=f"stop:{body['event_id']}",
                team_id=body["team_id"],
                channel_id=channel_id,
                message_ts=event["event_ts"],
                thread_ts=thread_ts,
                user_id=event["user"],
                question="",
            )
            await post(note, outcome=OwnPost.STOPPED, message=render_notice(words.stopped))
        session = (body["team_id"], channel_id, thread_ts)
        self._tasks.start(self._set(session, _ACTIVE, tries=TRIES))

    async def _begin(self, job: Job) -> None:
        if not await self._is_recorded(job):
            return
        title = shortened(" ".join((job.question or "").split()), TITLE_LIMIT)
        if self._is_offered(job.team_id):
            await self._set(_session(job), _PROCESSING, title=title, initiator=job.user_id)
        if not self._is_offered(job.team_id):
            await self._show_line(job)

    async def _show_line(self, job: Job) -> None:
        """Show words of our own instead of a session; Slack clears them when an answer is there."""
        if self._now() < self._no_lines_before.get(job.team_id, 0.0):
            return
        words = await self._people.words(job.user_id, job.question or "")
        try:
            await self._client.assistant_threads_setStatus(
                channel_id=job.channel_id, thread_ts=job.thread_ts, status=words.at_work
            )
        except SlackApiError as error:
            if error.response.status_code == 200:
                self._no_lines_before[job.team_id] = self._now() + NOT_OFFERED_S
            log.info("no status is shown: %s", error.response.get("error"))
        except _LOST as error:
            log.info("a status was lost: %s", type(error).__name__)

    def _may_show(self, team_id: str) -> bool:
        """Say whether channels of a workspace may get one more status now, and count it."""
        now, shown = self._now(), self._statuses[team_id]
        while shown and shown[0] <= now - _MINUTE_S:
            shown.popleft()
        if len(shown) >= STATUSES_A_MINUTE:
            return False
        shown.append(now)
        return True

    async def _end(self, job: Job) -> None:
        if (beginning := self._beginnings.pop(job.job_id, None)) is not None:
            await beginning
        # A stream makes a session of any thread, and another process may have begun this one.
        if not (job.posted_ts or await self._has_begun(job)):
            return
        if self._is_offered(job.team_id) and not await self._set(
            _session(job), _ACTIVE, tries=TRIES
        ):
            return
        try:
            await asyncio.to_thread(self._jobs.status_ended, job.job_id)
        except JobStoreError as error:
            log.warning("%s; a status is ended once more", error)

    async def _end_left(self, enter: Enter) -> None:
        """End what a process has begun that died, or could not reach Slack."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                left = await asyncio.to_thread(
                    self._jobs.left_statuses, older_than_s=LEFT_S, limit=LEFT_AT_ONCE
                )
                for job in left:
                    if await enter(job.team_id) is None:
                        await asyncio.to_thread(self._jobs.status_ended, job.job_id)
                    else:
                        await self._end(job)
            except (JobStoreError, VaultError, WorkspaceUnavailable) as error:
                log.warning("%s; statuses may be shown for too long", error)

    async def _is_recorded(self, job: Job) -> bool:
        """Let whoever ends a question know that something is shown, before it is."""
        try:
            return await asyncio.to_thread(self._jobs.shows_status, job.job_id)
        except JobStoreError as error:
            log.warning("%s; no status is shown", error)
            return False

    async def _has_begun(self, job: Job) -> bool:
        try:
            return await asyncio.to_thread(self._jobs.has_status, job.job_id)
        except JobStoreError as error:
            log.warning("%s; a status may be shown for too long", error)
            return False

    def _is_offered(self, team_id: str) -> bool:
        return self._now() >= self._not_before.get(team_id, 0.0)

    async def _set(
        self,
        session: _Session,
        status: str,
        *,
        title: str = "",
        initiator: str = "",
        tries: int = 1,
    ) -> bool:
        """Give a session its status; False when that is not known to have worked."""
        team_id, channel_id, thread_ts = session
        for left in reversed(range(tries)):
            wait_s = 1.0
            try:
                await self._client.agents_sessions_setStatus(
                    channel_id=channel_id,
                    thread_ts=thread_ts,
                    status=status,
                    title=title or None,
                    initiator_user_id=initiator or None,
                )
                return True
            except SlackApiError as error:
                if error.response.status_code == 200:
                    self._refused(team_id, str(error.response["error"]))
                    return True
                wait_s = float(error.response.headers.get("Retry-After") or wait_s)
            except _LOST as error:
                log.info("a session's status was lost: %s", type(error).__name__)
            if left:
                await asyncio.sleep(wait_s)
        return False

    def _refused(self, team_id: str, reason: str) -> None:
        if reason in _NOT_OFFERED:
            self._not_before[team_id] = self._now() + NOT_OFFERED_S
        log.info("no session: %s", reason)


def _session(job: Job) -> _Session:
    return job.team_id, job.channel_id, job.thread_ts


def _is_in_pane(job: Job) -> bool:
    return job.channel_id.startswith("D")
