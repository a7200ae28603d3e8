"""Addresses of web pages: one spelling each, and which belong to a site."""

from __future__ import annotations

import pytest

from ingest.errors import PageParseError
from ingest.sources.web_addresses import Scope, normalized
from ingest.sources.web_markup import read_date, read_markup, unpacked


@pytest.mark.parametrize(
    ("written", "base", "address"),
    [
        ("HTTP://Wiki.Example.com:80/a/../b#titre", "", "http://wiki.example.com/b"),
        ("https://x", "", "https://x/"),
        ("https://x:8443/é?q=ç%c3", "", "https://x:8443/%C3%A9?q=%C3%A7%C3"),
        ("../c d", "https://x/a/b", "https://x/c%20d"),
        ("//y/z", "https://x/", "https://y/z"),
        ("http://[::1]:8080/", "", "http://[::1]:8080/"),
        ("https://user:pw@x/a", "", "https://x/a"),
        ("mailto:a@b.fr", "https://x/", None),
        ("javascript:alert(1)", "https://x/", None),
        ("http://[broken", "https://x/", None),
        ("http://x:99999/", "", None),
    ],
)
def test_an_address_has_one_spelling(written, base, address):
    assert normalized(written, base) == address


def test_a_site_is_the_folders_of_its_first_pages():
    scope = Scope(
        ["https://x/docs/index.html", "https://x/aide"], hosts=["y"], exclude=["docs/old/"]
    )

    def held(*urls: str) -> list[str]:
        return [url for url in urls if scope.holds(url)]

    inside = ("https://x/docs/a", "https://x/docs/a?q=/../..", "https://x/other", "https://y/z")
    assert held(*inside) == list(inside)
    assert held("https://x/docs/old/a", "http://x/docs/a", "https://x.evil/docs/a") == []
    narrow = Scope(["https://x/docs/"])
    assert not narrow.holds("https://x/docsecret")
    assert not narrow.holds("https://x/a?b=https://x/docs/")


def test_links_are_resolved_against_the_base_and_listed_once():
    markup = read_markup(
        b'<base href="/b/"><a href="c">1</a><a href="c#x">2</a><a>3</a>'
        b'<link rel="Canonical" href="https://x/d">',
        "https://x/a",
    )

    assert (markup.links, markup.canonical) == (("https://x/b/c",), "https://x/d")


@pytest.mark.parametrize("content", [b"", b"   ", b"\x00\x01", b"<!-- -->"])
def test_what_is_no_html_has_no_links(content):
    assert read_markup(content, "https://x/").links == ()


def test_damaged_compression_is_named():
    with pytest.raises(PageParseError, match="damaged compression"):
        unpacked(b"\x1f\x8bnot gzip at all", 1_000)


@pytest.mark.parametrize("text", [None, "", "hier", "2999-01-01"])
def test_a_date_that_is_none_or_in_the_future_says_nothing(text):
    assert read_date(text) is None
