"""Access tokens, against a server that gives them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ingest.errors import SourceUnavailableError
from ingest.sources.web_addresses import place_of
from ingest.sources.web_client import WebClient
from ingest.sources.web_json import JsonInterface
from ingest.sources.web_login import OAuthLogin
from tests.web_site import Answer, Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


@pytest.fixture
def client(site: Site) -> Iterator[WebClient]:
    client = WebClient(
        {place_of(site.url), "127.0.0.1:9"},
        headers={},
        cookies={},
        private_network=True,
        requests_per_second=10_000.0,
        max_bytes=10_000,
        first_retry_s=0.01,
    )
    yield client
    client.close()


def log_in(site: Site, client: WebClient) -> OAuthLogin:
    return OAuthLogin(
        client, f"{site.url}/token", lambda: {"secret": "s3cr3t"}, login="look at secret_env"
    )


def give(site: Site, token: str, expires_in: object = 3_600) -> None:
    told = {"access_token": token, "expires_in": expires_in}
    site.answers["/token"] = Answer(json.dumps(told).encode())


def test_a_token_is_used_until_shortly_before_it_expires_or_is_refused(site, client):
    login = log_in(site, client)
    give(site, "first")
    assert [login.header(), login.header()] == ["Bearer first"] * 2
    give(site, "second", expires_in=30)
    assert login.header() == "Bearer first"
    login.renew()
    assert login.header() == "Bearer second"
    give(site, "third")
    assert login.header() == "Bearer third"
    assert len(site.asked("/token")) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(b'{"error": "invalid_client"}', 401), r"no token \(invalid_client\): look at"),
        (Answer(b"<html>s3cr3t</html>", 403), r"no token \(403\): look at secret_env"),
        (Answer(status=500), "answers 500"),
        (Answer(b"<html>", headers={"Content-Type": "text/html"}), "text/html that is no JSON"),
        (Answer(b"{}"), "sends no access token"),
        (Answer(b'{"access_token": "a", "expires_in": "soon"}'), "sends no access token"),
        (Answer(b'{"error": "s3cr3t in a sentence"}', 400), r"no token \(400\)"),
    ],
)
def test_what_is_no_token_is_reported_without_the_secret(site, client, answer, said):
    site.answers["/token"] = answer

    with pytest.raises(SourceUnavailableError, match=said) as refused:
        log_in(site, client).header()
    assert "s3cr3t" not in str(refused.value)


def test_a_host_that_does_not_answer_is_named_without_the_query(client):
    with pytest.raises(SourceUnavailableError, match=r"127\.0\.0\.1:9/file does not") as down:
        client.get("https://127.0.0.1:9/file?tempauth=k3y")
    assert "k3y" not in str(down.value)


def test_what_was_asked_encrypted_is_never_asked_without(site, client):
    interface = JsonInterface(client, login="look at token_env")
    site.answers["/further"] = Answer(b"{}")
    assert interface.get(f"{site.url}/further") == {}
    with pytest.raises(SourceUnavailableError, match="does not answer"):
        interface.get("https://127.0.0.1:9/")

    with pytest.raises(SourceUnavailableError, match="/further would be asked without encryption"):
        interface.get(f"{site.url}/further", {"cursor": "2"})
    assert site.asked("/further?cursor=2") == []
