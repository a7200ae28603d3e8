"""All that the Slack app keeps, on one database."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Engine

from bot.store.channel_settings import ChannelSettingsStore
from bot.store.citations import CitationStore
from bot.store.feedback import FeedbackStore
from bot.store.jobs import LEASE_S, JobStore
from bot.store.muted_threads import MutedThreads
from bot.store.pauses import PauseStore
from bot.store.private_answers import PrivateAnswers
from bot.store.questions import QUOTE_DAYS, QuestionLog
from bot.store.statistics import Statistics
from bot.store.streams import LeftStreams
from bot.store.uploads import UploadStore


@dataclass(frozen=True, slots=True)
class Stores:
    """One store per kind of thing kept."""

    jobs: JobStore
    questions: QuestionLog
    feedback: FeedbackStore
    private_answers: PrivateAnswers
    muted_threads: MutedThreads
    statistics: Statistics
    channel_settings: ChannelSettingsStore
    streams: LeftStreams
    pauses: PauseStore
    uploads: UploadStore
    citations: CitationStore

    @classmethod
    def on(
        cls,
        engine: Engine,
        *,
        question_log_days: int,
        freshness_days: int = QUOTE_DAYS,
        job_lease_s: float = LEASE_S,
    ) -> Stores:
        """Return the stores of a migrated database (see `QuestionLog` and `JobStore`)."""
        return cls(
            jobs=JobStore(engine, lease_s=job_lease_s),
            questions=QuestionLog(engine, keep_days=question_log_days, quote_days=freshness_days),
            feedback=FeedbackStore(engine),
            private_answers=PrivateAnswers(engine),
            muted_threads=MutedThreads(engine),
            statistics=Statistics(engine),
            channel_settings=ChannelSettingsStore(engine),
            streams=LeftStreams(engine),
            pauses=PauseStore(engine),
            uploads=UploadStore(engine, lease_s=job_lease_s),
            citations=CitationStore(engine),
        )
