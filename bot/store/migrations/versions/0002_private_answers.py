"""Answers shown to one person alone, until they are shared or a day old."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "bot_private_answers",
        sa.Column("answer_id", sa.String(32), primary_key=True),
        sa.Column("team_id", sa.String(32), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("chunk_ids", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
    )
    op.create_index("ix_bot_private_answers_created", "bot_private_answers", ["created_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("bot_private_answers")
