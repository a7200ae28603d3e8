"""Fetching files from the stand-in: the right bytes, or the reason."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.sandbox.control import Sandbox
from bot.sandbox.server import SandboxServer
from bot.slack.file_download import FileNotFetchedError, FileRefusedError, download


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with SandboxServer() as sandbox:
        yield sandbox


async def fetched(sandbox: Sandbox, url: str, **other: object) -> bytes:
    options = {"token": sandbox.workspace().bot_token, "max_bytes": 1_000, "expects_html": False}
    return await download(url, api_url=sandbox.api_url, **{**options, **other})  # type: ignore[arg-type]


async def test_a_file_comes_whole_to_whoever_has_the_token(sandbox: Sandbox) -> None:
    file = sandbox.share("amina", {"congés payés.md": b"# Titre"}).files[0]
    url = file["url_private_download"]
    assert await fetched(sandbox, url) == b"# Titre"
    with pytest.raises(FileRefusedError, match="files:read"):
        await fetched(sandbox, url, token="xoxb-other")
    with pytest.raises(FileRefusedError, match="larger than 3 bytes"):
        await fetched(sandbox, url, max_bytes=3)
    with pytest.raises(FileRefusedError, match="files:read"):
        await fetched(sandbox, url.replace("download", "nowhere"))


async def test_what_is_not_kept_in_slack_is_not_asked_for(sandbox: Sandbox) -> None:
    with pytest.raises(FileRefusedError, match="not kept in Slack"):
        await fetched(sandbox, "http://127.0.0.1:1/secret")


async def test_a_host_that_is_down_is_tried_again_later(sandbox: Sandbox) -> None:
    url = "http://127.0.0.1:1/files-pri/T-F/download/a.md"
    with pytest.raises(FileNotFetchedError):
        await download(
            url, token="x", api_url="http://127.0.0.1:1/api/", max_bytes=9, expects_html=False
        )
