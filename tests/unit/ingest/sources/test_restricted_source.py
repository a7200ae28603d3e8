"""Folders of a source that fewer people may read than the rest."""

from __future__ import annotations

import pytest

from ingest.pages import build_page
from ingest.parsing import parse
from ingest.pipeline import sync
from ingest.records import PUBLIC, Audiences, narrow
from ingest.sources.base import Source
from ingest.sources.restricted import RestrictedSource
from tests.fakes import FakeEmbedder, FakeIndexWriter, FakeSource


@pytest.mark.parametrize(
    ("allowed", "declared", "left"),
    [
        ({"everyone"}, {"everyone"}, {"everyone"}),
        ({"everyone"}, {"rh"}, {"rh"}),
        ({"rh"}, {"everyone"}, {"rh"}),
        ({"rh", "it"}, {"rh", "cse"}, {"rh"}),
        ({"rh"}, {"it"}, set()),
        (set(), {"everyone"}, set()),
        ({"everyone"}, set(), set()),
    ],
)
def test_a_second_rule_never_widens_the_first(allowed, declared, left):
    assert narrow(frozenset(allowed), frozenset(declared)) == left


def test_what_pages_say_of_themselves_is_obeyed_unless_it_means_something_else():
    inner = FakeSource()
    inner.put("a.md", "---\naudience: developers\n---\n# A\n\nTexte.\n")

    def audiences(source: Source) -> Audiences:
        raw = source.fetch(source.listing().entries[0])
        return build_page("s", raw, parse(raw), version="1").audiences

    assert audiences(RestrictedSource(inner, {})) == {"developers"}
    assert audiences(RestrictedSource(inner, {}, obey_pages=False)) == PUBLIC
    narrowed = RestrictedSource(inner, {"*.md": ["rh"]}, obey_pages=False)
    assert audiences(narrowed) == {"rh"}


def test_pages_below_a_folder_are_for_its_audience():
    inner = FakeSource()
    for path in ("rh/paie.md", "rh/it/acces.md", "accueil.md"):
        inner.put(path, "# Titre\n\nTexte.\n")
    source = RestrictedSource(inner, {"rh/": ["rh"], "**/it/**": ["rh", "it"]})

    found = {e.path: source.fetch(e).audiences for e in source.listing().entries}

    assert found == {"rh/paie.md": {"rh"}, "rh/it/acces.md": {"rh"}, "accueil.md": PUBLIC}


def test_web_pages_are_matched_by_the_path_of_their_address():
    inner = FakeSource()
    site = "https://wiki.example.com"
    for path in (f"{site}/rh/paie.html", f"{site}/r%C3%A9mun%C3%A9ration/prime", f"{site}/it/"):
        inner.put(path, "# Titre\n\nTexte.\n")
    rules = {"rh/": ["rh"], "rémunération/**": ["rh"], f"{site}/it/**": ["it"]}
    source = RestrictedSource(inner, rules)

    found = {e.path.removeprefix(site): source.fetch(e).audiences for e in source.listing().entries}

    assert found == {
        "/rh/paie.html": {"rh"},
        "/r%C3%A9mun%C3%A9ration/prime": {"rh"},
        "/it/": {"it"},
    }


def test_a_rule_that_holds_for_no_page_is_told_in_the_report_of_the_sync():
    inner = FakeSource()
    inner.put("rh/paie.md", "# Paie\n\nTexte.\n")
    mistyped = RestrictedSource(inner, {"rh/": ["rh"], "RH/paie.md": ["direction"]})

    report = sync(mistyped, FakeIndexWriter(), FakeEmbedder())

    assert report.problems == ("path_audiences: 'RH/paie.md' matches no page",)
    assert report.added == ("rh/paie.md",)
    assert RestrictedSource(inner, {"rh/": ["rh"]}).listing().problem is None


def test_pages_of_a_source_that_is_limited_to_workspaces_say_so():
    inner = FakeSource()
    inner.put("accueil.md", "# Titre\n\nTexte.\n")
    source = RestrictedSource(inner, {}, ["T1", "T2"])

    [entry] = source.listing().entries
    assert source.fetch(entry).workspaces == {"T1", "T2"}
