"""Switches for trouble, to see what people would see when Slack or the app has a bad day."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass

from bot.sandbox.control import Sandbox
from bot.sandbox.faults import Fault
from bot.sandbox.web.ports import Beside
from bot.sandbox.workspace import Json

POSTING = ("chat.postMessage", "chat.postEphemeral", "chat.update", "chat.startStream")
RETRY_AFTER_S = 2.0
SLOW_S = 2.0
SLOW_MODEL_S = 20.0
OF_A_MODEL = ("slow_model", "expired_stream", "stream_rate_limited")
START_S = 60.0
FROZEN_S = 5.0
"""Longer than the three seconds an app has to acknowledge."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A fault for some methods, in force until it is switched off."""

    kind: str
    methods: tuple[str, ...]
    seconds: float = 1.0


_FAULTS = {
    "rate_limited": _Kind("ratelimited", POSTING, RETRY_AFTER_S),
    "stream_rate_limited": _Kind("ratelimited", ("chat.startStream",), RETRY_AFTER_S),
    "server_error": _Kind("server_error", POSTING),
    "lost_answer": _Kind("drop_after", POSTING),
}


class Switches:
    """Trouble that stays until switched off, and trouble that happens once.

    Args:
        sandbox: What gets into trouble.
        beside: The app, where it may be restarted and frozen, and the way to its model.
    """

    def __init__(self, sandbox: Sandbox, beside: Beside) -> None:
        self._sandbox = sandbox
        self._process = beside.process
        self._model = beside.model
        self._writer = beside.writer
        self._in_force: dict[str, list[Fault]] = {}
        self._lifetime_s = sandbox.world.stream_lifetime_s

    def state(self) -> Json:
        """Return what can go wrong, for the page.

        `switches` has the position of each, `once` what can be made to happen once, and
        `need_model` the switches that change nothing while no model writes the answers.
        """
        world, api = self._sandbox.world, self._sandbox.web_api
        positions = {name: name in self._in_force for name in _FAULTS} | {
            "slow_slack": api.latency_s > 0,
            "expired_stream": world.stream_lifetime_s != self._lifetime_s,
        }
        positions["slow_model"] = self._model is not None and self._model.delay_s > 0
        if self._writer is not None:
            positions["pretend_model"] = self._writer.is_on
        once = ["drop_connections", "refresh_connections"]
        if self._process is not None:
            once += ["freeze", "restart"]
        return {"switches": positions, "once": once, "need_model": self._idle()}

    def _idle(self) -> list[str]:
        """Return the switches that change nothing now: only models stream their answers."""
        writes = self._model is not None if self._writer is None else self._writer.is_on
        return [] if writes else list(OF_A_MODEL)

    async def set(self, name: str, *, on: bool) -> None:
        """Turn a switch.

        Raises:
            LookupError: If there is none of that name.
            ValueError: If the app had to start again, and does not connect.
        """
        if name == "slow_slack":
            self._sandbox.web_api.latency_s = SLOW_S if on else 0.0
        elif name == "slow_model" and self._model is not None:
            self._model.delay_s = SLOW_MODEL_S if on else 0.0
        elif name == "pretend_model" and self._writer is not None:
            await self._reconnected(self._writer.turn(on=on))
        elif name == "expired_stream":
            # A stream that is dead as soon as it is started: the first addition is refused.
            self._sandbox.world.stream_lifetime_s = -1.0 if on else self._lifetime_s
        elif on and name not in self._in_force:
            kind = _FAULTS[name]
            self._in_force[name] = [
                self._sandbox.fault(method, kind.kind, times=None, seconds=kind.seconds)
                for method in kind.methods
            ]
        elif not on:
            for fault in self._in_force.pop(name, ()):
                self._sandbox.web_api.faults.remove(fault)
        self._sandbox.world.changes.publish("switch", name=name, on=on)

    async def once(self, name: str) -> None:
        """Let something happen now.

        Raises:
            LookupError: If nothing of that name can be made to happen.
            ValueError: If the app does not connect any more.
        """
        if name == "drop_connections":
            await self._sandbox.drop_connections()
        elif name == "refresh_connections":
            await self._sandbox.disconnect("refresh_requested")
        elif name == "freeze" and self._process is not None:
            self._process.freeze(FROZEN_S)
        elif name == "restart" and self._process is not None:
            await self._reconnected(self._process.restart())
        else:
            raise LookupError(f"nothing called {name} can happen")

    async def _reconnected(self, restarting: Awaitable[None]) -> None:
        """Wait until the app has started again and is connected.

        Raises:
            ValueError: If it does not connect.
        """
        connections = self._sandbox.socket_mode.connections
        before = max((connection.number for connection in connections), default=0)
        await restarting
        try:
            await self._sandbox.wait_until(
                lambda: any(c.number > before for c in connections), timeout_s=START_S
            )
        except TimeoutError as error:
            raise ValueError("the app does not connect any more; look at its log") from error
