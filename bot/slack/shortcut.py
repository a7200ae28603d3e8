"""« Demander au guide » on somebody's message: the answer in a modal, with a button to share it."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import JobStoreError
from bot.slack.asking import Asker, PrivateAsking
from bot.slack.commands import Holding
from bot.slack.connection.reaching import CALL_FAILED, UNREACHABLE
from bot.slack.connection.workspaces import our_user_id
from bot.slack.feedback_row import plain_blocks
from bot.slack.home.questions import private_question
from bot.slack.listening import acknowledge
from bot.slack.message_text import text_of
from bot.slack.mrkdwn import shortened
from bot.slack.people import People
from bot.slack.presentation import Presentation
from bot.slack.rendering import Block, Message, button, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from bot.store import NewJob

log = logging.getLogger(__name__)

ASK_ABOUT = "ask_about_message"
"""As in the manifest."""
SHARE_IN_THREAD = "share_in_thread"
SHARE_ROW = "share_row"
EXCERPT_LIMIT = 300


class Keeping(Holding, Protocol):
    """Keeps questions that are being answered; see `bot.slack.jobs.Workers`."""

    def waits_in(self, question: NewJob, view_id: str | None) -> Awaitable[bool]:
        """Say where the outcome of one goes."""
        ...


class MessageShortcut:
    """Answers about a message, to whoever used the shortcut on it.

    Args:
        client: With the bot token and without retry handlers; opens and fills the modal.
        queue: Answers in the modal, should this process end before it does.
    """

    def __init__(
        self,
        asking: PrivateAsking,
        people: People,
        presentation: Presentation,
        client: AsyncWebClient,
        queue: Keeping,
    ) -> None:
        self._asking = asking
        self._people = people
        self._presentation = presentation
        self._client = client
        self._queue = queue
        self._kept: dict[str, str] = {}
        """Messages under way, by what triggered them."""

    def register(self, app: AsyncApp) -> None:
        """Listen for the shortcut and for the button in its modal."""
        app.message_shortcut(ASK_ABOUT)(ack=self._keep, lazy=[self._asked])
        app.action(SHARE_IN_THREAD)(ack=acknowledge, lazy=[self._share])

    async def _keep(self, body: dict[str, Any], ack: Callable[[], Any]) -> None:
        question = _question_in(body)
        if question.question:
            try:
                job_id = await self._queue.hold(question)
            except JobStoreError as error:
                log.warning("%s; a question is answered while this process lives", error)
                job_id = None
            if job_id is not None:
                self._kept[body["trigger_id"]] = job_id
        await ack()

    async def _asked(self, body: dict[str, Any]) -> None:
        job_id = self._kept.pop(body["trigger_id"], None)
        words = await self._people.words(body["user"]["id"])
        view_id = await self._open(body["trigger_id"], words)
        if job_id is not None and view_id is not None:
            try:
                await self._queue.waits_in(_question_in(body), view_id)
            except JobStoreError as error:
                log.warning("%s; an answer may come as a direct message", error)
        answered = view_id is not None and await self._fill(view_id, body, words, job_id)
        if job_id is not None:
            await self._queue.let_go(job_id, answered=answered)

    async def _fill(
        self, view_id: str, body: dict[str, Any], words: Words, job_id: str | None
    ) -> bool:
        """Show what came of it in the modal; says whether that is done with."""
        try:
            view = await self._answered(body, words)
        except Exception as error:  # noqa: BLE001 - the rim of a listener: whoever waits is told
            # The message of an unknown error may quote what was asked.
            log.error("a shortcut failed: unexpected %s", type(error).__name__)
            view = _modal(words, render_notice(words.failure).blocks)
        return (job_id is None or self._queue.holds(job_id)) and await self._update(view_id, view)

    async def _answered(self, body: dict[str, Any], words: Words) -> Block:
        message = body["message"]
        text = text_of(message, our_user_id())
        if not text:
            return _modal(words, render_notice(words.about_nothing).blocks)
        asker = Asker(body["team"]["id"], body["channel"]["id"], body["user"]["id"])
        asked = await self._asking.ask(asker, text)
        if isinstance(asked, Message):
            return _modal(words, asked.blocks)
        excerpt = words.about_message.format(message=shortened(text, EXCERPT_LIMIT))
        shown = self._presentation.body(asked.outcome, asked.words)
        blocks = [_context(excerpt), *plain_blocks(shown)]
        answer_id = await self._asking.keep(asker, asked, words.shared_about)
        if answer_id is not None:
            share = button(words.share_in_thread, SHARE_IN_THREAD, answer_id, style="primary")
            blocks.append({"type": "actions", "block_id": SHARE_ROW, "elements": [share]})
        thread = {
            "channel_id": asker.channel_id,
            "thread_ts": message.get("thread_ts") or message["ts"],
            "response_url": body["response_url"],
        }
        return _modal(words, blocks, thread)

    async def _share(self, body: dict[str, Any]) -> None:
        view, user_id = body["view"], body["user"]["id"]
        thread = json.loads(view["private_metadata"])
        words = await self._people.words(user_id)
        presser = Asker(body["team"]["id"], thread["channel_id"], user_id)
        address = ReplyAddress(thread["response_url"], thread["thread_ts"])
        value = body["actions"][0]["value"]
        refusal = await self._asking.share(value, presser, address, words)
        kept = [block for block in view["blocks"] if block.get("block_id") != SHARE_ROW]
        said = _context(refusal or words.share_done)
        await self._update(view["id"], _modal(words, [*kept, said], thread))

    async def _open(self, trigger_id: str, words: Words) -> str | None:
        """Open the modal at once: the right to do so ends after three seconds."""
        view = _modal(words, render_notice(words.searching).blocks)
        try:
            opened = await self._client.views_open(trigger_id=trigger_id, view=view)
        except CALL_FAILED as error:
            log.warning("a modal was not opened: %s", type(error).__name__)
            return None
        view_id: str = opened["view"]["id"]
        return view_id

    async def _update(self, view_id: str, view: Block) -> bool:
        """Fill the modal; False where that may work later: Slack was not reached, or is busy."""
        try:
            await self._client.views_update(view_id=view_id, view=view)
        except SlackApiError as error:
            log.warning("a modal was not filled: %s", error.response.get("error"))
            return bool(error.response.status_code == 200)  # such as one that was closed
        except UNREACHABLE as error:
            log.warning("a modal was not filled: %s", type(error).__name__)
            return False
        return True


def _question_in(body: dict[str, Any]) -> NewJob:
    return private_question(
        team_id=body["team"]["id"],
        user_id=body["user"]["id"],
        channel_id="",
        question=text_of(body["message"], our_user_id()),
        trigger_id=body["trigger_id"],
    )


def _modal(
    words: Words, blocks: list[Block] | tuple[Block, ...], thread: dict[str, str] | None = None
) -> Block:
    return {
        "type": "modal",
        "callback_id": ASK_ABOUT,
        "private_metadata": json.dumps(thread or {}),
        "title": {"type": "plain_text", "text": words.about_title, "emoji": True},
        "blocks": list(blocks),
    }


def _context(sentence: str) -> Block:
    text = {"type": "plain_text", "text": sentence, "emoji": False}
    return {"type": "context", "elements": [text]}
