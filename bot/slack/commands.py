"""`/handbook`: whatever it is asked to do, only the person who typed it sees the result."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from slack_bolt.async_app import AsyncApp

from bot.errors import JobStoreError
from bot.slack.admin.channel import ChannelCommand
from bot.slack.admin.commands import EXAMPLE_CRON, AdminCommands
from bot.slack.admin.explain import Explaining
from bot.slack.admin.sync_reports import COMMAND
from bot.slack.admission import Admission
from bot.slack.asking import Asker, PrivateAsking
from bot.slack.channel_settings import ChannelPolicy, spoken_in
from bot.slack.connection.workspaces import our_user_id
from bot.slack.corrections import Corrections
from bot.slack.home.questions import private_question
from bot.slack.mrkdwn import question_text
from bot.slack.people import People
from bot.slack.rendering import Message, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.searching import Searching
from bot.slack.uploads import Uploads
from bot.slack.wording import Words
from bot.store import NewJob
from ingest import HandbookError

log = logging.getLogger(__name__)


class Verb(StrEnum):
    """What the command is asked to do."""

    HELP = "help"
    SEARCH = "search"
    ASK = "ask"
    REINDEX = "reindex"
    STATUS = "status"
    SCHEDULE = "schedule"
    EXPLAIN = "explain"
    CHANNEL = "channel"
    UPLOADS = "uploads"
    CORRECTIONS = "corrections"


_ALONE = frozenset({"status", "channel", "uploads", "corrections"})
_WITH_OBJECT = frozenset({"ask", "search", "reindex", "schedule", "explain"})


@dataclass(frozen=True, slots=True)
class Order:
    """What somebody typed behind `/handbook`; `text` is never empty for `ask` and `search`."""

    verb: Verb
    text: str = ""


def parse(typed: str) -> Order:
    """Read what was typed: a verb and its object, or else words to search for."""
    first, _, rest = typed.partition(" ")
    first, rest = first.lower(), rest.strip()
    if typed.lower() in ("", "help", "aide") or (first in ("ask", "search") and not rest):
        return Order(Verb.HELP)
    if first in _WITH_OBJECT or (first in _ALONE and not rest):
        return Order(Verb(first), rest)
    return Order(Verb.SEARCH, typed)


class Holding(Protocol):
    """Keeps questions that are being answered; see `bot.slack.jobs.Workers`."""

    def hold(self, question: NewJob) -> Awaitable[str | None]:
        """Keep one, and return what names it."""
        ...

    def holds(self, job_id: str) -> bool:
        """Say whether it is still ours to answer."""
        ...

    def let_go(self, job_id: str, *, answered: bool) -> Awaitable[None]:
        """Keep it no more."""
        ...


class Commands:
    """Listens for the command: acknowledged at once, answered when the work is done."""

    def __init__(
        self,
        *,
        asking: PrivateAsking,
        admin: AdminCommands,
        explaining: Explaining,
        channel: ChannelCommand,
        channels: ChannelPolicy,
        people: People,
        admission: Admission,
        searching: Searching,
        queue: Holding,
        uploads: Uploads,
        corrections: Corrections,
    ) -> None:
        self._asking = asking
        self._admin = admin
        self._explaining = explaining
        self._channel = channel
        self._channels = channels
        self._people = people
        self._admission = admission
        self._searching = searching
        self._queue = queue
        self._kept: dict[str, str] = {}
        """Questions under way, by what triggered them."""
        self._uploads = uploads
        self._corrections = corrections

    def register(self, app: AsyncApp) -> None:
        """Listen for the command."""
        # A lazy listener runs beside the acknowledgement, which must reach Slack within 3 s.
        app.command(COMMAND)(ack=self._acknowledge, lazy=[self._answer])

    async def _acknowledge(self, ack: Callable[..., Any], command: dict[str, Any]) -> None:
        order = self._order(command)
        if order.verb is Verb.ASK:
            await self._keep(command, order.text)
            await ack((await self._people.words(command["user_id"], order.text)).searching)
        else:
            await ack()

    async def _keep(self, command: dict[str, Any], question: str) -> None:
        """Let the queue answer, in a direct message, should this process end before it does."""
        kept = private_question(
            team_id=command["team_id"],
            user_id=command["user_id"],
            channel_id="",
            question=question,
            trigger_id=command["trigger_id"],
        )
        try:
            job_id = await self._queue.hold(kept)
        except JobStoreError as error:
            log.warning("%s; a question is answered while this process lives", error)
            return
        if job_id is not None:
            self._kept[command["trigger_id"]] = job_id

    async def _answer(self, command: dict[str, Any]) -> None:
        job_id = self._kept.pop(command.get("trigger_id", ""), None)
        shown = await self._show(command, job_id)
        if job_id is not None:
            await self._queue.let_go(job_id, answered=shown)

    async def _show(self, command: dict[str, Any], job_id: str | None) -> bool:
        """Do what was asked and show it; says whether it is shown."""
        order, address = self._order(command), ReplyAddress.of(command)
        words = await self._people.words(command["user_id"], order.text)
        try:
            if order.verb is Verb.REINDEX:
                await self._admin.reindex(command["user_id"], order.text, address, words)
                return True
            settings = await self._channels.of(command["team_id"], command["channel_id"])
            words = spoken_in(settings, words)
            if order.verb is Verb.CHANNEL:
                message = await self._channel.open(command, words)
            else:
                message = await self._message(order, command, words)
        except Exception as error:  # noqa: BLE001 - the rim of a listener: whoever typed is told
            # The message of an unknown error may quote what was typed.
            log.error("a command failed: unexpected %s", type(error).__name__)
            message = render_notice(words.failure)
        if message is None:
            return True
        handed_over = job_id is not None and not self._queue.holds(job_id)
        return not handed_over and await address.show(message)

    async def _message(self, order: Order, command: dict[str, Any], words: Words) -> Message:
        user_id = command["user_id"]
        refusal = await self._admission.refusal(
            user_id, command["team_id"], words, channel_id=command["channel_id"]
        )
        if refusal:
            return render_notice(refusal)
        asker = Asker(command["team_id"], command["channel_id"], user_id)
        match order.verb:
            case Verb.ASK:
                return await self._asking.answer(asker, order.text)
            case Verb.SEARCH:
                return await self._searching.search(asker, order.text)
            case Verb.STATUS:
                return await self._admin.status(user_id, words)
            case Verb.UPLOADS:
                return await self._uploads.listed(user_id, words)
            case Verb.CORRECTIONS:
                return await self._corrections.listed(user_id, command["team_id"], words)
            case Verb.SCHEDULE | Verb.EXPLAIN:
                scheduling, people = order.verb is Verb.SCHEDULE, self._people
                may = people.is_admin if scheduling else people.runs_workspace
                # Also words to search for, to those who cannot do either.
                if order.text and not await may(user_id):
                    return await self._searching.search(asker, f"{order.verb} {order.text}")
                if scheduling:
                    return await self._admin.schedule(user_id, order.text, words)
                return await self._explain(order.text, command, words)
            case _:
                return await self._help(user_id, words)

    async def _help(self, user_id: str, words: Words) -> Message:
        lines = [words.command_help]
        if await self._people.is_admin(user_id):
            lines += [words.admin_help, words.schedule_help]
            lines += [words.uploads_help, words.corrections_help]
        if await self._people.runs_workspace(user_id):
            lines += [words.explain_help, words.channel_help]
        return render_notice("\n".join(lines).format(command=COMMAND, example=EXAMPLE_CRON))

    async def _explain(self, link: str, command: dict[str, Any], words: Words) -> Message:
        try:
            return await self._explaining.explain(
                command["user_id"], command["team_id"], link, words
            )
        except HandbookError as error:
            log.error("an answer was not explained: %s", type(error).__name__)
            return render_notice(words.outage)

    def _order(self, command: dict[str, Any]) -> Order:
        return parse(question_text(command.get("text") or "", our_user_id()))
