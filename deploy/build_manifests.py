"""Writes the manifests of HTTP mode from deploy/manifest.socket-mode.json, the one source.

Run it after each change of the source: `python deploy/build_manifests.py [https://your.host]`.
"""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("manifest.socket-mode.json")
HTTP = Path(__file__).with_name("manifest.http.json")
OAUTH = Path(__file__).with_name("manifest.oauth.json")
EXAMPLE_HOST = "https://manuel.example.com"
INSTALLATION_EVENTS = ["app_uninstalled", "tokens_revoked"]


def http_manifest(source: dict[str, Any], host: str = EXAMPLE_HOST) -> dict[str, Any]:
    """Return the manifest of HTTP mode in one workspace: request URLs instead of sockets.

    Args:
        source: The Socket Mode manifest; left as it is.
        host: Scheme and host under which Slack reaches the app.
    """
    manifest = copy.deepcopy(source)
    url = f"{host}/slack/events"
    for command in manifest["features"]["slash_commands"]:
        command["url"] = url
    settings = manifest["settings"]
    settings["event_subscriptions"]["request_url"] = url
    settings["interactivity"]["request_url"] = url
    settings["socket_mode_enabled"] = False
    return manifest


def oauth_manifest(source: dict[str, Any], host: str = EXAMPLE_HOST) -> dict[str, Any]:
    """Return the manifest of HTTP mode in several workspaces: also OAuth and token rotation."""
    manifest = http_manifest(source, host)
    settings = manifest["settings"]
    settings["event_subscriptions"]["bot_events"] += INSTALLATION_EVENTS
    settings["token_rotation_enabled"] = True
    manifest["oauth_config"]["redirect_urls"] = [f"{host}/slack/oauth_redirect"]
    return manifest


def main() -> None:
    """Write both beside their source."""
    source = json.loads(SOURCE.read_text(encoding="utf-8"))
    host = sys.argv[1:2]
    for path, make in ((HTTP, http_manifest), (OAUTH, oauth_manifest)):
        written = json.dumps(make(source, *host), ensure_ascii=False, indent=2)
        path.write_text(f"{written}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
