"""The log of Slack's libraries: warnings only, below they write what people say."""

from __future__ import annotations

import logging


def library_log() -> logging.Logger:
    """Return the logger to hand to Slack's libraries."""
    log = logging.getLogger("slack_bolt.manuel")
    log.setLevel(logging.WARNING)
    log.addFilter(_is_news)
    return log


_NO_NEWS = (
    # Bolt finds our own SLACK_BOT_TOKEN in the environment, and says that it will not use it.
    "`token` will be unused",
    # Of a workspace that is not served; we say so ourselves.
    "Although the app should be installed into this workspace",
    # Holds a code that might still be good; we say ourselves that an installation failed.
    "Failed to fetch oauth.v2.access result",
)


def _is_news(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    return not any(said in message for said in _NO_NEWS)
