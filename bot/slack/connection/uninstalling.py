"""A workspace removes the app: what is kept of it goes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.connection.installations import Installations

log = logging.getLogger(__name__)

LATE_S = 120.0
"""After this long no answer that was under way writes anything more."""


class Uninstalling:
    """Listens for the end of installations.

    Args:
        forget: Deletes what is kept of a workspace, in a thread.
    """

    def __init__(self, installations: Installations, forget: Callable[[str], object]) -> None:
        self._installations = installations
        self._forget = forget

    def register(self, app: AsyncApp) -> None:
        """Listen; acknowledged once everything is gone, so that a failure comes again."""

        async def revoked(body: dict[str, Any]) -> bool:
            return bool(body["event"].get("tokens", {}).get("bot"))

        app.event("tokens_revoked", matchers=[revoked])(ack=self._remove, lazy=[self._remove_late])
        app.event("app_uninstalled")(ack=self._remove, lazy=[self._remove_late])

    async def _remove(self, body: dict[str, Any]) -> None:
        team_id = body["team_id"]
        installed_at = await self._installations.installed_at(team_id)
        if installed_at is not None and body["event_time"] < int(installed_at):
            # Word of an earlier installation's end, late: the app was installed again since.
            return
        await self._installations.remove(team_id)
        await asyncio.to_thread(self._forget, team_id)
        log.info("uninstalled: everything of the workspace is deleted", extra={"team_id": team_id})

    async def _remove_late(self, body: dict[str, Any]) -> None:
        """Delete what was written by work that was under way."""
        await asyncio.sleep(LATE_S)
        if await self._installations.installed_at(body["team_id"]) is None:
            await asyncio.to_thread(self._forget, body["team_id"])
