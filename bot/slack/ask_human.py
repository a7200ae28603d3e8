"""Passes a question on to those in charge of the handbook, and their answer back to who asked."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import JobStoreError
from bot.slack.admission import Admission
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.human_messages import (
    ANSWER_LIMIT,
    GIVE_ANSWER,
    render_note,
    render_relay,
    render_request,
)
from bot.slack.listening import acknowledge
from bot.slack.mrkdwn import clean
from bot.slack.next_steps import ASK_HUMAN, HumanRequest
from bot.slack.people import People
from bot.slack.rendering import Block, Message, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from bot.store import JobStore, NewJob, OwnPost, QuestionLog

log = logging.getLogger(__name__)

ANSWER_GIVEN = "human_answer_given"
ANSWER = "human_answer"
TYPED_LIMIT = 3_000
"""Of a text field. Source: Slack's Block Kit reference."""
PATIENCE_S = 1.0


class Post(Protocol):
    """Posts once and surely; see `bot.slack.jobs.Workers.post`."""

    def __call__(self, new: NewJob, *, outcome: OwnPost, message: Message) -> Awaitable[bool]:
        """Return False when it is known already."""
        ...


@dataclass(frozen=True, slots=True)
class _Given:
    """A human's answer.

    Attributes:
        key: Names it among the answers of a workspace.
    """

    question_id: str
    team_id: str
    author_id: str
    text: str
    key: str


class AskHuman:
    """The way to the owners' channel and back.

    A question goes there once, whoever presses and however often. It can be answered with a button,
    which needs no scope, or in the thread, as far as the app receives messages of that channel.

    Args:
        post: Posts what is passed on.
        jobs: Knows what was passed on.
        questions: Knows who asked.
        client: With the bot token and without retry handlers.
        admission: Tells whose questions are passed on.
        channel_id: Of the owners; "": nothing is passed on.
    """

    def __init__(
        self,
        post: Post,
        jobs: JobStore,
        questions: QuestionLog,
        people: People,
        client: AsyncWebClient,
        admission: Admission,
        *,
        channel_id: str,
    ) -> None:
        self._post = post
        self._jobs = jobs
        self._questions = questions
        self._people = people
        self._client = client
        self._admission = admission
        self._channel_id = channel_id

    def register(self, app: AsyncApp) -> None:
        """Listen for the buttons and for the modal."""
        app.action(ASK_HUMAN)(ack=acknowledge, lazy=[self._asked])
        app.action(GIVE_ANSWER)(ack=acknowledge, lazy=[self._answering])
        app.view(ANSWER_GIVEN)(ack=acknowledge, lazy=[self._submitted])

    async def take_answer(self, said: NewJob) -> bool:
        """Take a message in a thread for an answer, if it stands below a question passed on.

        Returns:
            Whether it stands there.

        Raises:
            JobStoreError: It is not stored: do not acknowledge it.
        """
        if said.channel_id != self._channel_id:
            return False
        request = await asyncio.to_thread(
            self._jobs.posted_as,
            team_id=said.team_id,
            channel_id=said.channel_id,
            ts=said.thread_ts,
        )
        if request is None or request.outcome != OwnPost.REQUEST:
            return False
        given = _Given(
            request.message_ts, said.team_id, said.user_id, said.question, said.message_ts
        )
        if await self._relay(given):
            await self._mark(said)
        return True

    async def _asked(self, body: dict[str, Any]) -> None:
        user_id, address = body["user"]["id"], ReplyAddress.of(body)
        words = await self._people.words(user_id)
        try:
            # The button stands where others see it: whoever presses may not be one of ours.
            refusal = await self._admission.refusal(
                user_id, body["team"]["id"], words, channel_id=body["container"]["channel_id"]
            )
            sentence = refusal or await self._pass_on(body, user_id, words)
        except JobStoreError as error:
            log.error("a question was not passed on: %s", error)
            sentence = words.human_failed
        await address.show(render_notice(sentence))

    async def _pass_on(self, body: dict[str, Any], user_id: str, words: Words) -> str:
        """Pass a question on, and return what to tell whoever pressed."""
        if not self._channel_id:
            return words.human_failed
        request = HumanRequest.from_value(body["actions"][0]["value"])
        new = NewJob(
            event_id=f"human:{request.question_id}",
            team_id=body["team"]["id"],
            channel_id=self._channel_id,
            message_ts=request.question_id,
            thread_ts="",
            user_id=user_id,
            question="",
        )
        link = await self._permalink(body)
        message = render_request(request, user_id, link, words)
        sent = await self._post(new, outcome=OwnPost.REQUEST, message=message)
        return words.human_sent if sent else words.human_sent_already

    async def _permalink(self, body: dict[str, Any]) -> str | None:
        """Return the address of the conversation, None where the owners could not open it."""
        container = body["container"]
        channel_id = container["channel_id"]
        if container.get("is_ephemeral") or channel_id.startswith("D"):
            return None
        try:
            async with asyncio.timeout(PATIENCE_S):
                found = await self._client.chat_getPermalink(
                    channel=channel_id, message_ts=container["message_ts"]
                )
        except CALL_FAILED as error:
            log.warning("a question is passed on without a link: %s", type(error).__name__)
            return None
        link: str = found["permalink"]
        return link

    async def _answering(self, body: dict[str, Any]) -> None:
        container = body["container"]
        about = {
            "question_id": body["actions"][0]["value"],
            "channel_id": container["channel_id"],
            "ts": container["message_ts"],
        }
        words = await self._people.words(body["user"]["id"])
        try:
            await self._client.views_open(trigger_id=body["trigger_id"], view=_modal(about, words))
        except CALL_FAILED as error:
            log.warning("the modal for an answer was not opened: %s", type(error).__name__)

    async def _submitted(self, body: dict[str, Any]) -> None:
        view, author_id = body["view"], body["user"]["id"]
        about = json.loads(view["private_metadata"])
        typed = view["state"]["values"][ANSWER][ANSWER].get("value") or ""
        text = clean(typed).strip()
        if not text:
            return
        given = _Given(about["question_id"], body["team"]["id"], author_id, text, view["id"])
        if not await self._relay(given):
            log.error("an answer has nobody to go to", extra={"question_id": given.question_id})
            return
        note = NewJob(
            event_id=f"note:{given.key}",
            team_id=given.team_id,
            channel_id=about["channel_id"],
            message_ts=given.key,
            thread_ts=about["ts"],
            user_id=author_id,
            question="",
        )
        words = await self._people.words(author_id)
        message = render_note(author_id, text, words)
        await self._post(note, outcome=OwnPost.NOTE, message=message)

    async def _relay(self, given: _Given) -> bool:
        """Tell whoever waits for an answer; returns whether there is anybody."""
        asked = await asyncio.to_thread(
            self._questions.get, given.question_id, team_id=given.team_id
        )
        request = await asyncio.to_thread(
            self._jobs.named,
            team_id=given.team_id,
            channel_id=self._channel_id,
            message_ts=given.question_id,
        )
        waiting = {asked.user_id if asked else "", request.user_id if request else ""}
        waiting -= {"", given.author_id}
        for user_id in sorted(waiting):
            words = await self._people.words(user_id)
            new = NewJob(
                event_id=f"relay:{given.key}:{user_id}",
                team_id=given.team_id,
                channel_id=user_id,
                message_ts=given.key,
                thread_ts="",
                user_id=user_id,
                question="",
            )
            question = asked.question if asked else ""
            message = render_relay(given.author_id, question, given.text, words)
            await self._post(new, outcome=OwnPost.RELAY, message=message)
        return bool(waiting)

    async def _mark(self, said: NewJob) -> None:
        """Let the humans see that their answer is on its way."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._client.reactions_add(
                    channel=said.channel_id, timestamp=said.message_ts, name="white_check_mark"
                )
        except CALL_FAILED as error:
            log.info("an answer was not marked: %s", type(error).__name__)


def _modal(about: dict[str, str], words: Words) -> Block:
    field = {
        "type": "plain_text_input",
        "action_id": ANSWER,
        "multiline": True,
        "max_length": min(TYPED_LIMIT, ANSWER_LIMIT),
    }
    return {
        "type": "modal",
        "callback_id": ANSWER_GIVEN,
        "private_metadata": json.dumps(about),
        "title": _plain(words.human_answer),
        "submit": _plain(words.send),
        "close": _plain(words.cancel),
        "blocks": [
            {
                "type": "input",
                "block_id": ANSWER,
                "label": _plain(words.human_answer_label),
                "element": field,
            },
        ],
    }


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": True}
