"""What Slack does once an app has acknowledged an interaction, or has not."""

from __future__ import annotations

from bot.sandbox import responses
from bot.sandbox.arguments import Arguments, MethodError
from bot.sandbox.background import BackgroundTasks
from bot.sandbox.delivery import Delivery, DeliveryState
from bot.sandbox.interactions import ResponseUrl
from bot.sandbox.methods import views
from bot.sandbox.methods.call import Slack
from bot.sandbox.workspace import Json, View, Workspace

LONGEST_S = 3600.0
"""Real seconds after which a delivery whose clock was never pushed forward is forgotten."""


class Acknowledgements:
    """Waits for the acknowledgement of commands, presses and submissions, and acts on it."""

    def __init__(self, slack: Slack) -> None:
        self._slack = slack
        self._tasks = BackgroundTasks()

    def expect_press(self, workspace: Workspace, user_id: str, delivery: Delivery) -> None:
        """A press, a shortcut or a closed view: an error mark where there is none in time."""
        self._tasks.start(self._press(workspace, user_id, delivery))

    def expect_command(self, workspace: Workspace, delivery: Delivery) -> None:
        """A command: its acknowledgement may hold a message."""
        self._tasks.start(self._command(workspace, delivery))

    def expect_submission(self, workspace: Workspace, view: View, delivery: Delivery) -> None:
        """A submitted modal: its acknowledgement says what becomes of it."""
        self._tasks.start(self._submission(workspace, view, delivery))

    async def close(self) -> None:
        """Wait for nothing any more."""
        await self._tasks.close()

    async def _press(self, workspace: Workspace, user_id: str, delivery: Delivery) -> None:
        await delivery.settled(LONGEST_S)
        if delivery.state is not DeliveryState.ACKNOWLEDGED:
            self._notice(workspace, user_id, "interaction_timeout")

    async def _command(self, workspace: Workspace, delivery: Delivery) -> None:
        await delivery.settled(LONGEST_S)
        user_id = delivery.payload["user_id"]
        if delivery.state is not DeliveryState.ACKNOWLEDGED:
            lost = delivery.state is DeliveryState.LOST
            self._notice(workspace, user_id, "dispatch_failed" if lost else "operation_timeout")
        elif response := delivery.response:
            where, now = delivery.payload["channel_id"], self._slack.world.clock.now()
            token = delivery.payload["response_url"].rpartition("/")[2]
            url = ResponseUrl(token, workspace.team_id, where, user_id, now)
            try:
                responses.show(self._slack, workspace, url, Arguments(response))
            except MethodError as error:
                self._slack.world.report(f"answer to {delivery.payload['command']}: {error.error}")

    async def _submission(self, workspace: Workspace, view: View, delivery: Delivery) -> None:
        await delivery.settled(LONGEST_S)
        if delivery.state is not DeliveryState.ACKNOWLEDGED:
            self._notice(workspace, view.user_id, "view_submission_timeout")
            return
        try:
            _respond(workspace, view, delivery.response or {})
        except (MethodError, KeyError) as error:
            self._slack.world.report(f"answer to view_submission: {error}")
        self._slack.world.changes.publish(
            "view", team_id=workspace.team_id, user_id=view.user_id, view_id=view.view_id
        )

    def _notice(self, workspace: Workspace, user_id: str, words: str) -> None:
        workspace.notices.append((user_id, words))
        self._slack.world.changes.publish("notice", team_id=workspace.team_id, user_id=user_id)


def _respond(workspace: Workspace, view: View, response: Json) -> None:
    """Do what the acknowledgement of a submission says; nothing said closes the view.

    Raises:
        MethodError: If it brings a view that Slack would refuse.
        KeyError: If it lacks what its `response_action` needs.
    """
    stack = workspace.modals[view.user_id]
    match response.get("response_action"):
        case "errors":
            view.errors = dict(response["errors"])
        case "update":
            views.check_view(response["view"])
            views.replace(view, response["view"])
        case "push":
            views.check_view(response["view"])
            views.push_view(workspace, view.user_id, response["view"])
        case "clear":
            stack.clear()
        case _:
            stack.remove(view)
