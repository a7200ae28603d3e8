"""Streams to be ended, pauses that Slack asked for, and modals that wait for an answer."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables and the column."""
    op.create_table(
        "bot_streams",
        sa.Column("team_id", sa.String(32), primary_key=True),
        sa.Column("channel_id", sa.String(32), primary_key=True),
        sa.Column("ts", sa.String(32), primary_key=True),
        sa.Column("job_id", sa.String(32), nullable=False),
        sa.Column("due_at", sa.Float(), nullable=False),
    )
    op.create_index("ix_bot_streams_due", "bot_streams", ["due_at"])
    op.create_table(
        "bot_pauses",
        sa.Column("team_id", sa.String(32), primary_key=True),
        sa.Column("call", sa.String(120), primary_key=True),
        sa.Column("until", sa.Float(), nullable=False),
    )
    op.add_column("bot_jobs", sa.Column("view_id", sa.String(64)))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("bot_jobs", "view_id")
    op.drop_table("bot_pauses")
    op.drop_index("ix_bot_streams_due", table_name="bot_streams")
    op.drop_table("bot_streams")
