"""What admins have chosen for single channels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import Engine, delete, insert, select

from bot.store.tables import channel_settings
from bot.store.transactions import transaction


class WhoMayAsk(StrEnum):
    """Whom the bot answers in a channel."""

    HOUSE = "house"
    """As the settings of the app say."""
    EVERYONE = "everyone"
    """Guests and people of other companies too."""
    MEMBERS = "members"
    ADMINS = "admins"


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The choices for one channel; those of a channel without any are the defaults.

    Attributes:
        sources: Names of the sources to look into; None: all of them.
        language: Of the bot's own words, `fr` or `en`; "": that of whoever reads.
        private: Whether mentions are answered in a direct message.
    """

    sources: tuple[str, ...] | None = None
    language: str = ""
    private: bool = False
    who: WhoMayAsk = WhoMayAsk.HOUSE


DEFAULTS = ChannelSettings()


class ChannelSettingsStore:
    """Keeps the choices; safe to share between threads.

    Every method raises `JobStoreError` when the database cannot be used now.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, team_id: str, channel_id: str) -> ChannelSettings:
        """Return the choices for a channel."""
        table = channel_settings.c
        statement = select(channel_settings).where(
            table.team_id == team_id, table.channel_id == channel_id
        )
        with transaction(self._engine, reads=True) as connection:
            row = connection.execute(statement).one_or_none()
        if row is None:
            return DEFAULTS
        sources = None if row.sources is None else tuple(json.loads(row.sources))
        return ChannelSettings(sources, row.language, row.private, WhoMayAsk(row.who))

    def put(self, team_id: str, channel_id: str, chosen: ChannelSettings) -> None:
        """Keep the choices for a channel, instead of those before."""
        table = channel_settings.c
        same = (table.team_id == team_id, table.channel_id == channel_id)
        values = {
            "team_id": team_id,
            "channel_id": channel_id,
            "sources": None if chosen.sources is None else json.dumps(chosen.sources),
            "language": chosen.language,
            "private": chosen.private,
            "who": chosen.who.value,
        }
        with transaction(self._engine) as connection:
            connection.execute(delete(channel_settings).where(*same))
            if chosen != DEFAULTS:
                connection.execute(insert(channel_settings).values(values))
