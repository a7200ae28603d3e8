"""Who may read which pages in Slack: the audiences of handbook.toml, by people and by channels."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Protocol

from ingest import PUBLIC, AudienceConfig, Audiences

_DIRECT = "D"


class Groups(Protocol):
    """Knows who is in a user group; `People` in production."""

    async def members(self, group_id: str) -> frozenset[str]:
        """Return the ids of its people; none when Slack does not tell."""
        ...


def of_channel(rules: Mapping[str, AudienceConfig], channel_id: str) -> Audiences:
    """Return what everybody in a channel may read."""
    return PUBLIC | {name for name, rule in rules.items() if channel_id in rule.channels}


def of_person(
    rules: Mapping[str, AudienceConfig], user_id: str, groups: Set[str], channel_id: str
) -> Audiences:
    """Return what a person may read.

    Args:
        rules: By audience.
        user_id: The person.
        groups: Ids of the user groups they are in.
        channel_id: Where they are: what everybody there may read, they may read.
    """
    own = {
        name for name, rule in rules.items() if user_id in rule.users or rule.user_groups & groups
    }
    return of_channel(rules, channel_id) | own


class Readers:
    """Tells what may be shown to whom.

    Args:
        rules: By audience; a page limited to an audience without a rule is shown to nobody.
        groups: Who is in the user groups.
    """

    def __init__(self, rules: Mapping[str, AudienceConfig], groups: Groups) -> None:
        self._rules = rules
        self._groups = groups

    async def alone(self, user_id: str, channel_id: str) -> Audiences:
        """Return what one person may read of an answer that only they see."""
        return of_person(self._rules, user_id, await self._groups_of(user_id), channel_id)

    async def among(self, channel_id: str, user_id: str) -> Audiences:
        """Return what may be said in a conversation: in a channel, what everybody there may read.

        Args:
            channel_id: The conversation.
            user_id: Who talks to us there; in a direct message nobody else is.
        """
        if channel_id.startswith(_DIRECT):
            return await self.alone(user_id, channel_id)
        return of_channel(self._rules, channel_id)

    def everybody(self, channel_id: str) -> Audiences:
        """Return what may be posted by a person's own command: what everybody there may read.

        A command also works where we are not, such as the direct message of two colleagues: their
        conversation looks like the one with us, and is read by both.
        """
        return of_channel(self._rules, channel_id)

    async def _groups_of(self, user_id: str) -> frozenset[str]:
        named = sorted({group for rule in self._rules.values() for group in rule.user_groups})
        return frozenset([group for group in named if user_id in await self._groups.members(group)])
