"""The doctor's questions to Slack, asked of the stand-in over real HTTP."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bot.sandbox.server import SandboxServer
from bot.settings import BotSettings
from bot.slack.connection.diagnosis import Finding, diagnose
from bot.slack.connection.scopes import REQUIRED_SCOPES

ROOT = Path(__file__).resolve().parents[5]


async def examine(**wrong: str | None) -> list[Finding]:
    async with SandboxServer() as sandbox:
        tokens = {
            "slack_bot_token": sandbox.workspace().bot_token,
            "slack_app_token": sandbox.world.app_token,
        }
        settings = BotSettings(slack_api_url=sandbox.api_url, **{**tokens, **wrong})
        return await asyncio.to_thread(lambda: list(diagnose(settings)))


async def test_good_tokens_are_ok():
    assert [found.ok for found in await examine()] == [True, True]


@pytest.mark.parametrize(
    ("wrong", "position"), [("slack_bot_token", 0), ("slack_app_token", 1)], ids=["bot", "app"]
)
async def test_a_refused_token_is_named_with_what_to_do(wrong, position):
    found = (await examine(**{wrong: "xoxb-wrong"}))[position]
    assert not found.ok
    assert wrong.upper() in found.remedy
    assert "xoxb-wrong" not in found.detail + found.remedy


async def test_http_mode_needs_a_signing_secret_instead_of_an_app_token():
    secret = (await examine(slack_mode="http", slack_app_token=None))[1]
    assert not secret.ok
    assert "SLACK_SIGNING_SECRET" in secret.detail
    secret = (await examine(slack_mode="http", slack_signing_secret="s3cret"))[1]
    assert secret.ok
    assert "s3cret" not in secret.detail


async def test_groups_of_admins_are_looked_up():
    async with SandboxServer() as sandbox:
        group = sandbox.add_group("guide", ["camille", "james"])
        settings = BotSettings(
            slack_api_url=sandbox.api_url,
            slack_bot_token=sandbox.workspace().bot_token,
            slack_app_token=sandbox.world.app_token,
            admin_user_groups=f"{group.group_id}, S0GONE",
        )
        found = await asyncio.to_thread(lambda: list(diagnose(settings))[2:])

    by_name = {finding.name: finding for finding in found}
    assert by_name[f"slack admin group {group.group_id}"].detail == "2 admins"
    gone = by_name["slack admin group S0GONE"]
    assert (gone.ok, "no_such_subteam" in gone.detail) == (False, True)
    assert "ADMIN_USER_GROUPS" in gone.remedy


def test_an_unreachable_slack_is_said_to_be_so():
    settings = BotSettings(
        slack_bot_token="xoxb-1", slack_app_token="xapp-1", slack_api_url="http://127.0.0.1:9/api/"
    )
    assert ["cannot be reached" in found.detail for found in diagnose(settings)] == [True, True]


def test_required_scopes_are_those_of_the_manifest():
    manifest = json.loads((ROOT / "deploy/manifest.socket-mode.json").read_text(encoding="utf-8"))
    assert set(manifest["oauth_config"]["scopes"]["bot"]) == REQUIRED_SCOPES


@pytest.mark.parametrize(
    ("with_bot", "private", "ok"),
    [(True, False, True), (False, False, False), (False, True, False)],
    ids=["joined", "public, not joined", "private, not joined"],
)
async def test_the_owners_channel_must_have_the_app_in_it(
    with_bot: bool, private: bool, ok: bool
) -> None:
    async with SandboxServer() as sandbox:
        owners = sandbox.add_channel("guide", with_bot=with_bot, private=private)
        settings = BotSettings(
            slack_api_url=sandbox.api_url,
            slack_bot_token=sandbox.workspace().bot_token,
            slack_app_token=sandbox.world.app_token,
            owners_channel=owners.channel_id,
        )
        found = await asyncio.to_thread(lambda: list(diagnose(settings)))

    assert found[-1].name == "slack owners channel"
    assert found[-1].ok is ok
    assert ok or "OWNERS_CHANNEL" in found[-1].remedy
