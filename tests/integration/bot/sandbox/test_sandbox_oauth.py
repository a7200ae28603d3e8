"""Installing the app in the stand-in, with slack_sdk's own client and token rotator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth import AuthorizeUrlGenerator
from slack_sdk.web.async_client import AsyncWebClient

from bot.sandbox.control import Sandbox
from bot.sandbox.manifest import DEFAULT_PATH, Manifest
from bot.sandbox.server import SandboxServer

# slack_sdk 3.48 still uses what aiohttp 3.14 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")

CALLBACK = "https://manuel.example.com/slack/oauth_redirect"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    several = Manifest.read(DEFAULT_PATH.with_name("manifest.oauth.json"))
    async with SandboxServer(manifest=several) as sandbox:
        yield sandbox


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def slack(sandbox, session) -> AsyncWebClient:
    return AsyncWebClient(base_url=sandbox.api_url, session=session, retry_handlers=[])


async def agree(sandbox: Sandbox, session: aiohttp.ClientSession, **query: str) -> dict[str, str]:
    """Follow the install link as an admin does; returns what comes back in the address."""
    generator = AuthorizeUrlGenerator(
        client_id=sandbox.world.client_id,
        scopes=["chat:write", "app_mentions:read"],
        redirect_uri=CALLBACK,
        authorization_url=f"{sandbox.interactions.base_url}/oauth/v2/authorize",
    )
    url = generator.generate("state-1")
    async with session.get(url, params=query, allow_redirects=False) as response:
        assert response.status == 302, await response.text()
        location = urlsplit(response.headers["Location"])
    return {name: values[0] for name, values in parse_qs(location.query).items()}


async def exchange(sandbox: Sandbox, slack: AsyncWebClient, **arguments: str) -> dict:
    response = await slack.oauth_v2_access(
        client_id=sandbox.world.client_id,
        client_secret=sandbox.world.client_secret,
        **arguments,
    )
    assert isinstance(response.data, dict)
    return response.data


async def refusal(call) -> str:
    with pytest.raises(SlackApiError) as caught:
        await call
    return caught.value.response["error"]


async def test_installation_grants_the_scopes_asked_for_in_that_workspace(sandbox, slack, session):
    other = sandbox.add_workspace("Autre")
    sandbox.add_user("zoe", team=other.team_id, role="admin")
    back = await agree(sandbox, session, team=other.team_id)
    assert back["state"] == "state-1"
    installed = await exchange(sandbox, slack, code=back["code"], redirect_uri=CALLBACK)
    assert installed["team"] == {"id": other.team_id, "name": "Autre"}
    assert installed["scope"] == "app_mentions:read,chat:write"
    who = await slack.auth_test(token=installed["access_token"])
    assert who["team_id"] == other.team_id
    read = slack.users_info(token=installed["access_token"], user="U1")
    assert await refusal(read) == "missing_scope"


async def test_code_works_once_and_for_ten_minutes(sandbox, slack, session):
    code = (await agree(sandbox, session))["code"]
    await exchange(sandbox, slack, code=code)
    assert await refusal(exchange(sandbox, slack, code=code)) == "invalid_code"
    late = (await agree(sandbox, session))["code"]
    sandbox.advance(601)
    assert await refusal(exchange(sandbox, slack, code=late)) == "code_expired"


async def test_wrong_client_or_address_gets_no_token(sandbox, slack, session):
    code = (await agree(sandbox, session))["code"]
    world = sandbox.world
    wrong = slack.oauth_v2_access(client_id="1.2", client_secret=world.client_secret, code=code)
    assert await refusal(wrong) == "invalid_client_id"
    wrong = slack.oauth_v2_access(client_id=world.client_id, client_secret="x", code=code)
    assert await refusal(wrong) == "bad_client_secret"
    elsewhere = exchange(sandbox, slack, code=code, redirect_uri="https://elsewhere.example")
    assert await refusal(elsewhere) == "bad_redirect_uri"


async def test_rotated_token_expires_and_its_refresh_token_works_once(sandbox, slack, session):
    code = (await agree(sandbox, session))["code"]
    first = await exchange(sandbox, slack, code=code)
    assert first["expires_in"] == 43200
    sandbox.advance(43201)
    expired = slack.auth_test(token=first["access_token"])
    assert await refusal(expired) == "token_expired"
    refresh = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    second = await exchange(sandbox, slack, **refresh)
    assert (await slack.auth_test(token=second["access_token"]))["ok"]
    assert await refusal(exchange(sandbox, slack, **refresh)) == "invalid_refresh_token"


async def test_revoked_token_works_no_more(sandbox, slack, session):
    code = (await agree(sandbox, session))["code"]
    token = (await exchange(sandbox, slack, code=code))["access_token"]
    assert (await slack.auth_revoke(token=token, test=True))["revoked"] is False
    assert (await slack.auth_revoke(token=token))["revoked"] is True
    assert await refusal(slack.auth_test(token=token)) == "account_inactive"


async def test_person_who_says_no_comes_back_with_access_denied(sandbox, session):
    back = await agree(sandbox, session, deny="1")
    assert back == {"state": "state-1", "error": "access_denied"}


async def test_scope_outside_the_manifest_is_refused_on_the_page(sandbox, session):
    query = {
        "client_id": sandbox.world.client_id,
        "scope": "admin",
        "redirect_uri": CALLBACK,
    }
    url = f"{sandbox.interactions.base_url}/oauth/v2/authorize"
    async with session.get(url, params=query, allow_redirects=False) as response:
        assert response.status == 400
        assert "invalid_scope" in await response.text()
