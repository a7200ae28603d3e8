"""Files that admins send in Slack, until they are indexed."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "bot_uploads",
        sa.Column("team_id", sa.String(32), primary_key=True),
        sa.Column("channel_id", sa.String(32), primary_key=True),
        sa.Column("message_ts", sa.String(32), primary_key=True),
        sa.Column("thread_ts", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("files", sa.Text()),
        sa.Column("outcomes", sa.Text()),
        sa.Column("notice_ts", sa.String(32)),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.Float(), nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease_until", sa.Float()),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("finished_at", sa.Float()),
    )
    op.create_index("ix_bot_uploads_due", "bot_uploads", ["finished_at", "due_at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_table("bot_uploads")
