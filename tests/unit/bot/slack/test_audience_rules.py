"""Which audiences of pages people and channels of Slack belong to."""

from __future__ import annotations

import pytest

from bot.slack.audiences import Readers, of_channel, of_person
from ingest import PUBLIC, AudienceConfig

RULES = {
    "rh": AudienceConfig(user_groups=frozenset({"S1"}), channels=frozenset({"C1"})),
    "direction": AudienceConfig(users=frozenset({"U1"})),
    "personne": AudienceConfig(),
}


class Groups:
    def __init__(self, **members: set[str]) -> None:
        self.known = members
        self.asked: list[str] = []

    async def members(self, group_id: str) -> frozenset[str]:
        self.asked.append(group_id)
        return frozenset(self.known.get(group_id, ()))


@pytest.mark.parametrize(("channel", "extra"), [("C1", {"rh"}), ("C2", set()), ("", set())])
def test_a_channel_reads_what_it_is_listed_for(channel, extra):
    assert of_channel(RULES, channel) == PUBLIC | extra


@pytest.mark.parametrize(
    ("user", "groups", "channel", "extra"),
    [
        ("U1", set(), "C2", {"direction"}),
        ("U2", {"S1"}, "C2", {"rh"}),
        ("U2", {"S2"}, "C2", set()),
        ("U2", set(), "C1", {"rh"}),
        ("U1", {"S1"}, "C1", {"rh", "direction"}),
    ],
)
def test_a_person_reads_what_they_their_groups_and_their_channel_are_listed_for(
    user, groups, channel, extra
):
    assert of_person(RULES, user, groups, channel) == PUBLIC | extra


async def test_what_is_said_in_a_channel_does_not_depend_on_who_asks():
    readers = Readers(RULES, Groups(S1={"U1"}))

    assert await readers.among("C2", "U1") == PUBLIC
    assert await readers.among("G3", "U1") == PUBLIC
    assert await readers.among("D4", "U1") == PUBLIC | {"rh", "direction"}


async def test_nobody_is_in_a_group_that_slack_does_not_tell_of():
    assert await Readers(RULES, Groups()).alone("U2", "C2") == PUBLIC


async def test_slack_is_not_asked_when_no_group_is_listed():
    groups = Groups()

    await Readers({"direction": RULES["direction"]}, groups).alone("U1", "C2")

    assert groups.asked == []
