"""Who somebody is in the workspace: what Slack says of them, kept for a short while."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.connection.workspaces import current_team_id
from bot.slack.wording import WORDS, Words, language_of, language_of_locale

log = logging.getLogger(__name__)

KEEP_S = 3_600.0
"""Languages and time zones change rarely."""
KEEP_ROLE_S = 60.0
"""How long somebody may still act as an admin after losing that role."""
KEEP_UNKNOWN_S = 60.0
"""How long we go without somebody whom Slack would not describe."""
PATIENCE_S = 1.5
"""Knowing somebody's language is not worth keeping them waiting."""
MOST_KEPT = 20_000
_ELSEWHERE = "elsewhere"
"""Stands for the workspace of somebody who shares no workspace with us, as Slack puts it."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in the workspace.

    Attributes:
        locale: Such as `fr-FR`; "" when unknown.
        timezone: Name in the IANA database; "" when unknown.
        is_admin: Admin or owner of the workspace.
        is_guest: Invited to some channels only.
        team_ids: Workspaces they belong to; empty when unknown.
    """

    locale: str = ""
    timezone: str = ""
    is_admin: bool = False
    is_guest: bool = False
    team_ids: frozenset[str] = frozenset()

    def is_stranger(self, team_id: str) -> bool:
        """Say whether they are known to belong to other companies only."""
        return bool(self.team_ids) and team_id not in self.team_ids


UNKNOWN = Person()


class WordsFor(Protocol):
    """Chooses the words to use with somebody; see `People.words`."""

    async def __call__(self, user_id: str, said: str = "", *, otherwise: str = "") -> Words:
        """Return the words to use with somebody who said this."""
        ...


class People:
    """Describes people; when Slack does not, they count as unknown.

    Args:
        client: With the bot token and without retry handlers.
        admins: Ids of people who count as admins whatever Slack says.
        admin_groups: Ids of user groups whose members count as admins.
        slack_roles: Whether admins and owners of a workspace run the handbook too.
        now: A clock in seconds.
    """

    def __init__(
        self,
        client: AsyncWebClient,
        *,
        admins: frozenset[str] = frozenset(),
        admin_groups: frozenset[str] = frozenset(),
        slack_roles: bool = True,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._admins = admins
        self._admin_groups = admin_groups
        self._slack_roles = slack_roles
        self._now = now
        self._known: dict[tuple[str, str], tuple[float, Person]] = {}
        self._members: dict[tuple[str, str], tuple[float, frozenset[str]]] = {}

    async def get(self, user_id: str, *, max_age_s: float = KEEP_S) -> Person:
        """Return what is known of somebody, not older than `max_age_s` seconds."""
        known_as = (current_team_id(), user_id)  # a role is one in a workspace
        found = self._known.get(known_as)
        if found is not None:
            age_s = self._now() - found[0]
            if age_s < min(max_age_s, KEEP_UNKNOWN_S if found[1] is UNKNOWN else KEEP_S):
                return found[1]
        person = await self._ask(user_id)
        self._known.pop(known_as, None)
        self._known[known_as] = (self._now(), person)
        if len(self._known) > MOST_KEPT:
            del self._known[next(iter(self._known))]
        return person

    async def words(self, user_id: str, said: str = "", *, otherwise: str = "") -> Words:
        """Return the words to use with somebody: by their locale, else by what they said.

        Args:
            user_id: Who reads.
            said: What they asked, used when their locale is not one of our languages.
            otherwise: Language that decides when neither tells.
        """
        person = await self.get(user_id)
        language = language_of_locale(person.locale)
        words = WORDS[language or language_of(said, otherwise=otherwise)]
        return replace(words, zone=_zone(person.timezone))

    async def is_admin(self, user_id: str) -> bool:
        """Say whether somebody runs the handbook; not when Slack does not tell."""
        if user_id in self._admins:
            return True
        if self._slack_roles and await self._has_role(user_id):
            return True
        groups = [await self.members(group_id) for group_id in sorted(self._admin_groups)]
        return any(user_id in members for members in groups)

    async def runs_workspace(self, user_id: str) -> bool:
        """Say whether somebody decides for this workspace; whoever runs the handbook does too."""
        return await self._has_role(user_id) or await self.is_admin(user_id)

    async def _has_role(self, user_id: str) -> bool:
        person, here = await self.get(user_id, max_age_s=KEEP_ROLE_S), current_team_id()
        # An admin of another company, in a channel shared with it, is none of ours.
        return person.is_admin and not (here and person.is_stranger(here))

    async def members(self, group_id: str) -> frozenset[str]:
        """Return who is in a user group; nobody when Slack does not tell."""
        known_as = (current_team_id(), group_id)
        found = self._members.get(known_as)
        if found is not None and self._now() - found[0] < KEEP_ROLE_S:
            return found[1]
        members: frozenset[str] = frozenset()
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await self._client.usergroups_users_list(usergroup=group_id)
            members = frozenset(answer["users"])
        except CALL_FAILED as error:
            log.warning("nobody is known of group %s: %s", group_id, type(error).__name__)
        self._members[known_as] = (self._now(), members)
        return members

    async def _ask(self, user_id: str) -> Person:
        try:
            async with asyncio.timeout(PATIENCE_S):
                answer = await self._client.users_info(user=user_id, include_locale=True)
        except CALL_FAILED as error:
            log.warning("nothing is known of %s: %s", user_id, type(error).__name__)
            return UNKNOWN
        user = answer["user"]
        return Person(
            locale=user.get("locale") or "",
            timezone=user.get("tz") or "",
            is_admin=bool(user.get("is_admin") or user.get("is_owner")),
            is_guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
            team_ids=_teams(user),
        )


def _teams(user: dict[str, Any]) -> frozenset[str]:
    if user.get("is_stranger"):
        return frozenset({_ELSEWHERE})
    ours = (user.get("enterprise_user") or {}).get("teams") or ()
    return frozenset(filter(None, (user.get("team_id"), *ours)))


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
