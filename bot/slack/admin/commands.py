"""`/handbook reindex`, `/handbook status` and `/handbook schedule`, for admins alone.

Who is an admin is asked again on each command and each press, of the person who did it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.maintenance import Maintenance
from bot.slack.admin.direct_report import Address, DirectReport
from bot.slack.admin.sync_reports import (
    CONFIRM,
    removals_digest,
    render_progress,
    render_reports,
    render_schedule,
    render_state,
)
from bot.slack.listening import acknowledge
from bot.slack.people import People
from bot.slack.rendering import Message, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from ingest import HandbookError, IngestReport, LeaseHeldError, ProgressEvent

log = logging.getLogger(__name__)

PROGRESS_AFTER_S = (15.0, 120.0)
"""When a running sync tells how far it is: a response address takes five posts, no more."""

EXAMPLE_CRON = "0 6 * * 1-5"

# Some keyboards turn two hyphens into a dash.
_QUOTES = "\"'`«»“”‘’„ \t\n"
_DRY_RUN = re.compile(r"(?:--|–|—)dry-run\b")


class AdminCommands:
    """Syncs and describes the index for admins.

    Args:
        client: With the bot token; used when a response address has run out.
    """

    def __init__(self, maintenance: Maintenance, people: People, client: AsyncWebClient) -> None:
        self._maintenance = maintenance
        self._people = people
        self._client = client

    def register(self, app: AsyncApp) -> None:
        """Listen for the button that confirms removals."""
        app.action(CONFIRM)(ack=acknowledge, lazy=[self._confirmed])

    async def status(self, user_id: str, words: Words) -> Message:
        """Return the state of the index, or a refusal."""
        if not await self._people.is_admin(user_id):
            return render_notice(words.admins_only)
        try:
            return render_state(await asyncio.to_thread(self._maintenance.state), words)
        except HandbookError as error:
            log.error("the state of the index is unknown: %s", error)
            return render_notice(words.outage)

    async def schedule(self, user_id: str, typed: str, words: Words) -> Message:
        """Show when syncs run, or change that.

        Args:
            user_id: Who typed it.
            typed: Nothing, `pause`, `resume`, `default`, or a crontab expression, quoted or not.
            words: To answer with.
        """
        if not await self._people.is_admin(user_id):
            return render_notice(words.admins_only)
        wanted = typed.strip(_QUOTES)
        change = {
            "": None,
            "pause": self._maintenance.pause,
            "resume": self._maintenance.resume,
            "default": partial(self._maintenance.reschedule, None),
        }.get(wanted.lower(), partial(self._maintenance.reschedule, wanted))
        try:
            if change is not None:
                await asyncio.to_thread(change)
                log.info("schedule changed", extra={"user_id": user_id})
            state = await asyncio.to_thread(self._maintenance.state)
        except ValueError:
            return render_notice(words.schedule_wrong.format(example=EXAMPLE_CRON))
        except HandbookError as error:
            log.error("the schedule was not changed: %s", error)
            return render_notice(words.schedule_failed)
        return render_schedule(state, words)

    async def reindex(self, user_id: str, typed: str, address: ReplyAddress, words: Words) -> None:
        """Sync one source or all, telling the person how far it is and how it ended.

        Args:
            user_id: Who typed it.
            typed: `[source] [--dry-run]`.
            address: Where they are told.
            words: To tell it with.
        """
        if not await self._people.is_admin(user_id):
            await address.show(render_notice(words.admins_only))
            return
        dry_run = _DRY_RUN.search(typed) is not None
        source = " ".join(_DRY_RUN.sub(" ", typed).split())
        # Only configured sources: a `folder:…` would let an admin of Slack read the machine.
        known = await asyncio.to_thread(self._sources)
        if known is None:
            await address.show(render_notice(words.sync_failed))
        elif source and source not in known:
            await address.show(render_notice(words.unknown_source.format(names=", ".join(known))))
        else:
            chosen = [source] if source else []
            await self.sync(user_id, chosen, address, words, dry_run=dry_run)

    async def _confirmed(self, body: dict[str, Any]) -> None:
        user_id, address = body["user"]["id"], ReplyAddress.of(body)
        words = await self._people.words(user_id)
        if not await self._people.is_admin(user_id):
            await address.show(render_notice(words.admins_only))
            return
        await address.remove_original()
        chosen = json.loads(body["actions"][0]["value"])
        sources = [chosen["source"]]
        try:
            looked_at = await asyncio.to_thread(
                self._maintenance.sync, sources, dry_run=True, progress=lambda _: None
            )
        except HandbookError as error:
            log.error("removals were not confirmed: %s", error)
            await self._tell(user_id, address, render_notice(words.sync_failed))
            return
        # What was confirmed is the list that was shown; another one must be shown first.
        same = [removals_digest(report) for report in looked_at] == [chosen["digest"]]
        log.info("removals confirmed", extra={"user_id": user_id, "source": chosen["source"]})
        await self.sync(user_id, sources, address, words, allow_removals=same)

    async def sync(
        self,
        user_id: str,
        sources: Sequence[str],
        address: Address,
        words: Words,
        *,
        dry_run: bool = False,
        allow_removals: bool = False,
    ) -> None:
        """Sync sources for an admin, telling them how far it is and how it ended.

        Args:
            user_id: Who asked for it; that they may is checked before.
            sources: Names of configured sources; none: all of them.
            address: Where they are told.
            words: To tell it with.
            dry_run: Change nothing.
            allow_removals: Let go of many pages, whose list the admin has seen.
        """
        latest: dict[tuple[str, str], ProgressEvent] = {}

        def note(event: ProgressEvent) -> None:
            latest[event.source, event.stage.value] = event

        running = asyncio.create_task(
            asyncio.to_thread(
                self._maintenance.sync,
                sources,
                dry_run=dry_run,
                allow_removals=allow_removals,
                progress=note,
            )
        )
        log.info("sync asked for in Slack", extra={"user_id": user_id, "dry_run": dry_run})
        for pause_s in PROGRESS_AFTER_S:
            await asyncio.wait({running}, timeout=pause_s)
            if running.done():
                break
            await address.show(render_progress(tuple(latest.values()), words))
        await self._tell(user_id, address, await self._end(running, words))

    async def _end(self, running: asyncio.Task[list[IngestReport]], words: Words) -> Message:
        try:
            return render_reports(await running, words)
        except LeaseHeldError as error:
            log.info("a sync was refused: %s", error)
            return render_notice(words.sync_busy)
        except HandbookError as error:
            log.error("a sync failed: %s", error)
            return render_notice(words.sync_failed)

    async def _tell(self, user_id: str, address: Address, message: Message) -> None:
        """Show a message, in a direct message when the address has run out."""
        if not await address.show(message):
            await DirectReport(self._client, user_id).show(message)

    def _sources(self) -> tuple[str, ...] | None:
        try:
            return self._maintenance.sources()
        except HandbookError as error:
            log.error("the sources are unknown: %s", error)
            return None
