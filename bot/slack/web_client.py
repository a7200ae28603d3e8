"""The client of Slack's Web API: acts in the current workspace, and counts every call."""

from __future__ import annotations

from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.metrics import Metrics
from bot.slack.workspaces import current


class SlackClient(AsyncWebClient):
    """Slack's own client, measured, with the token of the current workspace (see `workspaces`).

    Args:
        metrics: Where calls are counted.
        options: Of `AsyncWebClient`.
    """

    def __init__(self, metrics: Metrics, **options: Any) -> None:
        super().__init__(**options)
        self._metrics = metrics

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
        result = "lost"
        try:
            response = await super().api_call(api_method, **arguments)
            result = "ok"
        except SlackApiError as error:
            result = _code(error)
            raise
        finally:
            self._metrics.slack_called(api_method, result)
        return response


def _code(error: SlackApiError) -> str:
    data = getattr(error.response, "data", None)
    code = data.get("error") if isinstance(data, dict) else None
    return str(code or f"http_{error.response.status_code}")
