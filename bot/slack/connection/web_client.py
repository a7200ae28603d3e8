"""The client of Slack's Web API: acts in the current workspace, heeds limits, counts every call."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.metrics import Metrics
from bot.slack.connection.pauses import Pauses
from bot.slack.connection.recording import Recording
from bot.slack.connection.workspaces import current, current_team_id

log = logging.getLogger(__name__)

LONGEST_PAUSE_S = 60.0
"""Slack counts calls by the minute."""
_LIMITED_BY_CHANNEL = frozenset({"chat.postMessage", "chat.postEphemeral"})
"""Slack slows down one channel and not the method; the queue of deliveries heeds that."""
_TOO_MANY = 429


class SlackClient(AsyncWebClient):
    """Slack's own client, measured, with the token of the current workspace (see `workspaces`).

    When Slack says that there were too many calls of a method in a workspace, later ones wait for
    as long as it asked: calling on makes it worse. Whoever cannot wait sets a timeout.

    Args:
        metrics: Where calls are counted.
        recording: Gets every call, where somebody wants that.
        pauses: Remembers what is to wait; None: of its own, and for as long as it lives.
        options: Of `AsyncWebClient`.
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        pauses: Pauses | None = None,
        recording: Recording | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._metrics = metrics
        self._pauses = pauses or Pauses()
        self._recording = recording

    @property
    def token(self) -> str | None:
        """Return the token of calls that do not bring their own; None outside of a workspace."""
        workspace = current()
        return workspace.bot_token if workspace else None

    @token.setter
    def token(self, token: str | None) -> None:
        """Take no token: one for every workspace would be wrong somewhere."""

    async def api_call(self, api_method: str, **arguments: Any) -> AsyncSlackResponse:
        """Call a method (see `AsyncWebClient.api_call`)."""
        await self._wait_for(api_method)
        result = "lost"
        try:
            response = await super().api_call(api_method, **arguments)
            result = "ok"
            self._record(api_method, arguments, response.data)
        except SlackApiError as error:
            result = _code(error)
            self._record(api_method, arguments, getattr(error.response, "data", None))
            if error.response.status_code == _TOO_MANY:
                await self._slow_down(api_method, error)
            raise
        finally:
            self._metrics.slack_called(api_method, result)
        return response

    def _record(self, method: str, arguments: dict[str, Any], answer: object) -> None:
        if self._recording is not None:
            self._recording.call(method, arguments, answer)

    async def _wait_for(self, method: str) -> None:
        while wait_s := self._pauses.left_s(current_team_id(), method):
            await asyncio.sleep(min(wait_s, LONGEST_PAUSE_S))

    async def _slow_down(self, method: str, error: SlackApiError) -> None:
        wait_s = min(_seconds(error.response.headers), LONGEST_PAUSE_S)
        team_id = current_team_id()
        log.warning(
            "Slack asks to slow down",
            extra={"method": method, "team_id": team_id, "seconds": wait_s},
        )
        if method not in _LIMITED_BY_CHANNEL:
            await self._pauses.begin(team_id, method, wait_s)


def _code(error: SlackApiError) -> str:
    data = getattr(error.response, "data", None)
    code = data.get("error") if isinstance(data, dict) else None
    return str(code or f"http_{error.response.status_code}")


def _seconds(headers: dict[str, str]) -> float:
    given = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    return float(given) if given.isdigit() else 1.0
