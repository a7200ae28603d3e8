"""What Slack says of people, and for how long it is believed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.sandbox.workspace import Role
from bot.slack.admission import Admission
from bot.slack.channel_settings import ChannelPolicy
from bot.slack.connection.workspaces import Workspace, enter
from bot.slack.people import KEEP_ROLE_S, KEEP_S, KEEP_UNKNOWN_S, UNKNOWN, People
from bot.slack.wording import FRENCH
from bot.store import ChannelSettingsStore, migrate, open_engine
from tests.clock import Clock


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox


def people(sandbox: Sandbox, clock: Clock) -> People:
    client = AsyncWebClient(
        sandbox.workspace().bot_token, base_url=sandbox.api_url, retry_handlers=[]
    )
    return People(client, now=clock)


async def test_a_role_that_was_lost_is_noticed_within_a_minute_and_a_locale_within_an_hour(
    sandbox: Sandbox,
) -> None:
    clock = Clock()
    known, amina = people(sandbox, clock), sandbox.workspace().user("amina")
    assert await known.is_admin(amina.user_id)
    assert (await known.get(amina.user_id)).timezone == "Europe/Paris"
    amina.role, amina.locale = Role.MEMBER, "en-US"

    clock.now += KEEP_ROLE_S - 1
    assert await known.is_admin(amina.user_id)
    assert (await known.get(amina.user_id)).locale == "fr-FR"
    clock.now += 2
    assert not await known.is_admin(amina.user_id)
    amina.locale = "fr-FR"
    assert (await known.get(amina.user_id)).locale == "en-US"
    clock.now += KEEP_S + 1
    assert (await known.get(amina.user_id)).locale == "fr-FR"


async def test_an_admin_of_another_company_is_no_admin_here(sandbox: Sandbox) -> None:
    workspace, amina = sandbox.workspace(), sandbox.workspace().user("amina")
    enter(Workspace(workspace.team_id, "B1", workspace.bot.user_id, workspace.bot_token))
    known = people(sandbox, Clock())
    assert await known.is_admin(amina.user_id)
    amina.team_id = "T0ELSEWHERE"
    stranger = people(sandbox, Clock())

    assert not await stranger.is_admin(amina.user_id)
    assert not await stranger.runs_workspace(amina.user_id)


async def test_a_press_that_names_another_company_is_judged_by_our_workspace(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    workspace, camille = sandbox.workspace(), sandbox.workspace().user("camille")
    enter(Workspace(workspace.team_id, "B1", workspace.bot.user_id, workspace.bot_token))
    camille.team_id = "T0ELSEWHERE"
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    migrate(engine)
    known = people(sandbox, Clock())
    client = AsyncWebClient(base_url=sandbox.api_url)
    admission = Admission(known, client, ChannelPolicy(ChannelSettingsStore(engine)))

    said = await admission.refusal(camille.user_id, "T0ELSEWHERE", FRENCH, channel_id="C1")

    engine.dispose()
    assert said == FRENCH.not_for_guests


async def test_where_workspaces_share_a_handbook_their_admins_run_their_workspace_alone(
    sandbox: Sandbox,
) -> None:
    client = AsyncWebClient(
        sandbox.workspace().bot_token, base_url=sandbox.api_url, retry_handlers=[]
    )
    james = sandbox.workspace().user("james").user_id
    amina = sandbox.workspace().user("amina").user_id
    shared = People(client, admins=frozenset({james}), slack_roles=False)

    assert not await shared.is_admin(amina)
    assert await shared.runs_workspace(amina)
    assert await shared.is_admin(james)
    assert await shared.runs_workspace(james)
    camille = sandbox.workspace().user("camille").user_id
    assert not await shared.runs_workspace(camille)


async def test_somebody_unknown_is_asked_about_again_after_a_while(sandbox: Sandbox) -> None:
    clock = Clock()
    known, amina = people(sandbox, clock), sandbox.workspace().user("amina")
    sandbox.fault("users.info", "ratelimited", seconds=30)
    assert await known.get(amina.user_id) == UNKNOWN
    assert await known.get(amina.user_id) == UNKNOWN
    assert len(sandbox.calls("users.info")) == 1

    clock.now += KEEP_UNKNOWN_S + 1
    assert await known.is_admin(amina.user_id)
