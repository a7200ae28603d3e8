"""What a company has chosen about being asked in Slack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from bot.settings import BotSettings
from ingest import AudienceConfig, load_config


@dataclass(frozen=True, slots=True)
class HouseRules:
    """The choices.

    Attributes:
        owners_channel: Where questions to humans go; "": there is nobody to ask.
        stale_after_days: Age from which a page is said to be old; 0: never.
        allow_guests: Answer people who were invited to some channels only.
        allow_shared_channels: Answer where people of another company are, and those people.
        audiences: Who in Slack belongs to which audience of pages.
        stream_answers: Show answers while a model writes them.
        freshness_days: How far back answers are compared with the handbook; 0: not at all.
    """

    owners_channel: str = ""
    stale_after_days: int = 0
    allow_guests: bool = False
    allow_shared_channels: bool = False
    audiences: Mapping[str, AudienceConfig] = field(default_factory=dict)
    stream_answers: bool = False
    freshness_days: int = 0

    @classmethod
    def of(cls, settings: BotSettings) -> Self:
        """Return those of the settings and of handbook.toml.

        Raises:
            ConfigurationError: If handbook.toml is wrong.
        """
        return cls(
            owners_channel=settings.owners_channel,
            stale_after_days=settings.stale_after_days,
            allow_guests=settings.allow_guests,
            allow_shared_channels=settings.allow_shared_channels,
            audiences=load_config(settings).audiences,
            # Quotes come at once, and whole.
            stream_answers=settings.stream_answers and bool(settings.answer_model),
            freshness_days=settings.freshness_days,
        )
