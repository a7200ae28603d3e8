"""What answers quote, and the answers whose quotes are gone."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "bot_citations",
        sa.Column("question_id", sa.String(32), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True),
        sa.Column("team_id", sa.String(32), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("page", sa.Text(), nullable=False),
        sa.Column("page_version", sa.String(64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("cited_at", sa.Float(), nullable=False),
    )
    op.create_index("ix_bot_citations_cited", "bot_citations", ["cited_at"])
    op.create_table(
        "bot_stale_answers",
        sa.Column("question_id", sa.String(32), primary_key=True),
        sa.Column("team_id", sa.String(32), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("page", sa.Text(), nullable=False),
        sa.Column("found_at", sa.Float(), nullable=False),
        sa.Column("decided_at", sa.Float()),
    )
    op.create_index("ix_bot_stale_answers_waiting", "bot_stale_answers", ["team_id", "decided_at"])


def downgrade() -> None:
    """Drop them."""
    op.drop_table("bot_stale_answers")
    op.drop_table("bot_citations")
