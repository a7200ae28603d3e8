"""Whom the bot answers: members of the workspace; others only where the settings say so."""

from __future__ import annotations

import asyncio
import logging

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.channel_settings import ChannelPolicy
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.connection.workspaces import current_team_id
from bot.slack.people import People
from bot.slack.wording import Words
from bot.store import WhoMayAsk

log = logging.getLogger(__name__)

PATIENCE_S = 1.5


class Admission:
    """Decides who is answered, and where.

    Somebody whom Slack does not describe right now counts as a member: what is answered is what
    everybody in the company may read, and Slack itself keeps guests away from agents.

    Args:
        people: Describes people.
        client: With the bot token and without retry handlers.
        guests: Answer people who were invited to some channels only.
        shared_channels: Answer in conversations shared with other companies, and their people.
        channels: What admins chose for single channels, which goes before the two.
    """

    def __init__(
        self,
        people: People,
        client: AsyncWebClient,
        channels: ChannelPolicy,
        *,
        guests: bool = False,
        shared_channels: bool = False,
    ) -> None:
        self._people = people
        self._client = client
        self._channels = channels
        self._guests = guests
        self._shared_channels = shared_channels

    async def refusal(
        self,
        user_id: str,
        team_id: str,
        words: Words,
        *,
        channel_id: str = "",
        in_shared_channel: bool = False,
    ) -> str:
        """Return why somebody is not answered, "" when they are.

        Args:
            user_id: Who asks.
            team_id: Workspace that has the app; where one was entered (see `workspaces`) that is
                it: a press in a shared channel may name the other company's.
            words: Of whoever asks.
            channel_id: Where they ask; "" where no channel's settings hold.
            in_shared_channel: Others than members would see the answer.

        Raises:
            JobStoreError: If the settings of the channel cannot be read now.
        """
        team_id = current_team_id() or team_id
        who = (await self._channels.of(team_id, channel_id)).who
        if who is WhoMayAsk.EVERYONE:
            return ""
        if in_shared_channel and not self._shared_channels:
            return words.not_in_shared_channels
        if who is WhoMayAsk.ADMINS:
            return "" if await self._people.runs_workspace(user_id) else words.channel_admins_only
        person, house = await self._people.get(user_id), who is WhoMayAsk.HOUSE
        if person.is_guest and not (house and self._guests):
            return words.not_for_guests
        if person.is_stranger(team_id) and not (house and self._shared_channels):
            return words.not_for_guests
        return ""

    async def refusal_to_share(self, channel_id: str, words: Words) -> str:
        """Return why nothing is posted there for everybody, "" when it may be."""
        if self._shared_channels or not await self._is_shared(channel_id):
            return ""
        return words.not_in_shared_channels

    async def _is_shared(self, channel_id: str) -> bool:
        """Say whether people of another company are in a channel; no where we cannot see that."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await self._client.conversations_info(channel=channel_id)
        except CALL_FAILED as error:
            log.warning("nothing is known of %s: %s", channel_id, type(error).__name__)
            return False
        return bool(answer["channel"].get("is_ext_shared"))
