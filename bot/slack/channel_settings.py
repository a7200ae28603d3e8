"""What holds in one channel, as its admins chose."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bot.slack.wording import WORDS, Language, Words
from bot.store import ChannelSettings, ChannelSettingsStore

_DIRECT = "D"
DEFAULTS = ChannelSettings()
_SPOKEN: dict[str, Language] = {"fr": "fr", "en": "en"}


class ChannelPolicy:
    """Tells what holds where something is asked. Direct messages have no settings."""

    def __init__(self, store: ChannelSettingsStore) -> None:
        self._store = store

    async def of(self, team_id: str, channel_id: str) -> ChannelSettings:
        """Return what was chosen for a channel.

        Raises:
            JobStoreError: If the database cannot be used now.
        """
        if not channel_id or channel_id.startswith(_DIRECT):
            return DEFAULTS
        return await asyncio.to_thread(self._store.get, team_id, channel_id)


def spoken_in(settings: ChannelSettings, words: Words) -> Words:
    """Return the words to use in a channel: those of whoever reads, unless it has a language."""
    language = _SPOKEN.get(settings.language)
    return replace(WORDS[language], zone=words.zone) if language else words
