"""The queue of accepted questions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the queue."""
    op.create_table(
        "bot_jobs",
        sa.Column("job_id", sa.String(32), primary_key=True),
        sa.Column("event_id", sa.String(64), nullable=False),
        sa.Column("team_id", sa.String(32), nullable=False),
        sa.Column("channel_id", sa.String(32), nullable=False),
        sa.Column("message_ts", sa.String(32), nullable=False),
        sa.Column("thread_ts", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("question", sa.Text()),
        sa.Column("message", sa.Text()),
        sa.Column("outcome", sa.String(16)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("deliveries", sa.Integer(), nullable=False),
        sa.Column("uncertain", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease_until", sa.Float()),
        sa.Column("due_at", sa.Float(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("finished_at", sa.Float()),
        sa.Column("posted_channel", sa.String(32)),
        sa.Column("posted_ts", sa.String(32)),
        sa.Column("failure", sa.String(120)),
        sa.UniqueConstraint("team_id", "channel_id", "message_ts", name="uq_bot_jobs_message"),
        sa.UniqueConstraint("event_id", name="uq_bot_jobs_event"),
    )
    op.create_index("ix_bot_jobs_due", "bot_jobs", ["state", "due_at"])
    op.create_index("ix_bot_jobs_finished", "bot_jobs", ["finished_at"])


def downgrade() -> None:
    """Drop the queue."""
    op.drop_table("bot_jobs")
