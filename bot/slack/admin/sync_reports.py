"""What admins see of syncs and of the index. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from bot.maintenance import HandbookState
from bot.slack.mrkdwn import clean, escape
from bot.slack.rendering import Block, Message, button, render_notice
from bot.slack.wording import Words
from ingest import IngestReport, ProgressEvent, ScheduleStatus

COMMAND = "/handbook"
CONFIRM = "confirm_removals"
LISTED = 20
"""Pages named of each list."""
REPORTS_SHOWN = 20


def removals_digest(report: IngestReport) -> str:
    """Return what tells one list of pages to remove from another."""
    return hashlib.sha256("\n".join(sorted(report.blocked_removals)).encode()).hexdigest()[:16]


def render_reports(reports: Sequence[IngestReport], words: Words) -> Message:
    """Render the end of a sync; removals that were stopped come with a button to confirm them."""
    blocks: list[Block] = []
    spoken: list[str] = []
    for report in reports[:REPORTS_SHOWN]:
        notice = render_notice("\n".join(_report_lines(report, words)))
        blocks += notice.blocks
        spoken.append(notice.text)
        if report.blocked_removals and not report.dry_run:
            blocks.append({"type": "actions", "elements": [_confirmation(report, words)]})
    if not reports:
        return render_notice(words.sync_interrupted)
    return Message("\n\n".join(spoken), tuple(blocks))


def render_progress(events: Iterable[ProgressEvent], words: Words) -> Message:
    """Render how far a sync is, one line per source and stage."""
    lines = [words.sync_running]
    for event in events:
        line = words.sync_embeddings if event.stage.value == "embeddings" else words.sync_pages
        lines.append(line.format(source=clean(event.source), done=event.done, total=event.total))
    return render_notice("\n".join(lines))


def render_state(state: HandbookState, words: Words) -> Message:
    """Render the index, each source with its last run, and the schedule."""
    lines = []
    if state.index is None:
        lines.append(words.state_not_built)
    else:
        index = state.index
        lines.append(words.state_index.format(pages=index.pages, chunks=index.chunks))
        for source in index.sources:
            lines.append(
                words.state_source.format(
                    source=clean(source.name),
                    pages=source.pages,
                    last=_moment(source.last_run_at, words),
                    complete=_moment(source.last_success_at, words),
                )
            )
            problems = source.last_report.problems if source.last_report else ()
            lines += [f"• {clean(problem)}" for problem in problems]
    lines.append(next_sync(state.schedule, words))
    if spent := state.spending:
        lines.append(
            words.state_spending.format(
                model=clean(spent.model),
                tokens=spent.tokens.total,
                amount=f"{spent.amount:.2f} {clean(spent.currency)}",
            )
        )
    return render_notice("\n".join(lines))


def render_schedule(state: HandbookState, words: Words) -> Message:
    """Render when syncs run, and who decided that."""
    schedule, lines = state.schedule, []
    if schedule.cron.strip():
        lines.append(words.schedule_set.format(cron=schedule.cron, timezone=schedule.timezone))
    lines.append(next_sync(schedule, words))
    if schedule.chosen:
        lines.append(words.schedule_chosen_here.format(command=COMMAND))
    # Not as mark-up, to which the stars of a crontab expression may mean bold.
    text = clean("\n".join(lines))
    block: Block = {"type": "section", "text": {"type": "plain_text", "text": text}}
    return Message(escape(text), (block,))


def next_sync(schedule: ScheduleStatus, words: Words) -> str:
    """Return when the next sync is due, in words and in the zone of whoever reads."""
    if schedule.paused:
        return words.state_paused
    if schedule.next_run_at is None:
        return words.state_no_schedule
    return words.state_next.format(moment=words.format_moment(schedule.next_run_at))


def _report_lines(report: IngestReport, words: Words) -> list[str]:
    summary = words.sync_would if report.dry_run else words.sync_did
    lines = [
        summary.format(
            source=clean(report.source),
            added=len(report.added),
            updated=len(report.updated),
            removed=len(report.removed),
            unchanged=report.unchanged,
            skipped=len(report.skipped),
            seconds=f"{report.seconds:.0f}",
        )
    ]
    lines += _listed([f"{page.path} : {page.reason}" for page in report.skipped], words)
    if report.blocked_removals:
        lines.append(words.removals_blocked.format(count=len(report.blocked_removals)))
        lines += _listed(report.blocked_removals, words)
    else:
        lines += [f"• {clean(problem)}" for problem in report.problems]
    return lines


def _listed(items: Sequence[str], words: Words) -> list[str]:
    lines = [f"• {clean(item)}" for item in items[:LISTED]]
    if len(items) > LISTED:
        lines.append(words.and_more.format(count=len(items) - LISTED))
    return lines


def _confirmation(report: IngestReport, words: Words) -> Block:
    count = len(report.blocked_removals)
    value = json.dumps({"source": report.source, "digest": removals_digest(report)})
    label = words.confirm_removals.format(count=count)
    pressed = button(label, CONFIRM, value, style="danger")
    return {
        **pressed,
        "confirm": {
            "title": {"type": "plain_text", "text": words.confirm_title},
            "text": {"type": "plain_text", "text": words.confirm_text},
            "confirm": {"type": "plain_text", "text": words.confirm_yes},
            "deny": {"type": "plain_text", "text": words.cancel},
        },
    }


def _moment(moment: datetime | None, words: Words) -> str:
    return words.format_moment(moment) if moment else words.never
