"""The client against the stand-in: whose token it uses, and how it heeds Slack's limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from slack_sdk.errors import SlackApiError

from bot.metrics import Metrics
from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.connection.web_client import SlackClient
from bot.slack.connection.workspaces import Workspace, enter


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def client(sandbox: Sandbox, metrics: Metrics) -> SlackClient:
    return SlackClient(metrics, base_url=sandbox.api_url, retry_handlers=[])


def enter_workspace(sandbox: Sandbox, team: str | None = None) -> None:
    workspace = sandbox.workspace(team)
    enter(Workspace(workspace.team_id, "B1", workspace.bot.user_id, workspace.bot_token))


async def test_outside_of_a_workspace_nothing_is_called_in_any(sandbox, client):
    with pytest.raises(SlackApiError) as caught:
        await client.auth_test()
    assert caught.value.response["error"] == "not_authed"


async def test_tasks_act_in_the_workspace_they_were_started_in(sandbox, client):
    other = sandbox.add_workspace("Autre")

    async def whose() -> str:
        await asyncio.sleep(0.01)
        return (await client.auth_test())["team_id"]

    enter_workspace(sandbox)
    first = asyncio.create_task(whose())
    enter_workspace(sandbox, other.team_id)
    second = asyncio.create_task(whose())
    enter_workspace(sandbox)

    assert await asyncio.gather(first, second) == [sandbox.workspace().team_id, other.team_id]


async def test_after_too_many_calls_a_method_rests_and_only_that_one_there(sandbox, client):
    other = sandbox.add_workspace("Autre")
    enter_workspace(sandbox)
    camille = sandbox.workspace().user("camille").user_id
    sandbox.fault("users.info", "ratelimited", seconds=1)
    with pytest.raises(SlackApiError):
        await client.users_info(user=camille)

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await client.users_info(user=camille)
    assert len(sandbox.calls("users.info")) == 1  # Slack was left alone
    async with asyncio.timeout(0.5):
        await client.auth_test()
        enter_workspace(sandbox, other.team_id)
        await client.users_info(user=other.bot.user_id)
        enter_workspace(sandbox)
    assert (await client.users_info(user=camille))["user"]["id"] == camille


async def test_posts_of_other_channels_do_not_wait_for_one_that_is_slowed_down(sandbox, client):
    enter_workspace(sandbox)
    general = sandbox.workspace().channel("general").channel_id
    sandbox.fault("chat.postMessage", "ratelimited", seconds=30)
    with pytest.raises(SlackApiError):
        await client.chat_postMessage(channel=general, text="un")
    other = sandbox.add_channel("autre")
    async with asyncio.timeout(1):
        await client.chat_postMessage(channel=other.channel_id, text="deux")


async def test_results_are_counted_by_method(sandbox, client, metrics):
    enter_workspace(sandbox)
    await client.auth_test()
    sandbox.fault("auth.test", "ratelimited", seconds=1)
    sandbox.fault("users.info", "error", error="user_not_found")
    sandbox.fault("users.list", "drop_before")
    for call in (client.auth_test, lambda: client.users_info(user="U1")):
        with pytest.raises(SlackApiError):
            await call()
    with pytest.raises(Exception, match=r"[Dd]isconnected"):
        await client.api_call("users.list")
    counted = metrics.render().decode()
    for method, result in (
        ("auth.test", "ok"),
        ("auth.test", "ratelimited"),
        ("users.info", "user_not_found"),
        ("users.list", "lost"),
    ):
        labels = f'{{method="{method}",result="{result}"}}'
        assert f"manuel_slack_calls_total{labels} 1.0" in counted
