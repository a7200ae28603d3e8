"""An index to find somebody's own questions."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the index."""
    op.create_index("ix_bot_questions_user", "bot_questions", ["team_id", "user_id", "asked_at"])


def downgrade() -> None:
    """Drop it."""
    op.drop_index("ix_bot_questions_user", table_name="bot_questions")
