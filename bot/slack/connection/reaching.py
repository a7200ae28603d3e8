"""How calls of Slack fail: patience where it cannot be reached, none where it refuses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

import aiohttp
from slack_sdk.errors import SlackApiError

from ingest import ConfigurationError

log = logging.getLogger(__name__)

LONGEST_PAUSE_S = 30.0

UNREACHABLE = (aiohttp.ClientError, TimeoutError, OSError)
"""What a call of Slack raises that did not get through."""
CALL_FAILED = (SlackApiError, *UNREACHABLE)
"""What a call of Slack raises when it fails, refused or lost."""

_T = TypeVar("_T")


async def until_reachable(call: Callable[[], Awaitable[_T]], token_name: str) -> _T:
    """Repeat a call while Slack cannot be reached.

    Args:
        call: Calls Slack.
        token_name: The setting it depends on.

    Raises:
        ConfigurationError: If Slack refuses the token.
    """
    pause_s = 1.0
    while True:
        try:
            return await call()
        except SlackApiError as error:
            if error.response.status_code == 200:
                raise ConfigurationError(
                    f"{token_name} is refused by Slack ({error.response['error']});"
                    " copy it again from your app's settings"
                ) from error
            reason = f"HTTP {error.response.status_code}"
        except UNREACHABLE as error:
            reason = type(error).__name__
        log.warning("Slack cannot be reached (%s); trying again in %.0f s", reason, pause_s)
        await asyncio.sleep(pause_s)
        pause_s = min(LONGEST_PAUSE_S, pause_s * 2)
