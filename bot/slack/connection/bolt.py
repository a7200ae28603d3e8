"""The Bolt app without its listeners: who is served, and what happens to what nobody handles."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.metrics import Metrics
from bot.slack.connection.library_log import library_log
from bot.slack.connection.recording import Recording
from bot.slack.connection.workspaces import Workspace, current_team_id
from bot.slack.wording import NOT_INSTALLED

log = logging.getLogger(__name__)

Enter = Callable[[str], Awaitable[Workspace | None]]
"""Enters a workspace by its id; None where we do not serve."""
Next = Callable[[], Awaitable[BoltResponse]]


def build_bolt(
    client: AsyncWebClient,
    enter: Enter,
    metrics: Metrics,
    *,
    signing_secret: str,
    recording: Recording | None = None,
) -> AsyncApp:
    """Return a Bolt app without listeners.

    Those of questions only store, and an event is acknowledged once they have
    (`process_before_response`): when storing fails Slack sends the event again.
    """
    # Everything is passed: Bolt would take what is missing from the environment.
    app = AsyncApp(
        name="manuel",
        logger=library_log(),
        client=client,
        authorize=_authorizing(enter),  # type: ignore[arg-type] # Bolt refuses None, its type forgets it
        user_facing_authorize_error_message=NOT_INSTALLED,
        before_authorize=_traffic(metrics, recording),
        signing_secret=signing_secret,
        process_before_response=True,
        raise_error_for_unhandled_request=True,
    )

    app.middleware(_only_here)

    @app.error
    async def failed(error: Exception) -> BoltResponse | None:
        if isinstance(error, BoltUnhandledRequestError):
            return BoltResponse(status=200)  # else Slack repeats what we do not listen to
        log.error("an event was not handled: %s", type(error).__name__)
        return None

    return app


def _authorizing(enter: Enter) -> Callable[[str | None], Awaitable[AuthorizeResult | None]]:
    async def authorize(team_id: str | None) -> AuthorizeResult | None:
        # Bolt's own would call Slack on the first event, and acknowledge that event without
        # handling it when the call fails.
        workspace = await enter(team_id or "")
        if workspace is None:
            return None
        return AuthorizeResult(
            enterprise_id=None,
            team_id=workspace.team_id,
            bot_user_id=workspace.bot_user_id,
            bot_id=workspace.bot_id,
            bot_token=workspace.bot_token,
        )

    return authorize


async def _only_here(req: AsyncBoltRequest, next: Next) -> BoltResponse:
    """Refuse events, commands and shortcuts of other workspaces than the one that was entered.

    With a copied token any workspace is taken for the one there is; were the app installed
    elsewhere by a link, people there could read the handbook by a command or a shortcut. Presses
    may come from people of another company, in a channel shared with it.
    """
    sent_from, here = req.context.team_id, current_team_id()
    foreign = bool(sent_from and here) and sent_from != here
    begins = "command" in req.body or "event" in req.body or req.body.get("type") in _SHORTCUTS
    if foreign and begins:
        log.warning("not served", extra={"team_id": sent_from})
        return BoltResponse(status=200, body=NOT_INSTALLED if "command" in req.body else "")
    return await next()


def _traffic(
    metrics: Metrics, recording: Recording | None
) -> Callable[..., Awaitable[BoltResponse]]:
    """Return a middleware that counts what comes, and tells operators when Slack holds it back."""

    async def watch(req: AsyncBoltRequest, next: Next) -> BoltResponse:
        if recording is not None:
            recording.request(req.body)
        retried = "x-slack-retry-num" in req.headers
        metrics.slack_sent(_kind(req), retried=retried)
        if req.body.get("type") == "app_rate_limited":
            # Above 30,000 events an hour Slack drops the rest of the minute: those are lost.
            metrics.slack_held_back()
            log.error(
                "Slack dropped events: more than its hourly limit",
                extra={
                    "team_id": req.body.get("team_id"),
                    "minute": req.body.get("minute_rate_limited"),
                },
            )
            return BoltResponse(status=200)
        return await next()

    return watch


def _kind(req: AsyncBoltRequest) -> str:
    """Return what sort of request it is, out of a fixed set: it becomes a label."""
    if "command" in req.body:
        return "command"
    kind = req.body.get("type")
    return str(kind) if kind in _KINDS else "other"


_SHORTCUTS = frozenset({"message_action", "shortcut"})
_KINDS = frozenset(
    {
        "app_rate_limited",
        "block_actions",
        "block_suggestion",
        "event_callback",
        "message_action",
        "shortcut",
        "url_verification",
        "view_closed",
        "view_submission",
    }
)
