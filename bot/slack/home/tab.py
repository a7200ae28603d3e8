"""The Home tab: a person's own start page, where they ask and search, and admins look after it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import JobStoreError
from bot.maintenance import HandbookState, Maintenance
from bot.records import Question, collapse
from bot.slack.admission import Admission
from bot.slack.audiences import Readers
from bot.slack.background import BackgroundTasks
from bot.slack.connection.reaching import CALL_FAILED
from bot.slack.feedback import details_in, details_modal
from bot.slack.feedback_row import verdict_in
from bot.slack.feedback_writer import FeedbackWriter
from bot.slack.hits import render_hits
from bot.slack.home.admin import HomeAdmin
from bot.slack.home.modals import THUMB, message_modal, notice_modal, waiting_modal, with_thanks
from bot.slack.home.questions import OPEN_LIMIT_S, Queue, private_question
from bot.slack.home.view import (
    AGAIN,
    ASK,
    FAVOURITES_SHOWN,
    QUESTION_LIMIT,
    RECENT_SHOWN,
    SEARCH,
    Favourite,
    HomeContent,
    home_view,
)
from bot.slack.listening import acknowledge
from bot.slack.mrkdwn import clean
from bot.slack.people import People
from bot.slack.readiness import Handbook
from bot.slack.rendering import Block, Message, render_notice
from bot.slack.wording import Words
from bot.store import (
    Feedback,
    Job,
    NewJob,
    PageUse,
    RecentQuestion,
    Statistics,
    Verdict,
)
from ingest import PUBLIC, HandbookError, SourceStatus

log = logging.getLogger(__name__)

FAVOURITES_DAYS = 30
HITS = 5
SEARCHES_AT_ONCE = 2
KEEP_STATE_S = 30.0
"""How old the state of the handbook may be that everybody sees: many open their Home at nine."""
KEEP_USES_S = 600.0
"""How old the count of citations and thumbs may be: it reads a month of the question log."""
PAGES_LOOKED_UP = 20
"""Of the most useful ones: some are not for everybody, and some are gone."""

DETAILS = "home_feedback_details"

_ASKED = re.compile(f"^(?:{ASK}(?:_button)?|{AGAIN})$")
_SEARCHED = re.compile(f"^{SEARCH}(?:_button)?$")
_THUMBED = re.compile(f"^{THUMB}_")


@dataclass(frozen=True, slots=True)
class HomeTab:
    """Whose Home tab it is.

    Attributes:
        channel_id: Their direct message with the app; "" when unknown.
        shown: Hash of what they see now, "" when that is unknown.
    """

    team_id: str
    user_id: str
    channel_id: str = ""
    shown: str = ""

    @classmethod
    def opened(cls, body: dict[str, Any]) -> Self:
        """Return the tab that an `app_home_opened` tells of."""
        event = body["event"]
        shown = (event.get("view") or {}).get("hash") or ""
        return cls(body["team_id"], event["user"], event.get("channel") or "", shown)

    @classmethod
    def pressed(cls, body: dict[str, Any]) -> Self:
        """Return the tab that a press came from."""
        view = body["view"]
        try:
            channel_id = str(json.loads(view.get("private_metadata") or "{}").get("channel", ""))
        except ValueError:
            channel_id = ""
        # The team of the view: somebody of another one may be looking at it.
        return cls(body["team"]["id"], body["user"]["id"], channel_id, view.get("hash") or "")

    @property
    def metadata(self) -> str:
        """Return what must come back with each press."""
        return json.dumps({"channel": self.channel_id})


class Home:
    """Publishes Home tabs and does what is pressed in them.

    Answers open in a modal: they belong to the person alone, on every plan, and the tab stays
    where it is. They are made from what the person may read.

    Args:
        client: Shows views, which may be repeated blindly.
        now: Clock in seconds, for what is kept a while.
    """

    def __init__(
        self,
        *,
        client: AsyncWebClient,
        handbook: Handbook,
        statistics: Statistics,
        feedback: FeedbackWriter,
        maintenance: Maintenance,
        admin: HomeAdmin,
        people: People,
        admission: Admission,
        readers: Readers,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._handbook = handbook
        self._statistics = statistics
        self._feedback = feedback
        self._maintenance = maintenance
        self._admin = admin
        self._people = people
        self._admission = admission
        self._readers = readers
        self._now = now
        self._state: tuple[float, HandbookState] | None = None
        self._uses: dict[str, tuple[float, tuple[PageUse, ...]]] = {}
        """By workspace."""
        self._searches = asyncio.Semaphore(SEARCHES_AT_ONCE)
        self._tasks = BackgroundTasks()

    def register(self, app: AsyncApp, *, queue: Queue) -> None:
        """Listen for the tab being opened and for everything in it.

        Args:
            app: Where.
            queue: Answers questions: each is stored before Slack gets its acknowledgement.
        """

        async def shows_home(event: dict[str, Any]) -> bool:
            return event.get("tab") == "home"

        async def accept() -> None:
            pass

        app.event("app_home_opened", matchers=[shows_home])(ack=accept, lazy=[self._opened])

        async def store(body: dict[str, Any], ack: Callable[[], Any]) -> None:
            await self._store(queue, body)
            await ack()

        async def asked(body: dict[str, Any]) -> None:
            await self._asked(queue, body)

        app.action(_ASKED)(ack=store, lazy=[asked])
        app.action(_SEARCHED)(ack=acknowledge, lazy=[self._searched])
        app.action(_THUMBED)(ack=acknowledge, lazy=[self._thumbed])
        app.view(DETAILS)(ack=acknowledge, lazy=[self._detailed])
        self._admin.register(app, self._refreshed)

    async def publish(self, tab: HomeTab, *, note: str = "") -> None:
        """Show somebody their Home tab as it is now.

        Args:
            tab: Theirs.
            note: Told to admins above what they can do.
        """
        if not await self._publish(tab, note, patient=False):
            await self._publish(replace(tab, shown=""), note, patient=True)

    async def _publish(self, tab: HomeTab, note: str, *, patient: bool) -> bool:
        """Publish a tab; says whether everything that belongs there is in it."""
        shown, complete = tab.shown, True
        for _ in range(2):
            view, complete = await self._view(tab, note, patient=patient)
            try:
                await self._client.views_publish(user_id=tab.user_id, view=view, hash=shown or None)
            except SlackApiError as error:
                if error.response.get("error") == "hash_conflict":
                    # Something newer is shown than this was made over: made anew, it is newest.
                    shown = ""
                    continue
                log.error("a Home tab was refused: %s", error.response.get("error"))
            except CALL_FAILED as error:
                log.warning("a Home tab was lost: %s", type(error).__name__)
            break
        return complete

    async def _opened(self, body: dict[str, Any]) -> None:
        await self.publish(HomeTab.opened(body))

    async def _refreshed(self, body: dict[str, Any], note: str) -> None:
        self._state = None
        await self.publish(HomeTab.pressed(body), note=note)

    async def _view(self, tab: HomeTab, note: str, *, patient: bool) -> tuple[Block, bool]:
        """Return a tab, and whether nothing is missing that takes longer."""
        words = await self._people.words(tab.user_id)
        refusal = await self._admission.refusal(tab.user_id, tab.team_id, words)
        if refusal:
            return {"type": "home", "blocks": list(render_notice(refusal).blocks)}, True
        is_admin, admin = await self._people.is_admin(tab.user_id), None
        if is_admin:
            admin = await self._admin.content(tab.team_id, note, patient=patient)
        state = await self._known_state(0.0 if is_admin else KEEP_STATE_S)
        content = HomeContent(
            recent=await self._recent(tab),
            favourites=await self._favourites(tab.team_id),
            sources=await self._sources(state, everything=is_admin),
            state=state,
            admin=admin,
        )
        complete = admin is None or admin.gaps is not None
        return home_view(content, words, metadata=tab.metadata), complete

    async def _known_state(self, max_age_s: float) -> HandbookState | None:
        now = self._now()
        if self._state is not None and now - self._state[0] < max_age_s:
            return self._state[1]
        try:
            state = await asyncio.to_thread(self._maintenance.state)
        except HandbookError as error:
            log.error("the state of the index is unknown: %s", error)
            return None
        self._state = (now, state)
        return state

    async def _sources(
        self, state: HandbookState | None, *, everything: bool
    ) -> tuple[SourceStatus, ...]:
        """Return the sources that may be named: those of which everybody may read the pages."""
        sources = state.index.sources if state and state.index else ()
        if everything or not sources:
            return sources
        try:
            public = await asyncio.to_thread(self._maintenance.public_sources)
        except HandbookError as error:
            log.error("the sources are unknown: %s", error)
            return ()
        return tuple(source for source in sources if source.name in public)

    async def _recent(self, tab: HomeTab) -> tuple[RecentQuestion, ...]:
        try:
            return await asyncio.to_thread(
                self._statistics.recent,
                team_id=tab.team_id,
                user_id=tab.user_id,
                limit=RECENT_SHOWN,
            )
        except JobStoreError as error:
            log.warning("%s; no recent questions are shown", error)
            return ()

    async def _favourites(self, team_id: str) -> list[Favourite]:
        try:
            return await asyncio.to_thread(self._readable_favourites, team_id)
        except HandbookError as error:
            log.warning("no favourites are shown: %s", type(error).__name__)
            return []

    def _readable_favourites(self, team_id: str) -> list[Favourite]:
        """Return the most useful pages, of those that everybody may read now."""
        looked_up = self._page_uses(team_id)[:PAGES_LOOKED_UP]
        if not looked_up:
            return []
        wanted = [chunk_id for use in looked_up for chunk_id in use.chunk_ids]
        readable = {chunk.chunk_id: chunk for chunk in self._handbook.chunks(wanted, PUBLIC)}
        favourites = []
        for use in looked_up:
            known = [readable[chunk_id] for chunk_id in use.chunk_ids if chunk_id in readable]
            if known:
                favourites.append(Favourite(known[0], use.useful, use.cited))
        return favourites[:FAVOURITES_SHOWN]

    def _page_uses(self, team_id: str) -> tuple[PageUse, ...]:
        now = self._now()
        known = self._uses.get(team_id)
        if known is None or now - known[0] >= KEEP_USES_S:
            known = (now, self._statistics.useful_pages(team_id=team_id, days=FAVOURITES_DAYS))
            self._uses[team_id] = known
        return known[1]

    def answered(self, job: Job) -> None:
        """Show a person's Home tab with the question that was answered in it, beside other work."""
        direct = job.channel_id if job.channel_id != job.user_id else ""
        self._tasks.start(self.publish(HomeTab(job.team_id, job.user_id, direct)))

    async def close(self) -> None:
        """Drop what is not shown yet."""
        await self._tasks.close()

    async def _store(self, queue: Queue, body: dict[str, Any]) -> None:
        question = _question_in(body)
        if not question.question:
            return
        try:
            await queue.accept(question, delay_s=OPEN_LIMIT_S)
        except JobStoreError as error:
            log.error("%s; a question is not taken", error)  # its modal says so

    async def _asked(self, queue: Queue, body: dict[str, Any]) -> None:
        question = _question_in(body)
        words = await self._people.words(question.user_id, question.question)
        title, typed = words.home_answer_title, question.question
        # At once: the right to open a modal ends after three seconds.
        first = waiting_modal(title, typed, words)
        if not typed:
            first = notice_modal(title, words.home_empty, words)
        opened = await _unless_lost(
            self._client.views_open(trigger_id=body["trigger_id"], view=first)
        )
        if not typed:
            return
        view_id = opened["view"]["id"] if opened is not None else None
        try:
            known = await queue.waits_in(question, view_id)
        except JobStoreError as error:
            log.warning("%s; an answer comes as a direct message", error)
            return
        if not known and view_id is not None:
            shown = message_modal(title, typed, render_notice(words.outage), words)
            await _unless_lost(self._client.views_update(view_id=view_id, view=shown))

    async def _searched(self, body: dict[str, Any]) -> None:
        tab, terms = HomeTab.pressed(body), _typed(body, SEARCH)
        words = await self._people.words(tab.user_id, terms)

        async def search() -> Message:
            audiences = await self._readers.alone(tab.user_id, tab.channel_id)
            async with self._searches:
                found = await asyncio.to_thread(
                    self._handbook.search, Question(terms), HITS, audiences
                )
            return await asyncio.to_thread(render_hits, found, words)

        await self._show_found(body, terms, words, search)

    async def _show_found(
        self,
        body: dict[str, Any],
        terms: str,
        words: Words,
        search: Callable[[], Awaitable[Message]],
    ) -> None:
        """Open a modal, search, and show what is found."""
        title = words.home_search_title
        refusal = await self._admission.refusal(body["user"]["id"], body["team"]["id"], words)
        if refusal or not terms:
            notice = notice_modal(title, refusal or words.home_empty, words)
            await _unless_lost(self._client.views_open(trigger_id=body["trigger_id"], view=notice))
            return
        # At once: the right to open a modal ends after three seconds.
        waiting = waiting_modal(title, terms, words)
        opened = await _unless_lost(
            self._client.views_open(trigger_id=body["trigger_id"], view=waiting)
        )
        if opened is None:
            return
        try:
            message = await search()
        except HandbookError as error:
            log.error("outage: %s", type(error).__name__)
            message = render_notice(words.outage)
        except Exception as error:  # noqa: BLE001 - the rim of a listener: whoever searches is told
            log.error("a press failed: unexpected %s", type(error).__name__)
            message = render_notice(words.failure)
        shown = message_modal(title, terms, message, words)
        await _unless_lost(self._client.views_update(view_id=opened["view"]["id"], view=shown))

    async def _thumbed(self, body: dict[str, Any]) -> None:
        verdict, question_id = verdict_in(body["actions"][0]["value"])
        given = Feedback(question_id, body["team"]["id"], body["user"]["id"], verdict)
        words = await self._people.words(given.user_id)
        view = body["view"]
        writing = self._feedback.write(given)
        if verdict is Verdict.DOWN:
            # On top of the answer, and at once: the right to do so ends after three seconds.
            asking = details_modal({"question_id": question_id}, words, DETAILS)
            await _unless_lost(self._client.views_push(trigger_id=body["trigger_id"], view=asking))
        kept = await writing
        said = with_thanks(view, words.feedback_thanks if kept else words.feedback_lost)
        await _unless_lost(self._client.views_update(view_id=view["id"], view=said))

    async def _detailed(self, body: dict[str, Any]) -> None:
        # Below stands the answer, already with thanks.
        await self._feedback.write(details_in(body))


async def _unless_lost(call: Any) -> Any:
    """Return what Slack answers, None when it refuses or cannot be reached."""
    try:
        return await call
    except CALL_FAILED as error:
        log.warning("a modal was not shown: %s", type(error).__name__)
        return None


def _question_in(body: dict[str, Any]) -> NewJob:
    tab = HomeTab.pressed(body)
    return private_question(
        team_id=tab.team_id,
        user_id=tab.user_id,
        channel_id=tab.channel_id,
        question=_typed(body, ASK),
        trigger_id=body["trigger_id"],
    )


def _typed(body: dict[str, Any], box: str) -> str:
    """Return what stands in a box, or on the question that was pressed again."""
    action = body["actions"][0]
    if action["action_id"] in (box, AGAIN):
        return _words_of(action.get("value"))
    for block in body["view"]["state"]["values"].values():
        if box in block:
            return _words_of(block[box].get("value"))
    return ""


def _words_of(value: str | None) -> str:
    lines = (collapse(line) for line in clean(value or "").split("\n"))
    return "\n".join(lines).strip()[:QUESTION_LIMIT]
