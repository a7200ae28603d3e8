"""Gives up work for a question that nobody waits for any more, from another thread.

A request to a model blocks the thread that answers, perhaps for a minute. Whoever gives the
question up shuts its connection down: the thread goes on at once, and the model stops writing.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from bot.errors import AnswerAbandoned

_CONNECTED = (".connect_tcp.complete", ".start_tls.complete")
"""Ends of the events after which a connection has a new socket. Source: the `trace` extension of
httpcore."""


class Abandonment:
    """Tells whoever works for one question whether it was given up. Safe to share by threads.

    The work itself stays in one thread: it has one connection at a time.
    """

    def __init__(self) -> None:
        self._abandoned = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def abandon(self) -> None:
        """Give the question up, for good."""
        with self._lock:
            self._abandoned.set()
            self._shut_down()

    def check(self) -> None:
        """Go no further when the question was given up.

        Raises:
            AnswerAbandoned: It was.
        """
        self.pause(0.0)

    def pause(self, seconds: float) -> None:
        """Wait, at most until the question is given up (raises as `check`)."""
        if self._abandoned.wait(seconds):
            raise AnswerAbandoned("nobody waits for this answer any more")

    def watch(self, event: str, info: Mapping[str, Any]) -> None:
        """Remember the connection of a request: the `trace` extension of it."""
        if event.endswith(_CONNECTED):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self._abandoned.is_set():
                    self._shut_down()

    def _shut_down(self) -> None:
        # Closing it would not wake the thread that reads from it.
        if self._socket is not None:
            with suppress(OSError):  # closed already: the request has ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)


_current: ContextVar[Abandonment | None] = ContextVar("abandonment", default=None)


@contextmanager
def abandonable(abandonment: Abandonment | None = None) -> Iterator[Abandonment]:
    """Let what is done in the block be given up.

    Args:
        abandonment: By whom; None: by whoever may give up the work around the block, if anybody.
    """
    chosen = abandonment or _current.get() or Abandonment()
    token = _current.set(chosen)
    try:
        yield chosen
    finally:
        _current.reset(token)
