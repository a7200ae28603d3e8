"""A site that MkDocs built, as nginx and Python's own server deliver it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ingest.pipeline import sync
from ingest.sources.web_visitor import SiteAccess
from ingest.sources.website import WebsiteSource
from tests.fakes import FakeEmbedder, FakeIndexWriter

PAGES = 300
ACCESS = SiteAccess(requests_per_second=10_000, first_retry_s=0.01, private_network=True)
START_S = 30
CONGES = """# Congés

Vingt-cinq jours par an.

!!! note "Mariage"
    Quatre jours de plus.

| Événement | Jours |
|-----------|-------|
| Mariage   | 4     |
"""


class Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def python_server(root: Path, folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def nginx(root: Path, folder: Path) -> Iterator[str]:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("nginx is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = "".join(
        f"  {kind}_temp_path {folder / kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"{user}daemon off;\npid {folder / 'pid'};\nerror_log stderr;\nevents {{}}\n"
        "http {\n  access_log off;\n  gzip on;\n  gzip_types text/xml application/xml;\n"
        "  types { text/html html; text/xml xml; text/css css; application/gzip gz; }\n"
        f"{places}  server {{ listen 127.0.0.1:{port}; root {root}; index index.html; }}\n}}\n"
    )
    command = [program, "-c", str(configuration), "-e", "stderr", "-p", str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(timeout=START_S)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert process.poll() is None, "nginx ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    pytest.fail("nginx does not answer")


def build(folder: Path, url: str) -> None:
    (folder / "mkdocs.yml").write_text(
        f"site_name: Guide\nsite_url: {url}\nmarkdown_extensions: [admonition, tables]\n"
        "plugins: []\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "--dirty", "-f", "mkdocs.yml"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


Serving = Callable[[Path, Path], contextlib.AbstractContextManager[str]]


@pytest.mark.parametrize("serve", [python_server, nginx], ids=["python", "nginx"])
def test_a_built_site_is_read_without_its_navigation_and_kept_in_step(
    serve: Serving, tmp_path: Path
) -> None:
    docs, site = tmp_path / "docs", tmp_path / "site"
    (docs / "rh").mkdir(parents=True)
    site.mkdir()
    (docs / "index.md").write_text("# Accueil\n\nBienvenue.\n", encoding="utf-8")
    (docs / "rh" / "conges.md").write_text(CONGES, encoding="utf-8")
    (docs / "rh" / "ancien.md").write_text("# Ancien\n\nUne règle.\n", encoding="utf-8")
    index = FakeIndexWriter()

    with serve(site, tmp_path) as url:
        build(tmp_path, url)
        _add_pages(site, url)
        source = WebsiteSource("guide", [url], cache=tmp_path / "cache", access=ACCESS)
        try:
            first = sync(source, index, FakeEmbedder())
            again = sync(source, index, FakeEmbedder())
            (site / "rh" / "ancien" / "index.html").unlink()
            page = site / "rh" / "conges" / "index.html"
            page.write_text(page.read_text(encoding="utf-8").replace("cinq jours", "sept jours"))
            _drop_from_sitemap(site, f"{url}rh/ancien/")
            later = sync(source, index, FakeEmbedder(), allow_removals=True)
        finally:
            source.close()

    assert (first.complete, len(first.added), first.skipped) == (True, PAGES + 3, ())
    assert (again.unchanged, again.updated, again.removed) == (PAGES + 3, (), ())
    assert later.updated == (f"{url}rh/conges/",)
    assert later.removed == (f"{url}rh/ancien/",)
    text = index.pages["guide", f"{url}rh/conges/"][0].text
    assert text == (
        "Congés\n\nVingt-sept jours par an.\n\nMariage\n\nQuatre jours de plus.\n\n"
        "| Événement | Jours |\n| Mariage | 4 |"
    )


def _add_pages(site: Path, url: str) -> None:
    """Add copies of a built page, and name them in the sitemap that MkDocs wrote."""
    home = (site / "index.html").read_text(encoding="utf-8")
    rows = []
    for number in range(PAGES):
        folder = site / f"page-{number:03}"
        folder.mkdir()
        copy = home.replace("Bienvenue.", f"Ceci est la page {number}.")
        copy = copy.replace(f'href="{url}"', f'href="{url}page-{number:03}/"')
        (folder / "index.html").write_text(copy, encoding="utf-8")
        rows.append(f"<url><loc>{url}page-{number:03}/</loc></url>")
    sitemap = site / "sitemap.xml"
    written = sitemap.read_text(encoding="utf-8")
    sitemap.write_text(written.replace("</urlset>", f"{''.join(rows)}</urlset>"))


def _drop_from_sitemap(site: Path, url: str) -> None:
    sitemap = site / "sitemap.xml"
    before, _, after = sitemap.read_text(encoding="utf-8").partition(f"<loc>{url}</loc>")
    head, _, _ = before.rpartition("<url>")
    sitemap.write_text(head + after.partition("</url>")[2], encoding="utf-8")
