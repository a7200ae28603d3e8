"""Composition root of the Slack app: each part is chosen here and given what it works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from slack_bolt.async_app import AsyncApp
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)

from bot.maintenance import Maintenance
from bot.metrics import Metrics
from bot.slack import direct_messages, mentions
from bot.slack.admin.channel import ChannelCommand
from bot.slack.admin.commands import AdminCommands
from bot.slack.admin.explain import Explaining
from bot.slack.admission import Admission
from bot.slack.agent_pane import AgentPane
from bot.slack.ask_human import AskHuman
from bot.slack.asking import PrivateAsking
from bot.slack.audiences import Readers
from bot.slack.channel_settings import ChannelPolicy
from bot.slack.channel_threads import ChannelThreads
from bot.slack.close_pages import ClosePages
from bot.slack.commands import Commands
from bot.slack.connection.connect import Connection
from bot.slack.connection.library_log import library_log
from bot.slack.connection.pauses import Pauses
from bot.slack.connection.recording import Recording
from bot.slack.connection.web_client import SlackClient
from bot.slack.corrections import Corrections
from bot.slack.delivery import SlackDelivery
from bot.slack.feedback import FeedbackListener
from bot.slack.feedback_writer import FeedbackWriter
from bot.slack.home.admin import HomeAdmin
from bot.slack.home.questions import HomeModals
from bot.slack.home.tab import Home
from bot.slack.house_rules import HouseRules
from bot.slack.jobs import Workers
from bot.slack.model_alerts import ModelAlerts
from bot.slack.people import People
from bot.slack.presentation import Presentation
from bot.slack.readiness import Handbook
from bot.slack.reception import Reception
from bot.slack.searching import Searching
from bot.slack.shortcut import MessageShortcut
from bot.slack.stream_closing import StreamClosing
from bot.slack.streaming import Streams
from bot.slack.uploads import Uploads
from bot.slack.wider_answers import WiderAnswers
from bot.slack.wording import DEFAULT_LANGUAGE, WORDS
from bot.store import Job, Stores

RETRIES = 3

Register = Callable[[AsyncApp], None]
"""Adds the listeners of one part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundation:
    """What the Slack app stands on.

    Attributes:
        api_url: Base of Slack's Web API, or of the local stand-in.
        connection: How what happens in Slack reaches the app, and where from.
        stores: What the app keeps.
        handbook: Answers and searches.
        maintenance: Syncs and describes the index, for admins.
        metrics: Where what happens is counted.
        admins: Ids of people who count as admins whatever Slack says.
        admin_groups: Ids of user groups whose members count as admins.
        answer_workers: Questions answered at the same time.
        rules: What the company has chosen.
        recording: Gets what Slack sends and answers; None: nobody wants that.
    """

    api_url: str
    connection: Connection
    stores: Stores
    handbook: Handbook
    maintenance: Maintenance
    metrics: Metrics
    admins: frozenset[str]
    admin_groups: frozenset[str] = frozenset()
    answer_workers: int
    rules: HouseRules
    recording: Recording | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """What runs, and what listens.

    Attributes:
        client: For Bolt, and for calls that change nothing.
        workers: Work off the queue.
        pane: Shows that a question is being answered.
        wider: Offers private answers, beside the queue.
        home: Shows Home tabs anew, beside the queue.
        pauses: How long Slack wants to be left alone.
        closing: Ends the streams of answers that never come.
        model_alerts: Tells the owners about the model.
        uploads: Works on files that admins sent.
        corrections: Finds answers whose quotes are gone.
        listeners: Of everything that people may do in Slack.
    """

    client: SlackClient
    workers: Workers
    pane: AgentPane
    wider: WiderAnswers
    home: Home
    pauses: Pauses
    closing: StreamClosing
    model_alerts: ModelAlerts
    uploads: Uploads
    corrections: Corrections
    listeners: tuple[Register, ...]


@dataclass(frozen=True, slots=True)
class _Common:
    """What most parts share: how Slack is called, who is who, and what holds where."""

    client: SlackClient
    poster: SlackClient
    pauses: Pauses
    people: People
    readers: Readers
    channels: ChannelPolicy
    admission: Admission
    presentation: Presentation
    uploads: Uploads
    corrections: Corrections


def compose(foundation: Foundation) -> Parts:
    """Put the parts together; nothing is started, and Slack is not called."""
    given, stores, common = foundation, foundation.stores, _common(foundation)
    asking = PrivateAsking(
        given.handbook,
        stores.private_answers,
        stores.questions,
        common.people,
        common.admission,
        common.presentation,
        common.channels,
        common.readers,
    )
    wider = WiderAnswers(
        given.handbook,
        asking,
        stores.questions,
        common.people,
        common.channels,
        common.readers,
        common.poster,
    )
    admin = AdminCommands(given.maintenance, common.people, common.poster)
    home = _home(given, common, admin)
    pane = AgentPane(common.poster, common.people, stores.jobs)
    streams = Streams(common.poster, stores.jobs, common.pauses)

    def afterwards(job: Job) -> None:
        (wider.offer if job.thread_ts else home.answered)(job)

    workers = _workers(given, common, pane, afterwards, streams)
    return Parts(
        client=common.client,
        workers=workers,
        pane=pane,
        wider=wider,
        home=home,
        pauses=common.pauses,
        closing=StreamClosing(streams, stores.streams, given.connection.enter),
        model_alerts=ModelAlerts(
            common.poster, given.rules.owners_channel, WORDS[DEFAULT_LANGUAGE]
        ),
        uploads=common.uploads,
        corrections=common.corrections,
        listeners=(
            *_questions(given, common, workers),
            partial(pane.register, post=workers.post),
            wider.register,
            partial(home.register, queue=workers),
            *_private(given, common, asking, admin, workers),
        ),
    )


def _common(given: Foundation) -> _Common:
    # Two clients: a call that changes nothing may be repeated blindly, a post may not.
    pauses = Pauses(given.stores.pauses)
    client = SlackClient(
        given.metrics,
        pauses=pauses,
        recording=given.recording,
        base_url=given.api_url,
        logger=library_log(),
        retry_handlers=[
            AsyncConnectionErrorRetryHandler(max_retry_count=RETRIES),
            AsyncRateLimitErrorRetryHandler(max_retry_count=RETRIES),
        ],
    )
    poster = SlackClient(
        given.metrics,
        pauses=pauses,
        recording=given.recording,
        base_url=given.api_url,
        logger=library_log(),
        retry_handlers=[],
    )
    people = People(
        poster,
        admins=given.admins,
        admin_groups=given.admin_groups,
        # Where several workspaces share the handbook, the admins of one do not run it.
        slack_roles=not given.connection.shared,
    )
    rules = given.rules
    channels = ChannelPolicy(given.stores.channel_settings)
    readers = Readers(rules.audiences, people)
    return _Common(
        client=client,
        poster=poster,
        pauses=pauses,
        people=people,
        readers=readers,
        channels=channels,
        admission=Admission(
            people,
            poster,
            channels,
            guests=rules.allow_guests,
            shared_channels=rules.allow_shared_channels,
        ),
        presentation=Presentation(rules.stale_after_days, rules.owners_channel),
        uploads=Uploads(
            given.stores.uploads,
            given.maintenance,
            people,
            poster,
            given.connection.enter,
            given.api_url,
        ),
        corrections=Corrections(
            given.stores.citations,
            given.maintenance,
            people,
            poster,
            given.connection.enter,
            readers,
            channels,
            owners_channel=rules.owners_channel,
            days=rules.freshness_days,
        ),
    )


def _workers(
    given: Foundation,
    common: _Common,
    pane: AgentPane,
    afterwards: Callable[[Job], None],
    streams: Streams,
) -> Workers:
    stores = given.stores
    return Workers(
        stores.jobs,
        # What was begun before streams were switched off is finished all the same.
        SlackDelivery(
            common.poster,
            common.people.words,
            common.channels,
            streams,
            HomeModals(common.poster, common.people.words),
        ),
        given.handbook.answer,
        enter=given.connection.enter,
        questions=stores.questions,
        words_for=common.people.words,
        answer_workers=given.answer_workers,
        presentation=common.presentation,
        reception=Reception(common.admission, stores.muted_threads, stores.jobs),
        progress=pane,
        afterwards=afterwards,
        channels=common.channels,
        readers=common.readers,
        streams=streams if given.rules.stream_answers else None,
        pauses=common.pauses,
    )


def _questions(given: Foundation, common: _Common, workers: Workers) -> tuple[Register, ...]:
    """Return what listens to questions that are asked in conversations, and below their answers."""
    stores = given.stores
    humans = AskHuman(
        workers.post,
        stores.jobs,
        stores.questions,
        common.people,
        common.poster,
        common.admission,
        channel_id=given.rules.owners_channel,
    )
    threads = ChannelThreads(humans.take_answer, workers.accept, stores.jobs, stores.muted_threads)
    close_pages = ClosePages(
        given.handbook,
        stores.questions,
        common.people,
        common.admission,
        common.readers,
        common.presentation,
    )
    return (
        partial(mentions.register, accept=workers.accept),
        partial(
            direct_messages.register,
            accept=workers.accept,
            elsewhere=threads.hear,
            attached=common.uploads.take,
        ),
        common.uploads.register,
        common.corrections.register,
        humans.register,
        close_pages.register,
    )


def _home(given: Foundation, common: _Common, admin: AdminCommands) -> Home:
    return Home(
        handbook=given.handbook,
        client=common.client,
        statistics=given.stores.statistics,
        feedback=FeedbackWriter(given.stores.feedback),
        maintenance=given.maintenance,
        admin=HomeAdmin(
            client=common.poster,
            handbook=given.handbook,
            maintenance=given.maintenance,
            statistics=given.stores.statistics,
            citations=given.stores.citations,
            commands=admin,
            people=common.people,
        ),
        people=common.people,
        admission=common.admission,
        readers=common.readers,
    )


def _private(
    given: Foundation,
    common: _Common,
    asking: PrivateAsking,
    admin: AdminCommands,
    workers: Workers,
) -> tuple[Register, ...]:
    """Return what listens where one person sees the result: commands, shortcut, thumbs."""
    stores, people, poster = given.stores, common.people, common.poster
    searching = Searching(
        given.handbook, asking, people, common.admission, common.channels, common.readers
    )
    channel = ChannelCommand(stores.channel_settings, given.maintenance, people, poster)
    explaining = Explaining(
        given.handbook,
        stores.statistics,
        stores.questions,
        people,
        poster,
        common.channels,
        common.readers,
    )
    commands = Commands(
        asking=asking,
        admin=admin,
        explaining=explaining,
        channel=channel,
        channels=common.channels,
        people=people,
        admission=common.admission,
        searching=searching,
        queue=workers,
        uploads=common.uploads,
        corrections=common.corrections,
    )
    shortcut = MessageShortcut(asking, people, common.presentation, poster, workers)
    feedback = FeedbackListener(
        FeedbackWriter(stores.feedback),
        poster,
        people,
        stores.questions,
        humans=bool(given.rules.owners_channel),
    )
    return tuple(
        part.register for part in (searching, commands, shortcut, asking, feedback, admin, channel)
    )
