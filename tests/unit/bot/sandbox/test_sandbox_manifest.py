"""Our manifests, and what the stand-in reads in them."""

import copy
import json
import runpy
from pathlib import Path

import pytest

from bot.sandbox.manifest import DEFAULT_PATH, EVENT_SCOPES, Manifest

DEPLOY = DEFAULT_PATH.parent
SOURCE = json.loads(DEFAULT_PATH.read_text(encoding="utf-8"))

# Limits of Slack's manifest schema.
LENGTHS = {
    ("display_information", "name"): 35,
    ("display_information", "description"): 140,
    ("display_information", "long_description"): 4000,
    ("features", "agent_view", "agent_description"): 300,
    ("features", "bot_user", "display_name"): 80,
}


def at(content: dict, path: tuple[str, ...]) -> str:
    for key in path:
        content = content[key]
    return content


def test_our_manifest_has_nothing_that_slack_would_refuse():
    assert Manifest.parse(SOURCE).problems() == []


@pytest.mark.parametrize("path", LENGTHS, ids=".".join)
def test_texts_of_our_manifest_fit_slacks_limits(path):
    assert 0 < len(at(SOURCE, path)) <= LENGTHS[path]


def test_long_description_commands_shortcuts_and_prompts_fit_slacks_limits():
    features = SOURCE["features"]
    assert len(SOURCE["display_information"]["long_description"]) >= 175
    assert len(features["agent_view"]["suggested_prompts"]) <= 4
    assert all(len(c["command"]) <= 32 for c in features["slash_commands"])
    assert all(len(s["name"]) <= 24 for s in features["shortcuts"])
    assert all(len(s["description"]) <= 150 for s in features["shortcuts"])


@pytest.mark.parametrize("kind", ["http", "oauth"])
def test_manifests_of_http_mode_are_what_the_script_makes_of_the_source(kind):
    script = runpy.run_path(str(DEPLOY / "build_manifests.py"))
    written = json.loads((DEPLOY / f"manifest.{kind}.json").read_text(encoding="utf-8"))
    assert written == script[f"{kind}_manifest"](SOURCE)


def test_manifests_of_http_mode_ask_for_urls_instead_of_sockets():
    http = Manifest.read(DEPLOY / "manifest.http.json")
    sockets = Manifest.parse(SOURCE)
    assert sockets.socket_mode
    assert not http.socket_mode
    assert (http.events, http.scopes) == (sockets.events, sockets.scopes)
    assert not http.token_rotation  # its token is copied by hand, and must last


def test_manifest_for_several_workspaces_also_asks_for_rotation_and_word_of_uninstalling():
    http = Manifest.read(DEPLOY / "manifest.http.json")
    several = Manifest.read(DEPLOY / "manifest.oauth.json")
    assert several.events - http.events == {"app_uninstalled", "tokens_revoked"}
    assert several.scopes == http.scopes
    assert several.token_rotation


def changed(**event_or_scope: list[str]) -> Manifest:
    content = copy.deepcopy(SOURCE)
    if events := event_or_scope.get("events"):
        content["settings"]["event_subscriptions"]["bot_events"] = events
    if scopes := event_or_scope.get("scopes"):
        content["oauth_config"]["scopes"] = {"bot": scopes}
    return Manifest.parse(content)


def test_event_whose_scope_is_not_asked_for_is_a_problem_and_is_not_received():
    manifest = changed(events=["app_mention"], scopes=["chat:write", "commands", "assistant:write"])
    assert manifest.problems() == ["manifest: event app_mention needs the scope app_mentions:read"]
    assert not manifest.receives("app_mention", manifest.scopes)


def test_event_that_is_not_subscribed_is_not_received():
    manifest = changed(events=["app_mention"])
    assert manifest.receives("app_mention", manifest.scopes)
    assert not manifest.receives("message.im", manifest.scopes)


def test_optional_scope_counts_only_once_granted():
    manifest = changed(events=["message.channels"])
    assert not manifest.receives("message.channels", manifest.scopes | {"im:history"})
    assert manifest.receives("message.channels", manifest.scopes | {"channels:history"})


def test_unknown_event_is_a_problem():
    assert changed(events=["app_mentions"]).problems() == ["manifest: unknown event app_mentions"]


def test_manifest_of_the_shared_samples_is_understood(shared_dir: Path):
    for path in sorted((shared_dir / "slack-payloads" / "manifest").glob("*.json")):
        manifest = Manifest.read(path)
        assert manifest.problems() == []
        assert manifest.events <= set(EVENT_SCOPES)
