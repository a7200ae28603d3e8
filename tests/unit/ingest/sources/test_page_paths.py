"""Paths of pages: which are taken, and where readers find them."""

from __future__ import annotations

import pytest

from ingest.errors import ConfigurationError
from ingest.sources.paths import (
    LinkTemplate,
    PathFilter,
    distinct_paths,
    is_hidden,
    path_part,
)


@pytest.mark.parametrize(
    ("generator", "path", "published"),
    [
        ("mkdocs", "rh/conges.md", "rh/conges/"),
        ("mkdocs", "rh/index.md", "rh/"),
        ("mkdocs", "index.md", ""),
        ("docusaurus", "01-rh/02-conges.md", "rh/conges"),
        ("docusaurus", "rh/rh.md", "rh"),
        ("docusaurus", "rh/README.mdx", "rh"),
        ("docusaurus", "2024-bilan.md", "bilan"),
        ("hugo", "RH/Congés Payés.md", "rh/cong%C3%A9s-pay%C3%A9s/"),
        ("hugo", "rh/_index.md", "rh/"),
    ],
)
def test_a_link_follows_the_generator_of_the_site(generator, path, published):
    template = LinkTemplate("handbook", f"https://x/{{{generator}}}")

    assert template.link(path) == f"https://x/{published}"


def test_an_unknown_placeholder_is_named_with_the_known_ones():
    with pytest.raises(ConfigurationError, match=r"'handbook' has \{pth\}.*\{path\}.*\{commit\}"):
        LinkTemplate("handbook", "https://x/{pth}", extra=("commit",))


def test_exclude_wins_over_include():
    paths = PathFilter(["rh/"], ["*.draft.md"])

    wanted = [p for p in ("rh/a.md", "rh/b/a.md", "rh/a.draft.md", "it/a.md") if paths.wants(p)]

    assert wanted == ["rh/a.md", "rh/b/a.md"]


def test_folders_of_tools_hold_no_pages():
    assert [n for n in (".git", "_layouts", "node_modules", "rh") if is_hidden(n)] == [
        ".git",
        "_layouts",
        "node_modules",
    ]


def test_a_title_is_one_part_of_a_path():
    assert path_part(" Conge\u0301s /\n RTT ") == "Congés ∕ RTT"


def test_paths_that_several_have_say_which_is_which_whatever_their_order():
    found = [("A", "1"), ("B", "2"), ("A", "3")]

    assert distinct_paths(found) == {"A (1)": "1", "A (3)": "3", "B": "2"}
    assert distinct_paths(reversed(found)) == distinct_paths(found)
