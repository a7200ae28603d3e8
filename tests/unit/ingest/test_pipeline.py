"""The sync of one source, on a source, an index and an encoder in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ingest import pipeline
from ingest.errors import IndexStoreError, SourceUnavailableError
from ingest.pipeline import sync
from ingest.progress import Stage
from ingest.records import EVERYONE, PUBLIC, RawPage, SkippedPage, held_back
from ingest.sources.base import UNWATCHED, Entry, Listing, Watch
from ingest.vector_cache import BATCH_TEXTS
from tests.fakes import FakeEmbedder, FakeIndexWriter, FakeSource, FakeTokenEmbedder


class VersionedSource(FakeSource):
    """Tells versions, and counts what is fetched."""

    fetched: tuple[str, ...] = ()

    def listing(self, watch: Watch = UNWATCHED) -> Listing:
        entries = tuple(
            Entry(e.path, self.pages[e.path].content_hash) for e in super().listing().entries
        )
        return Listing(entries)

    def fetch(self, entry: Entry) -> RawPage:
        self.fetched += (entry.path,)
        return super().fetch(entry)


class LostSource(FakeSource):
    """Can be listed, then goes away after a number of pages."""

    left: int = 1

    def fetch(self, entry: Entry) -> RawPage:
        if not self.left:
            raise SourceUnavailableError("unmounted")
        self.left -= 1
        return super().fetch(entry)


def text_of(number: int, body: str = "") -> str:
    return f"# Page {number}\n\n## Règle {number}\n\nLa règle numéro {number} s'applique. {body}\n"


def handbook(pages: int, source: FakeSource | None = None) -> FakeSource:
    source = source or FakeSource("handbook")
    for number in range(pages):
        source.put(f"page-{number:03}.md", text_of(number))
    return source


@pytest.fixture
def writer() -> FakeIndexWriter:
    return FakeIndexWriter()


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


def test_a_first_sync_adds_every_page_with_a_vector_for_each_text(writer, embedder):
    report = sync(handbook(3), writer, embedder)

    assert report.added == ("page-000.md", "page-001.md", "page-002.md")
    assert report.chunks == writer.chunk_count("handbook") > 0
    assert writer.embeddings["fake-1"].keys() == writer.texts().keys()
    assert report.embeddings_computed == len(embedder.embedded) == len(writer.texts())
    assert writer.active == "fake-1"
    assert report.complete
    assert writer.runs == [report]


def test_a_second_sync_with_nothing_changed_writes_and_embeds_nothing(writer, embedder):
    source = handbook(3)
    sync(source, writer, embedder)
    writer.writes.clear()
    embedder.embedded.clear()

    report = sync(source, writer, embedder)

    assert (report.unchanged, report.added, report.updated) == (3, (), ())
    assert (writer.writes, embedder.embedded) == ([], [])
    assert report.embeddings_computed == 0


def test_a_page_whose_version_is_known_is_not_fetched_again(writer, embedder):
    source = VersionedSource("handbook")
    handbook(3, source)
    sync(source, writer, embedder)
    source.fetched = ()
    source.put("page-001.md", text_of(1, "Elle a changé."))

    report = sync(source, writer, embedder)

    assert source.fetched == ("page-001.md",)
    assert report.updated == ("page-001.md",)


def test_only_the_changed_chunks_of_a_changed_page_are_embedded(writer, embedder):
    source = FakeSource("handbook")
    source.put("a.md", "# A\n\n## Un\n\nPremière règle.\n\n## Deux\n\nDeuxième règle.\n")
    sync(source, writer, embedder)
    embedder.embedded.clear()
    source.put("a.md", "# A\n\n## Un\n\nPremière règle.\n\n## Deux\n\nRègle toute neuve.\n")

    report = sync(source, writer, embedder)

    assert report.updated == ("a.md",)
    assert len(embedder.embedded) == 1
    assert "toute neuve" in embedder.embedded[0]
    assert report.embeddings_reused == report.chunks - 1


def test_renamed_pages_embed_nothing(writer, embedder):
    source = handbook(20)
    sync(source, writer, embedder)
    embedder.embedded.clear()
    for number in range(5):
        raw = source.pages.pop(f"page-{number:03}.md")
        source.pages[f"moved/{number}.md"] = RawPage(
            f"moved/{number}.md", raw.content, raw.media_type
        )

    report = sync(source, writer, embedder)

    assert embedder.embedded == []
    assert (len(report.added), len(report.removed)) == (5, 5)
    assert report.embeddings_computed == 0
    assert report.embeddings_reused > 0


def test_an_encoder_that_shows_its_tokens_has_them_kept_beside_the_vectors(writer):
    encoder = FakeTokenEmbedder()
    report = sync(handbook(2), writer, encoder)
    assert writer.codes.keys() == writer.texts().keys()
    assert report.embeddings_computed == len(writer.codes)


def test_vectors_kept_without_their_tokens_are_made_again_once(writer):
    source, encoder = handbook(2), FakeTokenEmbedder()
    sync(source, writer, FakeEmbedder(fingerprint=encoder.fingerprint))
    assert sync(source, writer, encoder).embeddings_computed == len(writer.texts())
    assert writer.codes.keys() == writer.texts().keys()
    assert sync(source, writer, encoder).embeddings_computed == 0


def test_removed_pages_disappear_in_the_same_sync(writer, embedder):
    source = handbook(3)
    sync(source, writer, embedder)
    del source.pages["page-001.md"]

    report = sync(source, writer, embedder)

    assert report.removed == ("page-001.md",)
    assert sorted(path for _, path in writer.pages) == ["page-000.md", "page-002.md"]


def test_the_pages_of_another_source_are_left_alone(writer, embedder):
    sync(handbook(2), writer, embedder)
    other = FakeSource("wiki")
    other.put("page-000.md", text_of(7))

    sync(other, writer, embedder)

    assert sorted(writer.pages) == [
        ("handbook", "page-000.md"),
        ("handbook", "page-001.md"),
        ("wiki", "page-000.md"),
    ]


def test_an_incomplete_listing_removes_nothing_and_says_so(writer, embedder):
    source = handbook(3)
    sync(source, writer, embedder)
    del source.pages["page-001.md"]
    source.put("new.md", text_of(9))
    source.complete = False

    report = sync(source, writer, embedder)

    assert report.removed == ()
    assert ("handbook", "page-001.md") in writer.pages
    assert report.added == ("new.md",)
    assert not report.complete
    assert "the listing ended early" in report.problems[0]


def drop_pages(source: FakeSource, count: int) -> None:
    for path in sorted(source.pages)[:count]:
        del source.pages[path]


def test_a_sync_that_would_remove_too_much_stops_before_any_removal(writer, embedder):
    source = handbook(30)
    sync(source, writer, embedder)
    gone = tuple(sorted(source.pages)[:11])
    drop_pages(source, 11)
    source.put("new.md", text_of(99))

    report = sync(source, writer, embedder)

    assert report.blocked_removals == gone
    assert report.removed == ()
    assert report.added == ("new.md",)
    assert len(writer.pages) == 31
    assert not report.complete
    assert "--allow-removals" in report.problems[0]
    assert sync(source, writer, embedder, allow_removals=True).removed == gone


@pytest.mark.parametrize(("pages", "removed"), [(30, 10), (200, 20)])
def test_up_to_ten_pages_or_ten_percent_are_removed_without_asking(
    writer, embedder, pages, removed
):
    source = handbook(pages)
    sync(source, writer, embedder)
    drop_pages(source, removed)

    report = sync(source, writer, embedder)

    assert len(report.removed) == removed
    assert report.complete


def test_the_guard_does_not_count_pages_that_only_moved(writer, embedder):
    source = handbook(30)
    sync(source, writer, embedder)
    for path in sorted(source.pages):
        raw = source.pages.pop(path)
        source.pages[f"new/{path}"] = RawPage(f"new/{path}", raw.content, raw.media_type)

    report = sync(source, writer, embedder)

    assert len(report.removed) == 30
    assert {path for _, path in writer.pages} == set(source.pages)


def test_an_unreadable_page_keeps_its_last_good_version_and_is_reported(writer, embedder):
    source = handbook(2)
    sync(source, writer, embedder)
    before = writer.pages["handbook", "page-000.md"]
    source.put("page-000.md", text_of(0, "Changée."))
    source.put("new.md", text_of(9))
    source.broken = {"page-000.md", "new.md"}

    report = sync(source, writer, embedder)

    assert report.skipped == (
        SkippedPage("new.md", "unreadable today", kept_previous=False),
        SkippedPage("page-000.md", "unreadable today", kept_previous=True),
    )
    assert writer.pages["handbook", "page-000.md"] == before
    assert ("handbook", "new.md") not in writer.pages
    assert report.complete


def test_a_page_the_listing_skips_is_not_removed(writer, embedder):
    source = handbook(2)
    sync(source, writer, embedder)
    too_large = SkippedPage("page-000.md", "too large")
    entries = tuple(e for e in source.listing().entries if e.path != "page-000.md")
    source.listing = lambda watch: Listing(entries, skipped=(too_large,))

    report = sync(source, writer, embedder)

    assert report.skipped == (SkippedPage("page-000.md", "too large", kept_previous=True),)
    assert ("handbook", "page-000.md") in writer.pages


def test_a_page_without_text_is_skipped_with_the_reason(writer, embedder):
    source = FakeSource("handbook")
    source.put("empty.md", "---\ntitle: Vide\n---\n\n")

    report = sync(source, writer, embedder)

    assert [page.path for page in report.skipped] == ["empty.md"]
    assert "no text" in report.skipped[0].reason or "empty" in report.skipped[0].reason
    assert writer.pages == {}


def test_two_chunks_with_one_id_are_never_written(writer, embedder, monkeypatch):
    real = pipeline.chunk_page
    monkeypatch.setattr(pipeline, "chunk_page", lambda page: [*real(page), *real(page)])

    report = sync(handbook(1), writer, embedder)

    assert [page.path for page in report.skipped] == ["page-000.md"]
    assert writer.pages == {}


def test_vectors_are_stored_before_the_page_that_needs_them(writer, embedder):
    def check(operation: str) -> None:
        if operation == "replace_page":
            assert writer.embeddings.get("fake-1")

    writer.audit = check

    sync(handbook(5), writer, embedder, max_pending_chunks=1)

    assert writer.writes.count("replace_page") == 5


def test_texts_in_memory_are_bounded_by_the_window_and_batches_by_their_size(writer):
    largest = 0

    class WatchedEmbedder(FakeEmbedder):
        def embed_passages(self, texts):
            nonlocal largest
            largest = max(largest, len(texts))
            lengths = [len(text) for text in texts]
            assert lengths == sorted(lengths)
            return super().embed_passages(texts)

    pending = 0
    most_pending = 0
    source = handbook(300)

    def fetch(entry: Entry) -> RawPage:
        nonlocal pending, most_pending
        pending += 1
        most_pending = max(most_pending, pending)
        return source.pages[entry.path]

    def wrote(operation: str) -> None:
        nonlocal pending
        pending -= operation == "replace_page"

    source.fetch = fetch
    writer.audit = wrote

    report = sync(source, writer, WatchedEmbedder(), max_pending_chunks=100)

    assert len(report.added) == 300
    assert most_pending <= 101
    assert 1 < largest <= BATCH_TEXTS


def test_a_failing_encoder_leaves_pages_for_keywords_and_the_next_sync_completes_them(
    writer, embedder
):
    source = handbook(3)
    embedder.failing = True

    report = sync(source, writer, embedder)

    assert len(report.added) == 3
    assert writer.embeddings == {}
    assert any("the fake encoder is down" in problem for problem in report.problems)
    assert not report.complete

    embedder.failing = False
    report = sync(source, writer, embedder)

    assert writer.embeddings["fake-1"].keys() == writer.texts().keys()
    assert report.embeddings_computed == len(writer.texts())
    assert writer.active == "fake-1"
    assert (report.unchanged, report.problems) == (3, ())


def test_another_model_is_built_beside_the_old_one_and_activated_when_complete(writer, embedder):
    source, other = handbook(150), FakeSource("wiki")
    other.put("w.md", text_of(777))
    sync(source, writer, embedder)
    sync(other, writer, embedder)
    newer = FakeEmbedder(fingerprint="fake-2")

    def check(operation: str) -> None:
        if operation == "store_embeddings":
            assert writer.active == "fake-1"
        if operation == "activate_model":
            assert writer.embeddings["fake-2"].keys() == writer.texts().keys()

    writer.audit = check
    report = sync(source, writer, newer)

    assert writer.active == "fake-2"
    assert writer.embeddings["fake-1"].keys() == writer.texts().keys()
    assert report.embeddings_computed == len(writer.texts())


def test_an_interrupted_change_of_model_goes_on_where_it_stopped(writer, embedder):
    source = handbook(300)
    sync(source, writer, embedder)
    first = FakeEmbedder(fingerprint="fake-2")
    report = sync(source, writer, first, stopped=lambda: len(first.embedded) >= 100)
    assert writer.active == "fake-1"
    assert not report.complete

    second = FakeEmbedder(fingerprint="fake-2")
    sync(source, writer, second)

    assert writer.active == "fake-2"
    assert len(first.embedded) + len(second.embedded) == len(writer.texts())


def test_without_an_embedder_pages_are_indexed_for_keywords_alone(writer):
    report = sync(handbook(2), writer, None)

    assert len(writer.pages) == 2
    assert (writer.embeddings, writer.active) == ({}, None)
    assert report.complete


def test_a_dry_run_writes_nothing_and_reports_what_the_sync_then_does(writer, embedder):
    source = handbook(25)
    sync(source, writer, embedder)
    source.put("page-001.md", text_of(1, "Changée."))
    source.put("new.md", text_of(500))
    source.put("broken.md", text_of(501))
    source.broken = {"broken.md"}
    del source.pages["page-002.md"]
    writer.writes.clear()
    embedder.embedded.clear()

    foreseen = sync(source, writer, embedder, dry_run=True)

    assert (writer.writes, embedder.embedded, len(writer.runs)) == ([], [], 1)
    done = sync(source, writer, embedder)
    assert foreseen.dry_run
    for name in (
        *("added", "updated", "unchanged", "removed", "skipped", "chunks"),
        *("embeddings_computed", "embeddings_reused", "problems", "complete"),
    ):
        assert getattr(foreseen, name) == getattr(done, name), name


def test_a_full_sync_writes_every_page_again_and_reuses_the_vectors(writer, embedder):
    source = handbook(3)
    sync(source, writer, embedder)
    writer.writes.clear()
    embedder.embedded.clear()

    report = sync(source, writer, embedder, full=True)

    assert writer.writes.count("replace_page") == 3
    assert embedder.embedded == []
    assert report.unchanged == 3


def test_pages_are_parsed_again_when_the_code_that_parses_them_changes(
    writer, embedder, monkeypatch
):
    source = handbook(3)
    sync(source, writer, embedder)
    monkeypatch.setattr(pipeline, "pipeline_version", lambda: "another")

    report = sync(source, writer, embedder)

    assert len(report.updated) == 3
    assert report.embeddings_computed == 0


def with_metadata(source: FakeSource, path: str, **changes: object) -> None:
    raw = source.pages[path]
    values = {"modified_at": raw.modified_at, "url": raw.url, "audiences": raw.audiences}
    source.pages[path] = RawPage(path, raw.content, raw.media_type, **(values | changes))


def test_a_page_that_cannot_be_read_any_more_is_for_no_more_people_than_it_says(writer, embedder):
    told = frozenset({"hr"})

    class Telling(FakeSource):
        def listing(self, watch=UNWATCHED):
            listing = super().listing(watch)
            entries = (
                replace(entry, audiences=told) if entry.path in self.broken else entry
                for entry in listing.entries
            )
            return replace(listing, entries=tuple(entries))

    source = handbook(4, Telling("handbook"))
    sync(source, writer, embedder)
    source.broken = {"page-000.md"}
    source.put("page-001.md", " ")
    with_metadata(source, "page-001.md", audiences=told)
    source.put("page-002.md", " ")

    report = sync(source, writer, embedder)

    assert [page.kept_previous for page in report.skipped] == [True, True, True]
    audiences = {path: page.audiences for (_, path), (page, *_) in writer.pages.items()}
    assert audiences == {
        "page-000.md": told,
        "page-001.md": told,
        "page-002.md": PUBLIC,
        "page-003.md": PUBLIC,
    }


@pytest.mark.parametrize(
    ("held", "allowed", "left"),
    [
        ({"everyone"}, {"everyone"}, {"everyone"}),
        ({"everyone"}, {"hr"}, {"hr"}),
        ({"hr", "it"}, {"hr", "board"}, {"hr"}),
        ({"hr"}, {"everyone"}, {"hr"}),
        ({"T1/everyone", "T2/everyone"}, {"hr"}, {"T1/hr", "T2/hr"}),
        ({"T1/hr"}, {"everyone"}, {"T1/hr"}),
        ({"everyone"}, set(), set()),
        (set(), {"everyone"}, set()),
    ],
)
def test_who_may_read_what_was_kept_is_never_more_than_either(held, allowed, left):
    assert held_back(frozenset(held), frozenset(allowed)) == left


def test_a_new_link_or_audience_is_written_without_a_new_text(writer, embedder):
    source = handbook(3)
    sync(source, writer, embedder)
    writer.writes.clear()
    with_metadata(source, "page-000.md", url="https://example.com/0")
    with_metadata(source, "page-001.md", audiences=frozenset({"managers"}))

    report = sync(source, writer, embedder)

    assert writer.writes == ["touch_page", "touch_page"]
    assert writer.pages["handbook", "page-000.md"][0].url == "https://example.com/0"
    assert writer.pages["handbook", "page-001.md"][0].audiences == {"managers"}
    assert report.updated == ("page-000.md", "page-001.md")


def test_a_new_date_of_the_same_text_is_written_but_counts_as_unchanged(writer, embedder):
    source = handbook(1)
    sync(source, writer, embedder)
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    with_metadata(source, "page-000.md", modified_at=moment)

    report = sync(source, writer, embedder)

    assert writer.pages["handbook", "page-000.md"][0].modified_at == moment
    assert (report.unchanged, report.updated) == (1, ())


def test_touching_a_file_never_widens_the_audience_of_its_front_matter(writer, embedder):
    source = FakeSource("handbook")
    source.put("a.md", "---\naudience: [hr]\n---\n# Salaires\n\nLa grille des salaires.\n")
    sync(source, writer, embedder)
    with_metadata(source, "a.md", modified_at=datetime(2026, 1, 2, tzinfo=UTC))

    sync(source, writer, embedder)

    assert writer.pages["handbook", "a.md"][0].audiences == {"hr"}


def test_a_page_nobody_can_read_is_a_problem_in_the_report(writer, embedder):
    source = FakeSource("handbook")
    source.put("a.md", "---\naudience: [hr]\n---\n# Salaires\n\nLa grille des salaires.\n")
    with_metadata(source, "a.md", audiences=frozenset({"managers"}))

    report = sync(source, writer, embedder)

    assert EVERYONE not in writer.pages["handbook", "a.md"][0].audiences
    assert report.problems[0].startswith("a.md: its front matter and its source")


def test_a_page_whose_source_lets_nobody_in_is_told_as_that(writer, embedder):
    source = handbook(2)
    nobody = frozenset[str]()
    with_metadata(source, "page-000.md", audiences=nobody)

    first = sync(source, writer, embedder)
    with_metadata(source, "page-001.md", audiences=nobody)
    second = sync(source, writer, embedder)

    told = "its source lets in none of the audiences of handbook.toml, so nobody can read it"
    assert first.problems == (f"page-000.md: {told}",)
    assert second.problems == (f"page-001.md: {told}",)
    assert writer.pages["handbook", "page-001.md"][0].audiences == nobody


def test_an_unavailable_source_is_reported_and_recorded_and_removes_nothing(writer, embedder):
    source = handbook(3)
    sync(source, writer, embedder)

    def listing(watch: Watch) -> Listing:
        raise SourceUnavailableError("no such folder")

    source.listing = listing
    report = sync(source, writer, embedder)

    assert not report.complete
    assert "no such folder" in report.problems[0]
    assert len(writer.pages) == 3
    assert writer.runs[-1] == report


def test_a_source_that_goes_away_half_way_keeps_what_was_read_and_removes_nothing(writer, embedder):
    sync(handbook(3), writer, embedder)
    source = LostSource("handbook")
    source.put("page-000.md", text_of(0, "Changée."))
    source.put("zzz.md", text_of(5))

    report = sync(source, writer, embedder)

    assert report.updated == ("page-000.md",)
    assert report.removed == ()
    assert not report.complete
    assert len(writer.pages) == 3


def test_a_failing_index_is_raised_and_the_run_is_recorded_as_failed(writer, embedder):
    def fail(operation: str) -> None:
        if operation == "replace_page":
            raise IndexStoreError("disk full")

    writer.audit = fail

    with pytest.raises(IndexStoreError, match="disk full"):
        sync(handbook(2), writer, embedder)

    assert not writer.runs[-1].complete
    assert "disk full" in writer.runs[-1].problems[0]


def test_a_stopped_sync_removes_nothing_and_the_next_one_completes_it(writer, embedder):
    source = handbook(10)
    sync(source, writer, embedder)
    drop_pages(source, 1)
    for number in range(100, 120):
        source.put(f"page-{number}.md", text_of(number))
    seen: list[int] = []

    report = sync(
        source,
        writer,
        embedder,
        progress=lambda event: seen.append(event.done),
        stopped=lambda: len(seen) > 15,
        max_pending_chunks=4,
    )

    assert not report.complete
    assert report.removed == ()
    assert 0 < len(report.added) < 20
    sync(source, writer, embedder)
    assert {path for _, path in writer.pages} == set(source.pages)


def test_progress_counts_pages_and_embeddings_to_their_totals(writer, embedder):
    events = []

    sync(handbook(5), writer, embedder, progress=events.append)

    pages = [event for event in events if event.stage is Stage.PAGES]
    assert [event.done for event in pages] == [1, 2, 3, 4, 5]
    assert {event.total for event in pages} == {5}
    last = [event for event in events if event.stage is Stage.EMBEDDINGS][-1]
    assert last.done == last.total == len(writer.texts())
