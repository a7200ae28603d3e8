"""The hands of a test or a demo: what people do in Slack, and what they see there."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from bot.sandbox.acknowledgements import Acknowledgements
from bot.sandbox.delivery import Delivery, PayloadKind, Sender
from bot.sandbox.events import EventFeed
from bot.sandbox.faults import Fault, FaultKind
from bot.sandbox.http_mode import SignedHttp
from bot.sandbox.interactions import (
    Interactions,
    find_action,
    pressed,
)
from bot.sandbox.manifest import Manifest
from bot.sandbox.methods.call import Slack
from bot.sandbox.payloads import message_json
from bot.sandbox.shared_files import file_json
from bot.sandbox.socket_mode import SocketMode
from bot.sandbox.text import rich_text, typed
from bot.sandbox.web_api import ApiCall, WebApi
from bot.sandbox.workspace import (
    Channel,
    Json,
    Message,
    Role,
    Session,
    SessionStatus,
    UploadedFile,
    User,
    UserGroup,
    View,
    Workspace,
    World,
)

T = TypeVar("T")

WAIT_S = 10.0
"""Real seconds a wait lasts unless told otherwise."""


class Sandbox:
    """A whole stand-in for Slack and the hands to use it.

    People and channels are given by id or by name. Methods that make something happen return at
    once; what the app does about it is waited for with `wait_for_message` and its like. Every
    method takes `team` (an id), for worlds of several workspaces; the default is the first.
    """

    def __init__(self, manifest: Manifest | None = None) -> None:
        self.world = World(manifest or Manifest.read())
        self.socket_mode = SocketMode(self.world)
        self.http = SignedHttp(self.world)
        # As with Slack, either one or the other.
        uses_sockets = self.world.manifest.socket_mode
        self.transport: Sender = self.socket_mode if uses_sockets else self.http
        self.feed = EventFeed(self.world, self.transport)
        self.interactions = Interactions(self.world)
        self.slack = Slack(self.world, self.feed, self.interactions, self.socket_mode)
        self.web_api = WebApi(self.slack)
        self._acknowledgements = Acknowledgements(self.slack)
        self._furnish(self.world.add_workspace("Exemple", "exemple"))

    def _furnish(self, workspace: Workspace) -> None:
        """Put the people and the channel of a small French company into a workspace."""
        workspace.add_user("camille", real_name="Camille Durand")
        workspace.add_user("james", real_name="James Carter", locale="en-GB", tz="Europe/London")
        workspace.add_user("amina", real_name="Amina Benali", role=Role.OWNER)
        workspace.add_channel("general")

    # The world

    @property
    def api_url(self) -> str:
        """Base URL of the Web API, for `SLACK_API_URL`."""
        return f"{self.interactions.base_url}/api/"

    @property
    def problems(self) -> list[str]:
        """What the app did that Slack would refuse, or that the stand-in does not know."""
        return self.world.problems

    def workspace(self, team: str | None = None) -> Workspace:
        """Return a workspace by id; the first one by default."""
        if team is None:
            return next(iter(self.world.workspaces.values()))
        return self.world.workspaces[team]

    @property
    def bot_id(self) -> str:
        """User id of the app in the first workspace."""
        return self.workspace().bot.user_id

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that point the app at this stand-in."""
        return {
            "SLACK_API_URL": self.api_url,
            "SLACK_BOT_TOKEN": self.workspace().bot_token,
            "SLACK_APP_TOKEN": self.world.app_token,
            "SLACK_SIGNING_SECRET": self.world.signing_secret,
        }

    def add_workspace(self, name: str) -> Workspace:
        """Add a workspace with the app installed and nobody else in it."""
        return self.world.add_workspace(name)

    def add_user(
        self, name: str, *, team: str | None = None, role: str = "member", **attributes: Any
    ) -> User:
        """Add a person; `attributes` are fields of `User`, such as locale and tz."""
        return self.workspace(team).add_user(name, role=Role(role), **attributes)

    def add_bot(self, name: str, *, team: str | None = None) -> User:
        """Add another app's bot."""
        return self.workspace(team).add_bot(name)

    def add_channel(self, name: str, *, team: str | None = None, **attributes: Any) -> Channel:
        """Add a channel: `members`, `private`, `with_bot`, and fields of `Channel`."""
        return self.workspace(team).add_channel(name, **attributes)

    def add_group(self, handle: str, members: list[str], *, team: str | None = None) -> UserGroup:
        """Add a user group."""
        return self.workspace(team).add_group(handle, members)

    def join(self, user: str, channel: str, *, team: str | None = None) -> None:
        """Let somebody join a channel; the app too, by its name."""
        workspace = self.workspace(team)
        place, person = workspace.channel(channel), workspace.user(user)
        if person.user_id not in place.members:
            place.members.append(person.user_id)
            self.world.changes.publish("channel", channel_id=place.channel_id)
            self.feed.member_joined(workspace, place, person.user_id)

    # What people do

    def share(
        self,
        user: str,
        files: Mapping[str, bytes],
        text: str = "",
        *,
        team: str | None = None,
    ) -> Message:
        """Let somebody send the app files, given by name, in a direct message."""
        workspace = self.workspace(team)
        person = workspace.user(user)
        described = []
        for name, content in files.items():
            file_id = self.world.new_id("F")
            file = UploadedFile(file_id, name, len(content), content=content)
            workspace.files[file_id] = file
            base_url = self.interactions.base_url
            described.append(file_json(workspace, file, person.user_id, base_url))
        place = workspace.direct(person.user_id)
        return self.say(user, place.channel_id, text, team=team, files=described)

    def say(
        self,
        user: str,
        channel: str,
        text: str,
        thread_ts: str | None = None,
        *,
        team: str | None = None,
        files: list[Json] | None = None,
        broadcast: bool = False,
        looking_at: list[Json] | None = None,
    ) -> Message:
        """Let somebody post a message; `text` is what they type, `@Manuel` a mention."""
        workspace = self.workspace(team)
        person = workspace.user(user)
        place = self._place(workspace, channel, person)
        stored = typed(workspace, text)
        subtype = "thread_broadcast" if broadcast else "file_share" if files else None
        message = workspace.post(
            place,
            person.user_id,
            stored,
            thread_ts=thread_ts,
            blocks=rich_text(stored) if stored else [],
            files=files or [],
            subtype=subtype,
            bot=person.bot,
            client_msg_id=None if person.bot else str(uuid.uuid4()),
            app_context={"entities": looking_at} if looking_at is not None else None,
        )
        self.feed.message_posted(workspace, message)
        return message

    def direct_message(
        self,
        user: str,
        text: str,
        thread_ts: str | None = None,
        *,
        team: str | None = None,
        looking_at: list[Json] | None = None,
    ) -> Message:
        """Let somebody write to the app directly; `looking_at`: what is open beside the pane."""
        workspace = self.workspace(team)
        place = workspace.direct(workspace.user(user).user_id)
        return self.say(user, place.channel_id, text, thread_ts, team=team, looking_at=looking_at)

    def edit(self, message: Message | str, text: str, *, team: str | None = None) -> Message:
        """Let the author change a message; it is given itself or by its `ts`."""
        workspace = self.workspace(team)
        edited = self._message(workspace, message)
        previous = message_json(workspace, edited)
        edited.text = typed(workspace, text)
        edited.blocks = rich_text(edited.text)
        workspace.edited(edited, edited.user_id)
        self.feed.message_changed(workspace, edited, previous)
        return edited

    def delete(self, message: Message | str, *, team: str | None = None) -> None:
        """Let the author delete a message."""
        workspace = self.workspace(team)
        deleted = self._message(workspace, message)
        previous = message_json(workspace, deleted)
        workspace.remove(deleted)
        self.feed.message_deleted(workspace, deleted, previous)

    def react(
        self, user: str, message: Message | str, reaction: str, *, team: str | None = None
    ) -> None:
        """Let somebody add a reaction."""
        workspace = self.workspace(team)
        target, person = self._message(workspace, message), workspace.user(user)
        target.reactions.setdefault(reaction, []).append(person.user_id)
        self.world.changes.publish("reaction", channel_id=target.channel_id, ts=target.ts)
        self.feed.reaction_added(workspace, target, person.user_id, reaction)

    def slash(
        self, user: str, channel: str, command: str, text: str = "", *, team: str | None = None
    ) -> Delivery:
        """Let somebody use a slash command: `slash("camille", "general", "/handbook", "congés")`.

        Raises:
            LookupError: If the manifest declares no such command.
        """
        if command not in self.world.manifest.commands:
            raise LookupError(f"{command} is not a command of the manifest")
        workspace = self.workspace(team)
        person = workspace.user(user)
        place = self._place(workspace, channel, person)
        escaped = self.world.manifest.commands[command].get("should_escape")
        words = typed(workspace, text) if escaped else text
        payload = self.interactions.slash_command(workspace, place, person, command, words)
        delivery = self.transport.deliver(PayloadKind.COMMAND, payload, accepts_response=True)
        self._acknowledgements.expect_command(workspace, delivery)
        return delivery

    def click(
        self,
        user: str,
        message: Message | str,
        action_id: str,
        value: Any = None,
        *,
        state: Json | None = None,
        team: str | None = None,
    ) -> Delivery:
        """Let somebody press a button, or choose `value`, in a message or an ephemeral one.

        Raises:
            LookupError: If the message has no such element.
        """
        workspace = self.workspace(team)
        target, person = self._message(workspace, message), workspace.user(user)
        block, element = find_action(target.blocks, action_id, value)
        action = pressed(block, element, value, workspace.new_ts())
        payload = self.interactions.block_actions_in_message(
            workspace, target, person, action, state or {}
        )
        return self._interact(workspace, person, payload)

    def click_in_view(
        self,
        user: str,
        action_id: str,
        value: Any = None,
        *,
        state: Json | None = None,
        team: str | None = None,
    ) -> Delivery:
        """Let somebody press a button in their open modal, or else in their Home tab.

        `state` is what they have typed and chosen there so far.

        Raises:
            LookupError: If they see no view, or it has no such element.
        """
        workspace = self.workspace(team)
        person = workspace.user(user)
        view = self.modal(user, team=team) or self.home(user, team=team)
        if view is None:
            raise LookupError(f"{user} sees no view")
        view.state = state if state is not None else view.state
        block, element = find_action(view.content["blocks"], action_id, value)
        action = pressed(block, element, value, workspace.new_ts())
        payload = self.interactions.block_actions_in_view(workspace, view, person, action)
        return self._interact(workspace, person, payload)

    def submit(self, user: str, values: Json | None = None, *, team: str | None = None) -> Delivery:
        """Let somebody submit their open modal.

        Args:
            user: Who.
            values: `state.values` of it, by block id and action id.
            team: Workspace.

        Raises:
            LookupError: If they have no open modal.
        """
        workspace = self.workspace(team)
        person, view = workspace.user(user), self.modal(user, team=team)
        if view is None:
            raise LookupError(f"{user} has no open modal")
        view.state, view.errors = values or {}, {}
        payload = self.interactions.view_submission(workspace, view, person)
        delivery = self.transport.deliver(PayloadKind.INTERACTION, payload, accepts_response=True)
        self._acknowledgements.expect_submission(workspace, view, delivery)
        return delivery

    def close_modal(self, user: str, *, team: str | None = None) -> Delivery | None:
        """Let somebody close their modal; the app hears of it only if the view asks for that."""
        workspace = self.workspace(team)
        person, stack = workspace.user(user), workspace.modals[workspace.user(user).user_id]
        view = stack.pop()
        self.world.changes.publish("view", team_id=workspace.team_id, user_id=person.user_id)
        if not view.content.get("notify_on_close"):
            return None
        payload = self.interactions.view_closed(workspace, view, person, is_cleared=not stack)
        return self._interact(workspace, person, payload)

    def shortcut(
        self, user: str, message: Message | str, callback_id: str, *, team: str | None = None
    ) -> Delivery:
        """Let somebody use a message shortcut of the manifest."""
        if self.world.manifest.shortcuts.get(callback_id) != "message":
            raise LookupError(f"{callback_id} is not a message shortcut of the manifest")
        workspace = self.workspace(team)
        person = workspace.user(user)
        payload = self.interactions.message_shortcut(
            workspace, self._message(workspace, message), person, callback_id
        )
        return self._interact(workspace, person, payload)

    def open_home(
        self,
        user: str,
        tab: str = "home",
        *,
        entities: list[Json] | None = None,
        team: str | None = None,
    ) -> None:
        """Let somebody open the app's `home` or `messages` tab."""
        workspace = self.workspace(team)
        self.feed.home_opened(workspace, workspace.user(user).user_id, tab, entities)

    def look_at(self, user: str, entities: list[Json], *, team: str | None = None) -> None:
        """Let somebody look at something beside the agent pane."""
        workspace = self.workspace(team)
        self.feed.context_changed(workspace, workspace.user(user).user_id, entities)

    def press_stop(self, user: str, root: Message, *, team: str | None = None) -> None:
        """Let somebody press the stop button of an agent session."""
        workspace = self.workspace(team)
        session = workspace.sessions[(root.channel_id, root.ts)]
        stopped = []
        for (channel_id, ts), stream in workspace.streams.items():
            message = workspace.channels[channel_id].messages.get(ts)
            live = message is not None and message.streaming_state == "in_progress"
            if message is not None and live and message.thread_ts == root.ts:
                stream.stopped_by_user = True
                message.streaming_state = "completed"
                stopped.append(ts)
        session.status = SessionStatus.ACTIVE
        where = (root.channel_id, root.ts)
        self.feed.session_stopped(workspace, where, workspace.user(user).user_id, stopped)

    def rename_session(
        self, user: str, root: Message, title: str, *, team: str | None = None
    ) -> None:
        """Let somebody rename an agent session."""
        workspace = self.workspace(team)
        session = workspace.sessions[(root.channel_id, root.ts)]
        previous, session.title = session.title, title
        self.feed.session_renamed(
            workspace,
            (root.channel_id, root.ts),
            workspace.user(user).user_id,
            title=title,
            previous=previous,
        )

    def uninstall(self, *, team: str | None = None) -> None:
        """Remove the app from a workspace."""
        workspace = self.workspace(team)
        self.feed.uninstalled(workspace)
        workspace.installed = False

    # What people see

    def messages(self, channel: str, *, team: str | None = None) -> list[Message]:
        """Return the messages of a channel, oldest first, replies included."""
        return list(self.workspace(team).channel(channel).messages.values())

    def thread(self, root: Message | str, *, team: str | None = None) -> list[Message]:
        """Return a thread, root first."""
        workspace = self.workspace(team)
        message = self._message(workspace, root)
        channel = workspace.channels[message.channel_id]
        return workspace.thread(channel, message.thread_ts or message.ts)

    def replies(self, root: Message | str, *, team: str | None = None) -> list[Message]:
        """Return what the app posted in a thread."""
        own = self.workspace(team).bot
        return [m for m in self.thread(root, team=team)[1:] if m.bot == own]

    def ephemerals(self, user: str, *, team: str | None = None) -> list[Message]:
        """Return what the app showed to one person alone, oldest first."""
        workspace = self.workspace(team)
        user_id = workspace.user(user).user_id
        return [m for m in workspace.ephemerals if m.visible_to == user_id]

    def notices(self, user: str, *, team: str | None = None) -> list[str]:
        """Return what Slack itself told somebody, such as `operation_timeout`."""
        workspace = self.workspace(team)
        user_id = workspace.user(user).user_id
        return [words for who, words in workspace.notices if who == user_id]

    def home(self, user: str, *, team: str | None = None) -> View | None:
        """Return somebody's Home tab."""
        workspace = self.workspace(team)
        return workspace.homes.get(workspace.user(user).user_id)

    def modal(self, user: str, *, team: str | None = None) -> View | None:
        """Return the modal somebody sees."""
        workspace = self.workspace(team)
        stack = workspace.modals.get(workspace.user(user).user_id)
        return stack[-1] if stack else None

    def session(self, root: Message, *, team: str | None = None) -> Session | None:
        """Return the agent session of a thread."""
        return self.workspace(team).sessions.get((root.channel_id, root.ts))

    def calls(self, method: str | None = None) -> list[ApiCall]:
        """Return the calls of the app, oldest first; of one method, or all."""
        return [c for c in self.web_api.calls if method in (None, c.method)]

    def deliveries(self, event_type: str | None = None) -> list[Delivery]:
        """Return what was sent to the app; events of one type, or everything."""
        sent = self.transport.deliveries
        return [d for d in sent if event_type in (None, d.event.get("type"))]

    # Waiting

    async def wait_for_connection(self, timeout_s: float = WAIT_S) -> None:
        """Wait until the app has an open Socket Mode connection."""
        await self.wait_until(lambda: bool(self.socket_mode.connections), timeout_s=timeout_s)

    async def wait_for_reply(
        self,
        root: Message,
        text: str = "",
        *,
        count: int = 1,
        timeout_s: float = WAIT_S,
        team: str | None = None,
    ) -> Message:
        """Return the `count`-th message of the app in a thread, once it holds `text`.

        Raises:
            TimeoutError: After `timeout_s` seconds; it names what is there instead.
        """

        def found() -> Message | None:
            replies = [m for m in self.replies(root, team=team) if text in m.text]
            return replies[count - 1] if len(replies) >= count else None

        try:
            return await self.wait_until(found, timeout_s=timeout_s)
        except TimeoutError:
            seen = [m.text for m in self.replies(root, team=team)]
            raise TimeoutError(
                f"no reply with {text!r} in {timeout_s} s; replies: {seen}"
            ) from None

    async def wait_for_ephemeral(
        self,
        user: str,
        text: str = "",
        *,
        count: int = 1,
        timeout_s: float = WAIT_S,
        team: str | None = None,
    ) -> Message:
        """Return the `count`-th message shown to one person alone, once it holds `text`."""

        def found() -> Message | None:
            shown = [m for m in self.ephemerals(user, team=team) if text in m.text]
            return shown[count - 1] if len(shown) >= count else None

        return await self.wait_until(found, timeout_s=timeout_s)

    async def wait_for_message(
        self,
        channel: str,
        matches: Callable[[Message], bool] = lambda _: True,
        *,
        timeout_s: float = WAIT_S,
        team: str | None = None,
    ) -> Message:
        """Return the first message of the app in a channel that `matches`."""
        own = self.workspace(team).bot

        def found() -> Message | None:
            posted = self.messages(channel, team=team)
            return next((m for m in posted if m.bot == own and matches(m)), None)

        return await self.wait_until(found, timeout_s=timeout_s)

    async def wait_for_call(
        self, method: str, *, count: int = 1, timeout_s: float = WAIT_S
    ) -> ApiCall:
        """Return the `count`-th call of a method."""

        def found() -> ApiCall | None:
            calls = self.calls(method)
            return calls[count - 1] if len(calls) >= count else None

        return await self.wait_until(found, timeout_s=timeout_s)

    async def wait_until(self, found: Callable[[], T | None], *, timeout_s: float = WAIT_S) -> T:
        """Return the first true value of `found()`, asked again after each change.

        Raises:
            TimeoutError: After `timeout_s` seconds of real time.
        """
        return await self.world.changes.wait_until(found, timeout_s=timeout_s)

    async def settled(self, timeout_s: float = WAIT_S) -> None:
        """Wait until everything sent so far is acknowledged or given up."""
        for delivery in list(self.transport.deliveries):
            await delivery.settled(timeout_s)

    # Trouble and time

    def fault(
        self,
        method: str,
        kind: str,
        *,
        times: int | None = 1,
        share: float = 1.0,
        error: str = "fatal_error",
        seconds: float = 1.0,
    ) -> Fault:
        """Let calls of a method go wrong; see `Fault` for the arguments."""
        fault = Fault(method, FaultKind(kind), times, share, error, seconds)
        return self.web_api.faults.add(fault)

    def advance(self, seconds: float) -> None:
        """Push the sandbox's clock forward."""
        self.world.clock.advance(seconds)

    def redeliver(self, delivery: Delivery) -> Delivery:
        """Send the same event once more, as Slack does when an acknowledgement went lost."""
        return self.transport.redeliver(delivery)

    async def disconnect(self, reason: str = "refresh_requested") -> None:
        """Let Slack end the connections: `warning`, `refresh_requested`, `link_disabled`."""
        await self.socket_mode.disconnect(reason)

    async def drop_connections(self) -> None:
        """Cut the connections without a word."""
        await self.socket_mode.drop()

    async def close(self) -> None:
        """Stop everything that still runs."""
        await self._acknowledgements.close()
        await self.socket_mode.close()
        await self.http.close()

    # Inside

    def _interact(self, workspace: Workspace, person: User, payload: Json) -> Delivery:
        delivery = self.transport.deliver(PayloadKind.INTERACTION, payload, accepts_response=False)
        self._acknowledgements.expect_press(workspace, person.user_id, delivery)
        return delivery

    def _place(self, workspace: Workspace, channel: str, person: User) -> Channel:
        """Return a conversation; the app's own name or id means the direct message with it."""
        if channel in (workspace.bot.user_id, workspace.bot.name):
            return workspace.direct(person.user_id)
        return workspace.channel(channel)

    def _message(self, workspace: Workspace, message: Message | str) -> Message:
        if isinstance(message, Message):
            return message
        for channel in workspace.channels.values():
            if found := workspace.find_message(channel.channel_id, message):
                return found
        raise LookupError(f"no message {message} in workspace {workspace.name!r}")
