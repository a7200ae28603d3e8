"""The bot's own tables, beside the index in the same database."""

from bot.store.calibrations import Calibration, CalibrationStore
from bot.store.channel_settings import ChannelSettings, ChannelSettingsStore, WhoMayAsk
from bot.store.citations import CitationStore, CitedPage, StaleAnswer
from bot.store.engine import open_engine
from bot.store.feedback import Feedback, FeedbackStore, Reason, Verdict
from bot.store.forgetting import Forgotten, forget_user
from bot.store.jobs import (
    ANSWER,
    DELIVER,
    LEASE_S,
    Job,
    JobState,
    JobStore,
    NewJob,
    OwnPost,
    Stage,
)
from bot.store.migrate import migrate, opened
from bot.store.model_usage import ModelUsage
from bot.store.muted_threads import MutedThreads
from bot.store.pauses import Pause, PauseStore
from bot.store.private_answers import PrivateAnswer, PrivateAnswers
from bot.store.questions import LoggedPassage, LoggedQuestion, QuestionLog, logged_passages
from bot.store.statistics import AskedQuestion, PageUse, RecentQuestion, Statistics
from bot.store.stores import Stores
from bot.store.streams import LeftStream, LeftStreams
from bot.store.uploads import FileOutcome, NewUpload, SentFile, UploadJob, UploadStore

__all__ = [
    "ANSWER",
    "DELIVER",
    "LEASE_S",
    "AskedQuestion",
    "Calibration",
    "CalibrationStore",
    "ChannelSettings",
    "ChannelSettingsStore",
    "CitationStore",
    "CitedPage",
    "Feedback",
    "FeedbackStore",
    "FileOutcome",
    "Forgotten",
    "Job",
    "JobState",
    "JobStore",
    "LeftStream",
    "LeftStreams",
    "LoggedPassage",
    "LoggedQuestion",
    "ModelUsage",
    "MutedThreads",
    "NewJob",
    "NewUpload",
    "OwnPost",
    "PageUse",
    "Pause",
    "PauseStore",
    "PrivateAnswer",
    "PrivateAnswers",
    "QuestionLog",
    "Reason",
    "RecentQuestion",
    "SentFile",
    "Stage",
    "StaleAnswer",
    "Statistics",
    "Stores",
    "UploadJob",
    "UploadStore",
    "Verdict",
    "WhoMayAsk",
    "forget_user",
    "logged_passages",
    "migrate",
    "open_engine",
    "opened",
]
