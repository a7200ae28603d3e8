"""What admins may do to the index from Slack: sync it, and see how it is."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from bot.answering.breaker import LoggedIncidents
from bot.answering.usage import TokenUsage
from bot.app import token_price
from bot.freshness import find_stale
from bot.settings import BotSettings
from bot.store import ModelUsage, opened
from bot.store.citations import CitationStore
from ingest import (
    PUBLIC,
    Audiences,
    ConfigurationError,
    IndexNotBuiltError,
    IndexStatus,
    IngestReport,
    IngestScheduler,
    Progress,
    ScheduleStatus,
    UploadFolder,
    load_config,
    open_reader,
    open_uploads,
    read_schedule,
    run_ingest,
)


@dataclass(frozen=True, slots=True)
class ModelSpending:
    """What the model has cost today."""

    model: str
    tokens: TokenUsage
    amount: float
    currency: str


@dataclass(frozen=True, slots=True)
class HandbookState:
    """The index, its schedule, and what the model costs.

    Attributes:
        index: None before the first sync.
        spending: None without a model, or where its price is not known.
    """

    index: IndexStatus | None
    schedule: ScheduleStatus
    spending: ModelSpending | None = None


class Maintenance:
    """Syncs the configured sources and describes the index. Slow: called in threads.

    Args:
        settings: Of everything.
        scheduler: Runs in this process; without it the schedule cannot be changed here.
    """

    def __init__(self, settings: BotSettings, scheduler: IngestScheduler | None = None) -> None:
        self._settings = settings
        self._scheduler = scheduler
        self._stopping = threading.Event()

    def sources(self) -> tuple[str, ...]:
        """Return the names of the configured sources: all that may be synced from Slack.

        Raises:
            ConfigurationError: If handbook.toml is wrong.
        """
        return tuple(source.name for source in load_config(self._settings).sources)

    def sources_of(self, team_id: str) -> tuple[str, ...]:
        """Return the names of the sources whose pages are for people of a workspace.

        Raises:
            ConfigurationError: If handbook.toml is wrong.
        """
        configured = load_config(self._settings).sources
        return tuple(s.name for s in configured if not s.workspaces or team_id in s.workspaces)

    def public_sources(self) -> frozenset[str]:
        """Return the names of the sources whose pages are for everybody, unless they say otherwise.

        Everybody in every workspace: those limited to some are not among them.

        Raises:
            ConfigurationError: If handbook.toml is wrong.
        """
        configured = load_config(self._settings).sources
        return frozenset(
            source.name
            for source in configured
            if PUBLIC & set(source.audience) and not source.workspaces
        )

    def sync(
        self,
        sources: Sequence[str],
        *,
        progress: Progress,
        dry_run: bool = False,
        allow_removals: bool = False,
    ) -> list[IngestReport]:
        """Bring sources up to date, all of them when none is named (see `ingest.run_ingest`).

        Only configured ones: a `folder:…` would let an admin of Slack read the machine.

        Raises:
            LeaseHeldError: If a sync is running, here or in another process.
            ConfigurationError: If a name is not that of a configured source.
            HandbookError: If nothing could be synced.
        """
        unknown = set(sources) - set(self.sources())
        if unknown:
            raise ConfigurationError(f"not configured: {', '.join(sorted(unknown))}")
        return run_ingest(
            self._settings,
            specs=sources,
            dry_run=dry_run,
            allow_removals=allow_removals,
            progress=progress,
            stopped=self._stopping.is_set,
        )

    def uploads(self) -> UploadFolder | None:
        """Return the folder for pages that are sent in Slack, None when no source takes them.

        Raises:
            ConfigurationError: If handbook.toml is wrong.
        """
        return open_uploads(self._settings)

    def state(self) -> HandbookState:
        """Describe the index, the schedule and what the model costs.

        Raises:
            IndexStoreError: If the index cannot be read.
            ConfigurationError: If handbook.toml is wrong.
            JobStoreError: If the bot's own tables cannot be read now.
        """
        with open_reader(self._settings) as reader:
            try:
                index: IndexStatus | None = reader.status()
            except IndexNotBuiltError:
                index = None
        return HandbookState(index, read_schedule(self._settings), self._spending())

    def _spending(self) -> ModelSpending | None:
        settings = self._settings
        price = token_price(settings) if settings.answer_model else None
        if price is None:
            return None
        with opened(settings.database_url) as engine:
            usage = ModelUsage(
                engine,
                settings.answer_model,
                daily_tokens=settings.model_daily_tokens,
                zone=ZoneInfo(settings.timezone),
                incidents=LoggedIncidents(),
            ).today()
        return ModelSpending(settings.answer_model, usage, price.of(usage), price.currency)

    def generation(self) -> int | None:
        """Return what grows with every visible change of the index; None before the first sync.

        Raises:
            IndexStoreError: If the index cannot be read.
        """
        with open_reader(self._settings) as reader:
            try:
                return reader.status().generation
            except IndexNotBuiltError:
                return None

    def stale_answers(self, store: CitationStore, *, days: int) -> frozenset[str]:
        """Compare what answers quoted with the index (see `bot.freshness.find_stale`)."""
        with open_reader(self._settings) as reader:
            return find_stale(store, reader, days=days)

    def readers_of(self, pages: Collection[tuple[str, str]]) -> dict[tuple[str, str], Audiences]:
        """Return who may read pages (source, path) now; those that are gone are absent.

        Raises:
            IndexStoreError: If the index cannot be read.
        """
        with open_reader(self._settings) as reader:
            return {named: page.audiences for named, page in reader.page_texts(pages).items()}

    def pause(self) -> None:
        """Skip every scheduled sync, in every process, until `resume`.

        Raises:
            ConfigurationError: If no scheduler runs in this process.
            IndexStoreError: If the database cannot be used now.
        """
        self._running_scheduler().pause()

    def resume(self) -> None:
        """Undo `pause` (raises as it does)."""
        self._running_scheduler().resume()

    def reschedule(self, expression: str | None) -> None:
        """Follow another schedule from now on; None goes back to REINDEX_CRON.

        Raises:
            ValueError: If the expression is not in crontab form, or never comes.
            ConfigurationError: If no scheduler runs in this process.
            IndexStoreError: If the database cannot be used now.
        """
        self._running_scheduler().reschedule(expression)

    def _running_scheduler(self) -> IngestScheduler:
        if self._scheduler is None:
            raise ConfigurationError("no scheduler runs in this process: see `manuel serve`")
        return self._scheduler

    def stop(self) -> None:
        """Let a running sync end after its current batch; the next one completes it."""
        self._stopping.set()
