"""Threads that asked for silence, and what is needed to find and judge a question again."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, and add to the queue."""
    op.create_table(
        "bot_muted_threads",
        sa.Column("team_id", sa.String(32), primary_key=True),
        sa.Column("channel_id", sa.String(32), primary_key=True),
        sa.Column("thread_ts", sa.String(32), primary_key=True),
        sa.Column("muted_at", sa.Float(), nullable=False),
    )
    op.add_column(
        "bot_jobs",
        sa.Column("in_shared_channel", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.create_index("ix_bot_jobs_posted", "bot_jobs", ["posted_channel", "posted_ts"])
    op.create_index("ix_bot_jobs_thread", "bot_jobs", ["team_id", "channel_id", "thread_ts"])


def downgrade() -> None:
    """Undo both."""
    op.drop_index("ix_bot_jobs_thread", "bot_jobs")
    op.drop_index("ix_bot_jobs_posted", "bot_jobs")
    op.drop_column("bot_jobs", "in_shared_channel")
    op.drop_table("bot_muted_threads")
