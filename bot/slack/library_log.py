"""The log of Slack's libraries: warnings only, below they write what people say."""

from __future__ import annotations

import logging


def library_log() -> logging.Logger:
    """Return the logger to hand to Slack's libraries."""
    log = logging.getLogger("slack_bolt.manuel")
    log.setLevel(logging.WARNING)
    log.addFilter(_is_news)
    return log


def _is_news(record: logging.LogRecord) -> bool:
    # Bolt finds our own SLACK_BOT_TOKEN in the environment, and says that it will not use it.
    return "`token` will be unused" not in record.getMessage()
