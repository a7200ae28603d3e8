"""The modal in which admins choose what holds in a channel. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.slack.mrkdwn import clean, shortened
from bot.slack.rendering import Block
from bot.slack.wording import Words
from bot.store import ChannelSettings, WhoMayAsk

SAVED = "channel_settings"
SOURCES, LANGUAGE, ANSWERS, WHO = "sources", "language", "answers", "who"
SOURCES_LIMIT = 100
"""Options of a select. Source: Slack's Block Kit reference, as for the next."""
_OPTION_LIMIT = 75
_READER = "reader"
_HERE, _PRIVATELY = "here", "privately"


def channel_modal(
    settings: ChannelSettings, sources: Sequence[str], words: Words, *, metadata: str
) -> Block:
    """Return the modal, with what is chosen now.

    Args:
        settings: Those of the channel.
        sources: Names of the configured ones, of which at most `SOURCES_LIMIT` are offered.
        words: Of whoever chooses.
        metadata: Comes back with the choices.
    """
    languages = (
        (_READER, words.channel_language_reader),
        ("fr", words.channel_language_fr),
        ("en", words.channel_language_en),
    )
    answers = ((_HERE, words.channel_answers_here), (_PRIVATELY, words.channel_answers_privately))
    who = (
        (WhoMayAsk.HOUSE.value, words.channel_who_house),
        (WhoMayAsk.EVERYONE.value, words.channel_who_everyone),
        (WhoMayAsk.MEMBERS.value, words.channel_who_members),
        (WhoMayAsk.ADMINS.value, words.channel_who_admins),
    )
    blocks = [
        _radio(LANGUAGE, words.channel_language, languages, settings.language or _READER),
        _radio(ANSWERS, words.channel_answers, answers, _PRIVATELY if settings.private else _HERE),
        _radio(WHO, words.channel_who, who, settings.who.value),
    ]
    if sources:
        blocks.insert(0, _sources(settings, sources[:SOURCES_LIMIT], words))
    return {
        "type": "modal",
        "callback_id": SAVED,
        "private_metadata": metadata,
        "title": _plain(words.channel_title),
        "submit": _plain(words.send),
        "close": _plain(words.cancel),
        "blocks": blocks,
    }


def chosen_settings(
    values: Mapping[str, Any], sources: Iterable[str], before: ChannelSettings
) -> ChannelSettings:
    """Return what was chosen.

    Args:
        values: `state.values` of the submitted modal.
        sources: Names of the sources configured now.
        before: What held; of sources that there was no room to offer, those chosen stay.
    """
    configured = tuple(sources)
    offered = {_key(source): source for source in configured[:SOURCES_LIMIT]}
    picked = values.get(SOURCES, {}).get(SOURCES, {}).get("selected_options") or []
    names = [offered[option["value"]] for option in picked if option["value"] in offered]
    hidden = [name for name in before.sources or () if name in configured[SOURCES_LIMIT:]]
    language = _selected(values, LANGUAGE, _READER)
    return ChannelSettings(
        sources=tuple([*names, *hidden]) or None,
        language="" if language == _READER else language,
        private=_selected(values, ANSWERS, _HERE) == _PRIVATELY,
        who=WhoMayAsk(_selected(values, WHO, WhoMayAsk.HOUSE.value)),
    )


def _sources(settings: ChannelSettings, sources: Sequence[str], words: Words) -> Block:
    options = [_option(_key(source), source) for source in sources]
    chosen = [_option(_key(s), s) for s in sources if s in (settings.sources or ())]
    element: Block = {
        "type": "multi_static_select",
        "action_id": SOURCES,
        "placeholder": _plain(words.channel_all_sources),
        "options": options,
    }
    # Slack refuses an empty list here.
    element |= {"initial_options": chosen} if chosen else {}
    return _input(SOURCES, words.channel_sources, element) | {"optional": True}


def _radio(action_id: str, label: str, options: Iterable[tuple[str, str]], chosen: str) -> Block:
    offered = [_option(value, text) for value, text in options]
    initial = next((option for option in offered if option["value"] == chosen), offered[0])
    element: Block = {
        "type": "radio_buttons",
        "action_id": action_id,
        "options": offered,
        "initial_option": initial,
    }
    return _input(action_id, label, element)


def _input(block_id: str, label: str, element: Block) -> Block:
    return {"type": "input", "block_id": block_id, "label": _plain(label), "element": element}


def _option(value: str, text: str) -> Block:
    label = shortened(" ".join(clean(text).split()), _OPTION_LIMIT) or "?"
    return {"text": _plain(label), "value": value}


def _key(source: str) -> str:
    """Return what stands for a source: its name may be longer than a value may be."""
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:32]


def _selected(values: Mapping[str, Any], name: str, otherwise: str) -> str:
    option = values.get(name, {}).get(name, {}).get("selected_option") or {}
    return str(option.get("value") or otherwise)


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": True}
