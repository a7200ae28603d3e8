"""What Manuel counts, for Prometheus: kinds, amounts and durations, never words or people."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.errors import JobStoreError
from bot.grounding.verifier import Verification
from bot.maintenance import Maintenance
from bot.records import Abstention, Outcome
from bot.store import JobState, JobStore
from ingest import HandbookError

log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of the text that `Metrics.render` returns. Source: Prometheus, exposition formats."""
ANSWER_BUCKETS_S = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 60.0)


class Metrics:
    """Counts what happens; what lies in the database is read when somebody looks."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._outcomes = Counter(
            "manuel_outcomes",
            "Questions by what became of them; `reason` says why there was no answer.",
            ("outcome", "reason"),
            registry=self._registry,
        )
        self._degraded = Counter(
            "manuel_degraded_outcomes",
            "Outcomes made without the encoder or the model that should have helped.",
            registry=self._registry,
        )
        self._claims = Counter(
            "manuel_gate_claims",
            "Claims of drafts by what the gate said; `rule` is the one that a refused one broke.",
            ("decision", "rule"),
            registry=self._registry,
        )
        self._answer_seconds = Histogram(
            "manuel_answer_seconds",
            "Time to answer or abstain, waiting in the queue not included.",
            buckets=ANSWER_BUCKETS_S,
            registry=self._registry,
        )
        self._requests = Counter(
            "manuel_slack_requests",
            "What Slack sent, by kind; `retried` is yes where Slack sent it before.",
            ("kind", "retried"),
            registry=self._registry,
        )
        self._calls = Counter(
            "manuel_slack_calls",
            "Calls of Slack's Web API, by method and result.",
            ("method", "result"),
            registry=self._registry,
        )
        self._held_back = Counter(
            "manuel_slack_events_held_back",
            "Times Slack said that it holds back events of a workspace.",
            registry=self._registry,
        )

    def watch(self, jobs: JobStore, maintenance: Maintenance) -> None:
        """Also tell what lies in the database."""
        self._registry.register(_JobCollector(jobs))
        self._registry.register(_IndexCollector(maintenance))

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Time the making of an answer; an error counts as an outage or a failure."""
        started = time.monotonic()
        try:
            yield
        except HandbookError:
            self._outcomes.labels("outage", "").inc()
            raise
        except Exception:
            self._outcomes.labels("failure", "").inc()
            raise
        self._answer_seconds.observe(time.monotonic() - started)

    def answered(self, outcome: Outcome) -> None:
        """Count an answer or an abstention."""
        if isinstance(outcome, Abstention):
            self._outcomes.labels("abstention", outcome.reason.value).inc()
        else:
            self._outcomes.labels("answer", "").inc()
        if outcome.degraded:
            self._degraded.inc()

    def verified(self, verification: Verification) -> None:
        """Count what the gate said of the claims of a draft."""
        self._claims.labels("passed", "").inc(len(verification.claims))
        for refused in verification.rejected:
            self._claims.labels("refused", refused.rule.value).inc()

    def slack_sent(self, kind: str, *, retried: bool) -> None:
        """Count something Slack sent."""
        self._requests.labels(kind, "yes" if retried else "no").inc()

    def slack_called(self, method: str, result: str) -> None:
        """Count a call of Slack's Web API; `result` is ok, Slack's error code, or lost."""
        self._calls.labels(method, result).inc()

    def slack_held_back(self) -> None:
        """Count a notice that Slack holds back events."""
        self._held_back.inc()

    def render(self) -> bytes:
        """Return everything as Prometheus reads it. Slow: reads the database."""
        return generate_latest(self._registry)


class _JobCollector(Collector):
    def __init__(self, jobs: JobStore) -> None:
        self._jobs = jobs

    def describe(self) -> Iterable[Metric]:
        return ()  # else registering would read the database

    def collect(self) -> Iterable[Metric]:
        gauge = GaugeMetricFamily(
            "manuel_jobs",
            "Questions from Slack by state; ended ones for 30 days.",
            labels=("state",),
        )
        try:
            counts = self._jobs.counts()
        except JobStoreError as error:
            log.warning("%s; jobs are not measured", error)
            return
        for state in JobState:
            gauge.add_metric((state.value,), counts.get(state, 0))
        yield gauge


class _IndexCollector(Collector):
    def __init__(self, maintenance: Maintenance) -> None:
        self._maintenance = maintenance

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        try:
            state = self._maintenance.state()
        except HandbookError as error:
            log.warning("the index is not measured: %s", error)
            return
        index = state.index
        yield GaugeMetricFamily(
            "manuel_sync_paused", "1 while the schedule is paused.", value=state.schedule.paused
        )
        yield GaugeMetricFamily(
            "manuel_index_chunks", "Chunks in the index.", value=index.chunks if index else 0
        )
        pages = GaugeMetricFamily("manuel_source_pages", "Pages indexed.", labels=("source",))
        run = GaugeMetricFamily(
            "manuel_source_last_run_timestamp_seconds", "Last sync.", labels=("source",)
        )
        complete = GaugeMetricFamily(
            "manuel_source_last_success_timestamp_seconds",
            "Last sync that saw the whole source.",
            labels=("source",),
        )
        for source in index.sources if index else ():
            pages.add_metric((source.name,), source.pages)
            if source.last_run_at is not None:
                run.add_metric((source.name,), source.last_run_at.timestamp())
            if source.last_success_at is not None:
                complete.add_metric((source.name,), source.last_success_at.timestamp())
        yield from (pages, run, complete)
