"""What the listeners of presses, forms and shortcuts share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


async def acknowledge(ack: Callable[[], Any]) -> None:
    """Acknowledge at once: Slack waits for 3 s; what is left to do runs as a lazy listener."""
    await ack()
