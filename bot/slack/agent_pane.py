"""The agent pane: prompts to begin with, "Working…" with a title, and the button that stops it.

All of it is decoration: where Slack does not offer it (free plans, older clients), questions are
answered all the same.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.background import BackgroundTasks
from bot.slack.mrkdwn import shortened
from bot.slack.people import People
from bot.store import Job, JobStore

log = logging.getLogger(__name__)

TITLE_LIMIT = 200
"""Source: agents.sessions.setStatus."""
TRIES = 5
"""To end a "Working…", which would else stand for an hour."""
NOT_OFFERED_S = 600.0
"""How long we do without sessions once Slack has said that there are none."""
CLOSE_LIMIT_S = 2.0
_PROCESSING = "processing"
_ACTIVE = "active"
# As long as it answers these there is no use in asking for every question.
_NOT_OFFERED = frozenset(
    {"feature_disabled", "missing_scope", "not_allowed_token_type", "not_authorized"}
)
_Session = tuple[str, str, str]
"""Team, channel and root of the thread."""
_LOST = (aiohttp.ClientError, TimeoutError, OSError)


class AgentPane:
    """Keeps the sessions of the pane, which are threads of direct messages.

    Args:
        client: With the bot token and without retry handlers.
        people: Chooses the language of the prompts.
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
        self._beginnings: dict[str, asyncio.Task[None]] = {}
        self._tasks = BackgroundTasks()

    def register(self, app: AsyncApp) -> None:
        """Listen for the pane being opened and for its stop button."""

        async def shows_messages(event: dict[str, Any]) -> bool:
            return event.get("tab") == "messages"

        async def acknowledge() -> None:
            pass

        app.event("app_home_opened", matchers=[shows_messages])(
            ack=acknowledge, lazy=[self._opened]
        )
        app.event("agent_session_stopped")(self._stopped)

    def began(self, job: Job) -> None:
        """Show "Working…", under a title made of the question."""
        if not _is_in_pane(job) or not self._is_offered(job.team_id):
            return
        title = shortened(" ".join((job.question or "").split()), TITLE_LIMIT)
        began = self._set(_session(job), _PROCESSING, title=title, initiator=job.user_id)
        self._beginnings[job.job_id] = self._tasks.start(began)

    def ended(self, job: Job) -> None:
        """Show that nothing is under way any more."""
        # A stream makes a session of any thread.
        if _is_in_pane(job) or job.posted_ts:
            self._tasks.start(self._end(job))

    async def close(self) -> None:
        """Give what is on its way a moment, and drop the rest."""
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

    async def _stopped(self, body: dict[str, Any]) -> None:
        event = body["event"]
        channel_id, thread_ts = event["channel"], event["thread_ts"]
        ended = await asyncio.to_thread(
            self._jobs.stop, team_id=body["team_id"], channel_id=channel_id, thread_ts=thread_ts
        )
        log.info("stopped by a person", extra={"jobs": ended})
        session = (body["team_id"], channel_id, thread_ts)
        self._tasks.start(self._set(session, _ACTIVE, tries=TRIES))

    async def _end(self, job: Job) -> None:
        if (beginning := self._beginnings.pop(job.job_id, None)) is not None:
            await beginning
        if self._is_offered(job.team_id):
            await self._set(_session(job), _ACTIVE, tries=TRIES)

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
    ) -> None:
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
                return
            except SlackApiError as error:
                if error.response.status_code == 200:
                    self._refused(team_id, str(error.response["error"]))
                    return
                wait_s = float(error.response.headers.get("Retry-After") or wait_s)
            except _LOST as error:
                log.info("a session's status was lost: %s", type(error).__name__)
            if left:
                await asyncio.sleep(wait_s)

    def _refused(self, team_id: str, reason: str) -> None:
        if reason in _NOT_OFFERED:
            self._not_before[team_id] = self._now() + NOT_OFFERED_S
        log.info("no session: %s", reason)


def _session(job: Job) -> _Session:
    return job.team_id, job.channel_id, job.thread_ts


def _is_in_pane(job: Job) -> bool:
    return job.channel_id.startswith("D")
