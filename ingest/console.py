"""The commands about the index: progress on a terminal, reports as text or JSON, exit statuses."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from ingest.app import run_ingest
from ingest.errors import IndexNotBuiltError
from ingest.index.base import IndexStatus, SourceStatus
from ingest.index.factory import open_reader
from ingest.logs import configure_logging
from ingest.progress import Progress, ProgressEvent, Stage
from ingest.records import IngestReport
from ingest.schedule import ScheduleStatus, read_schedule
from ingest.settings import IngestSettings

LISTED = 20
"""Paths shown of each list for people; `--json` has them all."""


def ingest_command(
    settings: IngestSettings,
    *,
    specs: Sequence[str] = (),
    dry_run: bool = False,
    full: bool = False,
    allow_removals: bool = False,
    as_json: bool = False,
) -> int:
    """Sync, print the report on standard output, and return the exit status.

    Returns:
        0 when every source is in the index as it is now; 1 when one failed, or its sync is
        incomplete or was stopped by the guard against removals.

    Raises:
        HandbookError: When nothing could be synced.
    """
    quiet_logging(settings)
    with progress_bars() as progress:
        reports = run_ingest(
            settings,
            specs=specs,
            dry_run=dry_run,
            full=full,
            allow_removals=allow_removals,
            progress=progress,
        )
    if as_json:
        _print_json(reports_to_json(reports))
    else:
        for report in reports:
            _print_report(report)
    failed = [report.source for report in reports if not report.complete]
    if failed:
        problems = "; ".join(problem for report in reports for problem in report.problems)
        sys.stderr.write(f"sync incomplete: {', '.join(failed)}: {problems}\n")
    return 1 if failed else 0


def status_command(settings: IngestSettings, *, as_json: bool = False) -> int:
    """Print the state of the index, its sources, their last runs and the schedule.

    Returns:
        0, also when nothing has been ingested yet.
    """
    quiet_logging(settings)
    schedule = read_schedule(settings)
    try:
        with open_reader(settings) as reader:
            index: IndexStatus | None = reader.status()
    except IndexNotBuiltError:
        index = None
    if as_json:
        _print_json(_status_to_json(index, schedule))
    else:
        _print_status(index, schedule)
    return 0


def quiet_logging(settings: IngestSettings) -> None:
    """Log only what a command's user must see, unless LOG_LEVEL was chosen."""
    chosen = "log_level" in settings.model_fields_set
    configure_logging(settings.log_format, settings.log_level if chosen else "WARNING")


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Show bars on standard error while the body runs; nothing when it is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[tuple[str, Stage], TaskID] = {}

        def show(event: ProgressEvent) -> None:
            key = (event.source, event.stage)
            if key not in tasks:
                tasks[key] = bars.add_task(f"{event.source}: {event.stage.value}")
            bars.update(tasks[key], completed=event.done, total=event.total)

        yield show


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.0f}/s" if task.speed else "", style="dim")


def reports_to_json(reports: Sequence[IngestReport]) -> dict[str, Any]:
    """Return the JSON of `ingest --json`: one object per source, and their sums."""
    items = [report_to_json(report) for report in reports]
    counts = ("added", "updated", "unchanged", "removed", "chunks", "seconds")
    totals: dict[str, Any] = {name: sum(item[name] for item in items) for name in counts}
    totals["skipped"] = sum(len(report.skipped) for report in reports)
    totals["embeddings"] = {
        "computed": sum(report.embeddings_computed for report in reports),
        "reused": sum(report.embeddings_reused for report in reports),
    }
    totals["complete"] = all(report.complete for report in reports)
    return {"reports": items, "totals": totals}


def report_to_json(report: IngestReport) -> dict[str, Any]:
    """Return the JSON of one source's report."""
    return {
        "source": report.source,
        "added": len(report.added),
        "updated": len(report.updated),
        "unchanged": report.unchanged,
        "removed": len(report.removed),
        "skipped": [asdict(page) for page in report.skipped],
        "chunks": report.chunks,
        "embeddings": {
            "computed": report.embeddings_computed,
            "reused": report.embeddings_reused,
        },
        "seconds": round(report.seconds, 3),
        "complete": report.complete,
        "blocked_removals": list(report.blocked_removals),
        "problems": list(report.problems),
        "dry_run": report.dry_run,
        "pages": {
            "added": list(report.added),
            "updated": list(report.updated),
            "removed": list(report.removed),
        },
    }


def _status_to_json(index: IndexStatus | None, schedule: ScheduleStatus) -> dict[str, Any]:
    return {
        "index": {
            "built": index is not None,
            "generation": index.generation if index else None,
            "pages": index.pages if index else 0,
            "chunks": index.chunks if index else 0,
            "embedded_chunks": index.embedded_chunks if index else 0,
            "fingerprint": index.fingerprint if index else None,
        },
        "sources": [_source_to_json(source) for source in (index.sources if index else ())],
        "schedule": {
            "cron": schedule.cron,
            "timezone": schedule.timezone,
            "next_run_at": _iso(schedule.next_run_at),
            "paused": schedule.paused,
        },
    }


def _source_to_json(source: SourceStatus) -> dict[str, Any]:
    return {
        "name": source.name,
        "pages": source.pages,
        "chunks": source.chunks,
        "languages": dict(source.languages),
        "last_run_at": _iso(source.last_run_at),
        "last_success_at": _iso(source.last_success_at),
        "last_report": report_to_json(source.last_report) if source.last_report else None,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _print_json(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # A file name may hold bytes that are no UTF-8; they must not end the report.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def _print_report(report: IngestReport) -> None:
    # Written without wrapping: paths stay whole for whoever copies or greps them.
    verb = "would be " if report.dry_run else ""
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        Text.assemble(
            (report.source, "bold"),
            f": {verb}{len(report.added)} added, {len(report.updated)} updated,"
            f" {report.unchanged} unchanged, {len(report.removed)} removed,"
            f" {len(report.skipped)} skipped; {report.chunks} chunks;"
            f" embeddings {report.embeddings_computed} computed,"
            f" {report.embeddings_reused} reused; {report.seconds:.1f} s",
        )
    )
    skipped = [
        f"{page.path}: {page.reason}" + (" (last good version kept)" if page.kept_previous else "")
        for page in report.skipped
    ]
    _print_list(console, "skipped", skipped)
    if report.dry_run:
        _print_list(console, "would add", report.added)
        _print_list(console, "would update", report.updated)
        _print_list(console, "would remove", report.removed)
    _print_list(console, "not removed", report.blocked_removals)
    for problem in report.problems:
        console.print(Text(f"  ! {problem}", style="yellow"))


def _print_list(console: Console, title: str, items: Sequence[str]) -> None:
    for item in items[:LISTED]:
        console.print(Text(f"  {title}  {item}", style="dim"))
    if len(items) > LISTED:
        console.print(Text(f"  {title}  … and {len(items) - LISTED} more (see --json)", "dim"))


def _print_status(index: IndexStatus | None, schedule: ScheduleStatus) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if index is None:
        console.print(Text("index     not built yet: run `manuel ingest`"))
    else:
        console.print(
            Text(
                f"index     {index.pages} pages, {index.chunks} chunks,"
                f" {index.embedded_chunks} with a vector ({index.fingerprint or 'no model'})"
            )
        )
        for source in index.sources:
            _print_source(console, source)
    console.print(Text(f"schedule  {_describe(schedule)}"))


def _print_source(console: Console, source: SourceStatus) -> None:
    languages = ", ".join(f"{code} {count}" for code, count in source.languages.items())
    console.print(
        Text(f"source    {source.name}: {source.pages} pages ({languages}), {source.chunks} chunks")
    )
    console.print(
        Text(
            f"          last run {_minute(source.last_run_at)},"
            f" last complete {_minute(source.last_success_at)}"
        )
    )
    for problem in source.last_report.problems if source.last_report else ():
        console.print(Text(f"          ! {problem}", style="yellow"))


def _describe(schedule: ScheduleStatus) -> str:
    if not schedule.cron.strip():
        return "off (REINDEX_CRON is empty)"
    when = f"{schedule.cron} ({schedule.timezone})"
    if schedule.paused:
        return f"{when}, paused"
    if schedule.next_run_at is None:
        return f"{when}, while `manuel serve` runs"
    return f"{when}, next run {_minute(schedule.next_run_at)}"


def _minute(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M %Z}" if moment else "never"
