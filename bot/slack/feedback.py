"""Feedback on answers: two thumbs, and a modal for what is wrong. The answer stays as it is."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import JobStoreError
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.feedback_row import FEEDBACK, verdict_in
from bot.slack.feedback_writer import FeedbackWriter
from bot.slack.listening import acknowledge
from bot.slack.mrkdwn import clean
from bot.slack.next_steps import HumanRequest, with_ask_button
from bot.slack.people import People
from bot.slack.rendering import Block, Message, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.wording import Words
from bot.store import Feedback, QuestionLog, Reason, Verdict

log = logging.getLogger(__name__)

DETAILS = "feedback_details"
REASONS = "reasons"
COMMENT = "comment"
COMMENT_LIMIT = 2_000
_PRESSED = re.compile(f"^{FEEDBACK}(_up|_down)?$")


class FeedbackListener:
    """Keeps what people think of answers.

    Args:
        client: With the bot token; opens the modal.
        questions: What was asked, as far as that is kept.
        humans: Whether there is somebody to ask instead.
    """

    def __init__(
        self,
        writer: FeedbackWriter,
        client: AsyncWebClient,
        people: People,
        questions: QuestionLog,
        *,
        humans: bool,
    ) -> None:
        self._writer = writer
        self._questions = questions
        self._humans = humans
        self._client = client
        self._people = people

    def register(self, app: AsyncApp) -> None:
        """Listen for the thumbs and for the modal."""
        app.action(_PRESSED)(ack=acknowledge, lazy=[self._pressed])
        app.view(DETAILS)(ack=acknowledge, lazy=[self._detailed])

    async def _pressed(self, body: dict[str, Any]) -> None:
        verdict, question_id = verdict_in(body["actions"][0]["value"])
        given = Feedback(question_id, body["team"]["id"], body["user"]["id"], verdict)
        address = ReplyAddress.of(body)
        words = await self._people.words(given.user_id)
        # Both at once: the right to open the modal ends after three seconds.
        writing = self._writer.write(given)
        asked = verdict is Verdict.DOWN and await self._ask_why(body, question_id, address, words)
        if not await writing:
            await address.show(render_notice(words.feedback_lost))
        elif not asked:
            await address.show(await self._thanks(given, words))

    async def _detailed(self, body: dict[str, Any]) -> None:
        given = details_in(body)
        about = json.loads(body["view"]["private_metadata"])
        address = ReplyAddress(about["response_url"], about["thread_ts"])
        words = await self._people.words(given.user_id)
        if await self._writer.write(given):
            await address.show(await self._thanks(given, words))
        else:
            await address.show(render_notice(words.feedback_lost))

    async def _thanks(self, given: Feedback, words: Words) -> Message:
        """Return thanks, with somebody to ask where the answer was no help."""
        message = render_notice(words.feedback_thanks)
        if given.verdict is Verdict.UP or not self._humans:
            return message
        try:
            asked = await asyncio.to_thread(
                self._questions.get, given.question_id, team_id=given.team_id
            )
        except JobStoreError as error:
            log.warning("%s; nobody is offered to be asked", error)
            return message
        if asked is None or not asked.question:
            return message
        request = HumanRequest(given.question_id, asked.user_id, asked.question)
        return with_ask_button(message, words, request)

    async def _ask_why(
        self, body: dict[str, Any], question_id: str, address: ReplyAddress, words: Words
    ) -> bool:
        """Open the modal; says whether that worked."""
        about = {
            "question_id": question_id,
            "response_url": address.url,
            "thread_ts": address.thread_ts,
        }
        try:
            await self._client.views_open(
                trigger_id=body["trigger_id"], view=details_modal(about, words)
            )
        except CALL_FAILED as error:
            log.warning("the feedback modal was not opened: %s", type(error).__name__)
            return False
        return True


def details_in(body: dict[str, Any]) -> Feedback:
    """Return what somebody said in a modal that asks what is wrong."""
    view = body["view"]
    values = view["state"]["values"]
    chosen = values.get(REASONS, {}).get(REASONS, {}).get("selected_options") or []
    comment = values.get(COMMENT, {}).get(COMMENT, {}).get("value") or ""
    return Feedback(
        json.loads(view["private_metadata"])["question_id"],
        body["team"]["id"],
        body["user"]["id"],
        Verdict.DOWN,
        tuple(Reason(option["value"]) for option in chosen),
        clean(comment).strip()[:COMMENT_LIMIT],
    )


def details_modal(about: dict[str, Any], words: Words, callback_id: str = DETAILS) -> Block:
    """Return the modal that asks what is wrong; `about` comes back with what is said."""
    labels = {
        Reason.WRONG: words.reason_wrong,
        Reason.OUTDATED: words.reason_outdated,
        Reason.INCOMPLETE: words.reason_incomplete,
        Reason.OFF_TOPIC: words.reason_off_topic,
    }
    options = [{"text": _plain(label), "value": reason.value} for reason, label in labels.items()]
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": json.dumps(about),
        "title": _plain(words.feedback_title),
        "submit": _plain(words.send),
        "close": _plain(words.cancel),
        "blocks": [
            {
                "type": "input",
                "block_id": REASONS,
                "optional": True,
                "label": _plain(words.feedback_reasons),
                "element": {"type": "checkboxes", "action_id": REASONS, "options": options},
            },
            {
                "type": "input",
                "block_id": COMMENT,
                "optional": True,
                "label": _plain(words.feedback_comment),
                "element": {
                    "type": "plain_text_input",
                    "action_id": COMMENT,
                    "multiline": True,
                    "max_length": COMMENT_LIMIT,
                },
            },
        ],
    }


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": True}
