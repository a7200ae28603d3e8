"""What the app may do and hear, read from its own Slack manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NAME = "manifest.socket-mode.json"
_CHECKOUT = Path(__file__).resolve().parents[2] / "deploy" / _NAME
DEFAULT_PATH = _CHECKOUT if _CHECKOUT.is_file() else Path(__file__).with_name("deploy") / _NAME
"""The app's own manifest: of the checkout, or the copy in an installed package."""

EVENT_SCOPES: Mapping[str, str | None] = {
    "agent_session_stopped": "assistant:write",
    "agent_session_title_changed": "assistant:write",
    "app_context_changed": "assistant:write",
    "app_home_opened": None,
    "app_mention": "app_mentions:read",
    "app_uninstalled": None,
    "member_joined_channel": "channels:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
    "reaction_added": "reactions:read",
    "tokens_revoked": None,
}
"""Scope that each event subscription needs; None: none. Source: the event reference pages."""

AGENT_EVENTS = frozenset(
    {"agent_session_stopped", "agent_session_title_changed", "app_context_changed"}
)
"""Events that only an app with `features.agent_view` receives."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts of an app manifest that decide what Slack sends and accepts."""

    name: str
    bot_name: str
    scopes: frozenset[str]
    optional_scopes: frozenset[str]
    events: frozenset[str]
    commands: Mapping[str, Mapping[str, Any]]
    shortcuts: Mapping[str, str]
    """`message` or `global`, by callback id."""
    is_agent: bool
    home_tab: bool
    messages_tab: bool
    socket_mode: bool
    token_rotation: bool
    description: str = ""
    shortcut_names: Mapping[str, str] = field(default_factory=dict)
    """What menus call a shortcut, by callback id."""
    prompts: tuple[Mapping[str, Any], ...] = ()
    """Suggested prompts of the agent view: `title` and `message`."""

    @classmethod
    def read(cls, path: Path = DEFAULT_PATH) -> Manifest:
        """Read a manifest file."""
        return cls.parse(json.loads(path.read_text(encoding="utf-8")))

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> Manifest:
        """Read a manifest already loaded from JSON."""
        features = content.get("features", {})
        settings = content.get("settings", {})
        scopes = content.get("oauth_config", {}).get("scopes", {})
        home = features.get("app_home", {})
        return cls(
            name=content["display_information"]["name"],
            bot_name=features["bot_user"]["display_name"],
            scopes=frozenset(scopes.get("bot", ())),
            optional_scopes=frozenset(scopes.get("bot_optional", ())),
            events=frozenset(settings.get("event_subscriptions", {}).get("bot_events", ())),
            commands={c["command"]: c for c in features.get("slash_commands", ())},
            shortcuts={s["callback_id"]: s["type"] for s in features.get("shortcuts", ())},
            is_agent="agent_view" in features,
            home_tab=bool(home.get("home_tab_enabled")),
            messages_tab=bool(home.get("messages_tab_enabled")),
            socket_mode=bool(settings.get("socket_mode_enabled")),
            token_rotation=bool(settings.get("token_rotation_enabled")),
            description=content["display_information"].get("description", ""),
            shortcut_names={s["callback_id"]: s["name"] for s in features.get("shortcuts", ())},
            prompts=tuple(features.get("agent_view", {}).get("suggested_prompts", ())),
        )

    def receives(self, subscription: str, granted: frozenset[str]) -> bool:
        """Say whether Slack would send this event to the app with these granted scopes."""
        if subscription not in self.events:
            return False
        if subscription in AGENT_EVENTS and not self.is_agent:
            return False
        scope = EVENT_SCOPES[subscription]
        return scope is None or scope in granted

    def problems(self) -> list[str]:
        """Return what Slack would refuse or never honour in this manifest, in words."""
        asked = self.scopes | self.optional_scopes
        found = []
        for event in sorted(self.events):
            if event not in EVENT_SCOPES:
                found.append(f"manifest: unknown event {event}")
            elif (scope := EVENT_SCOPES[event]) and scope not in asked:
                found.append(f"manifest: event {event} needs the scope {scope}")
            elif event in AGENT_EVENTS and not self.is_agent:
                found.append(f"manifest: event {event} needs features.agent_view")
        if self.commands and "commands" not in asked:
            found.append("manifest: slash commands need the scope commands")
        if self.shortcuts and "commands" not in asked:
            found.append("manifest: shortcuts need the scope commands")
        if self.is_agent and "assistant:write" not in asked:
            found.append("manifest: agent_view needs the scope assistant:write")
        return found
