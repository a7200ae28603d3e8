"""Real web servers as sources of pages."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic import SecretStr

import ingest.sources.web_client as web_client
from ingest.errors import SourceUnavailableError
from ingest.pipeline import sync
from ingest.records import PUBLIC, RawPage
from ingest.sources.base import Listing, Watch
from ingest.sources.restricted import RestrictedSource
from ingest.sources.web_visitor import SiteAccess, SiteLimits
from ingest.sources.website import WebsiteSource
from tests.certificates import authority_for
from tests.fakes import FakeEmbedder, FakeIndexWriter
from tests.web_site import Answer, Site, serving

FAST = {"requests_per_second": 10_000.0, "first_retry_s": 0.01, "private_network": True}


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        yield site


@pytest.fixture
def open_site(site: Site, tmp_path: Path):
    sources: list[WebsiteSource] = []

    def open_(*start: str, access: dict[str, object] | None = None, **options: object):
        source = WebsiteSource(
            "site",
            [site.url + path for path in start or ("/",)],
            cache=tmp_path / "cache",
            access=SiteAccess(**{**FAST, **(access or {})}),
            **options,
        )
        sources.append(source)
        return source

    yield open_
    for source in sources:
        source.close()


def paths(listing: Listing, site: Site) -> list[str]:
    return [entry.path.removeprefix(site.url) for entry in listing.entries]


def reasons(listing: Listing, site: Site) -> dict[str, str]:
    return {page.path.removeprefix(site.url): page.reason for page in listing.skipped}


def read(source: WebsiteSource, url: str) -> RawPage:
    return source.fetch(next(e for e in source.listing().entries if e.path == url))


def link(*targets: str) -> str:
    return "<p>Texte.</p>" + "".join(f'<a href="{target}">suite</a>' for target in targets)


# --- which pages ---------------------------------------------------------------------------------


def test_a_crawl_finds_what_links_lead_to_inside_the_scope(site, open_site):
    site.page("/docs/", link("a", "/docs/b/", "../autre", "https://example.com/", "mailto:a@b"))
    site.page("/docs/a", link("sub/c.html#titre", "b/", "logo.png", "?page=2", "javascript:x()"))
    site.page("/docs/b/", link("/docs/"))
    site.page("/docs/sub/c.html", link())
    site.page("/autre", link())
    site.put("/docs/logo.png", b"png", "image/png")

    listing = open_site("/docs/", mode="crawl").listing()

    assert paths(listing, site) == ["/docs/", "/docs/a", "/docs/b/", "/docs/sub/c.html"]
    assert (listing.complete, listing.skipped) == (True, ())
    assert not site.asked("/autre")
    assert not site.asked("/docs/logo.png")
    assert not site.asked("/docs/a?page=2")


def test_a_query_is_followed_when_asked_for(site, open_site):
    site.page("/", link("/?page=2"))
    site.page("/?page=2", link())

    assert paths(open_site(mode="crawl", keep_query=True).listing(), site) == ["/", "/?page=2"]


def test_pages_of_a_sitemap_index_are_taken_packed_or_not(site, open_site):
    site.answers["/robots.txt"] = Answer(f"Sitemap: {site.url}/map/index.xml".encode())
    site.sitemap_index("/map/index.xml", "/map/a.xml", "/map/b.xml.gz", "/map/index.xml")
    site.sitemap("/map/a.xml", "/a", "/prive/x")
    site.sitemap("/map/b.xml.gz", "/b", packed=True)
    for path in ("/a", "/b", "/prive/x"):
        site.page(path, link("/c"))

    listing = open_site(exclude=["prive/"]).listing()

    assert paths(listing, site) == ["/a", "/b"]
    assert listing.complete
    assert not site.asked("/c")


def test_without_a_sitemap_or_with_a_page_in_its_place_links_are_followed(site, open_site):
    site.page("/", link("/a"))
    site.page("/a", link())
    assert paths(open_site().listing(), site) == ["/", "/a"]

    site.page("/sitemap.xml", "<p>Cette application répond à tout.</p>")
    assert paths(open_site().listing(), site) == ["/", "/a"]
    with pytest.raises(SourceUnavailableError, match="no sitemap"):
        open_site(mode="sitemap").listing()


def test_a_configured_sitemap_that_is_html_or_elsewhere_is_an_outage_not_an_empty_site(
    site, open_site
):
    site.page("/map.xml", "<p>Connexion</p>")
    with pytest.raises(SourceUnavailableError, match=r"map\.xml: not a sitemap"):
        open_site(sitemap=f"{site.url}/map.xml").listing()
    site.sitemap("/map.xml", "/a")
    with pytest.raises(SourceUnavailableError, match="none of the 1 addresses"):
        open_site("/docs/", sitemap=f"{site.url}/map.xml").listing()
    site.sitemap_index("/map.xml", "/part.xml")
    with pytest.raises(SourceUnavailableError, match="none of the 0"):
        open_site(sitemap=f"{site.url}/map.xml").listing()


def test_a_part_of_the_sitemap_that_fails_makes_the_listing_incomplete(site, open_site):
    site.sitemap_index("/sitemap.xml", "/a.xml", "/b.xml")
    site.sitemap("/a.xml", "/a")
    site.answers["/b.xml"] = Answer(status=500)
    site.page("/a", link())

    listing = open_site().listing()

    assert (paths(listing, site), listing.complete) == (["/a"], False)
    assert "/b.xml: answers 500" in (listing.problem or "")


def test_a_thousand_pages_from_a_plain_server_are_sent_once(tmp_path, monkeypatch):
    root = tmp_path / "site"
    root.mkdir()
    for number in range(1_000):
        (root / f"p{number:04}.html").write_text(f"<main><h1>Page {number}</h1><p>Texte.</main>")
        os.utime(root / f"p{number:04}.html", (1_700_000_000, 1_700_000_000))
    statuses: list[int] = []

    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(root))  # type: ignore[arg-type]

        def log_request(self, code: object = "-", size: object = "-") -> None:
            statuses.append(int(code))  # type: ignore[call-overload]

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}/"
    rows = "".join(f"<url><loc>{url}p{number:04}.html</loc></url>" for number in range(1_000))
    (root / "sitemap.xml").write_text(
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
    )
    source = WebsiteSource("s", [url], cache=tmp_path / "cache", access=SiteAccess(**FAST))
    try:
        first = source.listing()
        (root / "p0007.html").write_text("<main><h1>Page 7</h1><p>Changé.</main>")
        statuses.clear()
        second = source.listing()
    finally:
        source.close()
        server.shutdown()
        thread.join()
        server.server_close()

    assert (len(first.entries), first.complete) == (1_000, True)
    changed = [a.path for a, b in zip(first.entries, second.entries, strict=True) if a != b]
    assert changed == [f"{url}p0007.html"]
    assert (statuses.count(304), statuses.count(200)) == (999, 2)


# --- what a page is ------------------------------------------------------------------------------


def test_a_page_comes_with_its_bytes_type_date_and_link(site, open_site):
    site.sitemap("/sitemap.xml", "/a", lastmod="2024-05-01")
    site.page("/a", "<h1>Congés</h1>")

    page = read(open_site(audiences=frozenset({"rh"})), f"{site.url}/a")

    assert (page.path, page.url) == (f"{site.url}/a", f"{site.url}/a")
    assert (page.media_type, page.audiences) == ("text/html", {"rh"})
    assert b"<h1>Cong" in page.content
    assert page.modified_at == datetime(2024, 5, 1, tzinfo=UTC)


def test_a_charset_that_only_the_header_tells_is_applied(site, open_site):
    site.put("/", "<main>Congés payés</main>".encode("latin-1"), "text/html; charset=ISO-8859-1")

    assert "Congés payés" in read(open_site(mode="crawl"), f"{site.url}/").content.decode()


def test_documents_are_pages_too_and_other_files_are_not(site, open_site):
    site.page("/", link("/note.pdf", "/archive.zip", "/donnees", "/guide.md"))
    site.put("/note.pdf", b"%PDF-1.4", "application/pdf")
    site.put("/guide.md", b"# Guide", "text/plain")
    site.put("/donnees", b"{}", "application/json")

    source = open_site(mode="crawl")
    listing = source.listing()

    assert paths(listing, site) == ["/", "/guide.md", "/note.pdf"]
    types = [source.fetch(entry).media_type for entry in listing.entries]
    assert types == ["text/html", "text/markdown", "application/pdf"]


def test_addresses_of_one_page_are_one_page(site, open_site):
    canonical = f'<link rel="canonical" href="{site.url}/a">'
    site.page("/", link("/a", "/a/imprimer", "/ancien", "/b?x=1"))
    site.page("/a", link(), head=canonical)
    site.page("/a/imprimer", link(), head=canonical)
    site.redirect("/ancien", "/nouveau")
    site.page("/nouveau", link())
    site.page("/copie", link(), head='<link rel="canonical" href="https://elsewhere.example/">')

    assert paths(open_site(mode="crawl").listing(), site) == ["/", "/a", "/nouveau"]


def test_a_restricted_page_that_goes_by_another_address_stays_restricted(site, open_site):
    elsewhere = f'<link rel="canonical" href="{site.url}/prime">'
    site.page("/", link("/paie/prime", "/b"))
    site.page("/b", link())
    site.page("/paie/prime", link(), head=elsewhere)
    source = RestrictedSource(open_site(mode="crawl"), {"paie/": ["rh"]})

    found = {entry.path: source.fetch(entry).audiences for entry in source.listing().entries}

    assert found == {
        f"{site.url}/": PUBLIC,
        f"{site.url}/b": PUBLIC,
        f"{site.url}/prime": {"rh"},
    }


def test_a_template_that_gives_every_page_one_canonical_address_is_not_believed(site, open_site):
    pages = [f"/p{number:02}" for number in range(30)]
    home = f'<link rel="canonical" href="{site.url}/">'
    for path in ("/", *pages):
        site.page(path, link(*pages), head=home)

    assert paths(open_site(mode="crawl").listing(), site) == ["/", *pages]
    site.answers["/p07"] = Answer(status=500)
    assert list(reasons(open_site(mode="crawl").listing(), site)) == ["/p07"]


def test_headings_with_an_id_are_cited_with_it(site, open_site):
    site.page("/", '<h1>Guide</h1><h2 id="duree">Durée</h2><p>La durée est de cinq jours.</p>')
    writer = FakeIndexWriter()

    sync(open_site(mode="crawl"), writer, FakeEmbedder())

    [(page, chunks, _)] = writer.pages.values()
    assert (page.title, page.url, page.language) == ("Guide", f"{site.url}/", "fr")
    assert [chunk.anchor for chunk in chunks] == ["duree"]


# --- manners -------------------------------------------------------------------------------------


def test_robots_txt_is_followed_unless_the_owner_says_otherwise(site, open_site):
    site.answers["/robots.txt"] = Answer(b"User-agent: *\nDisallow: /secret\n")
    site.page("/", link("/secret"))
    site.page("/secret", link())

    obeying = open_site(mode="crawl").listing()
    free = open_site(mode="crawl", access={"obey_robots": False}).listing()

    assert paths(obeying, site) == ["/"]
    assert reasons(obeying, site) == {"/secret": "robots.txt forbids it"}
    assert paths(free, site) == ["/", "/secret"]


def test_a_site_whose_robots_txt_fails_is_not_asked_for_anything(site, open_site):
    site.answers["/robots.txt"] = Answer(status=503)

    with pytest.raises(SourceUnavailableError, match=r"robots\.txt answers 503"):
        open_site(mode="crawl").listing()

    assert {path for path, _ in site.requests} == {"/robots.txt"}


def test_requests_keep_their_distance(site, open_site, monkeypatch):
    site.page("/", link("/a"))
    site.page("/a", link())
    now, slept = [100.0], list[float]()
    monkeypatch.setattr(web_client.time, "monotonic", lambda: now[0])

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(web_client.time, "sleep", sleep)
    site.answers["/robots.txt"] = Answer(b"User-agent: *\nCrawl-delay: 3\n")

    open_site(mode="crawl", access={"requests_per_second": 2.0}).listing()

    # Half a second before robots.txt is known, three seconds after.
    assert sum(slept) == pytest.approx(3.5, abs=0.01)


def test_an_overloaded_server_is_asked_again_when_it_says(site, open_site):
    answers = iter([Answer(status=429, headers={"Retry-After": "0"}), Answer(status=503)])
    ready = Answer(b"<main>Texte</main>", headers={"Content-Type": "text/html"})
    site.answers["/"] = lambda request: next(answers, ready)

    assert paths(open_site(mode="crawl").listing(), site) == ["/"]
    assert site.asked("/") == [429, 503, 200]


def test_unchanged_pages_are_not_sent_again_and_their_links_still_count(site, open_site):
    site.page("/", link("/a"))
    site.page("/a", link("/b"))
    site.page("/b", link())
    first = open_site(mode="crawl").listing()
    site.requests.clear()

    second = open_site(mode="crawl").listing()

    assert second == first
    assert [status for path, status in site.requests if path != "/robots.txt"] == [304] * 3


def test_a_page_whose_date_is_trusted_is_not_asked_for(site, open_site):
    site.sitemap("/sitemap.xml", "/a", lastmod="2024-05-01")
    site.page("/a", link())
    first = open_site(trust_lastmod=True).listing()
    site.requests.clear()
    assert open_site(trust_lastmod=True).listing() == first
    assert not site.asked("/a")

    site.sitemap("/sitemap.xml", "/a", lastmod="2024-06-01")
    assert open_site(trust_lastmod=True).listing() != first


# --- logins --------------------------------------------------------------------------------------


def locked(request: BaseHTTPRequestHandler) -> Answer:
    known = "Bearer s3cr3t" in request.headers.get("Authorization", "")
    known = known or "session=s3cr3t" in request.headers.get("Cookie", "")
    html = {"Content-Type": "text/html"}
    return Answer(b"<main>Secret</main>", headers=html) if known else Answer(status=401)


@pytest.mark.parametrize(
    "login",
    [
        {"headers": {"Authorization": SecretStr("Bearer s3cr3t")}},
        {"cookies": {"session": SecretStr("s3cr3t")}},
    ],
)
def test_a_header_or_a_cookie_lets_in(site, open_site, login):
    site.answers["/"] = locked

    assert paths(open_site(mode="crawl", access=login).listing(), site) == ["/"]


def test_a_refusal_says_what_to_do_and_deletes_nothing(site, open_site):
    writer = FakeIndexWriter()
    site.page("/", "<h1>Guide</h1><p>Texte.</p>")
    sync(open_site(mode="crawl"), writer, FakeEmbedder())
    site.answers["/"] = locked

    report = sync(
        open_site(mode="crawl", access={"cookies": {"session": SecretStr("0ld")}}),
        writer,
        FakeEmbedder(),
    )

    assert not report.complete
    assert "answers 401: the login may have expired" in report.problems[0]
    assert "0ld" not in str(report)
    assert len(writer.pages) == 1


def test_a_form_to_log_in_is_no_page_of_the_handbook(site, open_site):
    site.page("/", link("/a"))
    site.page("/a", "<p>Connexion</p><input type=password name=p>")

    listing = open_site(mode="crawl").listing()

    assert paths(listing, site) == ["/"]
    assert "form to log in" in reasons(listing, site)["/a"]


# --- attacks and accidents -----------------------------------------------------------------------


def test_credentials_never_leave_for_another_host(site, open_site):
    with serving(Site()) as other:
        other.page("/", link())
        site.page("/", link("/out", f"{other.url}/"))
        site.redirect("/out", f"{other.url}/")
        login = {"headers": {"Authorization": SecretStr("Bearer s3cr3t")}}

        listing = open_site(mode="crawl", access=login).listing()

        assert paths(listing, site) == ["/"]
        assert "redirects to 127.0.0.1" in reasons(listing, site)["/out"]
        assert other.requests == []


def test_credentials_for_https_never_leave_over_http(site, tmp_path):
    login = {"headers": {"Authorization": SecretStr("Bearer s3cr3t")}, "obey_robots": False}
    source = WebsiteSource(
        "site",
        ["https://127.0.0.1:1/"],
        hosts=[site.url.removeprefix("http://")],
        sitemap=f"{site.url}/sitemap.xml",
        cache=tmp_path / "cache",
        access=SiteAccess(**{**FAST, **login}),
    )

    with pytest.raises(SourceUnavailableError, match="over http"):
        source.listing()
    assert site.requests == []


def test_further_hosts_belong_when_they_are_named(site, open_site):
    with serving(Site()) as other:
        other.page("/x", link())
        site.page("/", link(f"{other.url}/x"))

        listing = open_site(mode="crawl", hosts=[other.url.removeprefix("http://")]).listing()

        assert [entry.path for entry in listing.entries] == sorted(
            [f"{site.url}/", f"{other.url}/x"]
        )


def test_private_addresses_are_refused_also_behind_a_name(site, tmp_path, monkeypatch):
    resolve = web_client.socket.getaddrinfo

    def rebound(host: str, *rest: object, **options: object):
        return resolve("127.0.0.1" if host == "wiki.example.com" else host, *rest, **options)

    monkeypatch.setattr(web_client.socket, "getaddrinfo", rebound)
    port = site.url.rpartition(":")[2]
    site.page("/", link())
    for host in ("127.0.0.1", "wiki.example.com", "localhost"):
        access = SiteAccess(**{**FAST, "private_network": False})
        source = WebsiteSource("s", [f"http://{host}:{port}/"], cache=tmp_path, access=access)
        with pytest.raises(SourceUnavailableError, match="private_network = true"):
            source.listing()
        source.close()
    assert site.requests == []


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[fd00:ec2::254]"]
)
def test_the_metadata_of_clouds_is_refused_even_on_a_private_network(tmp_path, host):
    source = WebsiteSource("s", [f"http://{host}/"], cache=tmp_path, access=SiteAccess(**FAST))
    with pytest.raises(SourceUnavailableError, match="refused"):
        source.listing()
    source.close()


@pytest.mark.parametrize("host", ["[64:ff9b::7f00:1]", "[::7f00:1]", "[2002:a00:1::]", "[::1]"])
def test_a_private_address_inside_another_one_is_refused(tmp_path, host):
    access = SiteAccess(**{**FAST, "private_network": False})
    source = WebsiteSource("s", [f"http://{host}/"], cache=tmp_path, access=access)
    with pytest.raises(SourceUnavailableError, match="private address"):
        source.listing()
    source.close()


def test_a_name_reaches_its_server_with_its_own_host_header(site, tmp_path, monkeypatch):
    resolve = web_client.socket.getaddrinfo
    monkeypatch.setattr(
        web_client.socket,
        "getaddrinfo",
        lambda host, *rest, **options: resolve("127.0.0.1", *rest, **options),
    )
    port = site.url.rpartition(":")[2]
    site.page("/", link())
    source = WebsiteSource(
        "s", [f"http://wiki.example.com:{port}/"], cache=tmp_path, access=SiteAccess(**FAST)
    )

    assert len(source.listing().entries) == 1
    source.close()
    assert {headers["host"] for headers in site.headers} == {f"wiki.example.com:{port}"}


@pytest.mark.parametrize(
    ("host", "trusted", "refused"),
    [
        ("wiki.example.com", True, None),
        ("wiki.example.com", False, "certificate"),
        ("other.example.com", True, "(?i)hostname|certificate"),
    ],
)
def test_a_name_that_was_resolved_here_still_has_to_show_its_certificate(
    tmp_path, monkeypatch, host, trusted, refused
):
    authority = authority_for("wiki.example.com", tmp_path)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    resolve = web_client.socket.getaddrinfo
    monkeypatch.setattr(
        web_client.socket,
        "getaddrinfo",
        lambda name, *rest, **options: resolve("127.0.0.1", *rest, **options),
    )
    with serving(Site(), authority.server_context()) as site:
        site.page("/", link())
        start = f"https://{host}:{site.url.rpartition(':')[2]}/"
        source = WebsiteSource("s", [start], cache=tmp_path, access=SiteAccess(**FAST))
        if refused is None:
            assert [entry.path for entry in source.listing().entries] == [start]
        else:
            with pytest.raises(SourceUnavailableError, match=refused):
                source.listing()
        source.close()
        assert (site.requests == []) == (refused is not None)


def test_each_name_behind_one_address_has_to_show_a_certificate(tmp_path, monkeypatch):
    authority = authority_for("wiki.example.com", tmp_path)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    resolve = web_client.socket.getaddrinfo
    monkeypatch.setattr(
        web_client.socket,
        "getaddrinfo",
        lambda name, *rest, **options: resolve("127.0.0.1", *rest, **options),
    )
    with serving(Site(), authority.server_context()) as site:
        port = site.url.rpartition(":")[2]
        start, other = (f"https://{name}.example.com:{port}/" for name in ("wiki", "other"))
        site.page("/", link(other + "x"))
        source = WebsiteSource(
            "s",
            [start],
            hosts=[f"other.example.com:{port}"],
            cache=tmp_path,
            access=SiteAccess(**FAST),
        )
        listing = source.listing()
        source.close()

    assert [entry.path for entry in listing.entries] == [start]
    assert not [h for h in site.headers if h["host"].startswith("other")]


def test_a_bomb_and_a_page_too_large_are_skipped_with_the_reason(site, open_site):
    site.page("/", link("/bombe", "/grande", "/coupee", "/br"))
    html = {"Content-Type": "text/html"}
    packed = {**html, "Content-Encoding": "gzip"}
    site.answers["/bombe"] = Answer(gzip.compress(b"a" * 50_000_000), headers=packed)
    site.answers["/grande"] = Answer(b"a" * 200_000, headers=html)
    site.answers["/coupee"] = Answer(gzip.compress(b"a" * 1_000)[:-9], headers=packed)
    site.answers["/br"] = Answer(b"xxx", headers={**html, "Content-Encoding": "br"})

    listing = open_site(mode="crawl", max_page_bytes=100_000).listing()

    found = reasons(listing, site)
    assert paths(listing, site) == ["/"]
    assert "larger than 100000 bytes once unpacked" in found["/bombe"]
    assert "larger than 100000 bytes" in found["/grande"]
    assert "ends early" in found["/coupee"]
    assert "not asked for" in found["/br"]


def test_a_bomb_of_entities_in_a_sitemap_is_refused(site, open_site):
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    site.answers["/sitemap.xml"] = Answer(
        f'<!DOCTYPE x [<!ENTITY e0 "aaaaaaaaaa">{entities}]><urlset><url><loc>&e9;</loc></url>'
        "</urlset>".encode()
    )
    with pytest.raises(SourceUnavailableError):
        open_site(mode="sitemap").listing()


def test_redirects_in_a_circle_end(site, open_site):
    site.page("/", link("/a"))
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")

    assert "more than 5 times" in reasons(open_site(mode="crawl").listing(), site)["/a"]


def test_a_page_that_fails_is_kept_reported_and_its_old_links_followed(site, open_site):
    writer = FakeIndexWriter()
    site.page("/", link("/a"))
    site.page("/a", "<p>La page A.</p>" + link("/b"))
    site.page("/b", "<p>La page B.</p>")
    sync(open_site(mode="crawl"), writer, FakeEmbedder())
    site.answers["/a"] = Answer(status=500)

    report = sync(open_site(mode="crawl"), writer, FakeEmbedder())

    assert len(writer.pages) == 3
    assert report.complete
    [skipped] = report.skipped
    assert (skipped.path, skipped.kept_previous) == (f"{site.url}/a", True)


def test_a_crawl_in_which_an_unknown_page_fails_is_incomplete(site, open_site):
    site.page("/", link("/a"))
    site.answers["/a"] = Answer(status=500)

    assert not open_site(mode="crawl").listing().complete


def test_a_page_that_is_gone_is_removed(site, open_site):
    writer = FakeIndexWriter()
    site.sitemap("/sitemap.xml", "/a", "/b")
    site.page("/a", "<p>La page A.</p>")
    site.page("/b", "<p>La page B.</p>")
    sync(open_site(), writer, FakeEmbedder())
    del site.answers["/b"]

    report = sync(open_site(), writer, FakeEmbedder())

    assert report.removed == (f"{site.url}/b",)


@pytest.mark.parametrize(
    ("limits", "problem"),
    [({"max_pages": 2}, "max_pages"), ({"time_limit_s": 0.0}, "time_limit_s")],
)
def test_a_crawl_that_ends_early_deletes_nothing(site, open_site, limits, problem):
    writer = FakeIndexWriter()
    site.page("/", link("/a", "/b", "/c"))
    for path in ("/a", "/b", "/c"):
        site.page(path, f"<p>La page {path}.</p>")
    sync(open_site(mode="crawl"), writer, FakeEmbedder())

    report = sync(open_site(mode="crawl", limits=SiteLimits(**limits)), writer, FakeEmbedder())

    assert (report.complete, report.removed, len(writer.pages)) == (False, (), 4)
    assert problem in report.problems[0]


def test_a_site_that_goes_down_halfway_is_left_alone(site, open_site):
    site.page("/", link(*(f"/p{number}" for number in range(30))))
    for number in range(30):
        site.answers[f"/p{number}"] = Answer(status=500)

    listing = open_site(mode="crawl").listing()

    assert not listing.complete
    assert "10 pages in a row failed" in (listing.problem or "")
    assert not site.asked("/p10")


def test_a_start_page_that_is_gone_is_an_outage(site, open_site):
    site.page("/", link())
    open_site(mode="crawl").listing()
    del site.answers["/"]

    with pytest.raises(SourceUnavailableError, match="is not there"):
        open_site(mode="crawl").listing()


def test_a_listing_can_be_stopped_and_watched(site, open_site):
    site.page("/", link("/a", "/b"))
    site.page("/a", link())
    site.page("/b", link())
    seen: list[tuple[int, int]] = []

    listing = open_site(mode="crawl").listing(
        Watch(lambda done, total: seen.append((done, total)), lambda: len(seen) >= 2)
    )

    assert seen == [(1, 3), (2, 3)]
    assert (listing.complete, listing.problem) == (False, "stopped")


def test_a_damaged_cache_is_begun_anew(site, open_site, tmp_path):
    site.page("/", link())
    first = open_site(mode="crawl").listing()
    for file in (tmp_path / "cache").glob("*.db"):
        file.write_bytes(b"no database at all, but long enough to look like something" * 20)

    assert open_site(mode="crawl").listing() == first


def test_a_probe_counts_the_pages_of_a_sitemap_and_reaches_a_crawled_site(site, open_site):
    site.page("/", link())
    assert "following links" in open_site().probe()
    site.sitemap("/sitemap.xml", "/a", "/b")
    assert open_site().probe() == "2 pages in the sitemap"
    site.answers["/"] = locked
    with pytest.raises(SourceUnavailableError, match="answers 401"):
        open_site(mode="crawl").probe()
