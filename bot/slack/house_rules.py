"""What a company has chosen about being asked in Slack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from bot.settings import BotSettings


@dataclass(frozen=True, slots=True)
class HouseRules:
    """The choices.

    Attributes:
        owners_channel: Where questions to humans go; "": there is nobody to ask.
        stale_after_days: Age from which a page is said to be old; 0: never.
        allow_guests: Answer people who were invited to some channels only.
        allow_shared_channels: Answer where people of another company are, and those people.
    """

    owners_channel: str = ""
    stale_after_days: int = 0
    allow_guests: bool = False
    allow_shared_channels: bool = False

    @classmethod
    def of(cls, settings: BotSettings) -> Self:
        """Return those of the settings."""
        return cls(
            owners_channel=settings.owners_channel,
            stale_after_days=settings.stale_after_days,
            allow_guests=settings.allow_guests,
            allow_shared_channels=settings.allow_shared_channels,
        )
