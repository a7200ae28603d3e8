"""What front matter changes in the page that is indexed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ingest.pages import build_page
from ingest.records import PUBLIC, Audiences, Page, ParsedPage, RawPage, within

FILE_DATE = datetime(2020, 1, 1, tzinfo=UTC)
TEXT = "Les congés payés sont posés avec l'accord du responsable, un mois à l'avance."


def page(audiences: Audiences = PUBLIC, **metadata: object) -> Page:
    raw = RawPage("a.md", b"x", "text/markdown", FILE_DATE, "https://example.com/a", audiences)
    parsed = ParsedPage("Congés", TEXT, (), metadata)
    return build_page("handbook", raw, parsed, version="1")


def test_what_the_source_and_the_parser_know_is_kept():
    made = page()

    assert (made.source, made.path, made.title) == ("handbook", "a.md", "Congés")
    assert (made.url, made.version) == ("https://example.com/a", "1")
    assert made.content_hash == RawPage("a.md", b"x", "text/markdown").content_hash
    assert made.language == "fr"


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, FILE_DATE),
        ({"date": "2024-03-12"}, datetime(2024, 3, 12, tzinfo=UTC)),
        ({"lastmod": "2024-05-01", "date": "2019-01-01"}, datetime(2024, 5, 1, tzinfo=UTC)),
        (
            {"Last-Modified": "2024-05-01T10:00:00+02:00"},
            datetime(2024, 5, 1, 10, tzinfo=timezone(timedelta(hours=2))),
        ),
        ({"date": "an autre jour"}, FILE_DATE),
        ({"lastmod": "unknown", "date": "2024-03-12"}, datetime(2024, 3, 12, tzinfo=UTC)),
    ],
)
def test_a_date_in_front_matter_wins_over_the_files(metadata, expected):
    assert page(**metadata).modified_at == expected


@pytest.mark.parametrize(
    ("source", "declared", "expected"),
    [
        (PUBLIC, None, PUBLIC),
        (PUBLIC, "hr", {"hr"}),
        (PUBLIC, ["hr", "managers"], {"hr", "managers"}),
        (PUBLIC, "hr, managers", {"hr", "managers"}),
        (PUBLIC, "[hr, managers]", {"hr", "managers"}),
        (PUBLIC, '["hr", "managers"]', {"hr", "managers"}),
        (PUBLIC, "", set()),
        (PUBLIC, [], set()),
        (PUBLIC, ["everyone"], PUBLIC),
        ({"managers"}, None, {"managers"}),
        ({"managers"}, "everyone", {"managers"}),
        ({"managers", "hr"}, ["hr"], {"hr"}),
        ({"managers"}, ["hr"], set()),
    ],
)
def test_front_matter_narrows_the_audience_and_never_widens_it(source, declared, expected):
    metadata = {} if declared is None else {"audience": declared}

    assert page(frozenset(source), **metadata).audiences == expected


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (None, {"T1/everyone", "T2/everyone"}),
        ("hr", {"T1/hr", "T2/hr"}),
        ("T3/everyone", {"T1/T3/everyone", "T2/T3/everyone"}),
    ],
)
def test_a_page_limited_to_workspaces_has_audiences_of_those_alone(declared, expected):
    raw = RawPage("a.md", b"x", "text/markdown", workspaces=frozenset({"T1", "T2"}))
    metadata = {} if declared is None else {"audience": declared}
    made = build_page("handbook", raw, ParsedPage("Congés", TEXT, (), metadata), version="1")

    assert made.audiences == expected
    assert not made.audiences & (PUBLIC | within("T3", PUBLIC))


@pytest.mark.parametrize("key", ["outdated", "Deprecated", "archived"])
def test_a_page_marked_as_outdated_is_known_to_be(key):
    assert page(**{key: "true"}).outdated
    assert not page(**{key: "false"}).outdated
    assert not page().outdated


def test_the_language_in_front_matter_is_a_hint_for_detection():
    assert page(language="en").language in {"en", "fr"}
    assert page(lang="fr-FR").language == "fr"
