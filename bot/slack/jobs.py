"""Works off the queue: answers questions off the event loop, delivers outcomes on it.

Every accepted question gets one visible outcome: it is kept in the database before anything is
posted, and a post of which nobody knows whether it worked is looked for before it is repeated.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from bot.answering.abandoning import Abandonment, abandonable
from bot.answering.streaming import OnClaim
from bot.errors import (
    AnswerAbandoned,
    DeliveryDelayed,
    DeliveryRefused,
    DeliveryUncertain,
    JobStoreError,
    SlackDeliveryError,
    VaultError,
    WorkspaceUnavailable,
)
from bot.records import Claim, GroundedAnswer, Outcome, Question
from bot.slack.audiences import Readers
from bot.slack.channel_settings import DEFAULTS, ChannelPolicy, spoken_in
from bot.slack.connection.pauses import Pauses, posting_in
from bot.slack.delivery import Posted
from bot.slack.next_steps import HumanRequest
from bot.slack.people import WordsFor
from bot.slack.presentation import Presentation
from bot.slack.reception import Reception
from bot.slack.rendering import Message, render_notice
from bot.slack.wording import Words
from bot.store import (
    ANSWER,
    DELIVER,
    ChannelSettings,
    Job,
    JobStore,
    LoggedQuestion,
    NewJob,
    OwnPost,
    QuestionLog,
    Stage,
    logged_passages,
)
from ingest import PUBLIC, Audiences, HandbookError

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
"""Times answering one question is begun; a question that ends the process must not do so for
ever."""
DELIVERY_WORKERS = 8
GIVE_UP_AFTER_S = 24 * 3_600.0
"""An answer that could not be posted for a day helps nobody any more."""
FORGET_AFTER_S = 30 * 86_400.0
"""Ended jobs keep ids only, to recognise late repetitions; then they go."""
FIRST_RETRY_S = 1.0
LONGEST_RETRY_S = 300.0
CLOSED_S = 5.0
"""How long jobs of a workspace wait in which we cannot act now."""
WATCH_EVERY_S = 1.0
"""How often the database is looked at for what happened by itself: retries that became due, jobs of
processes that died, answers that nobody waits for any more, pauses that others were asked for."""
WRITING_LIMIT_S = 5.0
"""How long a stop lets models write: most answers end within it, and one that does not is soon
begun anew. A model may be waited for until it times out, and service managers kill before that."""

_OF_THE_HANDBOOK = frozenset({"answer", "abstention"})
"""Outcomes that the handbook gave."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
Answer = (
    Callable[[Question, Audiences], Outcome] | Callable[[Question, Audiences, OnClaim], Outcome]
)
"""The third argument is given where an answer is shown while it is written."""


class Delivery(Protocol):
    """Where outcomes go; see `bot.slack.delivery.SlackDelivery`."""

    async def post(self, job: Job, message: Message) -> Posted:
        """Post once."""
        ...

    async def find(self, job: Job) -> Posted | None:
        """Look for what an earlier try may have posted."""
        ...


class Progress(Protocol):
    """Shows people that something is under way; see `bot.slack.agent_pane.AgentPane`."""

    def began(self, job: Job) -> None:
        """Answering has begun, perhaps once more."""
        ...

    def ended(self, job: Job) -> None:
        """The outcome stands, or never will."""
        ...


class Growing(Protocol):
    """One answer that is shown while it is written."""

    def hear(self, claim: Claim) -> None:
        """Show a claim; called in the thread that answers."""
        ...

    async def close(self) -> None:
        """Show nothing more."""
        ...


class Streams(Protocol):
    """Shows answers while they are written; see `bot.slack.streaming.Streams`."""

    def begin(self, job: Job, settings: ChannelSettings) -> Growing | None:
        """Return what gets the claims of an answer; None where they are not shown."""
        ...

    def drop(self, job: Job) -> None:
        """Forget an answer that is not for us to deliver."""
        ...


class Workers:
    """The running half of the queue; `JobStore` is the lasting one.

    Args:
        answer: Answers one question; slow, called in a thread.
        questions: Where questions and what answered them are written down.
        words_for: Chooses the bot's own words around an outcome, by who reads it.
        answer_workers: Questions answered at the same time.
        enter: Enters the workspace of a job; returns None when it is not served any more.
        presentation: How outcomes are shown.
        reception: Deals with what is no question to the handbook.
        progress: Is told what is under way.
        afterwards: Gets each question once its answer or abstention stands.
        channels: What admins chose for single channels.
        readers: What may be said in which conversation; None: what everybody may read.
        streams: Show answers while they are written; None: they are shown when complete.
        pauses: Remembers how long Slack wants no posts in which channel.
    """

    def __init__(
        self,
        store: JobStore,
        delivery: Delivery,
        answer: Answer,
        *,
        questions: QuestionLog,
        words_for: WordsFor,
        answer_workers: int,
        enter: Callable[[str], Awaitable[object | None]] | None = None,
        presentation: Presentation | None = None,
        reception: Reception | None = None,
        progress: Progress | None = None,
        afterwards: Callable[[Job], None] | None = None,
        channels: ChannelPolicy | None = None,
        readers: Readers | None = None,
        streams: Streams | None = None,
        pauses: Pauses | None = None,
    ) -> None:
        self._store = store
        self._questions = questions
        self._words_for = words_for
        self._presentation = presentation or Presentation()
        self._reception = reception
        self._progress = progress
        self._afterwards = afterwards
        self._channels = channels
        self._readers = readers
        self._streams = streams
        self._delivery = delivery
        self._answer = answer
        self._answer_workers = answer_workers
        self._enter = enter
        self._answering = ThreadPoolExecutor(answer_workers, thread_name_prefix="answer")
        self._database = ThreadPoolExecutor(2, thread_name_prefix="jobs")
        # Of its own: an acknowledgement must not wait behind other work on a busy database.
        self._accepting = ThreadPoolExecutor(1, thread_name_prefix="accept")
        self._wake = {ANSWER: asyncio.Event(), DELIVER: asyncio.Event()}
        self._stopping = asyncio.Event()
        self._held: dict[str, Stage] = {}
        self._answers: dict[str, Abandonment] = {}
        """What is being computed, by job."""
        self._pauses = pauses or Pauses(now=store.now)
        self._tasks: list[asyncio.Task[None]] = []
        self._upkeep: list[asyncio.Task[None]] = []

    async def post(self, new: NewJob, *, outcome: OwnPost, message: Message) -> bool:
        """Post something of our own, with the promises that an answer has.

        Returns:
            False when it is known already (see `NewJob`): it is posted once.

        Raises:
            JobStoreError: It is not stored, and will not be posted.
        """
        loop = asyncio.get_running_loop()
        store = partial(self._store.accept_message, new, outcome=outcome, message=message.to_json())
        job_id = await loop.run_in_executor(self._accepting, store)
        if job_id is None:
            return False
        log.info("to be posted", extra={"job_id": job_id, "outcome": outcome.value})
        self._wake[DELIVER].set()
        return True

    async def accept(self, question: NewJob, *, delay_s: float = 0.0) -> None:
        """Store a question; one that is known already is let pass.

        Args:
            question: To be answered.
            delay_s: How long that waits for `waits_in`.

        Raises:
            JobStoreError: It is not stored: do not acknowledge it.
        """
        loop = asyncio.get_running_loop()
        accept = partial(self._store.accept, question, delay_s=delay_s)
        job_id = await loop.run_in_executor(self._accepting, accept)
        if job_id is None:
            log.info("event known already", extra={"event_id": question.event_id})
            return
        log.info("question accepted", extra={"event_id": question.event_id, "job_id": job_id})
        self._wake[ANSWER].set()

    async def hold(self, question: NewJob) -> str | None:
        """Keep a question that its listener answers, in case this process dies before it does.

        Returns:
            What to `let_go` of; None when the question is known already.

        Raises:
            JobStoreError: It is not kept.
        """
        loop = asyncio.get_running_loop()
        job_id = await loop.run_in_executor(self._accepting, self._store.accept_held, question)
        if job_id is not None:
            self._held[job_id] = ANSWER
        return job_id

    def holds(self, job_id: str) -> bool:
        """Say whether a question is still for its listener to answer."""
        return job_id in self._held

    async def let_go(self, job_id: str, *, answered: bool) -> None:
        """Let go of a question that was held; one without an answer is answered by the queue."""
        if self._held.pop(job_id, None) is None:
            return
        if answered:
            await self._unless_down(self._store.done, job_id, channel_id="", ts="")
        else:
            await self._unless_down(self._store.hand_back, job_id)
            self._wake[ANSWER].set()

    async def waits_in(self, question: NewJob, view_id: str | None) -> bool:
        """Say in which modal the outcome of an accepted question goes; None: in a direct message.

        Returns:
            False when the question is not known.

        Raises:
            JobStoreError: If the database cannot be used now.
        """
        job = await self._in_database(
            self._store.named,
            team_id=question.team_id,
            channel_id=question.channel_id,
            message_ts=question.message_ts,
        )
        if job is None:
            return False
        await self._in_database(self._store.shown_in, job.job_id, view_id)
        self._wake[ANSWER].set()
        return True

    def start(self) -> None:
        """Begin with what waits in the database."""
        stages = [(ANSWER, self._answer_job)] * self._answer_workers
        stages += [(DELIVER, self._deliver_job)] * DELIVERY_WORKERS
        self._tasks = [asyncio.create_task(self._work(stage, step)) for stage, step in stages]
        upkeep = (self._watch(), self._renew(), self._forget())
        self._upkeep = [asyncio.create_task(work) for work in upkeep]

    @property
    def are_working(self) -> bool:
        """Say whether all of them are there to take jobs."""
        tasks = (*self._tasks, *self._upkeep)
        return bool(tasks) and not any(task.done() for task in tasks)

    async def stop(self, *, limit_s: float) -> None:
        """Take no more jobs, let those under way end within the limit, hand back the rest.

        Models are waited for no longer than `WRITING_LIMIT_S`. Questions are still accepted until
        `close`.
        """
        self._stopping.set()
        for event in self._wake.values():
            event.set()
        if self._tasks:
            writing_s = min(limit_s, WRITING_LIMIT_S)
            _, late = await asyncio.wait(self._tasks, timeout=writing_s)
            for abandonment in self._answers.values():
                abandonment.abandon()
            if late:
                await asyncio.wait(late, timeout=limit_s - writing_s)
        held, self._held = self._held, {}
        for task in (*self._tasks, *self._upkeep):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._upkeep, return_exceptions=True)
        for job_id, stage in held.items():
            uncertain = True if stage is DELIVER else None
            await self._unless_down(
                self._store.hand_back, job_id, uncertain=uncertain, counted=False
            )

    def close(self) -> None:
        """Accept nothing more, and let go of the threads."""
        # An answer that is still being computed finds its job handed back, and is dropped.
        self._answering.shutdown(wait=False, cancel_futures=True)
        self._database.shutdown(wait=True)
        self._accepting.shutdown(wait=True)

    async def _work(self, stage: Stage, step: Callable[[Job], Awaitable[None]]) -> None:
        while not self._stopping.is_set():
            self._wake[stage].clear()
            job = await self._claim(stage)
            if job is None:
                await self._wake[stage].wait()
                continue
            self._wake[stage].set()  # there may be more for the others
            self._held[job.job_id] = stage
            try:
                if self._enter is not None and await self._enter(job.team_id) is None:
                    log.warning("its workspace has gone", extra={"job_id": job.job_id})
                    await self._in_database(self._store.failed, job.job_id, reason="not_installed")
                else:
                    await step(job)
            except AnswerAbandoned:
                await self._given_up(job)
            except JobStoreError as error:
                log.warning("%s; its lease will run out", error, extra={"job_id": job.job_id})
            except (VaultError, WorkspaceUnavailable) as error:
                # Nothing was tried yet, so it is no attempt.
                log.error("%s; trying again", error, extra={"job_id": job.job_id})
                await self._unless_down(
                    self._store.hand_back, job.job_id, delay_s=CLOSED_S, counted=False
                )
            except Exception as error:  # noqa: BLE001 - the rim of a job: one must not end the rest
                # The message of an unknown error may quote what was asked; its traceback does not.
                where = "".join(traceback.format_tb(error.__traceback__))
                log.error(
                    "unexpected %s\n%s",
                    type(error).__name__,
                    where,
                    extra={"job_id": job.job_id},
                )
                await self._unless_down(self._begin_again, job, stage)
            finally:
                self._held.pop(job.job_id, None)

    async def _claim(self, stage: Stage) -> Job | None:
        try:
            return await self._in_database(self._store.claim, stage)
        except JobStoreError as error:
            log.warning("%s; trying again", error)
            return None

    async def _answer_job(self, job: Job) -> None:
        question = job.question or ""
        settings = await self._settings(job)
        words = spoken_in(settings, await self._words_for(job.user_id, question))
        received = await self._reception.receive(job, words) if self._reception else None
        if received is not None and received.message is None:
            log.info("not answered", extra={"job_id": job.job_id, "reason": received.kind})
            await self._in_database(self._store.failed, job.job_id, reason=received.kind)
            return
        if received is not None and received.message is not None:
            kind, message = received.kind, received.message
        else:
            if self._progress is not None:
                self._progress.began(job)
            kind, message = await self._outcome(job, question, words, settings)
        if await self._in_database(
            self._store.answered, job.job_id, outcome=kind, message=message.to_json()
        ):
            self._wake[DELIVER].set()
        else:
            self._lost(job)

    async def _given_up(self, job: Job) -> None:
        """Hand back what was cut short by our end; anything else has ended, or is not ours."""
        hand_back = partial(self._store.hand_back, job.job_id, counted=False)
        try:
            if await self._in_database(hand_back):
                return
        except JobStoreError as error:
            log.warning("%s; its lease will run out", error, extra={"job_id": job.job_id})
            return
        log.info("given up", extra={"job_id": job.job_id})
        self._lost(job)

    def _lost(self, job: Job) -> None:
        """Show nothing more of a question whose outcome is not for us to deliver."""
        if self._streams is not None:
            self._streams.drop(job)
        self._ended(job)

    async def _settings(self, job: Job) -> ChannelSettings:
        if self._channels is None:
            return DEFAULTS
        return await self._channels.of(job.team_id, job.channel_id)

    async def _outcome(
        self, job: Job, question: str, words: Words, settings: ChannelSettings
    ) -> tuple[str, Message]:
        if not question:
            return "help", render_notice(words.help)
        if job.attempts > MAX_ATTEMPTS:
            log.error("given up after %d attempts", MAX_ATTEMPTS, extra={"job_id": job.job_id})
            return "failure", render_notice(words.failure)
        earlier = await self._earlier(job)
        audiences = PUBLIC
        if self._readers is not None:
            audiences = await self._readable(self._readers, job)
        asked = Question(question, earlier, settings.sources)
        growing = self._streams.begin(job, settings) if self._streams is not None else None
        try:
            outcome = await self._computed(job, asked, audiences, growing)
        except AnswerAbandoned:
            raise
        except HandbookError as error:
            # Never an abstention: the handbook may well know.
            log.error("outage: %s", type(error).__name__, extra={"job_id": job.job_id})
            return "outage", render_notice(words.outage)
        words = await self._words_for(job.user_id, question, otherwise=outcome.language)
        words = spoken_in(settings, words)
        kind = "answer" if isinstance(outcome, GroundedAnswer) else "abstention"
        await self._unless_down(self._questions.record, _logged(job, question, kind, outcome))
        request = HumanRequest(job.job_id, job.user_id, question)
        return kind, self._presentation.message(outcome, words, request)

    async def _readable(self, readers: Readers, job: Job) -> Audiences:
        if not job.thread_ts:  # asked in the Home tab
            return await readers.alone(job.user_id, job.channel_id)
        return await readers.among(job.channel_id, job.user_id)

    async def _computed(
        self, job: Job, question: Question, audiences: Audiences, growing: Growing | None
    ) -> Outcome:
        loop = asyncio.get_running_loop()
        heard = () if growing is None else (growing.hear,)
        abandonment = self._answers[job.job_id] = Abandonment()

        def answer() -> Outcome:
            with abandonable(abandonment):
                return self._answer(question, audiences, *heard)

        try:
            # The thread too must know which workspace asks.
            return await loop.run_in_executor(self._answering, copy_context().run, answer)
        finally:
            del self._answers[job.job_id]
            if growing is not None:
                await growing.close()

    async def _earlier(self, job: Job) -> tuple[str, ...]:
        """Return the earlier questions of the thread; without them a question stands alone."""
        if job.thread_ts in ("", job.message_ts):
            return ()
        try:
            return await self._in_database(
                self._questions.earlier,
                team_id=job.team_id,
                channel_id=job.channel_id,
                thread_ts=job.thread_ts,
                before_ts=job.message_ts,
            )
        except JobStoreError as error:
            log.warning("%s; answering without the thread", error, extra={"job_id": job.job_id})
            return ()

    async def _deliver_job(self, job: Job) -> None:
        if job.message is None:
            raise ValueError("an answered job has no message")
        message = Message.from_json(job.message)
        posting = posting_in(job.channel_id)
        if wait_s := self._pauses.left_s(job.team_id, posting):
            await self._in_database(
                self._store.hand_back, job.job_id, delay_s=wait_s, counted=False
            )
            return
        try:
            posted = await self._delivery.find(job) if job.uncertain else None
            # What an answer grew in may hold it without its text; finishing it again does no harm.
            if posted is None or posted.ts == job.posted_ts:
                posted = await self._post(job, message)
        except DeliveryDelayed as error:
            # Slack slows down one channel at a time: its other answers wait as well.
            if error.retry_after_s:
                await self._pauses.begin(job.team_id, posting, error.retry_after_s)
            await self._retry(job, error, wait_s=error.retry_after_s)
        except DeliveryUncertain as error:
            await self._retry(job, error, uncertain=True)
        except DeliveryRefused as error:
            log.error("not delivered: %s", error, extra={"job_id": job.job_id})
            await self._in_database(self._store.failed, job.job_id, reason=error.reason)
            self._ended(job)
        else:
            if posted is not None:
                await self._in_database(
                    self._store.done, job.job_id, channel_id=posted.channel_id, ts=posted.ts
                )
                log.info(
                    "outcome posted",
                    extra={"job_id": job.job_id, "outcome": job.outcome, "ts": posted.ts},
                )
                if self._afterwards is not None and job.outcome in _OF_THE_HANDBOOK:
                    self._afterwards(job)
            self._ended(job)

    def _ended(self, job: Job) -> None:
        if self._progress is not None:
            self._progress.ended(job)

    async def _post(self, job: Job, message: Message) -> Posted | None:
        if not await self._in_database(self._store.hold, job.job_id):
            log.warning("taken over by another process", extra={"job_id": job.job_id})
            return None
        return await self._delivery.post(job, message)

    async def _retry(
        self,
        job: Job,
        error: SlackDeliveryError,
        *,
        wait_s: float | None = None,
        uncertain: bool | None = None,
    ) -> None:
        log.warning("not delivered yet: %s", error, extra={"job_id": job.job_id})
        delay_s = max(wait_s or 0.0, _backoff_s(job.deliveries))
        if not await self._in_database(self._redeliver, job, delay_s=delay_s, uncertain=uncertain):
            self._ended(job)

    def _redeliver(self, job: Job, *, delay_s: float, uncertain: bool | None) -> bool:
        """Let a delivery be begun again; False when that is given up."""
        if self._store.now() - job.created_at > GIVE_UP_AFTER_S:
            log.error("could not be delivered for too long", extra={"job_id": job.job_id})
            self._store.failed(job.job_id, reason="undeliverable")
            return False
        self._store.hand_back(job.job_id, delay_s=delay_s, uncertain=uncertain)
        return True

    def _begin_again(self, job: Job, stage: Stage) -> None:
        if stage is DELIVER:
            self._redeliver(job, delay_s=_backoff_s(job.deliveries), uncertain=True)
            return
        last = job.attempts >= MAX_ATTEMPTS  # the next one only says so
        self._store.hand_back(job.job_id, delay_s=0.0 if last else _backoff_s(job.attempts))

    async def _watch(self) -> None:
        while True:
            try:
                for stage, wake in self._wake.items():
                    if await self._in_database(self._store.is_due, stage):
                        wake.set()
                await self._abandon_lost()
                await self._pauses.load()
            except JobStoreError as error:
                log.warning("%s; trying again", error)
            await asyncio.sleep(WATCH_EVERY_S)

    async def _abandon_lost(self) -> None:
        """Give up answers that were stopped or forgotten, or are for another process by now."""
        computed = tuple(self._answers)
        if not computed:
            return
        ours = await self._in_database(self._store.still_ours, computed)
        for job_id in computed:
            if job_id not in ours and job_id in self._answers:
                self._answers[job_id].abandon()

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._store.lease_s / 4)
            if self._held:
                await self._unless_down(self._store.renew, tuple(self._held))

    async def _forget(self) -> None:
        while True:
            await self._unless_down(self._store.forget_finished, older_than_s=FORGET_AFTER_S)
            await self._unless_down(self._questions.forget_old)
            await asyncio.sleep(3_600)

    async def _unless_down(
        self, work: Callable[_P, object], *args: _P.args, **kwargs: _P.kwargs
    ) -> None:
        try:
            await self._in_database(work, *args, **kwargs)
        except JobStoreError as error:
            log.warning("%s; trying again", error)

    async def _in_database(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._database, lambda: work(*args, **kwargs))


def _logged(job: Job, question: str, kind: str, outcome: Outcome) -> LoggedQuestion:
    return LoggedQuestion(
        question_id=job.job_id,
        team_id=job.team_id,
        channel_id=job.channel_id,
        thread_ts=job.thread_ts or None,
        message_ts=job.message_ts if job.thread_ts else None,
        user_id=job.user_id,
        question=question,
        outcome=kind,
        generator=outcome.generator,
        language=outcome.language,
        confidence=outcome.confidence,
        passages=logged_passages(outcome),
    )


def _backoff_s(tries: int) -> float:
    return min(LONGEST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(max(tries - 1, 0), 30))
