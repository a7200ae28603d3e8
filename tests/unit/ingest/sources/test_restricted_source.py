"""Folders of a source that fewer people may read than the rest."""

from __future__ import annotations

import pytest

from ingest.records import PUBLIC, narrow
from ingest.sources.restricted import RestrictedSource
from tests.fakes import FakeSource


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


def test_pages_below_a_folder_are_for_its_audience():
    inner = FakeSource()
    for path in ("rh/paie.md", "rh/it/acces.md", "accueil.md"):
        inner.put(path, "# Titre\n\nTexte.\n")
    source = RestrictedSource(inner, {"rh/": ["rh"], "**/it/**": ["rh", "it"]})

    found = {e.path: source.fetch(e).audiences for e in source.listing().entries}

    assert found == {"rh/paie.md": {"rh"}, "rh/it/acces.md": {"rh"}, "accueil.md": PUBLIC}


def test_pages_of_a_source_that_is_limited_to_workspaces_say_so():
    inner = FakeSource()
    inner.put("accueil.md", "# Titre\n\nTexte.\n")
    source = RestrictedSource(inner, {}, ["T1", "T2"])

    [entry] = source.listing().entries
    assert source.fetch(entry).workspaces == {"T1", "T2"}
