"""What admins see and press in their Home tab. Who is one is asked again on each press."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.gaps import Gap, group_alike
from bot.maintenance import Maintenance
from bot.slack.admin import AdminCommands
from bot.slack.direct_report import DirectReport
from bot.slack.home_view import DRY_RUN, GAPS_SHOWN, PAUSE, RESUME, SYNC, AdminContent
from bot.slack.people import People
from bot.slack.readiness import Handbook
from bot.store import Statistics
from ingest import HandbookError

log = logging.getLogger(__name__)

GAP_DAYS = 30
GAP_QUESTIONS = 300
"""The latest questions without an answer that are grouped: encoding more takes seconds."""
_SOURCE = "source:"
_SYNCED = re.compile(f"^(?:{SYNC}|{DRY_RUN})$")
_SCHEDULED = re.compile(f"^(?:{PAUSE}|{RESUME})$")

Refresh = Callable[[dict[str, Any], str], Awaitable[None]]
"""Publishes the Home tab anew that a press came from, with a note for admins."""


class HomeAdmin:
    """Gathers what only admins see, and does what they press.

    Args:
        client: Posts reports, which must not be repeated blindly.
    """

    def __init__(
        self,
        *,
        client: AsyncWebClient,
        handbook: Handbook,
        maintenance: Maintenance,
        statistics: Statistics,
        commands: AdminCommands,
        people: People,
    ) -> None:
        self._client = client
        self._handbook = handbook
        self._maintenance = maintenance
        self._statistics = statistics
        self._commands = commands
        self._people = people
        # Of each workspace, with the questions they were made from.
        self._gaps: dict[str, tuple[tuple[str, ...], tuple[Gap, ...]]] = {}

    def register(self, app: AsyncApp, refresh: Refresh) -> None:
        """Listen for the buttons; `refresh` shows the tab anew."""

        async def acknowledge(ack: Callable[[], Any]) -> None:
            await ack()

        async def synced(body: dict[str, Any]) -> None:
            await self._sync(body, refresh)

        async def scheduled(body: dict[str, Any]) -> None:
            await self._schedule(body, refresh)

        app.action(_SYNCED)(ack=acknowledge, lazy=[synced])
        app.action(_SCHEDULED)(ack=acknowledge, lazy=[scheduled])

    async def content(self, team_id: str, note: str) -> AdminContent:
        """Return what admins of a workspace see besides, below a note."""
        try:
            gaps = await asyncio.to_thread(self._grouped, team_id)
        except HandbookError as error:
            log.warning("unanswered questions are not shown: %s", type(error).__name__)
            gaps = ()
        return AdminContent(gaps[:GAPS_SHOWN], GAP_DAYS, note)

    def _grouped(self, team_id: str) -> tuple[Gap, ...]:
        questions = self._statistics.unanswered(team_id=team_id, days=GAP_DAYS, limit=GAP_QUESTIONS)
        known = self._gaps.get(team_id)
        if known is None or known[0] != questions:
            known = (questions, group_alike(questions, self._handbook.vectors))
            self._gaps[team_id] = known
        return known[1]

    async def _sync(self, body: dict[str, Any], refresh: Refresh) -> None:
        user_id, action = body["user"]["id"], body["actions"][0]
        words = await self._people.words(user_id)
        if not await self._people.is_admin(user_id):
            await refresh(body, "")
            return
        await refresh(body, words.home_sync_started)
        value = action["value"]
        chosen = [value.removeprefix(_SOURCE)] if value.startswith(_SOURCE) else []
        address = DirectReport(self._client, user_id)
        await self._commands.sync(
            user_id, chosen, address, words, dry_run=action["action_id"] == DRY_RUN
        )
        await refresh(body, "")

    async def _schedule(self, body: dict[str, Any], refresh: Refresh) -> None:
        user_id, note = body["user"]["id"], ""
        if await self._people.is_admin(user_id):
            paused = body["actions"][0]["action_id"] == PAUSE
            change = self._maintenance.pause if paused else self._maintenance.resume
            try:
                await asyncio.to_thread(change)
                log.info("schedule changed", extra={"user_id": user_id, "paused": paused})
            except HandbookError as error:
                log.error("the schedule was not changed: %s", error)
                note = (await self._people.words(user_id)).schedule_failed
        # For somebody who is no admin any more this takes the buttons away.
        await refresh(body, note)
