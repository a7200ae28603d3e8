"""Fetches a file that was sent in Slack: with the bot token, from Slack's hosts alone."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import aiohttp

from bot.errors import BotError

_SLACK_DOMAINS: Final = ("slack.com", "slack-gov.com")
_TIMEOUT: Final = aiohttp.ClientTimeout(total=300, sock_connect=10, sock_read=60)
_CHUNK_BYTES: Final = 262_144
_PASSING: Final = frozenset({408, 429})


class FileNotFetchedError(BotError):
    """A file cannot be fetched now; later it may be."""


class FileRefusedError(BotError):
    """A file cannot be fetched at all; the message is the reason, for whoever sent it."""


def is_slack_host(url: str, api_url: str) -> bool:
    """Tell whether the bot token may be sent to an address.

    Args:
        url: Of the file, as Slack named it.
        api_url: Of Slack's Web API, or of the local stand-in, which files may come from too.
    """
    parts, api = urlsplit(url), urlsplit(api_url)
    if (parts.scheme, parts.netloc) == (api.scheme, api.netloc):
        return True
    host = parts.hostname or ""
    return parts.scheme == "https" and any(
        host == domain or host.endswith(f".{domain}") for domain in _SLACK_DOMAINS
    )


async def download(
    url: str, *, token: str, api_url: str, max_bytes: int, expects_html: bool
) -> bytes:
    """Return the bytes of a file.

    Args:
        url: Of the file.
        token: Of our bot; it goes nowhere but to Slack, redirects are not followed.
        api_url: See `is_slack_host`.
        max_bytes: A larger file is refused, at the latest when so much has come.
        expects_html: Whether the file is a web page: else one is Slack's page to log in.

    Raises:
        FileRefusedError: If Slack does not hand it over, or it is too large.
        FileNotFetchedError: If Slack cannot be reached.
    """
    if not is_slack_host(url, api_url):
        raise FileRefusedError("it is not kept in Slack")
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            session.get(url, headers=headers, allow_redirects=False) as answer,
        ):
            if answer.status >= 500 or answer.status in _PASSING:
                raise FileNotFetchedError(f"HTTP {answer.status}")
            if answer.status != 200 or (answer.content_type == "text/html" and not expects_html):
                raise FileRefusedError("Slack does not hand it over: is files:read granted?")
            content = bytearray()
            async for chunk in answer.content.iter_chunked(_CHUNK_BYTES):
                content += chunk
                if len(content) > max_bytes:
                    raise FileRefusedError(f"larger than {max_bytes} bytes (MAX_PAGE_BYTES)")
            return bytes(content)
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise FileNotFetchedError(type(error).__name__) from error
