"""`/handbook channel`: admins choose in a modal what holds in the channel they are in."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.maintenance import Maintenance
from bot.slack.admin.channel_modal import SAVED, channel_modal, chosen_settings
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.listening import acknowledge
from bot.slack.people import People
from bot.slack.rendering import Message, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from bot.store import ChannelSettingsStore
from ingest import HandbookError

log = logging.getLogger(__name__)


class ChannelCommand:
    """Opens the modal and keeps what is chosen in it.

    Args:
        client: With the bot token; opens modals.
    """

    def __init__(
        self,
        store: ChannelSettingsStore,
        maintenance: Maintenance,
        people: People,
        client: AsyncWebClient,
    ) -> None:
        self._store = store
        self._maintenance = maintenance
        self._people = people
        self._client = client

    def register(self, app: AsyncApp) -> None:
        """Listen for the modal."""
        app.view(SAVED)(ack=acknowledge, lazy=[self._saved])

    async def open(self, command: dict[str, Any], words: Words) -> Message | None:
        """Open the modal for whoever typed the command; returns why not, None when it is open."""
        if not await self._people.runs_workspace(command["user_id"]):
            return render_notice(words.admins_only)
        channel_id = command["channel_id"]
        if channel_id.startswith("D"):
            return render_notice(words.channel_not_here)
        try:
            team_id = command["team_id"]
            settings = await asyncio.to_thread(self._store.get, team_id, channel_id)
            sources = await asyncio.to_thread(self._maintenance.sources_of, team_id)
            about = {"channel": channel_id, "response_url": command["response_url"]}
            view = channel_modal(settings, sources, words, metadata=json.dumps(about))
            await self._client.views_open(trigger_id=command["trigger_id"], view=view)
        except (HandbookError, *CALL_FAILED) as error:
            log.error("the settings of a channel were not shown: %s", type(error).__name__)
            return render_notice(words.channel_failed)
        return None

    async def _saved(self, body: dict[str, Any]) -> None:
        user_id, team_id, view = body["user"]["id"], body["team"]["id"], body["view"]
        about = json.loads(view["private_metadata"])
        words = await self._people.words(user_id)
        address = ReplyAddress(about["response_url"])
        if not await self._people.runs_workspace(user_id):
            await address.show(render_notice(words.admins_only))
            return
        try:
            sources = await asyncio.to_thread(self._maintenance.sources_of, team_id)
            before = await asyncio.to_thread(self._store.get, team_id, about["channel"])
            chosen = chosen_settings(view["state"]["values"], sources, before)
            await asyncio.to_thread(self._store.put, team_id, about["channel"], chosen)
        except HandbookError as error:
            log.error("the settings of a channel were not kept: %s", error)
            await address.show(render_notice(words.channel_failed))
            return
        log.info("channel set up", extra={"user_id": user_id, "channel_id": about["channel"]})
        await address.show(render_notice(words.channel_saved))
