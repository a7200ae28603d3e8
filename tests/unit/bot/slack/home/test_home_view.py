"""The Home tab keeps to Slack's limits whatever the handbook and the log hold."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from bot.gaps import Gap
from bot.maintenance import HandbookState
from bot.sandbox.blocks import view_problems
from bot.slack.home.modals import message_modal, waiting_modal
from bot.slack.home.view import AdminContent, Favourite, HomeContent, home_view
from bot.slack.rendering import Message
from bot.slack.wording import ENGLISH, FRENCH, Words
from bot.store import RecentQuestion
from ingest import IndexStatus, IngestReport, ScheduleStatus, SourceStatus
from ingest.records import SkippedPage
from tests.outcomes import passage

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
NASTY = "<!channel> & <@U1> \x00\u202e" + "x" * 5_000


def source(name: str) -> SourceStatus:
    report = IngestReport(
        name,
        skipped=tuple(SkippedPage(f"{NASTY}{n}", NASTY) for n in range(300)),
        blocked_removals=tuple(f"{NASTY}{n}" for n in range(300)),
        problems=(NASTY,) * 300,
    )
    return SourceStatus(name, 3_000, 40_000, {"fr": 3_000}, NOW, NOW, report)


def crowded(count: int) -> HomeContent:
    """Everything there is, `count` times, all of it too long."""
    sources = tuple(source(f"{NASTY}{n}") for n in range(count))
    index = IndexStatus(1, 3_000, 40_000, 40_000, "e5", sources)
    schedule = ScheduleStatus("0 5 * * *", "Europe/Paris", NOW, paused=False)
    recent = [RecentQuestion(f"q{n}", NASTY, n % 2 == 0, NOW) for n in range(count)]
    chunk = passage(title=NASTY, url=f"https://guide.example/{'y' * 4_000}").chunk
    return HomeContent(
        recent=recent,
        favourites=[Favourite(chunk, n, n) for n in range(count)],
        sources=sources,
        state=HandbookState(index, schedule),
        admin=AdminContent([Gap(NASTY, n) for n in range(count)], 30, NASTY),
    )


@pytest.mark.parametrize("words", [FRENCH, ENGLISH])
@pytest.mark.parametrize("count", [0, 1, 20, 21, 500])
def test_any_amount_of_anything_fits(words: Words, count: int) -> None:
    view = home_view(crowded(count), words, metadata="{}")

    assert view_problems(view) == []
    assert len(view["blocks"]) <= 100
    assert len(json.dumps(view).encode()) < 250_000


def test_what_is_left_out_is_counted() -> None:
    shown = json.dumps(home_view(crowded(25), ENGLISH), ensure_ascii=False)

    assert shown.count(ENGLISH.and_more.format(count=5)) >= 2
    assert ENGLISH.and_more.format(count=295) in shown


def test_nothing_stands_in_mark_up() -> None:
    view = home_view(crowded(3), ENGLISH)

    assert '"mrkdwn"' not in json.dumps(view)


@pytest.mark.parametrize(
    ("paused", "next_run_at", "buttons"),
    [
        (False, NOW, ["home_sync", "home_dry_run", "home_pause"]),
        (True, None, ["home_sync", "home_dry_run", "home_resume"]),
        (False, None, ["home_sync", "home_dry_run"]),
    ],
)
def test_admins_pause_what_is_scheduled_and_resume_what_is_paused(
    paused: bool, next_run_at: datetime | None, buttons: list[str]
) -> None:
    schedule = ScheduleStatus("0 5 * * *", "Europe/Paris", next_run_at, paused=paused)
    content = HomeContent((), (), (), HandbookState(None, schedule), AdminContent((), 30))
    rows = [b for b in home_view(content, FRENCH)["blocks"] if b["type"] == "actions"]

    assert [element["action_id"] for element in rows[-1]["elements"]] == buttons


def test_what_is_still_being_grouped_is_told_apart_from_nothing() -> None:
    def shown(admin: AdminContent) -> str:
        view = home_view(HomeContent((), (), (), None, admin), ENGLISH)
        return json.dumps(view, ensure_ascii=False)

    assert ENGLISH.home_gaps_pending in shown(AdminContent(None, 30))
    assert ENGLISH.home_no_gaps in shown(AdminContent((), 30))


def test_a_member_gets_no_button_of_admins() -> None:
    everything = crowded(3)
    member = HomeContent(
        everything.recent, everything.favourites, everything.sources, everything.state
    )

    assert "home_sync" not in json.dumps(home_view(member, ENGLISH))


def test_a_table_becomes_text_of_fixed_width() -> None:
    cells = [{"type": "raw_text", "text": text} for text in ("Lyon", "50 €")]
    message = Message("Lyon 50 €", ({"type": "table", "rows": [cells]},))
    modal = message_modal(ENGLISH.home_answer_title, "?", message, ENGLISH)

    assert view_problems(modal) == []
    assert "rich_text_preformatted" in json.dumps(modal)
    assert "50 €" in json.dumps(modal, ensure_ascii=False)


@pytest.mark.parametrize("kind", ["data_table", "markdown"])
def test_what_a_modal_cannot_hold_becomes_text(kind: str) -> None:
    message = Message("ligne\n" * 3_000, ({"type": kind, "rows": []},))
    modal = message_modal(ENGLISH.home_answer_title, NASTY, message, ENGLISH)

    assert view_problems(modal) == []
    shown = "".join(b["text"]["text"] for b in modal["blocks"] if b["type"] == "section")
    assert shown.replace("\n", "").count("ligne") == 3_000


def test_a_long_message_is_cut_to_the_blocks_of_a_modal() -> None:
    blocks = tuple({"type": "divider"} for _ in range(200))
    modal = message_modal(ENGLISH.home_answer_title, "?", Message("", blocks), ENGLISH)

    assert view_problems(modal) == []


def test_the_waiting_modal_takes_any_question() -> None:
    assert view_problems(waiting_modal(FRENCH.home_answer_title, NASTY, FRENCH)) == []
