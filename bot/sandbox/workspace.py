"""What the stand-in remembers: the app, its workspaces, people, channels and messages. No I/O."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.sandbox.changes import ChangeLog
from bot.sandbox.clock import SandboxClock
from bot.sandbox.manifest import Manifest

Json = dict[str, Any]


class UnknownName(LookupError):  # noqa: N818 - reads as what it says in a test's failure
    """A test named somebody or something the workspace does not have."""


class Role(StrEnum):
    """What a person may do in a workspace."""

    MEMBER = "member"
    ADMIN = "admin"
    OWNER = "owner"
    PRIMARY_OWNER = "primary_owner"
    GUEST = "guest"
    SINGLE_CHANNEL_GUEST = "single_channel_guest"


class ChannelKind(StrEnum):
    """How open a conversation is; the value is the `channel_type` of its events."""

    PUBLIC = "channel"
    PRIVATE = "group"
    IM = "im"
    MPIM = "mpim"


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who an app is in a workspace."""

    bot_id: str
    user_id: str
    app_id: str
    name: str


@dataclass(slots=True)
class User:
    """A person, or an app's bot user."""

    user_id: str
    team_id: str
    name: str
    real_name: str
    role: Role = Role.MEMBER
    locale: str = "fr-FR"
    tz: str = "Europe/Paris"
    bot: BotIdentity | None = None
    deleted: bool = False
    updated: int = 0


@dataclass(slots=True)
class Channel:
    """A conversation: public or private channel, direct message, group message."""

    channel_id: str
    team_id: str
    name: str
    kind: ChannelKind
    creator: str
    created: int
    members: list[str] = field(default_factory=list)
    is_archived: bool = False
    is_ext_shared: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    """By `ts`, in order of posting."""

    @property
    def is_im(self) -> bool:
        """True for a direct message."""
        return self.kind is ChannelKind.IM


@dataclass(slots=True)
class Message:
    """One message, seen by all of a channel, or by one person when `visible_to` is set."""

    channel_id: str
    ts: str
    user_id: str
    text: str
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str | None = None
    bot: BotIdentity | None = None
    client_msg_id: str | None = None
    subtype: str | None = None
    edited: tuple[str, str] | None = None
    """(user id, ts) of the last edit."""
    reactions: dict[str, list[str]] = field(default_factory=dict)
    metadata: Json | None = None
    attachments: list[Json] = field(default_factory=list)
    files: list[Json] = field(default_factory=list)
    streaming_state: str | None = None
    """`in_progress` or `completed` for a streamed message."""
    visible_to: str | None = None
    app_context: Json | None = None
    """What the person looked at while writing to the app; only the event carries it."""
    response_token: str = ""
    """Names the response address that it was posted to; empty for one that a method posted."""
    deleted: bool = False


class SessionStatus(StrEnum):
    """Status of an agent session."""

    PROCESSING = "processing"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    CLOSED = "closed"


@dataclass(slots=True)
class Session:
    """An agent session: a thread root in which the app works for somebody."""

    channel_id: str
    thread_ts: str
    status: SessionStatus
    title: str = ""
    loading: str = ""
    """Text of the legacy `assistant.threads.setStatus`."""
    loading_messages: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    """Every status and loading text set, oldest first."""


@dataclass(slots=True)
class View:
    """A modal or a Home tab, as one person sees it."""

    view_id: str
    user_id: str
    content: Json
    hash: str
    root_view_id: str
    previous_view_id: str | None = None
    state: Json = field(default_factory=dict)
    """What was typed and chosen, by block id and action id."""
    errors: dict[str, str] = field(default_factory=dict)
    """Words of the app beside a block, after a refused submission."""
    trigger_id: str = ""
    """Of the interaction that opened it; empty for a Home tab, or one that a submission brought."""


@dataclass(slots=True)
class UserGroup:
    """A named group of people."""

    group_id: str
    handle: str
    members: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Stream:
    """What a streamed message was made of so far."""

    started_at: float
    mode: str = ""
    """`text` or `chunks`, fixed by the first content."""
    tasks: dict[str, Json] = field(default_factory=dict)
    plan_title: str = ""
    blocks: list[Json] = field(default_factory=list)
    stopped_by_user: bool = False


@dataclass(slots=True)
class UploadedFile:
    """A file on its way in; `content` is None until its bytes arrived."""

    file_id: str
    name: str
    length: int
    title: str = ""
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Install:
    """Somebody's agreement to install the app, until its code is exchanged."""

    team_id: str
    user_id: str
    scopes: frozenset[str]
    redirect_uri: str
    made_at: float


@dataclass(slots=True)
class Prompts:
    """Suggested prompts of one direct message."""

    title: str | None
    prompts: list[Json]


class Workspace:
    """One Slack team with the app installed in it."""

    def __init__(self, world: World, team_id: str, name: str, domain: str) -> None:
        self.world = world
        self.team_id = team_id
        self.name = name
        self.domain = domain
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.groups: dict[str, UserGroup] = {}
        self.ephemerals: list[Message] = []
        self.sessions: dict[tuple[str, str], Session] = {}
        self.streams: dict[tuple[str, str], Stream] = {}
        """By (channel id, ts) of the streamed message."""
        self.files: dict[str, UploadedFile] = {}
        self.prompts: dict[str, Prompts] = {}
        """By channel id of the direct message."""
        self.homes: dict[str, View] = {}
        self.modals: dict[str, list[View]] = {}
        """Open modals of a person, the visible one last."""
        self.notices: list[tuple[str, str]] = []
        """(user id, words) of what Slack itself tells somebody, such as `operation_timeout`."""
        self.installed = True
        self.granted = world.manifest.scopes
        self.installer = ""
        self.bot_token = f"xoxb-{team_id}-sandbox"
        self.refresh_token = ""
        self.token_expires_at: float | None = None
        self._last_ts_us = 0
        bot_user = self._new_bot(world.manifest.bot_name, world.app_id)
        assert bot_user.bot is not None  # noqa: S101 - narrows the type of what was just made
        self.bot = bot_user.bot

    # People

    def add_user(self, name: str, *, role: Role = Role.MEMBER, **attributes: Any) -> User:
        """Add a person; `attributes` are fields of `User` (real_name, locale, tz, deleted)."""
        user = User(
            user_id=self.world.new_id("U"),
            team_id=self.team_id,
            name=name,
            real_name=attributes.pop("real_name", name.capitalize()),
            role=role,
            updated=int(self.world.clock.now()),
            **attributes,
        )
        self.users[user.user_id] = user
        self.world.changes.publish("person", team_id=self.team_id, user_id=user.user_id)
        return user

    def add_bot(self, name: str) -> User:
        """Add another app's bot user."""
        return self._new_bot(name, self.world.new_id("A"))

    def _new_bot(self, name: str, app_id: str) -> User:
        user = self.add_user(name.lower(), real_name=name)
        user.bot = BotIdentity(self.world.new_id("B"), user.user_id, app_id, name)
        return user

    def user(self, who: str) -> User:
        """Find a person by id, handle or name.

        Raises:
            UnknownName: If there is nobody of that name.
        """
        wanted = who.removeprefix("@")
        if wanted in self.users:
            return self.users[wanted]
        for user in self.users.values():
            if wanted.casefold() in (user.name.casefold(), user.real_name.casefold()):
                return user
        raise UnknownName(f"nobody called {who!r} in workspace {self.name!r}")

    def add_group(self, handle: str, members: list[str]) -> UserGroup:
        """Add a user group of people given by id or name."""
        ids = [self.user(m).user_id for m in members]
        group = UserGroup(self.world.new_id("S"), handle, ids)
        self.groups[group.group_id] = group
        return group

    # Conversations

    def add_channel(
        self,
        name: str,
        *,
        members: list[str] | None = None,
        private: bool = False,
        with_bot: bool = True,
        **attributes: Any,
    ) -> Channel:
        """Add a channel of people given by id or name; without `members`, of everybody."""
        people = [u for u in self.users.values() if u.user_id != self.bot.user_id]
        ids = [self.user(m).user_id for m in members or ()] if members is not None else None
        if ids is None:
            ids = [u.user_id for u in people if u.bot is None]
        channel = self._new_channel(
            name, ChannelKind.PRIVATE if private else ChannelKind.PUBLIC, ids, **attributes
        )
        if with_bot:
            channel.members.append(self.bot.user_id)
        return channel

    def _new_channel(
        self, name: str, kind: ChannelKind, members: list[str], **attributes: Any
    ) -> Channel:
        channel = Channel(
            channel_id=self.world.new_id("D" if kind is ChannelKind.IM else "C"),
            team_id=self.team_id,
            name=name,
            kind=kind,
            creator=members[0] if members else self.bot.user_id,
            created=int(self.world.clock.now()),
            members=list(members),
            **attributes,
        )
        self.channels[channel.channel_id] = channel
        self.world.changes.publish("channel", team_id=self.team_id, channel_id=channel.channel_id)
        return channel

    def channel(self, where: str) -> Channel:
        """Find a conversation by id or by channel name.

        Raises:
            UnknownName: If there is none.
        """
        wanted = where.removeprefix("#")
        if wanted in self.channels:
            return self.channels[wanted]
        for channel in self.channels.values():
            if channel.name and channel.name == wanted:
                return channel
        raise UnknownName(f"no channel called {where!r} in workspace {self.name!r}")

    def direct(self, user_id: str, other_id: str | None = None) -> Channel:
        """Return the direct message of a person with the app or another, opening it if needed."""
        other_id = other_id or self.bot.user_id
        pair = {user_id, other_id}
        for channel in self.channels.values():
            if channel.is_im and set(channel.members) == pair:
                return channel
        return self._new_channel("", ChannelKind.IM, [user_id, other_id])

    # Messages

    def new_ts(self) -> str:
        """Return a time stamp no message of this workspace has had: seconds and microseconds."""
        now_us = max(int(self.world.clock.now() * 1_000_000), self._last_ts_us + 1)
        self._last_ts_us = now_us
        return f"{now_us // 1_000_000}.{now_us % 1_000_000:06d}"

    def post(self, channel: Channel, user_id: str, text: str, **attributes: Any) -> Message:
        """Store a message; `attributes` are fields of `Message`. No event is sent from here."""
        message = Message(
            channel_id=channel.channel_id,
            ts=self.new_ts(),
            user_id=user_id,
            text=text,
            **attributes,
        )
        if message.visible_to is None:
            channel.messages[message.ts] = message
        else:
            self.ephemerals.append(message)
        kind = "message" if message.visible_to is None else "ephemeral"
        self.world.changes.publish(
            kind, team_id=self.team_id, channel_id=channel.channel_id, ts=message.ts
        )
        return message

    def edited(self, message: Message, by: str) -> None:
        """Mark a message as edited now."""
        message.edited = (by, self.new_ts())
        self._changed("message_changed", message)

    def remove(self, message: Message) -> None:
        """Delete a message."""
        message.deleted = True
        if message.visible_to is None:
            self.channels[message.channel_id].messages.pop(message.ts, None)
        else:
            self.ephemerals.remove(message)
        self._changed("message_deleted", message)

    def _changed(self, kind: str, message: Message) -> None:
        self.world.changes.publish(
            kind, team_id=self.team_id, channel_id=message.channel_id, ts=message.ts
        )

    def thread(self, channel: Channel, root_ts: str) -> list[Message]:
        """Return a thread, root first; empty when there is no such root."""
        root = channel.messages.get(root_ts)
        if root is None or root.thread_ts not in (None, root_ts):
            return []
        replies = [m for m in channel.messages.values() if m.thread_ts == root_ts and m is not root]
        return [root, *replies]

    def find_message(self, channel_id: str, ts: str) -> Message | None:
        """Return a message of a channel, or an ephemeral one, by its time stamp."""
        channel = self.channels.get(channel_id)
        if channel is not None and ts in channel.messages:
            return channel.messages[ts]
        for message in self.ephemerals:
            if message.channel_id == channel_id and message.ts == ts:
                return message
        return None

    def set_prompts(self, channel: Channel, title: str | None, prompts: list[Json]) -> None:
        """Offer suggested prompts in a direct message."""
        self.prompts[channel.channel_id] = Prompts(title, prompts)
        self.world.changes.publish("session", team_id=self.team_id, channel_id=channel.channel_id)

    def permalink(self, message: Message) -> str:
        """Return the web address of a message."""
        path = f"{message.channel_id}/p{message.ts.replace('.', '')}"
        query = ""
        if message.thread_ts and message.thread_ts != message.ts:
            query = f"?thread_ts={message.thread_ts}&cid={message.channel_id}"
        return f"https://{self.domain}.slack.com/archives/{path}{query}"

    def find_view(self, view_id: str) -> View | None:
        """Return an open modal or a Home tab by its id."""
        views: Iterator[View] = itertools.chain(
            self.homes.values(), itertools.chain.from_iterable(self.modals.values())
        )
        return next((v for v in views if v.view_id == view_id), None)


class World:
    """The app and every workspace that has it, under one clock."""

    def __init__(self, manifest: Manifest, clock: SandboxClock | None = None) -> None:
        self.manifest = manifest
        self.clock = clock or SandboxClock()
        self.changes = ChangeLog()
        self.workspaces: dict[str, Workspace] = {}
        self.installs: dict[str, Install] = {}
        """By code."""
        self.problems: list[str] = []
        """What the app did that Slack would refuse or that no part of the stand-in knows."""
        self.limited_history = False
        """Read threads as an app distributed outside the Marketplace may: 15 messages a call."""
        self.stream_lifetime_s = 300.0
        """A stream dies this long after its start; measured by third parties, not documented."""
        self._ids = itertools.count(1)
        self.app_id = self.new_id("A")
        self.app_token = "xapp-1-sandbox"  # noqa: S105 - opens only the stand-in
        self.signing_secret = "sandbox-signing-secret"  # noqa: S105
        self.client_id = "1000000001.1000000001"
        self.client_secret = "sandbox-client-secret"  # noqa: S105
        for problem in manifest.problems():
            self.report(problem)

    def new_id(self, prefix: str) -> str:
        """Return a new Slack-like id."""
        return f"{prefix}0SBX{next(self._ids):06d}"

    def add_workspace(self, name: str, domain: str | None = None) -> Workspace:
        """Add a workspace with the app installed."""
        workspace = Workspace(self, self.new_id("T"), name, domain or name.casefold())
        self.workspaces[workspace.team_id] = workspace
        return workspace

    def report(self, problem: str) -> None:
        """Note something a test must fail on."""
        self.problems.append(problem)
        self.changes.publish("problem", text=problem)
