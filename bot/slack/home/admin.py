"""What admins see and press in their Home tab. Who is one is asked again on each press."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import numpy as np
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.gaps import Gap, group_alike
from bot.maintenance import Maintenance
from bot.slack.admin.commands import AdminCommands
from bot.slack.admin.direct_report import DirectReport
from bot.slack.home.view import DRY_RUN, GAPS_SHOWN, PAUSE, RESUME, SYNC, AdminContent
from bot.slack.listening import acknowledge
from bot.slack.people import People
from bot.slack.readiness import Handbook
from bot.store import CitationStore, Statistics
from ingest import HandbookError, Vector

log = logging.getLogger(__name__)

MOST_STALE = 100
"""Answers to correct that are counted."""
GAP_DAYS = 30
GAP_QUESTIONS = 200
"""The latest questions without an answer that are grouped. The bundled encoder takes some 40 ms for
each new one on one core, so the first time may take seconds."""
PATIENCE_S = 1.0
"""How long a Home tab waits for the groups; then it is shown without, and again with them."""
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
        citations: CitationStore,
        commands: AdminCommands,
        people: People,
    ) -> None:
        self._client = client
        self._handbook = handbook
        self._maintenance = maintenance
        self._statistics = statistics
        self._citations = citations
        self._commands = commands
        self._people = people
        # By workspace.
        self._groups: dict[str, _Groups] = {}
        self._grouping: dict[str, asyncio.Task[tuple[Gap, ...]]] = {}

    def register(self, app: AsyncApp, refresh: Refresh) -> None:
        """Listen for the buttons; `refresh` shows the tab anew."""

        async def synced(body: dict[str, Any]) -> None:
            await self._sync(body, refresh)

        async def scheduled(body: dict[str, Any]) -> None:
            await self._schedule(body, refresh)

        app.action(_SYNCED)(ack=acknowledge, lazy=[synced])
        app.action(_SCHEDULED)(ack=acknowledge, lazy=[scheduled])

    async def content(self, team_id: str, note: str, *, patient: bool) -> AdminContent:
        """Return what admins of a workspace see besides, below a note.

        Args:
            team_id: Workspace.
            note: "" for none.
            patient: Wait for the groups, however long they take.
        """
        grouping = self._grouping.get(team_id)
        if grouping is None:
            grouping = asyncio.create_task(asyncio.to_thread(self._grouped, team_id))
            self._grouping[team_id] = grouping
            grouping.add_done_callback(lambda _: self._grouping.pop(team_id, None))
        await asyncio.wait({grouping}, timeout=None if patient else PATIENCE_S)
        gaps = grouping.result()[:GAPS_SHOWN] if grouping.done() else None
        return AdminContent(gaps, GAP_DAYS, note, await asyncio.to_thread(self._stale, team_id))

    def _stale(self, team_id: str) -> int:
        try:
            return len(self._citations.waiting(team_id, limit=MOST_STALE))
        except HandbookError as error:
            log.warning("answers to correct are not counted: %s", type(error).__name__)
            return 0

    def _grouped(self, team_id: str) -> tuple[Gap, ...]:
        try:
            questions = self._statistics.unanswered(
                team_id=team_id, days=GAP_DAYS, limit=GAP_QUESTIONS
            )
            groups = self._groups.setdefault(team_id, _Groups(self._handbook))
            return groups.of(questions)
        except HandbookError as error:
            log.warning("unanswered questions are not shown: %s", type(error).__name__)
            return ()

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


class _Groups:
    """The groups of one workspace; only what was not asked before is encoded."""

    def __init__(self, handbook: Handbook) -> None:
        self._handbook = handbook
        self._questions: tuple[str, ...] = ()
        self._gaps: tuple[Gap, ...] = ()
        self._vectors: dict[str, Vector] = {}

    def of(self, questions: tuple[str, ...]) -> tuple[Gap, ...]:
        """Return the groups of these questions; used by one thread at a time."""
        if questions != self._questions:
            self._gaps = group_alike(questions, self._encoded)
            self._questions = questions
        return self._gaps

    def _encoded(self, texts: Sequence[str]) -> Vector | None:
        new = [text for text in texts if text not in self._vectors]
        encoded = self._handbook.vectors(new) if new else ()
        if encoded is None:
            self._vectors = {}
            return None
        known = self._vectors | dict(zip(new, encoded, strict=True))
        self._vectors = {text: known[text] for text in texts}
        return np.stack([self._vectors[text] for text in texts])
