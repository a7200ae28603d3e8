"""SQLAlchemy tables of the bot. The index's tables belong to ingest."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData()

# Times are seconds since the epoch: comparable in SQL on every backend.
jobs = Table(
    "bot_jobs",
    metadata,
    Column("job_id", String(32), primary_key=True),
    Column("event_id", String(64), nullable=False),
    Column("team_id", String(32), nullable=False),
    Column("channel_id", String(32), nullable=False),
    Column("message_ts", String(32), nullable=False),
    Column("thread_ts", String(32), nullable=False),
    Column("user_id", String(32), nullable=False),
    # What was asked, and the rendered outcome: kept until the job ends, then cleared.
    Column("question", Text),
    Column("message", Text),
    Column("outcome", String(16)),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False, default=0),
    Column("deliveries", Integer, nullable=False, default=0),
    # True when a post was tried and nobody knows whether Slack took it.
    Column("uncertain", Boolean, nullable=False, default=False),
    # Of a conversation shared with another company; who asks there may not be one of us.
    Column("in_shared_channel", Boolean, nullable=False, default=False),
    Column("owner", String(64)),
    Column("lease_until", Float),
    Column("due_at", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("finished_at", Float),
    Column("posted_channel", String(32)),
    Column("posted_ts", String(32)),
    Column("failure", String(120)),
    # True when people are shown that it is being answered.
    Column("has_status", Boolean, nullable=False, default=False, server_default=false()),
    # Of the modal that waits for the outcome, where it was asked in the Home tab.
    Column("view_id", String(64)),
    UniqueConstraint("team_id", "channel_id", "message_ts", name="uq_bot_jobs_message"),
    UniqueConstraint("event_id", name="uq_bot_jobs_event"),
    Index("ix_bot_jobs_due", "state", "due_at"),
    Index("ix_bot_jobs_finished", "finished_at"),
    Index("ix_bot_jobs_posted", "posted_channel", "posted_ts"),
    Index("ix_bot_jobs_thread", "team_id", "channel_id", "thread_ts"),
)

# Messages that an answer grows in, or that were to become one: until they are the outcome, or gone.
streams = Table(
    "bot_streams",
    metadata,
    Column("team_id", String(32), primary_key=True),
    Column("channel_id", String(32), primary_key=True),
    Column("ts", String(32), primary_key=True),
    Column("job_id", String(32), nullable=False),
    Column("due_at", Float, nullable=False),
    Index("ix_bot_streams_due", "due_at"),
)

# Calls that Slack wants less of for a while.
pauses = Table(
    "bot_pauses",
    metadata,
    Column("team_id", String(32), primary_key=True),
    Column("call", String(120), primary_key=True),
    Column("until", Float, nullable=False),
)

muted_threads = Table(
    "bot_muted_threads",
    metadata,
    Column("team_id", String(32), primary_key=True),
    Column("channel_id", String(32), primary_key=True),
    Column("thread_ts", String(32), primary_key=True),
    Column("muted_at", Float, nullable=False),
)

# Messages with files that become pages: until that is done and told.
uploads = Table(
    "bot_uploads",
    metadata,
    Column("team_id", String(32), primary_key=True),
    Column("channel_id", String(32), primary_key=True),
    Column("message_ts", String(32), primary_key=True),
    Column("thread_ts", String(32), nullable=False),
    Column("user_id", String(32), nullable=False),
    # JSON lists: the files of the message, and what became of them; cleared at the end.
    Column("files", Text),
    Column("outcomes", Text),
    # Our message about them.
    Column("notice_ts", String(32)),
    Column("attempts", Integer, nullable=False),
    Column("due_at", Float, nullable=False),
    Column("owner", String(64)),
    Column("lease_until", Float),
    Column("created_at", Float, nullable=False),
    Column("finished_at", Float),
    Index("ix_bot_uploads_due", "finished_at", "due_at"),
)

private_answers = Table(
    "bot_private_answers",
    metadata,
    Column("answer_id", String(32), primary_key=True),
    Column("team_id", String(32), nullable=False),
    Column("user_id", String(32), nullable=False),
    # JSON list of the passages cited.
    Column("chunk_ids", Text, nullable=False),
    Column("message", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("shared", Boolean, nullable=False, default=False),
    Index("ix_bot_private_answers_created", "created_at"),
)

questions = Table(
    "bot_questions",
    metadata,
    Column("question_id", String(32), primary_key=True),
    Column("team_id", String(32), nullable=False),
    Column("channel_id", String(32), nullable=False),
    Column("thread_ts", String(32)),
    Column("message_ts", String(32)),
    Column("user_id", String(32), nullable=False),
    # Cleared after QUESTION_LOG_DAYS.
    Column("question", Text),
    Column("outcome", String(16), nullable=False),
    Column("generator", String(200), nullable=False),
    Column("language", String(16), nullable=False),
    Column("confidence", Float, nullable=False),
    # JSON list of what was looked at: chunk id, source, page, page version, whether cited.
    Column("passages", Text, nullable=False),
    Column("asked_at", Float, nullable=False),
    Index("ix_bot_questions_thread", "team_id", "channel_id", "thread_ts"),
    Index("ix_bot_questions_asked", "asked_at"),
    Index("ix_bot_questions_user", "team_id", "user_id", "asked_at"),
)

# What answers quote of pages: for FRESHNESS_DAYS, whatever QUESTION_LOG_DAYS says of questions.
citations = Table(
    "bot_citations",
    metadata,
    Column("question_id", String(32), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("team_id", String(32), nullable=False),
    Column("source", Text, nullable=False),
    Column("page", Text, nullable=False),
    Column("page_version", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("quote", Text, nullable=False),
    Column("cited_at", Float, nullable=False),
    Index("ix_bot_citations_cited", "cited_at"),
)

# Answers that quote what their page no longer says, until an admin has decided about each.
stale_answers = Table(
    "bot_stale_answers",
    metadata,
    Column("question_id", String(32), primary_key=True),
    Column("team_id", String(32), nullable=False),
    Column("source", Text, nullable=False),
    Column("page", Text, nullable=False),
    Column("found_at", Float, nullable=False),
    Column("decided_at", Float),
    Index("ix_bot_stale_answers_waiting", "team_id", "decided_at"),
)

feedback = Table(
    "bot_feedback",
    metadata,
    Column("question_id", String(32), primary_key=True),
    Column("user_id", String(32), primary_key=True),
    Column("team_id", String(32), nullable=False),
    Column("verdict", String(8), nullable=False),
    # JSON list.
    Column("reasons", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Column("given_at", Float, nullable=False),
)

calibrations = Table(
    "bot_calibrations",
    metadata,
    # A threshold means something only with the encoder and the weights it was fitted with.
    Column("embedding_model", String(400), primary_key=True),
    Column("support_model", String(64), nullable=False),
    Column("threshold", Float, nullable=False),
    Column("questions", Integer, nullable=False),
    Column("fitted_at", Float, nullable=False),
)

channel_settings = Table(
    "bot_channel_settings",
    metadata,
    Column("team_id", String(32), primary_key=True),
    Column("channel_id", String(32), primary_key=True),
    # JSON list; null: every source.
    Column("sources", Text),
    Column("language", String(8), nullable=False),
    Column("private", Boolean, nullable=False),
    Column("who", String(16), nullable=False),
)

# slack_sdk's own store describes its tables, slack_bots and slack_oauth_states.
leases = Table(
    "bot_leases",
    metadata,
    Column("name", String(120), primary_key=True),
    Column("owner", String(64), nullable=False),
    Column("until", Float, nullable=False),
)

model_usage = Table(
    "bot_model_usage",
    metadata,
    # Of the day as TIMEZONE has it: 2026-03-01.
    Column("day", String(10), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("requests", Integer, nullable=False),
    Column("prompt_tokens", Integer, nullable=False),
    Column("completion_tokens", Integer, nullable=False),
)
