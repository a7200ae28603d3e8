"""The bot's own tables, beside the index in the same database."""

from bot.store.engine import open_engine
from bot.store.jobs import ANSWER, DELIVER, LEASE_S, Job, JobState, JobStore, NewJob, Stage
from bot.store.migrate import migrate
from bot.store.private_answers import PrivateAnswer, PrivateAnswers

__all__ = [
    "ANSWER",
    "DELIVER",
    "LEASE_S",
    "Job",
    "JobState",
    "JobStore",
    "NewJob",
    "PrivateAnswer",
    "PrivateAnswers",
    "Stage",
    "migrate",
    "open_engine",
]
