"""The Home tab as blocks: what everybody sees, and below it what admins do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag

from bot.gaps import Gap
from bot.maintenance import HandbookState
from bot.records import collapse
from bot.slack.admin.sync_reports import next_sync
from bot.slack.mrkdwn import clean, safe_url, shortened
from bot.slack.rendering import CONTEXT_LIMIT, SECTION_LIMIT, Block, button
from bot.slack.wording import Words
from bot.store import RecentQuestion
from ingest import IngestReport, SourceStatus, StoredChunk

ASK, SEARCH = "home_ask", "home_search"
"""Action ids of the boxes; pressing the button below one is `…_button`."""
AGAIN = "home_again"
SYNC, DRY_RUN, PAUSE, RESUME = "home_sync", "home_dry_run", "home_pause", "home_resume"

QUESTION_LIMIT = 2_000
"""Of the boxes; also what Slack takes as the value of a button."""
RECENT_SHOWN = 5
FAVOURITES_SHOWN = 5
GAPS_SHOWN = 10
SOURCES_SHOWN = 20
PROBLEMS_SHOWN = 5
"""Of each source. With all the others this stays below half of the 100 blocks of a Home tab."""
_SHOWN_LIMIT = 300
_ITEM_LIMIT = 150
"""Of a problem or a page: all that is shown of one source fits into one section."""
_HEADER_LIMIT = 150


@dataclass(frozen=True, slots=True)
class Favourite:
    """A page that helped, by one of its passages that everybody may read."""

    chunk: StoredChunk
    useful: int
    cited: int


@dataclass(frozen=True, slots=True)
class AdminContent:
    """What admins see besides.

    Attributes:
        gaps: Questions without an answer, the most frequent first; None while they are grouped.
        days: How far back these go.
        note: What has just become of something they pressed, "" for nothing.
        stale: How many answers quote what has changed.
    """

    gaps: Sequence[Gap] | None
    days: int
    note: str = ""
    stale: int = 0


@dataclass(frozen=True, slots=True)
class HomeContent:
    """What one person's Home tab shows.

    Attributes:
        recent: Their last questions; none where words are not kept.
        sources: Those this person may know of.
        state: None when it cannot be read now.
        admin: None for everybody else.
    """

    recent: Sequence[RecentQuestion]
    favourites: Sequence[Favourite]
    sources: Sequence[SourceStatus]
    state: HandbookState | None
    admin: AdminContent | None = None


def home_view(content: HomeContent, words: Words, *, metadata: str = "") -> Block:
    """Return the view; `metadata` comes back with each press in it."""
    blocks = [*_boxes(content, words), *_recent(content, words), *_favourites(content, words)]
    blocks += _freshness(content, words)
    if content.admin is not None:
        blocks += _admin(content, content.admin, words)
    return {"type": "home", "private_metadata": metadata, "blocks": blocks}


def _boxes(content: HomeContent, words: Words) -> list[Block]:
    # A box with the id of the one before keeps what was typed in it; a new question empties it.
    newest = content.recent[0].question_id if content.recent else ""
    return [
        _header(words.home_title),
        _context(words.home_intro),
        _box(ASK, newest, words.home_ask, words.home_ask_hint),
        {"type": "actions", "elements": [_press(words.home_ask_button, ASK, style="primary")]},
        _box(SEARCH, "", words.home_search, words.home_search_hint),
        {"type": "actions", "elements": [_press(words.home_search_button, SEARCH)]},
    ]


def _box(action_id: str, version: str, label: str, hint: str) -> Block:
    return {
        "type": "input",
        "block_id": f"{action_id}:{version}",
        "dispatch_action": True,
        "label": _plain(label),
        "element": {
            "type": "plain_text_input",
            "action_id": action_id,
            "max_length": QUESTION_LIMIT,
            "placeholder": _plain(hint),
            "dispatch_action_config": {"trigger_actions_on": ["on_enter_pressed"]},
        },
    }


def _press(label: str, action_id: str, *, style: str | None = None) -> Block:
    return button(label, f"{action_id}_button", action_id, style=style)


def _recent(content: HomeContent, words: Words) -> list[Block]:
    if not content.recent:
        return []
    blocks = [_header(words.home_recent)]
    for asked in content.recent[:RECENT_SHOWN]:
        outcome = words.home_answered if asked.answered else words.home_unanswered
        when = words.format_moment(asked.asked_at)
        said = shortened(collapse(clean(asked.question)), _SHOWN_LIMIT) or "?"
        again = button(words.home_again, AGAIN, asked.question[:QUESTION_LIMIT])
        blocks.append({**_text(f"{said}\n{when} · {outcome}"), "accessory": again})
    return blocks


def _favourites(content: HomeContent, words: Words) -> list[Block]:
    if not content.favourites:
        return []
    items = []
    for favourite in content.favourites[:FAVOURITES_SHOWN]:
        chunk = favourite.chunk
        label = shortened(collapse(clean(chunk.title or chunk.page)), _SHOWN_LIMIT) or "?"
        url = safe_url(urldefrag(chunk.url).url) if chunk.url else None
        named = {"type": "link", "url": url, "text": label} if url else _piece(label)
        counts = words.home_favourite.format(useful=favourite.useful, cited=favourite.cited)
        items.append([named, _piece(f" · {counts}")])
    return [_header(words.home_favourites), _list(items, "ordered")]


def _freshness(content: HomeContent, words: Words) -> list[Block]:
    header = _header(words.home_freshness)
    state = content.state
    if state is None:
        return [header, _context(words.home_state_unknown)]
    if state.index is None:
        return [header, _context(words.state_not_built)]
    # Fresh is what was read completely: the oldest of these says how old an answer may be.
    moments = [source.last_success_at for source in state.index.sources]
    known = [moment for moment in moments if moment is not None]
    oldest = min(known) if known and len(known) == len(moments) else None
    told = words.format_moment(oldest) if oldest else words.never
    lines = [words.home_last_sync.format(moment=told, pages=state.index.pages)]
    lines += [_source_line(source, words) for source in content.sources[:SOURCES_SHOWN]]
    if len(content.sources) > SOURCES_SHOWN:
        lines.append(words.and_more.format(count=len(content.sources) - SOURCES_SHOWN))
    return [header, _text("\n".join(lines))]


def _source_line(source: SourceStatus, words: Words) -> str:
    moment = source.last_success_at
    told = words.format_moment(moment) if moment else words.never
    return words.home_source.format(source=_name(source.name), pages=source.pages, moment=told)


def _admin(content: HomeContent, admin: AdminContent, words: Words) -> list[Block]:
    blocks: list[Block] = [{"type": "divider"}, _header(words.home_admin)]
    if admin.note:
        blocks.append(_text(admin.note))
    if admin.stale:
        blocks.append(_text(words.home_stale.format(count=admin.stale)))
    state = content.state
    if state is not None:
        blocks.append(_text(next_sync(state.schedule, words)))
        sources = state.index.sources if state.index else ()
        blocks += [_source(source, words) for source in sources[:SOURCES_SHOWN]]
        if len(sources) > SOURCES_SHOWN:
            blocks.append(_context(words.and_more.format(count=len(sources) - SOURCES_SHOWN)))
    blocks.append({"type": "actions", "elements": list(_admin_buttons(state, words))})
    blocks.append(_header(words.home_gaps.format(days=admin.days)))
    if not admin.gaps:
        pending = admin.gaps is None
        return [*blocks, _context(words.home_gaps_pending if pending else words.home_no_gaps)]
    items = []
    for gap in admin.gaps[:GAPS_SHOWN]:
        question = shortened(collapse(clean(gap.question)), _SHOWN_LIMIT) or "?"
        items.append([_piece(words.home_gap.format(question=question, count=gap.count))])
    return [*blocks, _list(items, "ordered")]


def _admin_buttons(state: HandbookState | None, words: Words) -> Iterable[Block]:
    yield button(words.home_sync_all, SYNC, "all", style="primary")
    yield button(words.home_dry_run, DRY_RUN, "all")
    if state is not None and state.schedule.paused:
        yield button(words.home_resume, RESUME, "schedule")
    elif state is not None and state.schedule.next_run_at is not None:
        yield button(words.home_pause, PAUSE, "schedule")


def _source(source: SourceStatus, words: Words) -> Block:
    lines = [
        words.state_source.format(
            source=_name(source.name),
            pages=source.pages,
            last=words.format_moment(source.last_run_at) if source.last_run_at else words.never,
            complete=words.format_moment(source.last_success_at)
            if source.last_success_at
            else words.never,
        )
    ]
    if source.last_report is not None:
        lines += _problems(source.last_report, words)
    # One action id per source: within a view they may not repeat in one block, and a press must
    # say which source was meant.
    sync = button(words.home_sync_source, SYNC, f"source:{source.name}"[:QUESTION_LIMIT])
    return {**_text("\n".join(lines)), "accessory": sync}


def _problems(report: IngestReport, words: Words) -> list[str]:
    lines = _first(report.problems, words)
    if report.blocked_removals:
        lines.append(words.removals_blocked.format(count=len(report.blocked_removals)))
        lines += _first(report.blocked_removals, words)
    if report.skipped:
        lines.append(words.home_skipped.format(count=len(report.skipped)))
        lines += _first([f"{page.path} : {page.reason}" for page in report.skipped], words)
    return lines


def _first(items: Sequence[str], words: Words) -> list[str]:
    lines = [
        f"• {shortened(collapse(clean(item)), _ITEM_LIMIT)}" for item in items[:PROBLEMS_SHOWN]
    ]
    if len(items) > PROBLEMS_SHOWN:
        lines.append(words.and_more.format(count=len(items) - PROBLEMS_SHOWN))
    return lines


def _name(source: str) -> str:
    return shortened(collapse(clean(source)), 100)


def _header(text: str) -> Block:
    return {"type": "header", "text": _plain(shortened(text, _HEADER_LIMIT))}


def _text(text: str) -> Block:
    # Plain text: nothing from a page, a source or a person can be live in it.
    return {"type": "section", "text": _plain(shortened(text, SECTION_LIMIT), emoji=False)}


def _context(text: str) -> Block:
    return {"type": "context", "elements": [_plain(shortened(text, CONTEXT_LIMIT))]}


def _list(items: Sequence[list[Block]], style: str) -> Block:
    sections = [{"type": "rich_text_section", "elements": item} for item in items]
    return {
        "type": "rich_text",
        "elements": [{"type": "rich_text_list", "style": style, "elements": sections}],
    }


def _piece(text: str) -> Block:
    return {"type": "text", "text": text}


def _plain(text: str, *, emoji: bool = True) -> Block:
    return {"type": "plain_text", "text": text, "emoji": emoji}
