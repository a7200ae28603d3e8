"""What operators and their tools look at over HTTP: is it well, and what has it done?"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.metrics import CONTENT_TYPE, Metrics

log = logging.getLogger(__name__)

KEEP_S = 2.0
"""Looking more often than this costs nothing more."""
PATIENCE_S = 5.0

Probe = Callable[[], Awaitable[str]]
"""Returns what is wrong in a few words that anybody may read, "" when nothing is."""


@dataclass(frozen=True, slots=True)
class Report:
    """What each probe found; "" where nothing is wrong."""

    findings: Mapping[str, str]

    @property
    def is_well(self) -> bool:
        """Say whether nothing is wrong."""
        return not any(self.findings.values())


class Health:
    """Runs probes, and keeps what they found for a moment.

    Args:
        probes: By name.
        now: A clock in seconds.
    """

    def __init__(
        self, probes: Mapping[str, Probe], *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._probes = probes
        self._now = now
        self._lock = asyncio.Lock()
        self._last: tuple[float, Report] | None = None

    async def report(self) -> Report:
        """Return what the probes find; one that takes too long found that."""
        async with self._lock:
            if self._last is not None and self._now() - self._last[0] < KEEP_S:
                return self._last[1]
            found = await asyncio.gather(*(_patiently(probe) for probe in self._probes.values()))
            report = Report(dict(zip(self._probes, found, strict=True)))
            if not report.is_well:
                log.warning("not well", extra={n: f for n, f in report.findings.items() if f})
            self._last = (self._now(), report)
            return report


def health_routes(health: Health) -> list[BaseRoute]:
    """Return `/healthz` and `/healthz/live`."""

    async def ready(_: Request) -> Response:
        report = await health.report()
        words = {name: finding or "ok" for name, finding in report.findings.items()}
        return JSONResponse(
            {"status": "ok" if report.is_well else "failing", "checks": words},
            status_code=200 if report.is_well else 503,
        )

    async def live(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    return [Route("/healthz", ready), Route("/healthz/live", live)]


def metrics_routes(metrics: Metrics) -> list[BaseRoute]:
    """Return `/metrics`, which is for whoever runs Manuel and not for the world."""

    async def measured(_: Request) -> Response:
        return Response(await asyncio.to_thread(metrics.render), media_type=CONTENT_TYPE)

    return [Route("/metrics", measured)]


async def _patiently(probe: Probe) -> str:
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await probe()
    except TimeoutError:
        return "takes too long"
