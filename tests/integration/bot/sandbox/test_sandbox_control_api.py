"""The control side over HTTP, from code that has no event loop."""

import json
import urllib.request

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.control_api import COMMANDS
from bot.sandbox.server import running_sandbox


def test_commands_over_http_are_methods_of_the_python_interface():
    assert [name for name in COMMANDS if not callable(getattr(Sandbox, name, None))] == []


def test_person_speaks_and_the_bot_is_told_over_http():
    with running_sandbox() as sandbox:
        state = sandbox.state()
        assert state["api_url"].startswith("http://127.0.0.1:")
        assert state["environment"]["SLACK_BOT_TOKEN"].startswith("xoxb-")
        said = sandbox("say", user="camille", channel="general", text="@Manuel <bonjour>")
        assert said["text"].endswith(" &lt;bonjour&gt;")
        sandbox("settled")
        [delivery] = sandbox("deliveries", event_type="app_mention")
        assert delivery["state"] == "lost"
        assert [m["ts"] for m in sandbox("messages", channel="general")] == [said["ts"]]
        person = sandbox("add_user", name="zoe", role="admin", locale="fr-FR")
        assert (person["role"], person["locale"]) == ("admin", "fr-FR")


def test_refusals_say_what_is_wrong():
    with running_sandbox() as sandbox:
        with pytest.raises(RuntimeError, match="nobody called 'personne'"):
            sandbox("say", user="personne", channel="general", text="x")
        with pytest.raises(RuntimeError, match="unknown command world"):
            sandbox("world")


def test_changes_are_followed_as_server_sent_events():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with running_sandbox() as sandbox:
        after = sandbox.state()["last_change"]
        said = sandbox("say", user="camille", channel="general", text="bonjour")
        with opener.open(f"{sandbox.base_url}/_sandbox/events?after={after}") as events:
            lines = [events.readline().decode().rstrip() for _ in range(3)]
    assert lines[0] == f"id: {after + 1}"
    assert lines[1] == "event: message"
    assert json.loads(lines[2].removeprefix("data: "))["ts"] == said["ts"]


def test_stand_in_listens_on_this_machine_only():
    with running_sandbox() as sandbox:
        assert sandbox.base_url.startswith("http://127.0.0.1:")
