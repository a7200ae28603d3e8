"""What admins have chosen for single channels."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "bot_channel_settings",
        sa.Column("team_id", sa.String(32), primary_key=True),
        sa.Column("channel_id", sa.String(32), primary_key=True),
        sa.Column("sources", sa.Text()),
        sa.Column("language", sa.String(8), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("who", sa.String(16), nullable=False),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("bot_channel_settings")
