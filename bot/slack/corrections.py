"""Answers that quote what has changed since: admins see them, and post a note below each."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from slack_bolt.async_app import AsyncApp

from bot.maintenance import Maintenance
from bot.slack.audiences import Readers
from bot.slack.background import BackgroundTasks
from bot.slack.channel_settings import ChannelPolicy
from bot.slack.connection.bolt import Enter
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.connection.web_client import SlackClient
from bot.slack.listening import acknowledge
from bot.slack.mrkdwn import clean
from bot.slack.people import People
from bot.slack.rendering import Block, Message, button, render_notice
from bot.slack.replies import ReplyAddress
from bot.slack.wording import DEFAULT_LANGUAGE, WORDS, Words, language_of_locale
from bot.store import CitationStore, StaleAnswer
from ingest import Audiences, HandbookError, within

log = logging.getLogger(__name__)

NOTE: Final = "post_correction"
DISMISS: Final = "dismiss_correction"
OPEN: Final = "open_corrected"
DIRECT: Final = "D"
"""How ids of direct messages begin."""
LISTED: Final = 15
"""Answers in a list; each is two blocks, and a message takes 50."""
LOOK_S: Final = 15.0
"""How often the index is asked whether a sync has changed it, whatever process synced."""


class Corrections:
    """Looks for such answers after each sync, lists them, and posts notes below them.

    Args:
        store: What answers quoted.
        maintenance: Compares it with the index.
        people: Says who is an admin.
        client: Posts.
        enter: Begins to act in a workspace.
        readers: Says which pages somebody may read.
        channels: Says which channels want their answers in direct messages.
        owners_channel: Told when there are new ones; "": nobody is.
        days: How far back answers are looked at; 0: none are.
    """

    def __init__(
        self,
        store: CitationStore,
        maintenance: Maintenance,
        people: People,
        client: SlackClient,
        enter: Enter,
        readers: Readers,
        channels: ChannelPolicy,
        *,
        owners_channel: str,
        days: int,
    ) -> None:
        self._store = store
        self._maintenance = maintenance
        self._people = people
        self._client = client
        self._enter = enter
        self._readers = readers
        self._channels = channels
        self._owners_channel = owners_channel
        self._days = days
        self._generation: int | None = None
        self._tasks = BackgroundTasks()

    def register(self, app: AsyncApp) -> None:
        """Listen for the buttons of the list."""
        app.action(NOTE)(ack=acknowledge, lazy=[self._note])
        app.action(DISMISS)(ack=acknowledge, lazy=[self._dismiss])
        app.action(OPEN)(acknowledge)

    def start(self) -> None:
        """Look now, for what was synced while nothing ran, and after each sync."""
        if self._days:
            self._tasks.start(self._watch())

    async def stop(self) -> None:
        """Look no more."""
        await self._tasks.close()

    async def listed(self, user_id: str, team_id: str, words: Words) -> Message:
        """Return the answers of a workspace for an admin, or a refusal."""
        if not await self._people.is_admin(user_id):
            return render_notice(words.admins_only)
        try:
            stale = await asyncio.to_thread(self._store.waiting, team_id, limit=LISTED)
            shown = await self._readable(stale, user_id, words)
        except HandbookError as error:
            log.error("answers to correct are unknown: %s", error)
            return render_notice(words.outage)
        links = [await self._link(answer) for answer in shown]
        return render_stale(shown, links, words)

    async def _readable(
        self, stale: Sequence[StaleAnswer], user_id: str, words: Words
    ) -> list[StaleAnswer]:
        """Return answers without the titles of pages that somebody may not read.

        Who could read a page that is gone is not known any more. One that was quoted for everybody
        in a channel is named to those who may read as much.
        """
        if not stale:
            return []
        own = await self._readers.alone(user_id, "")
        named = {(one.source, one.page) for one in stale}
        now = await asyncio.to_thread(self._maintenance.readers_of, named)

        def may_read(one: StaleAnswer) -> bool:
            readers: Audiences | None = now.get((one.source, one.page))
            if readers is not None:
                return not readers.isdisjoint(own | within(one.team_id, own))
            is_public = bool(one.thread_ts) and not one.channel_id.startswith(DIRECT)
            return is_public and self._readers.everybody(one.channel_id) <= own

        return [one if may_read(one) else replace(one, title=words.stale_hidden) for one in stale]

    async def _watch(self) -> None:
        while True:
            try:
                await self._look()
            except HandbookError as error:
                log.warning("answers were not compared with the index: %s", error)
            except Exception:
                # The rim of a job that repeats: one failure must not end it.
                log.exception("answers were not compared with the index")
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> None:
        generation = await asyncio.to_thread(self._maintenance.generation)
        if generation is None or generation == self._generation:
            return
        find = self._maintenance.stale_answers
        for team_id in await asyncio.to_thread(find, self._store, days=self._days):
            # In a task of its own: it acts in that workspace.
            await self._tasks.start(self._announce(team_id))
        self._generation = generation

    async def _announce(self, team_id: str) -> None:
        if not self._owners_channel or await self._enter(team_id) is None:
            return
        # No word of a page: not everybody in that channel may read every page.
        message = render_notice(WORDS[DEFAULT_LANGUAGE].stale_found)
        try:
            await self._post(self._owners_channel, None, message)
        except CALL_FAILED as error:
            log.warning("changed passages were not told of: %s", type(error).__name__)

    async def _note(self, body: dict[str, Any]) -> None:
        decided = await self._decided(body)
        if decided is None:
            return
        answer, address, words = decided
        try:
            if answer.thread_ts and not await self._is_private(answer):
                spoken = WORDS[language_of_locale(answer.language) or DEFAULT_LANGUAGE]
                said = spoken.correction_note.format(title=clean(answer.title))
                await self._post(answer.channel_id, answer.thread_ts, render_notice(said))
            else:
                spoken = await self._people.words(answer.user_id, otherwise=answer.language)
                said = spoken.correction_private.format(title=clean(answer.title))
                if answer.question:
                    said += "\n" + spoken.correction_asked.format(question=clean(answer.question))
                await self._post(answer.user_id, None, render_notice(said))
        except TimeoutError:
            log.warning("nobody knows whether a correction was posted")  # twice is worse
        except (HandbookError, *CALL_FAILED) as error:
            log.error("a correction was not posted: %s", type(error).__name__)
            await asyncio.to_thread(self._store.undecide, answer.question_id)
            await address.show(render_notice(words.correction_failed))
            return
        await address.show(render_notice(words.correction_posted))

    async def _is_private(self, answer: StaleAnswer) -> bool:
        return (await self._channels.of(answer.team_id, answer.channel_id)).private

    async def _dismiss(self, body: dict[str, Any]) -> None:
        decided = await self._decided(body)
        if decided is not None:
            await decided[1].show(render_notice(decided[2].correction_dismissed))

    async def _decided(
        self, body: dict[str, Any]
    ) -> tuple[StaleAnswer, ReplyAddress, Words] | None:
        """Take the answer of a press off the list; None when it cannot be, which is told."""
        user_id, address = body["user"]["id"], ReplyAddress.of(body)
        words = await self._people.words(user_id)
        if not await self._people.is_admin(user_id):
            await address.show(render_notice(words.admins_only))
            return None
        question_id, team_id = str(body["actions"][0]["value"]), body["team"]["id"]
        try:
            answer = await asyncio.to_thread(self._store.decide, question_id, team_id=team_id)
        except HandbookError as error:
            log.error("a correction was not taken: %s", error)
            await address.show(render_notice(words.failure))
            return None
        if answer is None:
            await address.show(render_notice(words.correction_decided))
            return None
        log.info("an answer was decided about", extra={"user_id": user_id})
        return answer, address, words

    async def _link(self, answer: StaleAnswer) -> str | None:
        if not answer.message_ts:
            return None
        try:
            found = await self._client.chat_getPermalink(
                channel=answer.channel_id, message_ts=answer.message_ts
            )
        except CALL_FAILED:
            return None
        return str(found["permalink"])

    async def _post(self, channel: str, thread_ts: str | None, message: Message) -> None:
        await self._client.chat_postMessage(
            channel=channel,
            thread_ts=thread_ts,
            text=message.text,
            blocks=[dict(block) for block in message.blocks],
            unfurl_links=False,
            unfurl_media=False,
        )


def render_stale(
    answers: Sequence[StaleAnswer], links: Sequence[str | None], words: Words
) -> Message:
    """Render the answers, each with buttons to correct it, to let it be, and to see it."""
    if not answers:
        return render_notice(words.stale_none)
    heading = render_notice(words.stale_listed)
    blocks, lines = list(heading.blocks), [heading.text]
    for answer, link in zip(answers, links, strict=True):
        where = words.stale_public if answer.thread_ts else words.stale_private
        said = render_notice(
            f"{clean(answer.title)} ({clean(answer.source)}) · {where}"
            f" · {words.format_moment(answer.found_at)}"
        )
        lines.append(said.text)
        blocks += [*said.blocks, {"type": "actions", "elements": _buttons(answer, link, words)}]
    return Message("\n".join(lines), tuple(blocks))


def _buttons(answer: StaleAnswer, link: str | None, words: Words) -> list[Block]:
    buttons = [
        button(words.correction_post, NOTE, answer.question_id, style="primary"),
        button(words.correction_dismiss, DISMISS, answer.question_id),
    ]
    if link:
        buttons.append({**button(words.correction_open, OPEN, answer.question_id), "url": link})
    return buttons
