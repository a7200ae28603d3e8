"""The question log, and what people thought of the answers."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "bot_questions",
        sa.Column("question_id", sa.String(32), primary_key=True),
        sa.Column("team_id", sa.String(32), nullable=False),
        sa.Column("channel_id", sa.String(32), nullable=False),
        sa.Column("thread_ts", sa.String(32)),
        sa.Column("message_ts", sa.String(32)),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("question", sa.Text()),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("generator", sa.String(200), nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("passages", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
    )
    op.create_index(
        "ix_bot_questions_thread", "bot_questions", ["team_id", "channel_id", "thread_ts"]
    )
    op.create_index("ix_bot_questions_asked", "bot_questions", ["asked_at"])
    op.create_table(
        "bot_feedback",
        sa.Column("question_id", sa.String(32), primary_key=True),
        sa.Column("user_id", sa.String(32), primary_key=True),
        sa.Column("team_id", sa.String(32), nullable=False),
        sa.Column("verdict", sa.String(8), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("given_at", sa.Float(), nullable=False),
    )


def downgrade() -> None:
    """Drop both tables."""
    op.drop_table("bot_feedback")
    op.drop_table("bot_questions")
