"""Writes deploy/manifest.http.json from deploy/manifest.socket-mode.json, the one source.

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
EXAMPLE_HOST = "https://manuel.example.com"
INSTALLATION_EVENTS = ["app_uninstalled", "tokens_revoked"]


def http_manifest(source: dict[str, Any], host: str = EXAMPLE_HOST) -> dict[str, Any]:
    """Return the manifest of HTTP mode: request URLs, OAuth and token rotation instead of sockets.

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
    settings["event_subscriptions"]["bot_events"] += INSTALLATION_EVENTS
    settings["interactivity"]["request_url"] = url
    settings["socket_mode_enabled"] = False
    settings["token_rotation_enabled"] = True
    manifest["oauth_config"]["redirect_urls"] = [f"{host}/slack/oauth_redirect"]
    return manifest


def main() -> None:
    """Write the HTTP manifest beside its source."""
    source = json.loads(SOURCE.read_text(encoding="utf-8"))
    manifest = http_manifest(source, *sys.argv[1:2])
    HTTP.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
