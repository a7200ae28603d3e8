"""The modal of a channel keeps to Slack's limits, and gives back what was chosen."""

from __future__ import annotations

from typing import Any

import pytest

from bot.sandbox.blocks import view_problems
from bot.slack.admin.channel_modal import SOURCES_LIMIT, channel_modal, chosen_settings
from bot.slack.wording import ENGLISH, FRENCH, Words
from bot.store import ChannelSettings, WhoMayAsk

CHOSEN = ChannelSettings(("rh", "vie"), "en", True, WhoMayAsk.ADMINS)


def submitted(view: dict[str, Any]) -> dict[str, Any]:
    """The state of a modal that somebody sends as it is."""
    values: dict[str, Any] = {}
    for block in view["blocks"]:
        name, element = block["block_id"], block["element"]
        if element["type"] == "radio_buttons":
            values[name] = {name: {"selected_option": element["initial_option"]}}
        else:
            values[name] = {name: {"selected_options": element.get("initial_options", [])}}
    return values


@pytest.mark.parametrize("words", [FRENCH, ENGLISH])
@pytest.mark.parametrize("count", [0, 1, 100, 101, 500])
def test_any_number_of_sources_fits(words: Words, count: int) -> None:
    sources = [f"{n} " + "x" * 400 for n in range(count)]
    view = channel_modal(ChannelSettings(tuple(sources) or None), sources, words, metadata="{}")

    assert view_problems(view) == []


@pytest.mark.parametrize("settings", [ChannelSettings(), CHOSEN])
def test_sending_it_as_it_is_changes_nothing(settings: ChannelSettings) -> None:
    sources = ["rh", "it", "vie"]
    view = channel_modal(settings, sources, FRENCH, metadata="{}")

    assert chosen_settings(submitted(view), sources, settings) == settings


def test_chosen_sources_that_there_was_no_room_for_stay_chosen() -> None:
    sources = [f"s{n:03}" for n in range(SOURCES_LIMIT + 5)]
    settings = ChannelSettings(("s001", "s103"))
    view = channel_modal(settings, sources, FRENCH, metadata="{}")

    assert chosen_settings(submitted(view), sources, settings) == settings


def test_a_source_that_is_configured_no_more_is_forgotten() -> None:
    before = ChannelSettings(("gone", "rh"))
    view = channel_modal(before, ["rh"], FRENCH, metadata="{}")

    assert chosen_settings(submitted(view), ["rh"], before).sources == ("rh",)


def test_a_value_that_was_not_offered_counts_for_nothing() -> None:
    values = {"sources": {"sources": {"selected_options": [{"value": "forged"}]}}}

    assert chosen_settings(values, ["rh"], ChannelSettings()) == ChannelSettings()
